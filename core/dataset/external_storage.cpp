#include "external_storage.hpp"

#include "checked.hpp"
#include "text.hpp"

#include <cstring>

namespace h5mote {

Status ExternalStorage::load(HeaderMessage& message, ExternalFilesMessage& list) noexcept {
    H5MOTE_TRY(message.find(MessageType::external_files));
    ConstBytes head;
    H5MOTE_TRY(message.head(ExternalFilesMessage::head_size(file_.shape()), head));
    return list.decode(file_.context, file_.shape(), head, message.size());
}

Status ExternalStorage::slot(HeaderMessage& message, std::size_t i, ExternalFilesMessage::Slot& slot) noexcept {
    const std::size_t size = ExternalFilesMessage::slot_size(file_.shape());
    ConstBytes bytes;
    H5MOTE_TRY(message.view(ExternalFilesMessage::head_size(file_.shape()) + i * size, size, bytes));
    slot = ExternalFilesMessage::slot(file_.shape(), bytes);
    return Status::ok;
}

Status ExternalStorage::count(std::uint32_t& files) noexcept {
    HeaderMessage message(file_, header_);
    ExternalFilesMessage list;
    H5MOTE_TRY(load(message, list));
    files = list.slots;
    return Status::ok;
}

Status ExternalStorage::describe(std::size_t i, ExternalFile& info, Span<char> name) noexcept {
    ExternalFilesMessage::Slot found;
    Address heap_address = 0;
    {
        HeaderMessage message(file_, header_);
        ExternalFilesMessage list;
        H5MOTE_TRY(load(message, list));
        if (i >= list.slots) {
            return Status::not_found;
        }
        H5MOTE_TRY(slot(message, i, found));
        heap_address = list.heap;
    }
    info.offset = found.offset;
    info.size = found.size;
    LocalHeap heap;
    H5MOTE_TRY(heap.open(file_, heap_address));
    H5MOTE_TRY(heap.copy(found.name, {reinterpret_cast<std::byte*>(name.data()), name.size()}, info.name_length));
    return name.empty() || info.name_length <= name.size()
               ? Status::ok
               : file_.context.fail(Module::dataset, H5MOTE_HERE, Status::invalid_argument, 0, info.name_length);
}

Status ExternalStorage::heap(Address& address) noexcept {
    HeaderMessage message(file_, header_);
    ExternalFilesMessage list;
    H5MOTE_TRY(load(message, list));
    address = list.heap;
    return Status::ok;
}

Status ExternalStorage::heap_size(std::uint64_t& bytes) noexcept {
    Address address = 0;
    H5MOTE_TRY(this->heap(address));
    LocalHeap heap;
    H5MOTE_TRY(heap.open(file_, address));
    bytes = heap.header_size() + heap.data_size();
    return Status::ok;
}

void ExternalStorage::close() noexcept {
    if (DriverOpener* const opener = file_.opener(); driver_ != nullptr && opener != nullptr) {
        opener->close(*driver_);
        driver_ = nullptr;
        unsynced_ = false;
    }
}

Status ExternalStorage::open_driver(Address heap_address, Address name) noexcept {
    if (DriverOpener* const opener = file_.opener()) {
        LocalHeap heap;
        MetadataWindow window;
        ConstBytes text;
        H5MOTE_TRY(heap.open(file_, heap_address));
        H5MOTE_TRY(heap.name(name, window));
        std::size_t length = 0;
        if (!to_size(window.size(), length)) {
            return Status::overflow;
        }
        H5MOTE_TRY(window.view(0, length, text));
        const std::string_view file = text_of(text);
        Status status = Status::not_found;
        if (names_other_file(file)) {
            status = sync_ != nullptr
                         ? opener->open_to_write(file_.storage(), file, OpenPurpose::external_data, driver_)
                         : opener->open(file_.storage(), file, OpenPurpose::external_data, driver_);
        }
        if (status != Status::ok) {
            driver_ = nullptr;
            return file_.context.fail(Module::dataset, H5MOTE_HERE, status, 0, name);
        }
        return driver_->end_of_file(length_);
    }
    return file_.context.unsupported(Module::dataset, H5MOTE_HERE, Feature::external_storage);
}

// Opens the external file that holds byte `offset` of the dataset's data.
Status ExternalStorage::open(std::uint64_t offset) noexcept {
    H5MOTE_TRY(sync_ == nullptr ? Status::ok : sync_(*this));
    close();
    HeaderMessage message(file_, header_);
    ExternalFilesMessage list;
    H5MOTE_TRY(load(message, list));
    std::uint64_t begin = 0;
    for (unsigned i = 0; i < list.slots; ++i) {
        ExternalFilesMessage::Slot at;
        H5MOTE_TRY(slot(message, i, at));
        std::uint64_t end = 0;
        // The last file may be unlimited, so that the sum overflows.
        if (!checked_add(begin, at.size, end)) {
            end = ~std::uint64_t{0};
        }
        if (offset < end) {
            begin_ = begin;
            end_ = end;
            offset_ = at.offset;
            return open_driver(list.heap, at.name);
        }
        begin = end;
    }
    return file_.context.fail(Module::dataset, H5MOTE_HERE, Status::corrupt_file, 0, offset);
}

Status ExternalStorage::read(std::uint64_t offset, Bytes to) noexcept {
    while (!to.empty()) {
        if (driver_ == nullptr || offset < begin_ || offset >= end_) {
            H5MOTE_TRY(open(offset));
        }
        const std::uint64_t left = end_ - offset;
        const std::size_t now = left < to.size() ? static_cast<std::size_t>(left) : to.size();
        std::uint64_t from = 0;
        std::size_t there = 0;
        if (checked_add(offset_, offset - begin_, from) && from < length_) {
            there = length_ - from < now ? static_cast<std::size_t>(length_ - from) : now;
            H5MOTE_TRY(driver_->read(Usage::raw_data, from, to.first(there)));
        }
        std::memset(to.data() + there, 0, now - there);
        offset += now;
        to = to.subspan(now);
    }
    return Status::ok;
}

Status ExternalStorage::sync() noexcept {
    if (unsynced_) {
        // NOLINTNEXTLINE(clang-analyzer-core.CallAndMessage): what is not synced was written through this driver.
        H5MOTE_TRY(told(file_.context, *driver_, H5MOTE_HERE, driver_->sync()));
        unsynced_ = false;
    }
    return Status::ok;
}

Status ExternalStorage::write(std::uint64_t offset, ConstBytes from) noexcept {
    if (sync_ == nullptr) {
        close();
        sync_ = [](ExternalStorage& storage) { return storage.sync(); };
    }
    while (!from.empty()) {
        if (driver_ == nullptr || offset < begin_ || offset >= end_) {
            H5MOTE_TRY(open(offset));
        }
        const std::uint64_t left = end_ - offset;
        const std::size_t now = left < from.size() ? static_cast<std::size_t>(left) : from.size();
        std::uint64_t to = 0;
        std::uint64_t behind = 0;
        if (!checked_add(offset_, offset - begin_, to) || !checked_add<std::uint64_t>(to, now, behind)) {
            return file_.context.fail(Module::dataset, H5MOTE_HERE, Status::corrupt_file, 0, offset);
        }
        unsynced_ = true;
        H5MOTE_TRY(
            told(file_.context, *driver_, H5MOTE_HERE, driver_->write(Usage::raw_data, to, from.first(now)), to));
        length_ = length_ < behind ? behind : length_;
        offset += now;
        from = from.subspan(now);
    }
    return Status::ok;
}

const ExternalDataFormat formats::external_data = {
    [](ExternalStorage& storage, std::uint64_t offset, Bytes to) { return storage.read(offset, to); }};

}  // namespace h5mote
