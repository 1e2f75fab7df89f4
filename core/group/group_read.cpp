// Reading groups of every format: their links, and the objects that paths lead to.

#include "links.hpp"
#include "object_messages.hpp"
#include "ordered_walk.hpp"
#include "place.hpp"
#include "text.hpp"

#include <h5mote/file.hpp>

namespace h5mote {

void Link::clear() noexcept {
    const LibraryLock lock(context_);
    if (text_ != nullptr) {
        context_->release(MemoryKind::handle, text_, capacity_);
    }
    context_ = nullptr;
    text_ = nullptr;
    name_length_ = data_length_ = capacity_ = 0;
    address_ = kUndefinedAddress;
    type_ = LinkType::hard;
    has_order_ = false;
    order_ = 0;
}

void Link::take(Link& other) noexcept {
    context_ = other.context_;
    text_ = other.text_;
    name_length_ = other.name_length_;
    data_length_ = other.data_length_;
    capacity_ = other.capacity_;
    address_ = other.address_;
    order_ = other.order_;
    type_ = other.type_;
    character_set_ = other.character_set_;
    has_order_ = other.has_order_;
    other.text_ = nullptr;
    other.clear();
}

Status Link::assign(Context& context, const LinkMessage& from) noexcept {
    const std::size_t need = from.name.size() + from.target.size();
    if (context_ != &context || need > capacity_) {
        clear();
        const std::size_t capacity = need < 56 ? 64 : need + need / 8;
        auto* text = static_cast<char*>(context.allocate(MemoryKind::handle, capacity));
        if (text == nullptr) {
            return Status::out_of_memory;
        }
        context_ = &context;
        text_ = text;
        capacity_ = static_cast<std::uint32_t>(capacity);
    }
    name_length_ = static_cast<std::uint32_t>(from.name.size());
    data_length_ = static_cast<std::uint32_t>(from.target.size());
    if (name_length_ != 0) {
        std::memcpy(text_, from.name.data(), name_length_);
    }
    if (data_length_ != 0) {
        std::memcpy(text_ + name_length_, from.target.data(), data_length_);
    }
    address_ = from.type == LinkType::hard ? from.address : kUndefinedAddress;
    order_ = static_cast<std::int64_t>(from.order);
    type_ = from.type;
    character_set_ = from.character_set == 0 ? CharacterSet::ascii : CharacterSet::utf8;
    has_order_ = from.has_order;
    return Status::ok;
}

ConstBytes Link::data() const noexcept { return bytes_of(std::string_view(text_ + name_length_, data_length_)); }

std::string_view Link::target() const noexcept {
    const std::string_view data(text_ + name_length_, data_length_);
    if (type_ == LinkType::soft) {
        return data;
    }
    const std::size_t skip = 1 + file_name().size() + 1;
    if (type_ != LinkType::external || skip >= data.size()) {
        return {};
    }
    return text_before(text_after(data, skip), '\0');
}

std::string_view Link::file_name() const noexcept {
    if (type_ != LinkType::external || data_length_ < 2) {
        return {};
    }
    return text_before({text_ + name_length_ + 1, data_length_ - 1}, '\0');
}

struct LinkIterator::Walk final : OrderedWalk<LinkIterator::Walk, LinkCursor, StoredLink> {
    Walk(FileState& file, Direction direction) noexcept : OrderedWalk(file, Over::links, direction) {}

    H5MOTE_STEP Status start(Address group, IndexOrder wanted) noexcept;
    H5MOTE_STEP Status pass() noexcept;
};

Status LinkIterator::Walk::start(Address group, IndexOrder wanted) noexcept {
    watch(group);
    H5MOTE_TRY(cursor.open(group));
    order = wanted;
    if (order == IndexOrder::creation && (cursor.storage().info.flags & kOrderTracked) == 0) {
        return cursor.file().context.fail(Module::group, H5MOTE_HERE, Status::invalid_argument);
    }
    return cursor.start_directly(order, towards, direct);
}

Status LinkIterator::Walk::pass() noexcept {
    StoredLink link;
    std::uint64_t position = 0;
    batch.begin_pass();
    Status status = cursor.start(IndexOrder::native, Direction::increasing);
    while (status == Status::ok && (status = cursor.next(link)) == Status::ok) {
        std::byte number[8];  // big-endian and with the sign bit flipped: the bytes compare like the signed number
        for (unsigned i = 0; i < 8; ++i) {
            const std::uint64_t value = order == IndexOrder::native ? 0 : link.link.order ^ std::uint64_t{1} << 63;
            number[i] = static_cast<std::byte>(value >> (56 - 8 * i));
        }
        status = batch.offer(order == IndexOrder::name ? link.link.name : ConstBytes(number), position++);
    }
    if (status == Status::out_of_memory && batch.shrink()) {
        return Status::ok;  // the caller makes another pass, with less memory
    }
    batch.end_pass();
    return status == Status::not_found ? Status::ok : status;
}

LinkIterator::LinkIterator(const Group& group, IndexOrder order, Direction direction) noexcept
    : group_(group.duplicate()), order_(order), direction_(direction) {}

LinkIterator::~LinkIterator() {
    const LibraryLock lock(context_of(group_.file_));
    if (walk_ != nullptr) {
        group_.file_->context.destroy(MemoryKind::handle, walk_);
    }
}

H5MOTE_STEP Status LinkIterator::next(Link& link) noexcept {
    const LibraryLock lock(context_of(group_.file_));
    H5MOTE_TRY(group_.check());
    H5MOTE_TRY(status_);
    FileState& file = *group_.file_;
    if (walk_ == nullptr) {
        walk_ = file.context.create<Walk>(MemoryKind::handle, file, direction_);
        if (walk_ == nullptr) {
            return Status::out_of_memory;
        }
        status_ = walk_->start(group_.address_, order_);
        H5MOTE_TRY(status_);
    }
    StoredLink stored;
    H5MOTE_TRY(walk_->step(stored));
    return link.assign(file.context, stored.link);
}

Result<Group> Group::from(Object&& object) noexcept {
    const LibraryLock lock(context_of(object.file_));
    H5MOTE_TRY(object.check());
    ObjectType type = ObjectType::group;
    H5MOTE_TRY(object_type(*object.file_, object.address_, type));
    if (type != ObjectType::group) {
        return object.file_->context.fail(Module::group, H5MOTE_HERE, Status::not_found,
                                          subject(Subject::object_type, static_cast<std::uint32_t>(type)));
    }
    Group group;
    static_cast<Object&>(group) = static_cast<Object&&>(object);
    return group;
}

Result<Object> Group::open_object(std::string_view path) noexcept {
    const LibraryLock lock(context_of(file_));
    H5MOTE_TRY(check());
    Place place(*file_, address_);
    H5MOTE_TRY(place.follow(path));
    return Object(place.file(), place.header());
}

Result<Object> Group::open_object_at(Address address) noexcept {
    const LibraryLock lock(context_of(file_));
    H5MOTE_TRY(check());
    ObjectType type;
    H5MOTE_TRY(object_type(*file_, address, type));
    return Object(*file_, address);
}

Status Group::find_link(std::string_view path, Link& link) noexcept {
    const LibraryLock lock(context_of(file_));
    H5MOTE_TRY(check());
    Place place(*file_, address_);
    std::string_view name;
    H5MOTE_TRY(place.follow_to_parent(path, name));
    StoredLink stored;
    H5MOTE_TRY(find_stored_link(place.file(), place.header(), name, stored));
    return link.assign(place.file().context, stored.link);
}

bool Group::exists(std::string_view path) noexcept {
    const LibraryLock lock(context_of(file_));
    if (check() != Status::ok) {
        return false;
    }
    Place place(*file_, address_);
    return place.look(path) == Status::ok;
}

Status Group::exists(std::string_view path, bool& found) noexcept {
    const LibraryLock lock(context_of(file_));
    found = false;
    H5MOTE_TRY(check());
    Place place(*file_, address_);
    const Status status = place.look(path);
    found = status == Status::ok;
    return status == Status::not_found ? Status::ok : status;
}

Status Group::link_count(std::uint32_t& count) noexcept {
    const LibraryLock lock(context_of(file_));
    count = 0;
    H5MOTE_TRY(check());
    LinkCursor cursor(*file_);
    H5MOTE_TRY(cursor.open(address_));
    std::uint64_t links = 0;
    H5MOTE_TRY(cursor.count(links));
    count = static_cast<std::uint32_t>(links);
    return links <= 0xffffffffU ? Status::ok : file_->context.fail(Module::group, H5MOTE_HERE, Status::overflow);
}

namespace {

Status copy_text(Context& context, ConstBytes from, Span<char> to, std::size_t& length) noexcept {
    length = from.size();
    if (to.data() == nullptr || length == 0) {
        return Status::ok;
    }
    if (length > to.size()) {
        return context.fail(Module::group, H5MOTE_HERE, Status::invalid_argument, 0, length);
    }
    std::memcpy(to.data(), from.data(), length);
    return Status::ok;
}

}  // namespace

Status Group::link(std::uint32_t i, LinkInfo& info, Span<char> name, Span<char> target) noexcept {
    const LibraryLock lock(context_of(file_));
    H5MOTE_TRY(check());
    LinkCursor cursor(*file_);
    H5MOTE_TRY(cursor.open(address_));
    StoredLink stored;
    do {
        H5MOTE_TRY(cursor.next(stored));
    } while (i-- > 0);
    const LinkMessage& link = stored.link;
    info.type = link.type;
    info.has_order = link.has_order;
    info.order = link.order;
    info.address = link.address;
    H5MOTE_TRY(copy_text(file_->context, link.name, name, info.name_length));
    return copy_text(file_->context, link.target, target, info.target_length);
}

namespace {

H5MOTE_STEP Status link_facts(FileState& file, Address group, GroupInfo& info) noexcept {
    LinkCursor cursor(file);
    H5MOTE_TRY(cursor.open(group));
    const GroupStorage& storage = cursor.storage();
    info.storage = storage.kind;
    info.tracks_order = (storage.info.flags & kOrderTracked) != 0;
    info.indexes_order = (storage.info.flags & kOrderIndexed) != 0;
    info.max_order = static_cast<std::int64_t>(storage.info.max_order);
    return cursor.count(info.links);
}

H5MOTE_STEP Status phase_facts(FileState& file, Address group, GroupInfo& info) noexcept {
    MessageIterator message(file, group);
    const Status status = message.next(MessageType::group_info);
    if (status != Status::ok) {
        return status == Status::not_found ? Status::ok : status;
    }
    return GroupInfoMessage::decode(message.body(), info)
               ? Status::ok
               : damaged_message(file.context, H5MOTE_HERE, MessageType::group_info);
}

}  // namespace

Status Group::group_info(GroupInfo& info) const noexcept {
    const LibraryLock lock(context_of(file_));
    info = {};
    H5MOTE_TRY(check());
    H5MOTE_TRY(link_facts(*file_, address_, info));
    info.mounted = file_->mounted_at(address_) != nullptr;
    return phase_facts(*file_, address_, info);
}

}  // namespace h5mote
