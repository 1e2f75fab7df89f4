// H5G_visit - everything below a group, each object once.

#include "checked.hpp"
#include "watched_walk.hpp"

#include <h5mote/group.hpp>

#include <cstring>

namespace h5mote {
namespace {

// The least bytes that a link takes in a file. A visit that meets more links than the file has room for goes round in
// circles, which reference counts that are too low have hidden.
constexpr Address kMinLinkSize = 8;

// The path of the group where a visit begins.
constexpr std::string_view kHere(".", 1);

// A group whose links are being visited. The groups on the way down form a stack, in memory from the allocator.
struct Level {
    Level(const Group& group, IndexOrder order, Direction direction, Level* below) noexcept
        : links(group, order, direction), address(group.address()), parent(below) {}

    LinkIterator links;
    Link link;
    Address address;
    Level* parent;
    std::size_t path_length = 0;  // length of this group's path, with the '/' behind it
};

// Objects with more than one hard link that were met before.
class AddressSet {
public:
    explicit AddressSet(Context& context) noexcept : context_(context) {}
    AddressSet(const AddressSet&) = delete;
    AddressSet& operator=(const AddressSet&) = delete;
    ~AddressSet() { context_.release(MemoryKind::other, data_, capacity_ * sizeof(Address)); }

    /// Adds an address to the sorted set. `added`: false when it was there already.
    Status insert(Address address, bool& added) noexcept {
        std::size_t low = 0;
        for (std::size_t high = count_; low < high;) {
            const std::size_t middle = (low + high) / 2;
            if (data_[middle] < address) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        added = low == count_ || data_[low] != address;
        if (!added) {
            return Status::ok;
        }
        H5MOTE_TRY(reserve());
        for (std::size_t i = count_++; i > low; --i) {
            data_[i] = data_[i - 1];
        }
        data_[low] = address;
        return Status::ok;
    }

private:
    Status reserve() noexcept {
        if (count_ < capacity_) {
            return Status::ok;
        }
        const std::size_t capacity = capacity_ == 0 ? 8 : capacity_ * 2;
        auto* data = static_cast<Address*>(context_.allocate(MemoryKind::other, capacity * sizeof(Address)));
        if (data == nullptr) {
            return Status::out_of_memory;
        }
        if (count_ != 0) {
            std::memcpy(data, data_, count_ * sizeof(Address));
        }
        context_.release(MemoryKind::other, data_, capacity_ * sizeof(Address));
        data_ = data;
        capacity_ = capacity;
        return Status::ok;
    }

    Context& context_;
    Address* data_ = nullptr;
    std::size_t count_ = 0;
    std::size_t capacity_ = 0;
};

// The path of the object at hand; grows as needed.
class PathText {
public:
    explicit PathText(Context& context) noexcept : context_(context) {}
    PathText(const PathText&) = delete;
    PathText& operator=(const PathText&) = delete;
    ~PathText() { context_.release(MemoryKind::other, text_, capacity_); }

    /// Cuts the path to `length` and appends `name`; room for a '/' is left behind it.
    Status set(std::size_t length, std::string_view name) noexcept {
        const std::size_t need = length + name.size() + 1;
        if (need > capacity_) {
            const std::size_t capacity = need < 64 ? 64 : need * 2;
            auto* text = static_cast<char*>(context_.allocate(MemoryKind::other, capacity));
            if (text == nullptr) {
                return Status::out_of_memory;
            }
            if (text_ != nullptr) {
                std::memcpy(text, text_, length);
            }
            context_.release(MemoryKind::other, text_, capacity_);
            text_ = text;
            capacity_ = capacity;
        }
        // NOLINTNEXTLINE(clang-analyzer-core.NonNullParamChecker): each path needs a byte, so the first one allocates.
        std::memcpy(text_ + length, name.data(), name.size());
        size_ = length + name.size();
        text_[size_] = '/';
        return Status::ok;
    }
    std::string_view view() const noexcept { return {text_, size_}; }
    /// The path of a group on the stack; `length` is its Level::path_length.
    std::string_view group(std::size_t length) const noexcept {
        return length == 0 ? kHere : std::string_view(text_, length - 1);
    }

private:
    Context& context_;
    char* text_ = nullptr;
    std::size_t capacity_ = 0;
    std::size_t size_ = 0;
};

class Visit {
public:
    Visit(FileState& file, Visitor& visitor, IndexOrder order, Direction direction) noexcept
        : file_(file),
          visitor_(visitor),
          seen_(file.context),
          path_(file.context),
          order_(order),
          direction_(direction) {}
    Visit(const Visit&) = delete;
    Visit& operator=(const Visit&) = delete;
    ~Visit() {
        while (top_ != nullptr) {
            leave();
        }
    }

    Status run(Group& from) noexcept {
        bool added = false;
        H5MOTE_TRY(start(from));
        H5MOTE_TRY(seen_.insert(from.address(), added));
        if (visitor_.enters(kHere)) {
            H5MOTE_TRY(enter(from, 0));
        }
        while (top_ != nullptr) {
            H5MOTE_TRY(step(from));
        }
        return Status::ok;
    }

private:
    H5MOTE_STEP Status start(Group& from) noexcept {
        Object object = from.duplicate();
        return visitor_.object(kHere, object);
    }

    H5MOTE_STEP Status enter(const Group& group, std::size_t path_length) noexcept {
        IndexOrder order = order_;
        GroupInfo info;
        if (order == IndexOrder::creation) {
            H5MOTE_TRY(group.group_info(info));
            order = info.tracks_order ? order : IndexOrder::name;
        }
        Level* level = file_.context.create<Level>(MemoryKind::other, group, order, direction_, top_);
        if (level == nullptr) {
            return Status::out_of_memory;
        }
        level->path_length = path_length;
        top_ = level;
        return Status::ok;
    }

    void leave() noexcept {
        Level* const level = top_;
        top_ = level->parent;
        file_.context.destroy(MemoryKind::other, level);
    }

    // Visits the next link of the group on top of the stack, and the object that it leads to.
    Status step(Group& from) noexcept {
        Level& level = *top_;
        const Status status = level.links.next(level.link);
        if (status == Status::not_found) {
            leave();
            return Status::ok;
        }
        if (status != Status::ok) {
            const std::string_view group = path_.group(level.path_length);
            leave();
            return visitor_.unreadable(group, status);
        }
        if (links_ > file_.space.end() / kMinLinkSize) {
            return file_.context.fail(Module::group, H5MOTE_HERE, Status::corrupt_file, 0, level.address);
        }
        ++links_;
        H5MOTE_TRY(path_.set(level.path_length, level.link.name()));
        // What the visitor does may delete the object.
        WatchedWalk watched(file_, ObjectWalk::Over::nothing);
        const Address object = level.link.address();
        watched.watch(object);
        H5MOTE_TRY(visitor_.link(path_.view(), level.link));
        return level.link.type() == LinkType::hard && !watched.gone ? follow(from, object, watched) : Status::ok;
    }

    H5MOTE_STEP Status follow(Group& from, Address address, const ObjectWalk& watched) noexcept {
        Result<Object> object = from.open_object_at(address);
        bool group = false;
        bool again = false;
        const Status status = object ? look(*object, group, again) : object.status();
        if (status != Status::ok) {
            return visitor_.unreadable(path_.view(), status);
        }
        bool added = true;
        if (again) {
            H5MOTE_TRY(seen_.insert(address, added));
        }
        for (const Level* level = top_; added && level != nullptr; level = level->parent) {
            added = level->address != address;
        }
        if (!added) {
            return Status::ok;
        }
        H5MOTE_TRY(visitor_.object(path_.view(), *object));
        return group && !watched.gone && visitor_.enters(path_.view()) && !watched.gone ? enter(*object) : Status::ok;
    }

    // `group`: whether the object is a group. `again`: whether other hard links may lead to it as well.
    H5MOTE_STEP static Status look(const Object& object, bool& group, bool& again) noexcept {
        ObjectInfo info;
        const Status status = object.info(info, false);
        group = info.type == ObjectType::group;
        again = info.reference_count > 1;
        return status;
    }

    H5MOTE_STEP Status enter(const Object& object) noexcept {
        const Result<Group> group = Group::from(object.duplicate());
        H5MOTE_TRY(group.status());
        return enter(*group, path_.view().size() + 1);
    }

    FileState& file_;
    Visitor& visitor_;
    AddressSet seen_;
    PathText path_;
    Level* top_ = nullptr;
    Address links_ = 0;  // that were met
    IndexOrder order_;
    Direction direction_;
};

}  // namespace

H5MOTE_STEP Status Group::visit(Visitor& visitor, IndexOrder order, Direction direction) noexcept {
    const LibraryLock lock(context_of(file_));
    H5MOTE_TRY(check());
    Visit visit(*file_, visitor, order, direction);
    return visit.run(*this);
}

}  // namespace h5mote
