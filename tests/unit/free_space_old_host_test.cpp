// Files of HDF5 1.10.0, whose file space info message has version 0, are changed.
#include <h5mote/config.hpp>

#if H5MOTE_ALL_FORMATS && H5MOTE_WRITE

#include "recorded_file.hpp"
#include "sound.hpp"

#include "checksum.hpp"
#include "cursor.hpp"

#include <string>
#include <vector>

#ifdef H5MOTE_TEST_HDF5
#include "hdf5_image.hpp"
#endif

namespace {

using namespace h5mote;
using namespace h5mote_test;

constexpr Formats kFormats = [] {
    Formats list = formats::standard;
    list.free_space = &formats::free_space;
    return list;
}();

struct Row {
    std::uint32_t value;
};
H5MOTE_COMPOUND(Row, value)

constexpr std::uint32_t kRows = 60;

// In a file of this library the extension has one message, of version 1: prefix 6 | size 1 | head 4 | body | checksum.
constexpr std::size_t kHead = 7;
constexpr std::size_t kBody = kHead + 4;
constexpr std::size_t kNewSize = 125;
constexpr std::size_t kOldSize = 2 + 8 + 6 * 8;

std::size_t extension_of(const Image& image) { return load_le<std::uint32_t>(image.data() + 20); }

std::uint8_t message_version(const Image& image) {
    return std::to_integer<std::uint8_t>(image[extension_of(image) + kBody]);
}

void reseal_extension(Image& image) {
    std::byte* const begin = image.data() + extension_of(image);
    store_le(begin + kBody + kNewSize, lookup3({begin, kBody + kNewSize}));
}

/// Puts a message of version 0 with that strategy, and a null message behind it, in the place of the one of version 1.
Image made_old(Image image, std::uint8_t strategy, std::size_t size = kOldSize) {
    std::byte* const head = image.data() + extension_of(image) + kHead;
    std::byte* const body = head + 4;
    EXPECT_EQ(head[0], std::byte{0x17});
    EXPECT_EQ(load_le<std::uint16_t>(head + 1), kNewSize);
    const std::vector<std::byte> managers(body + 29, body + 29 + 6 * 8);
    std::fill(body, body + kNewSize, std::byte{0});
    store_le(head + 1, static_cast<std::uint16_t>(size));
    head[3] = std::byte{0};
    body[1] = std::byte{strategy};
    body[2] = std::byte{1};
    if (size == kOldSize) {
        std::copy(managers.begin(), managers.end(), body + 10);
    }
    store_le(body + size + 1, static_cast<std::uint16_t>(kNewSize - size - 4));
    reseal_extension(image);
    return image;
}

Status make_log(File& file, const std::string& name) {
    DatasetCreate layout;
    layout.chunk = {8};
    auto log = file.root().create_dataset<Row>(name.c_str(), layout);
    H5MOTE_TRY(log.status());
    for (std::uint32_t i = 0; i < kRows; ++i) {
        H5MOTE_TRY(log->append(Row{static_cast<std::uint32_t>(7 * i + name.size())}));
    }
    return log->close();
}

bool intact(File& file, const std::string& name) {
    auto log = file.root().open_dataset<Row>(name.c_str());
    std::vector<Row> rows(kRows);
    bool same = log.status() == Status::ok && log->size() == kRows &&
                log->read(Selection::all(), {rows.data(), rows.size()}) == Status::ok;
    for (std::uint32_t i = 0; i < kRows && same; ++i) {
        same = rows[i].value == 7 * i + name.size();
    }
    return same;
}

/// A file with free space between its logs that records it.
Image make() {
    RecordedFile recorded({}, 512, kFormats);
    FileCreate create;
    create.persist_free_space = true;
    File file = recorded.open(2048, false, 16384, create);
    for (const char* name : {"old", "kept", "older", "also kept", "oldest", "end"}) {
        EXPECT_EQ(make_log(file, name), Status::ok);
    }
    for (const char* name : {"old", "older", "oldest"}) {
        EXPECT_EQ(file.root().unlink(name), Status::ok);
    }
    EXPECT_EQ(file.close(), Status::ok);
    return recorded.recorder.image(recorded.operations());
}

/// `writing`: libhdf5 opens the file to change it. Version 1.10.8 then replaces a message of version 0, and for that
/// makes a new extension, which fails in some files of 1.10.0 as well.
void expect_sound(const Image& image, [[maybe_unused]] bool writing = true) {
    RecordedFile recorded(image, 512, kFormats);
    File file = recorded.open(2048, true);
    EXPECT_TRUE(findings_in(file).none());
    EXPECT_TRUE(intact(file, "kept"));
    EXPECT_TRUE(intact(file, "also kept"));
    EXPECT_EQ(file.close(), Status::ok);
#ifdef H5MOTE_TEST_HDF5
    const Hdf5Id theirs = open_image({image.data(), image.size()}, writing ? H5F_ACC_RDWR : H5F_ACC_RDONLY);
    ASSERT_GE(theirs, 0);
    EXPECT_GE(H5Fget_freespace(theirs), 0);
    const Hdf5Id data(H5Dopen2(theirs, "kept", H5P_DEFAULT), H5Dclose);
    const Hdf5Id type(H5Tcreate(H5T_COMPOUND, 4), H5Tclose);
    std::vector<std::uint32_t> values(kRows);
    ASSERT_GE(H5Tinsert(type, "value", 0, H5T_NATIVE_UINT32), 0);
    ASSERT_GE(H5Dread(data, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()), 0);
    for (std::uint32_t i = 0; i < kRows; ++i) {
        ASSERT_EQ(values[i], 7 * i + 4);
    }
#endif
}

Status change(File& file) {
    H5MOTE_TRY(file.root().unlink("end"));
    H5MOTE_TRY(make_log(file, "new"));
    H5MOTE_TRY(file.flush());
    return make_log(file, "newer");
}

Image changed_by_session(const Image& image, std::uint32_t unit = 512) {
    RecordedFile recorded(image, unit, kFormats);
    File file = recorded.open();
    EXPECT_EQ(change(file), Status::ok);
    EXPECT_EQ(file.close(), Status::ok);
    return recorded.recorder.image(recorded.operations());
}

std::uint64_t recorded_in(const Image& image) {
    RecordedFile recorded(image, 512, kFormats);
    File file = recorded.open(2048, true);
    FreeSpaceInfo info;
    EXPECT_EQ(file.free_space(info), Status::ok);
    EXPECT_EQ(file.close(), Status::ok);
    return info.bytes;
}

}  // namespace

TEST(OldFreeSpaceRecord, IsTakenOverAndReplaced) {
    const Image made_new = make();
    const Image image = made_old(made_new, 1);
    ASSERT_GT(recorded_in(image), 1000U);
    expect_sound(image, false);
    for (const std::uint32_t unit : {128U, 512U, 4096U}) {
        const Image changed = changed_by_session(image, unit);
        expect_sound(changed);
        // Logs found room where others had been.
        EXPECT_LE(changed.size(), changed_by_session(made_new, unit).size() + 512);
        EXPECT_LT(changed.size() + 200, changed_by_session(made_old(made_new, 3), unit).size());
        EXPECT_GT(recorded_in(changed), 0U);
        RecordedFile again(changed, unit, kFormats);
        File file = again.open();
        EXPECT_TRUE(intact(file, "newer"));
        ASSERT_EQ(file.root().unlink("newer"), Status::ok);
        ASSERT_EQ(file.close(), Status::ok);
        expect_sound(again.recorder.image(again.operations()));
        EXPECT_GT(recorded_in(again.recorder.image(again.operations())), recorded_in(changed));
    }
}

TEST(OldFreeSpaceRecord, StaysSoundWhereverThePowerIsCut) {
    const Image image = made_old(make(), 1);
    unsigned cuts = 0;
    for (const std::uint32_t unit : {128U, 512U}) {
        RecordedFile recorded(image, unit, kFormats);
        const std::size_t begin = recorded.operations();
        File file = recorded.open();
        ASSERT_EQ(change(file), Status::ok);
        ASSERT_EQ(file.close(), Status::ok);
        for_each_cut(recorded, begin, [&](const Image& cut) {
            ++cuts;
            expect_sound(cut, false);
            RecordedFile next(cut, unit, kFormats);
            File continued = next.open();
            ASSERT_EQ(make_log(continued, "last"), Status::ok);
            ASSERT_EQ(continued.close(), Status::ok);
            expect_sound(next.recorder.image(next.operations()));
        });
    }
    EXPECT_GT(cuts, 100U);
}

TEST(OldFreeSpaceRecord, WithoutManagersTheMessageStays) {
    const Image image = make();
    // Of these only the first one uses again what was released in the same session.
    std::size_t reusing = 0;
    for (const std::uint8_t strategy : {std::uint8_t{2}, std::uint8_t{3}, std::uint8_t{4}}) {
        // The library of that time wrote undefined addresses, or none.
        for (const std::size_t size : {std::size_t{10}, kOldSize}) {
            SCOPED_TRACE(testing::Message() << unsigned{strategy} << ' ' << size);
            const Image changed = changed_by_session(made_old(image, strategy, size));
            EXPECT_EQ(message_version(changed), 0U);
            expect_sound(changed, false);
            reusing = strategy == 2 ? changed.size() : reusing;
            EXPECT_EQ(reusing < changed.size(), strategy != 2);
        }
    }
}

TEST(OldFreeSpaceRecord, IsNotBelievedWhenItContradictsItself) {
    Image image = made_old(make(), 1);
    std::byte* const managers = image.data() + extension_of(image) + kBody + 10;
    store_le(managers + 8, load_le<std::uint64_t>(managers));  // two kinds have the same manager
    reseal_extension(image);
    const Image changed = changed_by_session(image);
    expect_sound(changed);
    EXPECT_GT(changed.size(), image.size());
}

TEST(OldFreeSpaceRecord, OfNoStrategyIsDamaged) {
    const Image image = make();
    for (const Image& damaged :
         {made_old(image, 0), made_old(image, 5), made_old(image, 255), made_old(image, 1, kOldSize - 8)}) {
        RecordedFile recorded(damaged, 512, kFormats);
        EXPECT_EQ(File::open(recorded.library, recorded.recorder, FileAccess()).status(), Status::corrupt_file);
    }
}

#endif
