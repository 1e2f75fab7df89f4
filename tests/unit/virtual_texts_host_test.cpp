// Values of variable length that are written through a virtual dataset into sources of the same file: they go to the
// heap collection that has the mappings.
#include <h5mote/config.hpp>

#if H5MOTE_WRITE && H5MOTE_ALL_FORMATS

#include "sound.hpp"

#include <h5mote/h5mote.hpp>
#include <h5mote/port/malloc.hpp>
#include <h5mote/variable_length.hpp>
#include <h5mote/vfd/memory.hpp>

#include <gtest/gtest.h>

#include <string>
#include <vector>

using namespace h5mote;
using namespace h5mote_test;

namespace {

constexpr auto kText = make_variable_string(CharacterSet::utf8);
constexpr std::size_t kCount = 4;
using Texts = std::vector<std::string>;

Status write(Dataset& data, const Selection& where, const Texts& texts) {
    std::vector<const char*> pointers;
    for (const std::string& text : texts) {
        pointers.push_back(text.c_str());
    }
    return data.write(where, kText, {reinterpret_cast<std::byte*>(pointers.data()), pointers.size() * sizeof(char*)});
}

Texts read(Library& library, Dataset& data) {
    std::vector<char*> pointers(kCount);
    EXPECT_EQ(data.read(Selection::all(), kText,
                        {reinterpret_cast<std::byte*>(pointers.data()), pointers.size() * sizeof(char*)}),
              Status::ok);
    Texts texts;
    for (const char* const each : pointers) {
        texts.push_back(each == nullptr ? "" : each);
    }
    EXPECT_EQ(reclaim(library, kText, kCount, sizeof(char*), pointers.data()), Status::ok);
    return texts;
}

void expect_texts(Library& library, File& file, const Texts& expected) {
    for (const char* const name : {"v", "s"}) {
        Result<Dataset> data = file.root().open_dataset(name);
        ASSERT_EQ(data.status(), Status::ok);
        EXPECT_EQ(read(library, *data), expected) << name;
    }
    const Findings findings = findings_in(file);
    EXPECT_TRUE(findings.none()) << findings.last_kind << " at " << findings.last_address;
}

// One mapping, or one for each half. `old`: the source has values before.
void write_through(bool halves, bool points, bool old) {
    MallocAllocator memory;
    NullPort port;
    Library library(memory, port, {}, formats::all);
    GrowingMemoryDriver storage(memory);
    FileAccess access;
    access.metadata_cache = 65536;
    const std::uint64_t begin[] = {0};
    const std::uint64_t middle[] = {2};
    const std::uint64_t half[] = {2};
    const std::uint64_t whole[] = {4};
    const Dataspace four = Dataspace::simple({kCount});
    const auto part = [](const std::uint64_t(&start)[1], const std::uint64_t(&count)[1]) {
        return Selection::hyperslab(Span<const std::uint64_t>(start, 1), Span<const std::uint64_t>(count, 1));
    };
    const NewMapping two[] = {{".", "s", part(begin, half), &four, part(begin, half)},
                              {".", "s", part(middle, half), &four, part(middle, half)}};
    const NewMapping one[] = {{".", "s", part(begin, whole), &four, part(begin, whole)}};
    Texts expected = {"A", "B", "C", "D"};
    {
        Result<File> file = File::create(library, storage, access);
        ASSERT_EQ(file.status(), Status::ok);
        {
            Result<Dataset> source = file->root().create_dataset("s", kText, four);
            ASSERT_EQ(source.status(), Status::ok);
            ASSERT_EQ(old ? write(*source, Selection::all(), {"1", "2", "3", "4"}) : Status::ok, Status::ok);
        }
        DatasetCreate create;
        create.mappings = halves ? Span<const NewMapping>(two, 2) : Span<const NewMapping>(one, 1);
        Result<Dataset> data = file->root().create_dataset("v", kText, four, create);
        ASSERT_EQ(data.status(), Status::ok);
        for (int time = 0; time < 3; ++time) {
            const std::uint64_t order[] = {3, 2, 1, 0};
            ASSERT_EQ(points ? write(*data, Selection::points(1, Span<const std::uint64_t>(order, kCount)),
                                     {expected[3], expected[2], expected[1], expected[0]})
                             : write(*data, Selection::all(), expected),
                      Status::ok);
            expect_texts(library, *file, expected);
            for (std::string& text : expected) {
                text += " again";
            }
        }
        data = Status::not_found;
        ASSERT_EQ(file->close(), Status::ok);
    }
    Result<File> file = File::open(library, storage, access);
    ASSERT_EQ(file.status(), Status::ok);
    for (std::string& text : expected) {
        text.resize(text.size() - std::string(" again").size());
    }
    expect_texts(library, *file, expected);
    EXPECT_EQ(file->close(), Status::ok);
}

}  // namespace

TEST(VirtualTexts, WrittenThroughIntoTheSameFile) {
    for (unsigned form = 0; form < 8; ++form) {
        SCOPED_TRACE(form);
        write_through((form & 1) != 0, (form & 2) != 0, (form & 4) != 0);
    }
}

#endif
