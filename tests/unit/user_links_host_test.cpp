// User-defined links that libhdf5 made, followed with a resolver of the program, which takes their data as paths.
#ifdef H5MOTE_TEST_HDF5

#include <h5mote/h5mote.hpp>

#if H5MOTE_ALL_FORMATS

#include "hdf5_files.hpp"

#include <h5mote/port/malloc.hpp>
#include <h5mote/vfd/memory.hpp>

#include <gtest/gtest.h>

#include <cstring>

using namespace h5mote;
using namespace h5mote_test;

namespace {

constexpr int kUserClass = H5L_TYPE_UD_MIN + 1;

const std::string kLong = "inner" + std::string(200, '/') + "x";

hid_t follow_nothing(const char*, hid_t, const void*, std::size_t, hid_t, hid_t) { return -1; }

// Makes the groups /inner/x, /inner and /other, and user-defined links with paths as their data.
std::vector<std::byte> file_with_links(Hdf5Maker::Format format) {
    H5L_class_t kind = {};
    kind.version = H5L_LINK_CLASS_T_VERS;
    kind.id = static_cast<H5L_type_t>(kUserClass);
    kind.trav_func = follow_nothing;
    H5Lregister(&kind);
    Hdf5Maker maker(format);
    for (const char* name : {"inner", "inner/x", "other"}) {
        const Hdf5Id group(H5Gcreate2(maker.file(), name, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), H5Gclose);
    }
    const auto link = [&](const char* name, const std::string& path) {
        H5Lcreate_ud(maker.file(), name, kind.id, path.data(), path.size(), H5P_DEFAULT, H5P_DEFAULT);
    };
    link("short", "inner");
    link("long", kLong);
    link("other/absolute", "/inner");
    link("other/relative", "absolute/x");
    link("self", "self");
    link("nowhere", "not/there");
    link("other/here", "");
    return maker.finish();
}

class PathResolver final : public LinkResolver {
public:
    Status resolve(const Link& link, Span<char> path, std::size_t& length) noexcept override {
        ++calls;
        if (shrinks != nullptr) {
            // The second call returns a shorter path than the first call asked for.
            length = calls == 1 ? path.size() + 100 : std::strlen(shrinks);
            if (calls != 1) {
                std::memcpy(path.data(), shrinks, length);
            }
            return calls == 1 ? Status::invalid_argument : Status::ok;
        }
        const std::string_view data(reinterpret_cast<const char*>(link.data().data()), link.data().size());
        length = claimed != 0 ? claimed : data.size();
        if (answer != Status::ok || data.size() > path.size()) {
            return answer != Status::ok ? answer : Status::invalid_argument;
        }
        std::memcpy(path.data(), data.data(), data.size());
        return Status::ok;
    }
    unsigned calls = 0;
    Status answer = Status::ok;
    std::size_t claimed = 0;        ///< a wrong length that resolve() returns
    const char* shrinks = nullptr;  ///< the path that every link resolves to
};

struct Opened {
    explicit Opened(Hdf5Maker::Format format, bool with_resolver = true)
        : image(file_with_links(format)), driver(MemoryDriver::reading({image.data(), image.size()})) {
        FileAccess access;
        access.read_only = true;
        access.link_resolver = with_resolver ? &resolver : nullptr;
        auto opened = File::open(library, driver, access);
        EXPECT_EQ(opened.status(), Status::ok);
        file = static_cast<File&&>(*opened);
        for (const char* name : {"inner", "inner/x"}) {
            addresses.push_back(file.root().open_group(name)->address());
        }
    }
    /// Returns the address of the group at `path`.
    Address at(const char* path) {
        auto group = file.root().open_group(path);
        EXPECT_EQ(group.status(), Status::ok) << path;
        return group ? group->address() : kUndefinedAddress;
    }
    Status status(const char* path) { return file.root().open_group(path).status(); }

    std::vector<std::byte> image;
    MallocAllocator memory;
    NullPort port;
    Library library{memory, port};
    MemoryDriver driver;
    PathResolver resolver;
    File file;
    std::vector<Address> addresses;  // addresses of /inner and of /inner/x
};

constexpr Hdf5Maker::Format kFormats[] = {Hdf5Maker::Format::oldest, Hdf5Maker::Format::newest};

}  // namespace

TEST(UserLinks, LeadWhereTheProgramSays) {
    for (const Hdf5Maker::Format format : kFormats) {
        Opened opened(format);
        EXPECT_EQ(opened.at("short"), opened.addresses[0]);
        EXPECT_EQ(opened.at("short/x"), opened.addresses[1]);
        EXPECT_EQ(opened.at("other/absolute"), opened.addresses[0]);
        EXPECT_EQ(opened.at("other/absolute/x"), opened.addresses[1]);
        EXPECT_EQ(opened.at("other/relative"), opened.addresses[1]);
        EXPECT_EQ(opened.at("other/here"), opened.at("other"));
        EXPECT_EQ(opened.at("other/here/relative"), opened.addresses[1]);
        // A path that does not fit is asked for again with as much room as it needs.
        opened.resolver.calls = 0;
        EXPECT_EQ(opened.at("long"), opened.addresses[1]);
        EXPECT_EQ(opened.resolver.calls, 2U);
        EXPECT_EQ(opened.status("nowhere"), Status::not_found);
        EXPECT_NE(opened.status("self"), Status::ok);
    }
}

TEST(UserLinks, TakeLessRoomThanWasAskedFor) {
    for (const Hdf5Maker::Format format : kFormats) {
        Opened opened(format);
        const auto leads = [&](const char* target, const char* path, Address to) {
            opened.resolver.shrinks = target;
            opened.resolver.calls = 0;
            EXPECT_EQ(opened.at(path), to) << target << ' ' << path;
            EXPECT_EQ(opened.resolver.calls, 2U);
        };
        leads("inner", "short", opened.addresses[0]);
        leads("inner", "short/x", opened.addresses[1]);
        leads("/inner", "other/absolute/x", opened.addresses[1]);
        leads("", "short/inner", opened.addresses[0]);
        leads("", "short", opened.file.root().address());
    }
}

TEST(UserLinks, AreRefusedAsTheProgramSays) {
    for (const Hdf5Maker::Format format : kFormats) {
        Opened none(format, false);
        EXPECT_EQ(none.status("short"), Status::unsupported);
        Opened opened(format);
        for (const Status answer : {Status::unsupported, Status::not_found, Status::io_error}) {
            opened.resolver.answer = answer;
            EXPECT_EQ(opened.status("short"), answer);
        }
        // Lengths that cannot be right, with a path that was written (ok) and with a path that needs more room.
        opened.resolver.answer = Status::ok;
        opened.resolver.claimed = 1000;
        EXPECT_EQ(opened.status("short"), Status::invalid_argument);
        opened.resolver.answer = Status::invalid_argument;
        EXPECT_EQ(opened.status("short"), Status::invalid_argument);
        opened.resolver.claimed = 0x10000;
        EXPECT_EQ(opened.status("short"), Status::invalid_argument);
        opened.resolver.claimed = 5;
        EXPECT_EQ(opened.status("short"), Status::invalid_argument);
        opened.resolver.answer = Status::ok;
        opened.resolver.claimed = 0;
        EXPECT_EQ(opened.at("short"), opened.addresses[0]);
    }
}

#endif
#endif
