// Shows what the whole library costs: a program that calls every public function of the core for the library's own
// files and walks everything that any file may hold (tests/support/walker.hpp), with all filters and both memory
// drivers. It is built with profile `full`, with profile `reader` (then without the calls that write), and with
// H5MOTE_REFERENCE_EMPTY without the library; H5MOTE_REFERENCE_PART=PART with that part of the format as well.
//
//   reference_full FILE   full: makes a file in memory, reads all of it back, saves it as FILE
//                         reader: reads that file
// Prints the peaks of arena and stack.
#include "measure.hpp"

#include <h5mote/port/stack.hpp>

#ifndef H5MOTE_REFERENCE_EMPTY
#include "../reading/all_filters.hpp"
#include "../support/walker.hpp"
#include "reference.hpp"

#include <h5mote/vfd/memory.hpp>
#endif

namespace {

alignas(8) std::byte memory[48 * 1024];
std::byte storage[64 * 1024];

#ifdef H5MOTE_REFERENCE_EMPTY

bool run(const char* path) {
    const std::size_t length = measure::load(path, storage);
    return memory[0] == storage[0] && measure::save(path, {storage, length});
}

#else

using h5mote::Bytes;
using h5mote::ConstBytes;
using h5mote::Dataset;
using h5mote::Dataspace;
using h5mote::File;
using h5mote::Group;
using h5mote::Selection;
using h5mote::Span;
using h5mote::Status;
using reference::Sample;

// The reference records as another program may see them: members have other sizes and another order, and one is left
// out.
struct Wide {
    double temp_c;
    std::int64_t t_ms;
};
H5MOTE_COMPOUND(Wide, temp_c, t_ms)

enum class Mode : std::int8_t { idle = 0, armed = 1, flying = 2 };
H5MOTE_ENUM(Mode, idle, armed, flying)

constexpr std::uint32_t kRows = 100;

// Constants are in read-only memory, as in firmware, and not on the small stack: a Dataspace takes 16 bytes for each of
// the H5MOTE_MAX_RANK dimensions that it may have, and a DatasetCreate takes more.
constexpr Dataspace kGrid = Dataspace::simple({8, 10});
constexpr Dataspace kGrowingGrid = Dataspace::simple({4, 10}, {h5mote::kUnlimited, 10});
constexpr Dataspace kThree = Dataspace::simple({3});
constexpr std::int32_t kFill = -1;
const h5mote::ConstBytes kFillBytes{reinterpret_cast<const std::byte*>(&kFill), sizeof kFill};
constexpr auto kBigEndian = h5mote::make_integer(4, true, h5mote::ByteOrder::big);

constexpr h5mote::DatasetCreate with_layout(h5mote::Layout layout) {
    h5mote::DatasetCreate create;
    create.layout = layout;
    return create;
}
constexpr h5mote::DatasetCreate kCompact = with_layout(h5mote::Layout::compact);
constexpr h5mote::DatasetCreate kContiguous = with_layout(h5mote::Layout::contiguous);
constexpr h5mote::DatasetCreate kLog = [] {
    h5mote::DatasetCreate create;
    create.chunk = {16};
    return create;
}();
constexpr h5mote::DatasetCreate kPacked = [] {
    h5mote::DatasetCreate create;
    create.chunk = {16};
    create.filters = {h5mote::filters::shuffle, h5mote::filters::deflate, h5mote::filters::fletcher32};
    return create;
}();
constexpr std::uint64_t k0[] = {0}, k1[] = {1}, k3[] = {3}, k4[] = {4}, kMany[] = {kRows}, kQuarter[] = {kRows / 4};
constexpr std::uint64_t k00[] = {0, 0}, k11[] = {1, 1}, k12[] = {1, 2}, k22[] = {2, 2}, k23[] = {2, 3}, k33[] = {3, 3},
                        k36[] = {3, 6}, k45[] = {4, 5};
constexpr Selection kFirstRows = Selection::hyperslab(k0, kMany);
constexpr Selection kLastRow = Selection::hyperslab(kMany, k1);
constexpr Selection kEveryFourth = Selection::hyperslab(k1, kQuarter, k4);
constexpr Selection kBlocks = Selection::hyperslab(k11, k33, k23, k12);
constexpr Selection kCorner = Selection::hyperslab(k00, k36);
constexpr Selection kEverySecond = Selection::hyperslab(k00, k45, k22);
constexpr Selection kMiddle = Selection::hyperslab(k11, k45);
h5mote::DatasetCreate tiles;  // chunks of 3 x 4, with a fill value; not constexpr, because that is a pointer

h5mote::Arena arena{memory};
h5mote::NullPort port;
#if defined(H5MOTE_REFERENCE_PART)
constexpr h5mote::Formats kFormats = [] {
    h5mote::Formats formats = h5mote::formats::standard;
    formats.H5MOTE_REFERENCE_PART = &h5mote::formats::H5MOTE_REFERENCE_PART;
    return formats;
}();
#else
constexpr h5mote::Formats kFormats = h5mote::formats::standard;
#endif
h5mote::Library library{arena, port, h5mote_test::kAllFilters, kFormats};
std::int32_t grid[8 * 10];
std::int16_t narrow[8 * 10];
Sample samples[kRows];
Wide wide[kRows];
Dataspace extent;
h5mote::AttributeInfo attribute;
char text[64];
std::byte type_bytes[256];

// Steps are not inlined into each other, so that the locals of one do not add to the stack frame of another.
#define STEP __attribute__((noinline))

#define EXPECT(condition)                                                           \
    do {                                                                            \
        if (!(condition)) {                                                         \
            measure::print("expectation in line", static_cast<unsigned>(__LINE__)); \
            return Status::corrupt_file;                                            \
        }                                                                           \
    } while (0)

#define TRY(expression)                                                        \
    do {                                                                       \
        const Status status = (expression);                                    \
        if (status != Status::ok) {                                            \
            measure::print("failed in line", static_cast<unsigned>(__LINE__)); \
            return status;                                                     \
        }                                                                      \
    } while (0)

Bytes bytes_of(std::int32_t (&values)[80]) { return {reinterpret_cast<std::byte*>(values), sizeof values}; }
Bytes bytes_of(std::int16_t (&values)[80]) { return {reinterpret_cast<std::byte*>(values), sizeof values}; }

#if H5MOTE_WRITE
STEP Status write_log(Group& group) {
    auto packed = group.create_dataset<Sample>("packed", kPacked);
    TRY(packed.status());
    auto log = group.open_or_create_dataset<Sample>("log", kLog);
    TRY(log.status());
    for (std::uint32_t i = 0; i < kRows; ++i) {
        reference::make_row(i, samples[i]);
        TRY(log->append(samples[i]));
    }
    TRY(packed->append({samples, kRows}));
    // Append a record of another datatype than the file's, through a conversion.
    auto convert = group.open_dataset("log");
    TRY(convert.status());
    TRY(convert->set_memory_type(h5mote::datatype_of<Wide>()));
    const Wide record{1.5, 2};
    TRY(convert->append_records(&record, 1));
    TRY(log->write(kLastRow, Span<const Sample>(samples, 1)));
    return packed->close();
}

STEP Status write_grids(Group& group) {
    for (int i = 0; i < 80; ++i) {
        grid[i] = 1000 - 25 * i;
    }
    const auto memory_type = h5mote::datatype_of<std::int32_t>();
    auto compact = group.create_dataset("compact", kBigEndian, kGrid, kCompact);
    TRY(compact.status());
    TRY(compact->write(Selection::all(), memory_type, bytes_of(grid)));
    auto contiguous = group.create_dataset("contiguous", h5mote::file_type_of<std::int16_t>(), kGrid, kContiguous);
    TRY(contiguous.status());
    TRY(contiguous->write(Selection::all(), memory_type, bytes_of(grid)));
    tiles.chunk = {3, 4};
    tiles.fill = kFillBytes;
    auto fixed = group.create_dataset("fixed", h5mote::file_type_of<std::int32_t>(), kGrid, tiles);
    TRY(fixed.status());
    TRY(fixed->write(kBlocks, memory_type, kGrid, kCorner, bytes_of(grid)));
    auto growing = group.create_dataset("growing", h5mote::file_type_of<std::int32_t>(), kGrowingGrid, tiles);
    TRY(growing.status());
    TRY(growing->set_extent({8, 10}));
    return growing->write(Selection::all(), memory_type, bytes_of(grid));
}

STEP Status write_attributes(h5mote::Object& object) {
    TRY(object.write_attribute("text", "degrees Celsius"));
    TRY(object.write_attribute("number", 2.5));
    TRY(object.write_attribute("mode", Mode::flying));
    static constexpr std::int16_t kArray[] = {1, 2, 3};
    TRY(object.write_attribute("array", h5mote::file_type_of<std::int16_t>(), kThree,
                               {reinterpret_cast<const std::byte*>(kArray), sizeof kArray}));
    TRY(object.write_attribute("extra", std::uint8_t{1}));
    return object.remove_attribute("extra");
}

STEP Status write_everything(h5mote::Driver& driver) {
    auto created = File::create(library, driver);
    TRY(created.status());
    TRY(created->close());
    auto file = File::open_or_create(library, driver);
    TRY(file.status());
    h5mote::GroupCreate tracked;
    tracked.track_link_order = true;
    Group root = file->root();
    auto group = root.create_group("group", tracked);
    TRY(group.status());
    auto same = root.open_or_create_group("group");
    TRY(same.status());
    EXPECT(same->address() == group->address());
    TRY(write_log(*group));
    TRY(write_grids(*group));
    TRY(write_attributes(*group));
    TRY(root.create_hard_link("again", *group));
    TRY(root.create_soft_link("soft", "/group/log"));
    TRY(file->flush());
    return file->close();
}
#endif

STEP Status read_names(Group& group) {
    std::uint32_t count = 0;
    TRY(group.link_count(count));
    h5mote::LinkInfo info;
    char target[32];
    for (std::uint32_t i = 0; i < count; ++i) {
        TRY(group.link(i, info, text, target));
    }
    TRY(group.attribute_count(count));
    std::size_t length = 0;
    for (std::uint32_t i = 0; i < count; ++i) {
        TRY(group.attribute_name(i, text, length));
    }
    return Status::ok;
}

STEP Status read_attributes(const h5mote::Object& object) {
    double number = 0;
    Mode mode = Mode::idle;
    std::int64_t array[3] = {};
    std::size_t length = 0;
    h5mote::DatatypeView type;
    EXPECT(object.has_attribute("number"));
    TRY(object.read_attribute("number", number));
    TRY(object.read_attribute("mode", mode));
    TRY(object.read_attribute("text", text, length));
    TRY(object.read_attribute("array", h5mote::datatype_of<std::int64_t>(),
                              {reinterpret_cast<std::byte*>(array), sizeof array}));
    TRY(object.attribute_info("array", attribute));
    TRY(object.attribute_type("array", type_bytes, type));
    EXPECT(number == 2.5 && mode == Mode::flying && length == 15 && array[2] == 3);
    EXPECT(attribute.space == kThree && h5mote::equal(type, h5mote::file_type_of<std::int16_t>()));
    return Status::ok;
}

STEP Status read_log(Group& group, const char* path) {
    auto log = group.open_dataset<Sample>(path);
    TRY(log.status());
    TRY(log->read(kFirstRows, Span<Sample>(samples, kRows)));
    TRY(log->read(kEveryFourth, h5mote::datatype_of<Wide>(),
                  {reinterpret_cast<std::byte*>(wide), kRows / 4 * sizeof(Wide)}));
    for (std::uint32_t i = 0; i < kRows; ++i) {
        Sample expected;
        reference::make_row(i, expected);
        EXPECT(samples[i].t_ms == expected.t_ms && samples[i].temp_c == expected.temp_c);
        EXPECT(i >= kRows / 4 || wide[i].t_ms == 4 * (1 + 4 * static_cast<std::int64_t>(i)));
    }
    h5mote::DatatypeView type;
    std::uint64_t count = 0;
    TRY(log->datatype(type_bytes, type));
    TRY(log->dataspace(extent));
    TRY(extent.element_count(count));
    TRY(Selection::all().validate(extent));
    TRY(Selection::hyperslab(k1, k3).element_count(extent, count));
    EXPECT(count == 3 && log->size() >= kRows && log->element_size() == sizeof(Sample));
    return log->close();
}

STEP Status read_grid(Group& group, const char* path, bool whole) {
    auto dataset = group.open_dataset(path);
    TRY(dataset.status());
    TRY(dataset->read(Selection::all(), h5mote::datatype_of<std::int16_t>(), bytes_of(narrow)));
    for (int i = 0; whole && i < 80; ++i) {
        EXPECT(narrow[i] == 1000 - 25 * i);
    }
    EXPECT(whole || (narrow[0] == -1 && narrow[11] == 1000 && narrow[12] == 975));
    return dataset->read(kEverySecond, h5mote::datatype_of<std::int32_t>(), kGrid, kMiddle, bytes_of(grid));
}

// Calls the accessors of a datatype.
STEP Status inspect(h5mote::DatatypeView type) {
    h5mote::CompoundMember member;
    h5mote::EnumMember name;
    EXPECT(type.type_class() == h5mote::TypeClass::compound && type.member_count() == 3);
    EXPECT(type.find_member("accel", member) && member.size() == 6 && member.type.rank() == 1);
    EXPECT(member.type.dimension(0) == 3 && member.type.base().is_signed() &&
           member.type.dimension_bytes().size() == 4);
    EXPECT(type.member(2, member) && member.type.float_fields().exponent_size == 8 && member.type.bit_offset() == 0);
    EXPECT(member.type.order() == h5mote::ByteOrder::little && member.type.precision() == 32);
    const auto mode = h5mote::datatype_of<Mode>();
    const auto value = static_cast<std::byte>(1);
    EXPECT(mode.find_enum_value(&value, name) && mode.find_enum_name("armed", name) && mode.enum_member(1, name));
    EXPECT(type.tag().empty() && !type.is_variable_string() && type.padding() == h5mote::StringPadding{});
    EXPECT(type.character_set() == h5mote::CharacterSet::ascii && type.reference_type() == h5mote::ReferenceType{});
    EXPECT(h5mote::identical_layout(type, h5mote::datatype_of<Sample>()));
    return Status::ok;
}

STEP Status read_everything(h5mote::Driver& driver) {
    h5mote::FileAccess access;
    access.read_only = true;
    auto file = File::open(library, driver, access);
    TRY(file.status());
    Group root = file->root();
    auto group = root.open_group("again");
    TRY(group.status());
    EXPECT(file->valid() && root.exists("soft") && !root.exists("none"));
    TRY(read_names(root));
    TRY(read_names(*group));
    TRY(read_attributes(*group));
    TRY(read_log(root, "soft"));
    TRY(read_log(*group, "packed"));
    TRY(read_grid(*group, "compact", true));
    TRY(read_grid(*group, "contiguous", true));
    TRY(read_grid(*group, "fixed", false));
    TRY(read_grid(*group, "growing", true));
    TRY(inspect(h5mote::file_type_of<Sample>()));
    library.garbage_collect();
    return file->close();
}

STEP Status walk_everything(h5mote::Driver& driver) {
    h5mote::FileAccess access;
    access.read_only = true;
    static h5mote_test::WalkResult result;
    static const h5mote_test::WalkLimits limits;
    TRY(h5mote_test::walk_file(library, driver, access, bytes_of(grid), limits, result));
    EXPECT(result.errors == 0 && result.objects == 8 && result.attributes == 4 && result.elements > 4 * kRows);
    return Status::ok;
}

STEP bool report(Status status) {
    if (status != Status::ok) {
        measure::print(h5mote::to_string(status));
        for (std::size_t i = 0; i < library.trail().size(); ++i) {
            const h5mote::ErrorRecord record = library.trail().newest(i);
            measure::print(" ");
            measure::print(h5mote::to_string(record.module));
            measure::print(" line", record.line);
            measure::print(h5mote::to_string(static_cast<h5mote::Feature>(record.value)));
        }
        library.trail().clear();
    }
    return status == Status::ok;
}

STEP void print_peak() {
    const h5mote::MemoryReport usage = library.memory_report();
    measure::print("arena", static_cast<std::uint32_t>(usage.total.peak));
}

STEP bool run(const char* path) {
    Status status = Status::ok;
#if H5MOTE_WRITE
    h5mote::GrowingMemoryDriver driver{arena};
    status = driver.assign({storage, 0});
    status = status == Status::ok ? write_everything(driver) : status;
#else
    const std::size_t length = measure::load(path, storage);
    h5mote::MemoryDriver driver = h5mote::MemoryDriver::reading({storage, length});
#endif
    status = status == Status::ok ? read_everything(driver) : status;
    status = status == Status::ok ? walk_everything(driver) : status;
    print_peak();
#if H5MOTE_WRITE
    return report(status) && measure::save(path, driver.contents());
#else
    return report(status);
#endif
}

#endif

}  // namespace

int main(int argc, char** argv) {
    h5mote::paint_stack();
    const void* const here = h5mote::stack_pointer();
    const bool good = argc > 1 && run(argv[1]);
    measure::print("stack", static_cast<std::uint32_t>(h5mote::painted_stack_used(here)));
    return good ? 0 : 1;
}
