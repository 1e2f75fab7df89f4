// The workloads of workloads.hpp with h5mote.
#include "unsynced_driver.hpp"
#include "workloads.hpp"

#include <h5mote/port/malloc.hpp>
#include <h5mote/vfd/memory.hpp>
#include <h5mote/vfd/posix.hpp>

#include <cstdio>
#include <fstream>
#include <optional>
#include <stdexcept>

namespace bench {
namespace {

using h5mote::Dataset;
using h5mote::File;
using h5mote::Selection;
using h5mote::Status;

class H5mote final : public Subject {
public:
    const char* name() const override { return "h5mote"; }

    void begin_append(const std::string& path, Storage storage) override {
        open_storage(path, storage, h5mote::PosixDriver::Mode::truncate);
        file_ = File::create(library_, *driver_);
        check(file_.status(), "create");
        log_ = file_->root().create_dataset<Sample>(reference::kPath, reference::kLayout);
        check(log_.status(), "create dataset");
    }

    void append(const Sample* rows, std::size_t count, std::size_t at_once) override {
        Status status = Status::ok;
        if (at_once == 1) {
            for (std::size_t i = 0; i < count && status == Status::ok; ++i) {
                status = log_->append(rows[i]);
            }
        } else {
            for (std::size_t i = 0; i < count && status == Status::ok; i += at_once) {
                status = log_->append({rows + i, count - i < at_once ? count - i : at_once});
            }
        }
        check(status, "append");
    }

    void end_append() override { close(); }

    void begin_read(const std::string& path, Storage storage) override {
        open_storage(path, storage, h5mote::PosixDriver::Mode::read_only);
        file_ = File::open(library_, *driver_);
        check(file_.status(), "open");
        log_ = file_->root().open_dataset<Sample>(reference::kPath);
        check(log_.status(), "open dataset");
    }

    void read(Sample* rows, std::size_t count, std::size_t stride) override {
        const h5mote::Span<Sample> to(rows, count);
        check(stride == 1 ? log_->read(Selection::all(), to)
                          : log_->read(Selection::hyperslab({0}, {count}, {stride}), to),
              "read");
    }

    void end_read() override { close(); }

    void create_with_attributes(const std::string& path) override {
        begin_append(path, Storage::file);
        Sample sample;
        reference::make_row(0, sample);
        append(&sample, 1, 1);
        check(log_->write_attribute("units", "m/s2"), "attribute");
        check(log_->write_attribute("rate", 250.0), "attribute");
        check(log_->write_attribute("serial", std::int32_t{7}), "attribute");
        close();
    }

    double read_attribute(const std::string& path) override {
        begin_read(path, Storage::file);
        double rate = 0;
        check(log_->read_attribute("rate", rate), "read attribute");
        close();
        return rate;
    }

    void create_datasets(const std::string& path, unsigned count) override {
        open_storage(path, Storage::file, h5mote::PosixDriver::Mode::truncate);
        file_ = File::create(library_, *driver_);
        check(file_.status(), "create");
        auto root = file_->root();
        const auto space = h5mote::Dataspace::simple({16});
        for (unsigned k = 0; k < count; ++k) {
            char name[16];
            std::snprintf(name, sizeof name, "d%04u", k);
            auto dataset = root.create_dataset(name, h5mote::file_type_of<std::int32_t>(), space);
            check(dataset.status(), "create dataset");
            std::int32_t values[16];
            for (int i = 0; i < 16; ++i) {
                values[i] = i + static_cast<int>(k);
            }
            check(dataset->write(Selection::all(), h5mote::datatype_of<std::int32_t>(),
                                 h5mote::as_bytes(h5mote::Span<const std::int32_t>(values))),
                  "write");
        }
        close();
    }

private:
    /// Throws if the status is an error; the message has the error trail, which says where the error arose.
    void check(Status status, const char* what) {
        if (status == Status::ok) {
            return;
        }
        std::string message = std::string("h5mote: ") + what + ": " + h5mote::to_string(status);
        for (std::size_t i = 0; i < library_.trail().size(); ++i) {
            const h5mote::ErrorRecord record = library_.trail().newest(i);
            message += std::string("\n  ") + h5mote::to_string(record.module) + " line " + std::to_string(record.line) +
                       ": " + h5mote::to_string(record.status) + " " + std::to_string(record.detail) + " " +
                       std::to_string(record.value);
        }
        throw std::runtime_error(message);
    }

    void open_storage(const std::string& path, Storage storage, h5mote::PosixDriver::Mode mode) {
        if (storage == Storage::file) {
            check(posix_.open(path.c_str(), mode), "open file");
            driver_ = &unsynced_;
            return;
        }
        memory_.emplace(allocator_);
        if (mode == h5mote::PosixDriver::Mode::read_only) {
            std::ifstream from(path, std::ios::binary);
            const std::vector<char> image(std::istreambuf_iterator<char>(from), {});
            check(memory_->assign(h5mote::as_bytes(h5mote::Span<const char>(image.data(), image.size()))), "load");
        }
        driver_ = &*memory_;
    }

    void close() {
        if (log_) {
            check(log_->close(), "close dataset");
        }
        log_ = Status::not_found;
        check(file_->close(), "close");
        check(posix_.close(), "close file");
    }

    h5mote::MallocAllocator allocator_;
    h5mote::NullPort port_;
    h5mote::Library library_{allocator_, port_};
    h5mote::PosixDriver posix_;
    UnsyncedDriver unsynced_{posix_};
    std::optional<h5mote::GrowingMemoryDriver> memory_;
    h5mote::Driver* driver_ = nullptr;
    h5mote::Result<File> file_ = Status::not_found;
    h5mote::Result<h5mote::TypedDataset<Sample>> log_ = Status::not_found;
};

}  // namespace

std::unique_ptr<Subject> make_h5mote() { return std::make_unique<H5mote>(); }

std::vector<Sample> make_rows(std::size_t count) {
    std::vector<Sample> rows(count);
    for (std::size_t i = 0; i < count; ++i) {
        reference::make_row(static_cast<std::uint32_t>(i), rows[i]);
    }
    return rows;
}

}  // namespace bench
