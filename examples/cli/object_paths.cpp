#include "object_paths.hpp"

#include <cstring>

namespace h5mote::cli {

namespace {

/// Writes an absolute path for a path of Group::visit(), which is "." for the group itself.
void put_path(TextSink& sink, std::string_view path) {
    sink.put("/");
    if (path != ".") {
        sink.put(path);
    }
}

}  // namespace

/// Puts all paths into the table until its budget is used up.
class ObjectPaths::Collector final : public Visitor {
public:
    explicit Collector(ObjectPaths& paths) : paths_(paths) {}

    Status object(std::string_view path, Object& object) noexcept override {
        const std::size_t size = sizeof(Entry) + path.size();
        if (size > paths_.budget_ - paths_.used_) {
            return Status::no_space;
        }
        auto* const entry = static_cast<Entry*>(paths_.context_.allocate(MemoryKind::other, size));
        if (entry == nullptr) {
            return Status::no_space;
        }
        paths_.used_ += size;
        Entry** const at = paths_.bucket(object.address());
        entry->next = *at;
        entry->address = object.address();
        entry->length = path.size();
        std::memcpy(entry + 1, path.data(), path.size());
        *at = entry;
        return Status::ok;
    }

private:
    ObjectPaths& paths_;
};

/// Writes the path of the object at `address` and ends the visit there, with the status already_exists.
class ObjectPaths::Finder final : public Visitor {
public:
    Finder(TextSink* sink, Address address) : sink_(sink), address_(address) {}

    Status object(std::string_view path, Object& object) noexcept override {
        if (object.address() != address_) {
            return Status::ok;
        }
        if (sink_ != nullptr) {
            put_path(*sink_, path);
        }
        return Status::already_exists;
    }

private:
    TextSink* sink_;
    Address address_;
};

ObjectPaths::ObjectPaths(Context& context, const Group& root, std::size_t budget, IndexOrder order, Direction direction)
    : context_(context), budget_(budget), order_(order), direction_(direction) {
    Result<Group> copy = Group::from(root.duplicate());
    root_ = static_cast<Group&&>(*copy);
}

ObjectPaths::~ObjectPaths() {
    for (std::size_t i = 0; i < bucket_count_; ++i) {
        while (buckets_[i] != nullptr) {
            Entry* const entry = buckets_[i];
            buckets_[i] = entry->next;
            context_.release(MemoryKind::other, entry, sizeof(Entry) + entry->length);
        }
    }
    context_.release(MemoryKind::other, buckets_, bucket_count_ * sizeof(Entry*));
}

ObjectPaths::Entry** ObjectPaths::bucket(Address address) {
    const std::uint64_t mixed = static_cast<std::uint64_t>(address) * 0x9e3779b97f4a7c15U;
    return &buckets_[static_cast<std::size_t>(mixed >> 32) % bucket_count_];
}

Status ObjectPaths::collect() {
    collected_ = true;
    const std::size_t count = budget_ / 512 < 4 ? 4 : budget_ / 512;
    buckets_ = static_cast<Entry**>(context_.allocate(MemoryKind::other, count * sizeof(Entry*)));
    if (buckets_ == nullptr) {
        return Status::ok;  // there is no table then, and lookup() walks the file every time
    }
    bucket_count_ = count;
    for (std::size_t i = 0; i < count; ++i) {
        buckets_[i] = nullptr;
    }
    used_ = count * sizeof(Entry*);
    Collector collector(*this);
    const Status status = root_.visit(collector, order_, direction_);
    complete_ = status == Status::ok;
    return status == Status::no_space || status == Status::out_of_memory ? Status::ok : status;
}

Status ObjectPaths::lookup(TextSink* sink, Address address) {
    if (!collected_) {
        H5MOTE_TRY(collect());
    }
    const Entry* entry = bucket_count_ == 0 ? nullptr : *bucket(address);
    while (entry != nullptr && entry->address != address) {
        entry = entry->next;
    }
    if (entry != nullptr) {
        if (sink != nullptr) {
            put_path(*sink, {reinterpret_cast<const char*>(entry + 1), entry->length});
        }
        return Status::ok;
    }
    if (complete_) {
        return Status::not_found;
    }
    Finder finder(sink, address);
    const Status status = root_.visit(finder, order_, direction_);
    return status == Status::already_exists ? Status::ok : status == Status::ok ? Status::not_found : status;
}

Status ObjectPaths::put(TextSink& sink, Address address) { return lookup(&sink, address); }

Status ObjectPaths::find(Address address) { return lookup(nullptr, address); }

}  // namespace h5mote::cli
