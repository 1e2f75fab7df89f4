// The reading workloads with h5mote, whose caches are as large as those of libhdf5 are by default.
#include "read_workloads.hpp"

#include "../reading/all_filters.hpp"

#include <h5mote/attribute.hpp>
#include <h5mote/h5mote.hpp>
#include <h5mote/port/malloc.hpp>
#include <h5mote/selection_set.hpp>
#include <h5mote/variable_length.hpp>
#include <h5mote/vfd/posix.hpp>

#include <cstring>
#include <stdexcept>

namespace bench {
namespace {

using h5mote::Selection;
using h5mote::Status;

class H5moteReading final : public Reading {
public:
    void open(const std::string& path) override {
        check(driver_.open(path.c_str(), h5mote::PosixDriver::Mode::read_only), "open file");
        h5mote::FileAccess access;
        access.read_only = true;
        access.metadata_cache = 2 << 20;
        access.chunk_cache = 1 << 20;
        h5mote::Result<h5mote::File> file = h5mote::File::open(library_, driver_, access);
        check(file.status(), "open");
        file_ = static_cast<h5mote::File&&>(*file);
    }
    void close() override {
        check(file_.close(), "close");
        check(driver_.close(), "close");
    }

    void read_all(const std::string& name, double* to) override { read(name, Selection::all(), kRows * kColumns, to); }

    void read_strided(const std::string& name, double* to) override {
        read(name, Selection::hyperslab({1, 1}, {kRows / 3, kColumns / 2}, {3, 2}), kRows / 3 * (kColumns / 2), to);
    }

    void read_points(const std::string& name, const std::vector<std::uint64_t>& points, double* to) override {
        h5mote::SelectionSet set(library_);
        check(set.select_points(2, {points.data(), points.size()}), "select");
        read(name, set.view(), points.size() / 2, to);
    }

    std::uint64_t open_each(const std::vector<std::string>& paths) override {
        std::uint64_t sum = 0;
        h5mote::Group root = file_.root();
        for (const std::string& path : paths) {
            const auto object = root.open_object(path);
            check(object.status(), "open object");
            sum += (*object).address();
        }
        return sum;
    }

    std::int64_t read_attributes(const std::string& name) override {
        const auto group = file_.root().open_group(name);
        check(group.status(), "open group");
        h5mote::AttributeIterator all(*group);
        h5mote::Attribute attribute;
        std::int64_t sum = 0;
        Status status = Status::ok;
        while ((status = all.next(attribute)) == Status::ok) {
            std::int32_t value = 0;
            check(attribute.read(h5mote::datatype_of<std::int32_t>(),
                                 {reinterpret_cast<std::byte*>(&value), sizeof value}),
                  "read attribute");
            sum += value;
        }
        check(status == Status::not_found ? Status::ok : status, "iterate");
        return sum;
    }

    std::uint64_t read_strings(const std::string& name) override {
        static constexpr auto kText = h5mote::make_variable_string();
        auto dataset = file_.root().open_dataset(name);
        check(dataset.status(), "open dataset");
        std::vector<char*> texts(kStrings);
        check(dataset->read(Selection::all(), kText.view(),
                            {reinterpret_cast<std::byte*>(texts.data()), kStrings * sizeof(char*)}),
              "read");
        std::uint64_t characters = 0;
        for (const char* text : texts) {
            characters += text == nullptr ? 0 : std::strlen(text);
        }
        check(h5mote::reclaim(library_, kText.view(), kStrings, sizeof(char*), texts.data()), "reclaim");
        return characters;
    }

private:
    void read(const std::string& name, const Selection& selection, std::size_t count, double* to) {
        auto dataset = file_.root().open_dataset(name);
        check(dataset.status(), "open dataset");
        check(dataset->read(selection, h5mote::datatype_of<double>(),
                            {reinterpret_cast<std::byte*>(to), count * sizeof(double)}),
              "read");
    }

    static void check(Status status, const char* what) {
        if (status != Status::ok) {
            throw std::runtime_error(std::string("h5mote: ") + what + ": " + h5mote::to_string(status));
        }
    }

    h5mote::MallocAllocator allocator_;
    h5mote::NullPort port_;
    h5mote::Library library_{allocator_, port_, h5mote_test::kAllFilters};
    h5mote::PosixDriver driver_;
    h5mote::File file_;
};

}  // namespace

std::unique_ptr<Reading> make_h5mote_reading() { return std::make_unique<H5moteReading>(); }

}  // namespace bench
