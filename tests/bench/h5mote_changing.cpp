// The workloads of change_workloads.hpp with h5mote.
#include "change_workloads.hpp"
#include "unsynced_driver.hpp"

#include "../reading/all_filters.hpp"

#include <h5mote/attribute.hpp>
#include <h5mote/copy.hpp>
#include <h5mote/h5mote.hpp>
#include <h5mote/port/malloc.hpp>
#include <h5mote/variable_length.hpp>
#include <h5mote/vfd/posix.hpp>

#include <stdexcept>

namespace bench {
namespace {

using h5mote::File;
using h5mote::Group;
using h5mote::Selection;
using h5mote::Status;

constexpr auto kText = h5mote::make_variable_string();

template <typename T>
h5mote::ConstBytes bytes_of(const std::vector<T>& values) {
    return h5mote::as_bytes(h5mote::Span<const T>(values.data(), values.size()));
}

class Fingerprint final : public h5mote::Visitor {
public:
    Status object(std::string_view path, h5mote::Object& object) noexcept override {
        h5mote::Result<h5mote::Dataset> dataset = h5mote::Dataset::from(object.duplicate());
        if (dataset.status() != Status::ok) {
            return Status::ok;
        }
        const bool wide = dataset->element_size() == 8;
        h5mote::Dataspace space;
        std::uint64_t count = 0;
        Status status = dataset->dataspace(space);
        status = status == Status::ok ? space.element_count(count) : status;
        std::vector<std::byte> elements(static_cast<std::size_t>(count) * dataset->element_size());
        if (status == Status::ok) {
            status = dataset->read(Selection::all(),
                                   wide ? h5mote::datatype_of<double>() : h5mote::datatype_of<std::int32_t>(),
                                   {elements.data(), elements.size()});
        }
        std::int32_t number = 0;
        if (status == Status::ok && dataset->has_attribute("number")) {
            status = dataset->read_attribute("number", number);
        }
        sum += fingerprint_of(std::string(path), elements, number);
        return status;
    }
    std::uint64_t sum = 0;
};

class H5moteChanging final : public Changing {
public:
    const char* name() const override { return "h5mote"; }

    void open(const std::string& path, Mode mode) override { open(path, mode, file_, posix_, unsynced_); }
    void close() override { close(file_, posix_); }

    void create_datasets() override {
        auto group = file_.root().create_group("created");
        check(group.status(), "create group");
        const auto space = h5mote::Dataspace::simple({kCreatedSize});
        for (std::size_t i = 0; i < kCreated; ++i) {
            auto dataset = group->create_dataset(numbered("dataset", i), h5mote::file_type_of<std::int32_t>(), space);
            check(dataset.status(), "create dataset");
            const std::vector<std::int32_t> values(kCreatedSize, static_cast<std::int32_t>(i));
            check(dataset->write(Selection::all(), h5mote::datatype_of<std::int32_t>(), bytes_of(values)), "write");
        }
    }

    void insert_links() override {
        Group root = file_.root();
        auto target = root.create_group("target");
        check(target.status(), "create group");
        auto links = root.create_group("links");
        check(links.status(), "create group");
        for (std::size_t i = 0; i < kManyLinks; ++i) {
            check(links->create_hard_link(numbered("link", i), *target), "link");
        }
    }

    std::size_t look_up_links() override {
        Group root = file_.root();
        auto target = root.open_group("target");
        check(target.status(), "open group");
        auto links = root.open_group("links");
        check(links.status(), "open group");
        std::size_t found = 0;
        h5mote::Link link;
        for (std::size_t i = 0; i < kManyLinks; ++i) {
            check(links->find_link(numbered("link", i * 7919 % kManyLinks), link), "find link");
            found += link.address() == target->address() ? 1U : 0U;
        }
        return found;
    }

    void insert_attributes() override {
        auto group = file_.root().create_group("attributes");
        check(group.status(), "create group");
        for (std::size_t i = 0; i < kManyAttributes; ++i) {
            check(group->write_attribute(numbered("attribute", i), static_cast<std::int32_t>(i)), "attribute");
        }
    }

    std::size_t look_up_attributes() override {
        auto group = file_.root().open_group("attributes");
        check(group.status(), "open group");
        std::size_t right = 0;
        for (std::size_t i = 0; i < kManyAttributes; ++i) {
            const std::size_t number = i * 7919 % kManyAttributes;
            std::int32_t value = -1;
            check(group->read_attribute(numbered("attribute", number), value), "read attribute");
            right += value == static_cast<std::int32_t>(number) ? 1U : 0U;
        }
        return right;
    }

    void grow(const std::vector<std::vector<std::int32_t>>& steps) override {
        h5mote::DatasetCreate create;
        create.chunk = {2 * kGrowBy, 2 * kGrowBy};
        auto dataset = file_.root().create_dataset(
            "grown", h5mote::file_type_of<std::int32_t>(),
            h5mote::Dataspace::simple({0, kGrowBy}, {h5mote::kUnlimited, h5mote::kUnlimited}), create);
        check(dataset.status(), "create dataset");
        std::uint64_t extent[2] = {0, kGrowBy};
        for (std::size_t i = 0; i < steps.size(); ++i) {
            const std::size_t along = i % 2;
            std::uint64_t start[2] = {0, 0};
            std::uint64_t count[2] = {extent[0], extent[1]};
            start[along] = extent[along];
            count[along] = kGrowBy;
            extent[along] += kGrowBy;
            check(dataset->set_extent(h5mote::Span<const std::uint64_t>(extent)), "extent");
            check(dataset->write(Selection::hyperslab(h5mote::Span<const std::uint64_t>(start),
                                                      h5mote::Span<const std::uint64_t>(count)),
                                 h5mote::datatype_of<std::int32_t>(), bytes_of(steps[i])),
                  "write");
        }
    }

    void write_strings(const std::vector<const char*>& texts) override {
        auto dataset = file_.root().create_dataset("strings", kText.view(), h5mote::Dataspace::simple({texts.size()}));
        check(dataset.status(), "create dataset");
        check(dataset->write(Selection::all(), kText.view(), bytes_of(texts)), "write");
    }

    std::vector<std::string> read_strings() override {
        auto dataset = file_.root().open_dataset("strings");
        check(dataset.status(), "open dataset");
        std::vector<char*> texts(static_cast<std::size_t>(dataset->size()));
        check(dataset->read(Selection::all(), kText.view(),
                            {reinterpret_cast<std::byte*>(texts.data()), texts.size() * sizeof(char*)}),
              "read");
        std::vector<std::string> strings(texts.begin(), texts.end());
        check(h5mote::reclaim(library_, kText.view(), texts.size(), sizeof(char*), texts.data()), "reclaim");
        return strings;
    }

    void delete_objects() override {
        auto group = file_.root().open_group("objects");
        check(group.status(), "open group");
        for (std::size_t i = 0; i < kObjects; i += 2) {
            check(group->unlink(numbered("object", i)), "unlink");
        }
    }

    void copy_tree() override {
        Group root = file_.root();
        check(h5mote::copy_object(root, "tree", root, "copy", options()), "copy");
    }

    void copy_tree(const std::string& to) override {
        open(to, Mode::create, copy_, copy_posix_, copy_unsynced_);
        Group root = file_.root();
        Group destination = copy_.root();
        check(h5mote::copy_object(root, "tree", destination, "copy", options()), "copy");
        close(copy_, copy_posix_);
    }

    void repack(const std::string& to) override {
        open(to, Mode::create, copy_, copy_posix_, copy_unsynced_);
        check(h5mote::copy_file(file_, copy_, options()), "copy");
        close(copy_, copy_posix_);
    }

    std::uint64_t fingerprint() override {
        Fingerprint all;
        Group root = file_.root();
        check(root.visit(all), "visit");
        return all.sum;
    }

private:
    static h5mote::CopyOptions options() {
        h5mote::CopyOptions options;
        options.buffer = 1 << 20;
        return options;
    }

    void open(const std::string& path, Mode mode, File& file, h5mote::PosixDriver& posix, h5mote::Driver& driver) {
        using Open = h5mote::PosixDriver::Mode;
        check(posix.open(path.c_str(), mode == Mode::create ? Open::truncate
                                       : mode == Mode::read ? Open::read_only
                                                            : Open::read_write),
              "open file");
        h5mote::FileAccess access;
        access.read_only = mode == Mode::read;
        access.low = h5mote::FormatVersion::v110;
        access.high = h5mote::FormatVersion::v110;
        access.metadata_cache = 32 << 20;
        access.chunk_cache = 1 << 20;
        h5mote::Result<File> opened =
            mode == Mode::create ? File::create(library_, driver, access) : File::open(library_, driver, access);
        check(opened.status(), "open");
        file = static_cast<File&&>(*opened);
    }

    void close(File& file, h5mote::PosixDriver& posix) {
        check(file.close(), "close");
        check(posix.close(), "close file");
    }

    void check(Status status, const char* what) {
        if (status != Status::ok) {
            std::string message = std::string("h5mote: ") + what + ": " + h5mote::to_string(status);
            for (std::size_t i = 0; i < library_.trail().size(); ++i) {
                const h5mote::ErrorRecord record = library_.trail().newest(i);
                message += std::string("\n  ") + h5mote::to_string(record.module) + " line " +
                           std::to_string(record.line) + ": " + h5mote::to_string(record.status);
            }
            throw std::runtime_error(message);
        }
    }

    h5mote::MallocAllocator allocator_;
    h5mote::NullPort port_;
    h5mote::Library library_{allocator_, port_, h5mote_test::kAllFilters, h5mote::formats::all};
    h5mote::PosixDriver posix_;
    UnsyncedDriver unsynced_{posix_};
    h5mote::PosixDriver copy_posix_;
    UnsyncedDriver copy_unsynced_{copy_posix_};
    File file_;
    File copy_;
};

}  // namespace

std::unique_ptr<Changing> make_h5mote_changing() { return std::make_unique<H5moteChanging>(); }

}  // namespace bench
