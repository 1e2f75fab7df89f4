// Texts for which the storage has no room: a write that is refused half-way leaves old texts and new ones, and each can
// be read.
#include <h5mote/config.hpp>

#if H5MOTE_ALL_FORMATS && H5MOTE_WRITE

#include "test.hpp"

#include <h5mote/h5mote.hpp>
#include <h5mote/port/malloc.hpp>
#include <h5mote/variable_length.hpp>
#include <h5mote/vfd/memory.hpp>

#include <string>
#include <vector>

namespace {

using namespace h5mote;

constexpr auto kText = make_variable_string();
constexpr std::size_t kTexts = 64;

struct Machine {
    explicit Machine(Bytes bytes, std::size_t size = 0) : storage(bytes, size) {}

    Status create(const DatasetCreate& properties) {
        auto made = File::create(library, storage, access);
        H5MOTE_TRY(made.status());
        file = static_cast<File&&>(*made);
        return take(file.root().create_dataset("texts", kText.view(), Dataspace::simple({kTexts}), properties));
    }
    Status open() {
        auto opened = File::open(library, storage, access);
        H5MOTE_TRY(opened.status());
        file = static_cast<File&&>(*opened);
        return take(file.root().open_dataset("texts"));
    }
    Status take(Result<Dataset>&& dataset) {
        H5MOTE_TRY(dataset.status());
        texts = static_cast<Dataset&&>(*dataset);
        return Status::ok;
    }
    // Every element gets a text that begins with its number.
    Status write(char letter, std::size_t length) {
        std::vector<std::string> values;
        std::vector<const char*> pointers;
        for (std::size_t i = 0; i < kTexts; ++i) {
            values.push_back(std::to_string(i) + std::string(length, letter));
        }
        for (const std::string& each : values) {
            pointers.push_back(each.c_str());
        }
        return texts.write(Selection::all(), kText.view(),
                           {reinterpret_cast<const std::byte*>(pointers.data()), pointers.size() * sizeof(char*)});
    }
    // The number of elements that are as the second write() left them; the others are as the first did.
    Status read(std::size_t old_length, std::size_t new_length, std::size_t& changed) {
        std::vector<char*> values(kTexts);
        H5MOTE_TRY(texts.read(Selection::all(), kText.view(),
                              {reinterpret_cast<std::byte*>(values.data()), values.size() * sizeof(char*)}));
        for (std::size_t i = 0; i < kTexts; ++i) {
            const std::string text = values[i] == nullptr ? "nothing" : values[i];
            const std::string number = std::to_string(i);
            const bool renewed = text == number + std::string(new_length, 'n');
            changed += renewed ? 1 : 0;
            EXPECT_TRUE(renewed || text == number + std::string(old_length, 'o')) << text;
        }
        return reclaim(library, kText.view(), values.size(), sizeof(char*), values.data());
    }

    MallocAllocator memory;
    NullPort port;
    Library library{memory, port, {}, formats::all};
    MemoryDriver storage;
    FileAccess access;
    File file;
    Dataset texts;
};

// Refuses the second write() at every place, and reads what the file has afterwards.
void run(const DatasetCreate& properties, std::size_t chunk_cache) {
    constexpr std::size_t kOld = 20;
    constexpr std::size_t kNew = 150;
    bool refused_all = false;
    bool refused_some = false;
    for (std::size_t capacity = 8000; capacity < 30000; capacity += 500) {
        std::vector<std::byte> bytes(capacity);
        Machine machine({bytes.data(), bytes.size()});
        machine.access.chunk_cache = chunk_cache;
        ASSERT_EQ(machine.create(properties), Status::ok);
        ASSERT_EQ(machine.write('o', kOld), Status::ok);
        ASSERT_EQ(machine.file.flush(), Status::ok);
        const Status status = machine.write('n', kNew);
        ASSERT_TRUE(status == Status::ok || status == Status::no_space);
        const Status flushed = machine.file.flush();
        ASSERT_TRUE(flushed == Status::ok || flushed == Status::no_space);
        std::size_t changed = 0;
        ASSERT_EQ(machine.read(kOld, kNew, changed), Status::ok) << "capacity " << capacity;
        (void)machine.file.close();
        std::uint64_t size = 0;
        ASSERT_EQ(machine.storage.end_of_file(size), Status::ok);
        Machine again({bytes.data(), bytes.size()}, static_cast<std::size_t>(size));
        ASSERT_EQ(again.open(), Status::ok);
        changed = 0;
        ASSERT_EQ(again.read(kOld, kNew, changed), Status::ok) << "capacity " << capacity;
        EXPECT_TRUE(status != Status::ok || flushed != Status::ok || changed == kTexts);
        refused_all = refused_all || changed == 0;
        refused_some = refused_some || (changed != 0 && changed != kTexts);
        ASSERT_EQ(again.file.close(), Status::ok);
    }
    EXPECT_TRUE(refused_all || refused_some);
}

TEST(VariableRefusals, OfContiguousTexts) { run({}, 16384); }
TEST(VariableRefusals, OfCompactTexts) {
    DatasetCreate properties;
    properties.layout = Layout::compact;
    run(properties, 16384);
}
TEST(VariableRefusals, OfChunksInMemory) {
    DatasetCreate properties;
    properties.chunk = {16};
    run(properties, 16384);
}
TEST(VariableRefusals, OfChunksInPlace) {
    DatasetCreate properties;
    properties.chunk = {64};
    run(properties, 512);
}

}  // namespace

#endif
