// The power fails at every point while elements that refer to the global heap are written over others of datasets which
// the storage has already: strings and sequences of strings, references to regions, in contiguous data, in chunks and
// in other files. Each element lies in one sector, so that a cut leaves its old value or its new one, as a whole.
#include "cuts.hpp"
#include "disk_states.hpp"
#include "faulty_disk.hpp"
#include "hdf5_image.hpp"
#include "sound.hpp"

#include <h5mote/encoded_type.hpp>
#include <h5mote/h5mote.hpp>
#include <h5mote/opener.hpp>
#include <h5mote/port/malloc.hpp>
#include <h5mote/selection_set.hpp>
#include <h5mote/variable_length.hpp>
#include <h5mote/vfd/journal.hpp>
#include <h5mote/vfd/memory.hpp>
#include <h5mote/vfd/multi.hpp>

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace h5mote_test {
namespace {

using namespace h5mote;

enum class Kind { text, texts, region, revised_region };

// A dataset whose elements are written over and over.
struct Part {
    const char* name;
    Kind kind;
    std::uint32_t elements;  // at most as many as a sector has room for, if they do not divide it
    std::uint32_t chunk = 0;
    bool external = false;
};

enum class Storage { file, journal, split };

struct Workload {
    const char* name;
    std::vector<Part> parts;
    std::size_t length;  // about that of a text
    std::size_t metadata_cache = 2048;
    std::size_t chunk_cache = 2048;
    unsigned flushes = 8;
    Storage storage = Storage::file;
    bool fresh = false;  // the datasets are made between the first two flushes, not before them
};

constexpr std::uint64_t kTarget = 4096;  // elements of the dataset that regions lie in
constexpr auto kText = make_variable_string(CharacterSet::utf8);
constexpr auto kTexts = make_variable_length(make_variable_string(CharacterSet::utf8));

// Number `version` of the values that an element gets one after the other.
std::string text_of(std::uint32_t element, std::uint32_t version, std::size_t length) {
    std::string text = "element " + std::to_string(element) + " version " + std::to_string(version) + " ";
    const std::size_t size = length / 2 + (element * 7 + version * 13) % length;
    while (text.size() < size) {
        text += static_cast<char>('a' + (element + version + text.size()) % 26);
    }
    return text;
}

std::uint32_t texts_in(std::uint32_t element, std::uint32_t version) { return 1 + (element + version) % 3; }

using Versions = std::vector<std::vector<std::uint32_t>>;  // of each element of each part; 0: it was never written

// What flushes have acknowledged.
struct Acknowledged {
    std::size_t operations = 0;
    Versions versions;
};

/// A file, its journal or its part with the raw data, and a file for external data, all of them disks.
class Machine final : public DriverOpener, private MultiParts {
public:
    static constexpr unsigned kFile = 0;
    static constexpr unsigned kSecond = 1;
    static constexpr unsigned kOutside = 2;

    /// Records what reaches the disks in `operations`, unless that is nullptr. Call number `fault` fails; 0: none.
    explicit Machine(Storage storage, std::vector<DiskOperation>* operations = nullptr, std::uint64_t fault = 0)
        : storage_(storage) {
        for (unsigned i = 0; i < 3; ++i) {
            memory_.push_back(std::make_unique<GrowingMemoryDriver>(allocator_));
            drivers_.push_back(memory_.back().get());
            if (operations != nullptr) {
                recorders_.push_back(std::make_unique<DiskRecorder>(*memory_.back(), i, *operations));
                drivers_.back() = recorders_.back().get();
            }
        }
        if (operations != nullptr) {
            faulty = std::make_unique<FaultyDisk>(*drivers_[kFile], fault, *operations);
            drivers_[kFile] = faulty.get();
        }
    }
    Status load(const Disks& disks) {
        Status status = Status::ok;
        for (unsigned i = 0; i < 3 && status == Status::ok; ++i) {
            status = memory_[i]->assign({disks[i].data(), disks[i].size()});
        }
        return status;
    }
    Status start() {
        if (storage_ == Storage::journal) {
            journal_ = std::make_unique<JournalDriver>(*drivers_[kFile], *drivers_[kSecond],
                                                       Bytes(reinterpret_cast<std::byte*>(work_), sizeof work_));
            return journal_->open();
        }
        if (storage_ == Storage::split) {
            split_ = std::make_unique<MultiDriver>(static_cast<MultiParts&>(*this));
            return split_->open_or_create(split_layout());
        }
        return Status::ok;
    }
    Driver& driver() {
        return journal_ != nullptr ? static_cast<Driver&>(*journal_)
               : split_ != nullptr ? static_cast<Driver&>(*split_)
                                   : *drivers_[kFile];
    }
    std::unique_ptr<FaultyDisk> faulty;

    Status open(const Driver& /*parent*/, std::string_view /*name*/, OpenPurpose /*purpose*/,
                Driver*& driver) noexcept override {
        driver = drivers_[kOutside];
        return Status::ok;
    }
    Status open_to_write(const Driver& parent, std::string_view name, OpenPurpose purpose,
                         Driver*& driver) noexcept override {
        return open(parent, name, purpose, driver);
    }
    void close(Driver& /*driver*/) noexcept override {}

private:
    Status open(unsigned part, std::string_view /*name*/, Driver*& driver) noexcept override {
        driver = drivers_[split_layout().map[static_cast<unsigned>(Usage::raw_data)] == part ? kSecond : kFile];
        return Status::ok;
    }
    void close(unsigned /*part*/) noexcept override {}

    MallocAllocator allocator_;
    std::vector<std::unique_ptr<GrowingMemoryDriver>> memory_;
    std::vector<std::unique_ptr<DiskRecorder>> recorders_;
    std::vector<Driver*> drivers_;
    Storage storage_;
    std::uint64_t work_[JournalDriver::required_memory() / 8 + 1];
    std::unique_ptr<JournalDriver> journal_;
    std::unique_ptr<MultiDriver> split_;
};

/// Writes and compares the elements of an open file.
class Elements {
public:
    Elements(const Workload& workload, Library& library, Group& root)
        : workload_(workload), library_(library), root_(root) {}

    Status make(const Part& part) {
        DatasetCreate create;
        const NewExternalFile files[] = {{"outside", 0, kUnlimited}};
        if (part.chunk != 0) {
            create.layout = Layout::chunked;
            create.chunk = {part.chunk};
        } else if (part.external) {
            create.external = files;
        }
        const std::uint64_t size = part.elements;
        return root_.create_dataset(part.name, type_of(part).view(), Dataspace::simple({size}), create).status();
    }
    Status make_target() {
        return root_.create_dataset("target", datatype_of<std::uint8_t>(), Dataspace::simple({kTarget})).status();
    }

    // Writes elements [from, from + count), the i-th of which gets the version versions[from + i].
    Status write(const Part& part, const std::vector<std::uint32_t>& versions, std::uint32_t from,
                 std::uint32_t count) {
        Dataset* data = nullptr;
        Status status = open(part, data);
        const Type type = type_of(part);
        std::vector<std::byte> stored(count * type.size);
        std::vector<std::string> texts;
        std::vector<const char*> pointers;
        std::vector<VariableLength> sequences(count);
        for (std::uint32_t i = 0; i < count && status == Status::ok; ++i) {
            const std::uint32_t version = versions[from + i];
            if (part.kind >= Kind::region) {
                status = make_region(part, from + i, version, {stored.data() + i * type.size, type.size});
                continue;
            }
            const std::uint32_t parts = part.kind == Kind::text ? 1 : texts_in(from + i, version);
            for (std::uint32_t k = 0; k < parts; ++k) {
                texts.push_back(text_of(from + i, version + 1000 * k, workload_.length));
            }
            sequences[i].count = parts;
        }
        for (const std::string& text : texts) {
            pointers.push_back(text.c_str());
        }
        std::size_t at = 0;
        for (VariableLength& sequence : sequences) {
            sequence.data = pointers.data() + at;
            at += sequence.count;
        }
        const ConstBytes bytes =
            part.kind == Kind::text    ? as_bytes(Span<const char* const>(pointers.data(), pointers.size()))
            : part.kind == Kind::texts ? as_bytes(Span<const VariableLength>(sequences.data(), sequences.size()))
                                       : ConstBytes(stored.data(), stored.size());
        return status == Status::ok ? data->write(Selection::hyperslab({from}, {count}), type.view(), bytes) : status;
    }

    // Finds out which versions the elements have, each of which is in [least, most].
    std::string find(const Part& part, const std::vector<std::uint32_t>& least, const std::vector<std::uint32_t>& most,
                     std::vector<std::uint32_t>& found) {
        Dataset* data = nullptr;
        const Status opened = open(part, data);
        if (opened != Status::ok) {
            return std::string("no dataset: ") + to_string(opened);
        }
        found.assign(part.elements, 0);
        const Type type = type_of(part);
        std::vector<VariableLength> sequences(part.kind == Kind::texts ? part.elements : 0);
        std::vector<char*> texts(part.kind == Kind::text ? part.elements : 0);
        std::vector<std::byte> stored(part.kind >= Kind::region ? part.elements * type.size : 0);
        const Bytes to =
            part.kind == Kind::text ? Bytes(reinterpret_cast<std::byte*>(texts.data()), texts.size() * sizeof(char*))
            : part.kind == Kind::texts
                ? Bytes(reinterpret_cast<std::byte*>(sequences.data()), sequences.size() * sizeof(VariableLength))
                : Bytes(stored.data(), stored.size());
        const Status status = data->read(Selection::all(), type.view(), to);
        std::string bad = status == Status::ok ? "" : std::string("reading: ") + to_string(status);
        for (std::uint32_t i = 0; bad.empty() && i < part.elements; ++i) {
            bool same = false;
            for (std::uint32_t version = least[i]; !same && version <= most[i]; ++version) {
                found[i] = version;
                same = part.kind == Kind::text ? is_text(texts[i], i, version)
                       : part.kind == Kind::texts
                           ? are_texts(sequences[i], i, version)
                           : is_region(part, {stored.data() + i * type.size, type.size}, i, version);
            }
            bad = same ? "" : "element " + std::to_string(i) + " has none of its values";
        }
        if (status == Status::ok && part.kind < Kind::region) {
            EXPECT_EQ(reclaim(library_, type.view(), part.elements, to.size() / part.elements, to.data()), Status::ok);
        }
        return bad;
    }

private:
    struct Type {
        std::vector<std::byte> bytes;
        std::size_t size;
        DatatypeView view() const { return DatatypeView({bytes.data(), bytes.size()}); }
    };
    template <std::size_t N, unsigned Depth>
    static std::vector<std::byte> copy_of(const EncodedType<N, Depth>& type) {
        const DatatypeView view(type);
        return {view.bytes().begin(), view.bytes().end()};
    }
    static ReferenceType reference(const Part& part) {
        return part.kind == Kind::region ? ReferenceType::region1 : ReferenceType::region2;
    }
    Type type_of(const Part& part) {
        if (part.kind == Kind::text) {
            return {copy_of(kText), sizeof(char*)};
        }
        if (part.kind == Kind::texts) {
            return {copy_of(kTexts), sizeof(VariableLength)};
        }
        EncodedType<8> type = make_reference(reference(part));
        const std::size_t size = root_.reference_size(reference(part));
        type.bytes[4] = static_cast<std::byte>(size);
        return {copy_of(type), size};
    }

    // Datasets stay open, so that chunks wait in memory until the file is flushed.
    Status open(const Part& part, Dataset*& data) {
        const auto known = open_.find(part.name);
        if (known == open_.end()) {
            auto opened = root_.open_dataset(part.name);
            if (!opened) {
                return opened.status();
            }
            open_[part.name] = static_cast<Dataset&&>(*opened);
        }
        data = &open_[part.name];
        return Status::ok;
    }
    Status make_region(const Part& part, std::uint32_t element, std::uint32_t version, Bytes to) {
        auto target = root_.open_dataset("target");
        return target ? root_.create_region_reference(reference(part), *target, Dataspace::simple({kTarget}),
                                                      Selection::hyperslab({version}, {element + 1}), to)
                      : target.status();
    }
    bool is_region(const Part& part, ConstBytes stored, std::uint32_t element, std::uint32_t version) {
        ReferenceTarget target;
        Object object;
        SelectionSet region(library_);
        if (version == 0) {
            return root_.reference_target(reference(part), stored, target) == Status::ok && target.null;
        }
        std::uint64_t low = 0;
        std::uint64_t high = 0;
        auto blocks = std::make_unique<SelectionBlocks>();
        return root_.reference_region(reference(part), stored, object, region) == Status::ok &&
               blocks->reset(region, Dataspace::simple({kTarget})) == Status::ok && blocks->next(&low, &high) &&
               low == version && high == version + element;
    }
    bool is_text(const char* text, std::uint32_t element, std::uint32_t version) const {
        return version == 0 ? text == nullptr || *text == 0
                            : text != nullptr && text_of(element, version, workload_.length) == text;
    }
    bool are_texts(const VariableLength& sequence, std::uint32_t element, std::uint32_t version) const {
        bool same = sequence.count == (version == 0 ? 0 : texts_in(element, version));
        for (std::uint32_t k = 0; same && k < sequence.count; ++k) {
            same = is_text(static_cast<const char* const*>(sequence.data)[k], element, version + 1000 * k);
        }
        return same;
    }

    const Workload& workload_;
    Library& library_;
    Group& root_;
    std::map<std::string, Dataset> open_;
};

FileAccess access_of(const Workload& workload, Machine& machine) {
    FileAccess access;
    access.metadata_cache = workload.metadata_cache;
    access.chunk_cache = workload.chunk_cache;
    access.alignment = 512;  // raw data begins at a sector
    access.alignment_threshold = 100;
    access.opener = &machine;
    return access;
}

class Sweep {
public:
    explicit Sweep(const Workload& workload) : workload_(workload), tally_(workload.name) {}

    void run(std::size_t floor) {
        record(0);
        cut(40);
        tally_.report(floor);
    }

    // Lets one call of the file's driver fail after the other. The call of the library that returns the error is
    // repeated, and the power is cut from there on up to the second flush.
    void run_after_faults(std::size_t floor) {
        for (fault_ = 1; !tally_.enough() && record(fault_); ++fault_) {
            std::size_t flushes = 0;
            for (const Acknowledged& each : acknowledged_) {
                flushes += each.operations > from_ ? 1 : 0;
                if (flushes == 2) {
                    operations_.resize(each.operations);
                    break;
                }
            }
            cut(4);
        }
        tally_.report(floor);
    }

private:
    void cut(std::size_t random_subsets) {
        DiskStates states(Disks(3), operations_,
                          [this](const Disks& disks, std::size_t operations, const char* what, std::size_t number) {
                              judge(disks, operations, what, number);
                          });
        states.from = from_;
        states.random_subsets = random_subsets;
        states.enough = [this] { return tally_.enough(); };
        states.run();
    }

    // False if the workload ended before the call that should fail.
    bool record(std::uint64_t fault) {
        operations_.clear();
        acknowledged_.clear();
        Machine machine(workload_.storage, &operations_, fault);
        play(machine);
        from_ = machine.faulty->failed_at;
        return fault == 0 || machine.faulty->failed;
    }

    template <typename Call>
    Status attempt(const Call& call) {
        const Status first = call();
        return fault_ == 0 || first == Status::ok ? first : call();
    }

    void play(Machine& machine) {
        ASSERT_EQ(machine.start(), Status::ok);
        NullPort port;
        Library library(memory_, port);
        File file;
        ASSERT_EQ(attempt([&] {
                      auto made = File::create(library, machine.driver(), access_of(workload_, machine));
                      file = static_cast<File&&>(*made);
                      return made.status();
                  }),
                  Status::ok);
        Group root = file.root();
        Elements elements(workload_, library, root);
        ASSERT_EQ(attempt([&] { return elements.make_target(); }), Status::ok);
        Versions versions;
        for (const Part& part : workload_.parts) {
            versions.emplace_back(part.elements, 0);
        }
        if (workload_.fresh) {
            acknowledge(file, versions);
        }
        for (std::size_t i = 0; i < workload_.parts.size(); ++i) {
            const Part& part = workload_.parts[i];
            ASSERT_EQ(attempt([&] { return elements.make(part); }), Status::ok);
            versions[i].assign(versions[i].size(), 1);
            ASSERT_EQ(attempt([&] { return elements.write(part, versions[i], 0, part.elements); }), Status::ok);
        }
        Random random(workload_.length);
        for (unsigned flush = 0; flush < workload_.flushes; ++flush) {
            acknowledge(file, versions);
            for (std::size_t n = 1 + random.below(5); n > 0; --n) {
                const std::size_t i = random.below(workload_.parts.size());
                const Part& part = workload_.parts[i];
                const auto from = static_cast<std::uint32_t>(random.below(part.elements));
                const auto count = static_cast<std::uint32_t>(1 + random.below(part.elements - from));
                for (std::uint32_t each = 0; each < count; ++each) {
                    ++versions[i][from + each];
                }
                ASSERT_EQ(attempt([&] { return elements.write(part, versions[i], from, count); }), Status::ok);
                if (fault_ == 0 && random.one_in(3)) {
                    order(root, flush * 10 + static_cast<unsigned>(n));
                }
            }
        }
        acknowledge(file, versions);
        ASSERT_TRUE(file.close() == Status::ok || fault_ != 0);
    }

    // Removes a second link to a group, before which all that was changed is put in order.
    static void order(Group& root, unsigned number) {
        const std::string name = "group " + std::to_string(number);
        auto group = root.create_group(name);
        ASSERT_EQ(group.status(), Status::ok);
        ASSERT_EQ(root.create_hard_link(name + " again", *group), Status::ok);
        ASSERT_EQ(root.unlink(name + " again"), Status::ok);
    }

    void acknowledge(File& file, const Versions& versions) {
        ASSERT_EQ(attempt([&] { return file.flush(); }), Status::ok);
        acknowledged_.push_back({operations_.size(), versions});
    }

    void judge(const Disks& disks, std::size_t operations, const char* what, std::size_t number) {
        std::size_t after = 0;
        while (after < acknowledged_.size() && acknowledged_[after].operations <= operations) {
            ++after;
        }
        std::uint64_t hash = after + fault_ * 0x100000000U;
        for (const Image& image : disks) {
            hash = hash_of({image.data(), image.size()}, hash);
        }
        // Before the first flush there need not be any of the datasets.
        if (after == 0 || !tally_.is_new(hash)) {
            return;
        }
        tally_.cut(true);
        const Acknowledged& least = acknowledged_[after - 1];
        const Acknowledged& most = after < acknowledged_.size() ? acknowledged_[after] : least;
        std::string bad = by_h5mote(disks, least.versions, most.versions);
        bad = bad.empty() && workload_.storage == Storage::file
                  ? by_libhdf5(disks[Machine::kFile], least.versions, most.versions)
                  : bad;
        if (!bad.empty()) {
            tally_.lost((fault_ == 0 ? "" : "call " + std::to_string(fault_) + " fails, ") + "cut after " +
                        std::to_string(operations) + ", " + what + " " + std::to_string(number) + ": " + bad);
        }
    }

    bool may_be_missing(std::size_t part, const Versions& least) const {
        return workload_.fresh && least[part][0] == 0;
    }

    std::string by_h5mote(const Disks& disks, const Versions& least, const Versions& most) {
        Machine machine(workload_.storage);
        Status status = machine.load(disks);
        status = status == Status::ok ? machine.start() : status;
        NullPort port;
        Library library(memory_, port);
        auto file = status == Status::ok ? File::open(library, machine.driver(), access_of(workload_, machine))
                                         : Result<File>(status);
        if (!file) {
            return std::string("does not open: ") + to_string(file.status());
        }
        const Findings findings = findings_in(*file);
        std::string bad = findings.none() ? ""
                                          : "problem " + std::to_string(findings.last_kind) + " at " +
                                                std::to_string(findings.last_address);
        Group root = file->root();
        Elements elements(workload_, library, root);
        Versions found(workload_.parts.size());
        for (std::size_t i = 0; bad.empty() && i < workload_.parts.size(); ++i) {
            const Part& part = workload_.parts[i];
            bool exists = false;
            if (may_be_missing(i, least) && root.exists(part.name, exists) == Status::ok && !exists) {
                continue;
            }
            bad = elements.find(part, least[i], most[i], found[i]);
            bad = bad.empty() ? "" : std::string(part.name) + ": " + bad;
        }
        // All elements get other values once more.
        for (std::size_t i = 0; bad.empty() && i < workload_.parts.size(); ++i) {
            const Part& part = workload_.parts[i];
            std::vector<std::uint32_t> next = found[i];
            for (std::uint32_t& version : next) {
                version += 100;
            }
            if (!next.empty() && (elements.write(part, next, 0, part.elements) != Status::ok ||
                                  file->flush() != Status::ok || !elements.find(part, next, next, found[i]).empty())) {
                bad = std::string(part.name) + ": does not go on";
            }
        }
        if (bad.empty() && (!findings_in(*file).none() || file->close() != Status::ok)) {
            bad = "is not sound after going on";
        }
        return bad;
    }

    // The texts that lie in the file itself.
    std::string by_libhdf5(const Image& image, const Versions& least, const Versions& most) {
        const Hdf5Id file = open_image({image.data(), image.size()});
        const Hdf5Id text(H5Tcopy(H5T_C_S1), H5Tclose);
        if (file < 0 || H5Tset_size(text, H5T_VARIABLE) < 0 || H5Tset_cset(text, H5T_CSET_UTF8) < 0) {
            return "libhdf5: does not open";
        }
        for (std::size_t i = 0; i < workload_.parts.size(); ++i) {
            const Part& part = workload_.parts[i];
            if (part.kind != Kind::text || part.external ||
                (may_be_missing(i, least) && H5Lexists(file, part.name, H5P_DEFAULT) == 0)) {
                continue;
            }
            const Hdf5Id data(H5Dopen2(file, part.name, H5P_DEFAULT), H5Dclose);
            const Hdf5Id space(H5Dget_space(data), H5Sclose);
            std::vector<char*> values(part.elements);
            if (H5Dread(data, text, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()) < 0) {
                return std::string("libhdf5: cannot read ") + part.name;
            }
            bool good = true;
            for (std::uint32_t element = 0; good && element < part.elements; ++element) {
                const std::string value = values[element] == nullptr ? "" : values[element];
                good = least[i][element] == 0 && value.empty();
                for (std::uint32_t version = least[i][element]; !good && version <= most[i][element]; ++version) {
                    good = version != 0 && value == text_of(element, version, workload_.length);
                }
            }
            (void)H5Dvlen_reclaim(text, space, H5P_DEFAULT, values.data());
            if (!good) {
                return std::string("libhdf5: another value in ") + part.name;
            }
        }
        return "";
    }

    Workload workload_;
    MallocAllocator memory_;
    std::vector<DiskOperation> operations_;
    std::vector<Acknowledged> acknowledged_;
    std::uint64_t fault_ = 0;  // the call of the driver that fails; 0: none
    std::size_t from_ = 0;     // cuts before so many operations are not tried
    Tally tally_;
};

const Part kLine = {"line", Kind::text, 32};
const Part kLines = {"lines", Kind::texts, 20};
const Part kChunks = {"chunks", Kind::text, 24, 8};
const Part kNested = {"nested", Kind::texts, 16, 4};
const Part kLarge = {"large chunks", Kind::text, 96, 64};
const Part kRegions = {"regions", Kind::region, 40};
const Part kRevised = {"revised regions", Kind::revised_region, 24};
const Part kRegionChunks = {"chunks of regions", Kind::region, 12, 4};
const Part kOutside = {"outside", Kind::text, 20, 0, true};

TEST(OverwriteCuts, Contiguous) { Sweep({"overwrite-contiguous", {kLine, kLines}, 300, 2048, 2048, 4}).run(3600); }
TEST(OverwriteCuts, Chunks) { Sweep({"overwrite-chunks", {kChunks, kNested}, 60}).run(1500); }
TEST(OverwriteCuts, FewChunksInMemory) {
    Sweep({"overwrite-few-chunks", {kChunks, kNested, kLarge}, 40, 1400, 200}).run(1600);
}
TEST(OverwriteCuts, Regions) { Sweep({"overwrite-regions", {kRegions, kRevised, kRegionChunks}, 20}).run(350); }
TEST(OverwriteCuts, All) { Sweep({"overwrite-all", {kLine, kNested, kRegionChunks, kLarge}, 90, 4096, 600}).run(2300); }
TEST(OverwriteCuts, NewDatasets) {
    const std::vector<Part> parts = {kLines, kNested, kLine, kChunks};
    Sweep({"overwrite-new", parts, 50, 1024, 300, 3, Storage::file, true}).run(3300);
}
TEST(OverwriteCuts, AfterFaults) {
    Sweep({"overwrite-faults", {kLine, kNested, kRegions}, 70, 2048, 2048, 2}).run_after_faults(9300);
}
TEST(OverwriteCuts, Split) {
    Sweep({"overwrite-split", {kLine, kNested, kRegionChunks}, 90, 2048, 2048, 8, Storage::split}).run(2500);
}
TEST(OverwriteCuts, Outside) { Sweep({"overwrite-outside", {kOutside, kChunks}, 60}).run(760); }
TEST(OverwriteCuts, OutsideOfAJournal) {
    Sweep({"overwrite-journal", {kOutside, kChunks}, 60, 2048, 2048, 6, Storage::journal}).run(740);
}

}  // namespace
}  // namespace h5mote_test
