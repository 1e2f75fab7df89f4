#include "links.hpp"

#include "place.hpp"
#include "text.hpp"

#include <cstring>

namespace h5mote {
namespace {

#if !H5MOTE_ALL_FORMATS

// Soft links followed in one path (libhdf5's default).
constexpr unsigned kMaxSoftLinks = 16;

// Takes the next part off a path; empty at its end. "." and repeated '/' are passed over.
std::string_view take_part(std::string_view& path) noexcept {
    for (;;) {
        while (!path.empty() && path.front() == '/') {
            path.remove_prefix(1);
        }
        std::size_t length = 0;
        while (length < path.size() && path[length] != '/') {
            ++length;
        }
        const std::string_view part = std::string_view(path.data(), length);
        path.remove_prefix(length);
        if (part != std::string_view(".", 1)) {
            return part;
        }
    }
}

bool is_absolute(std::string_view path) noexcept { return !path.empty() && path.front() == '/'; }

// A path in memory of its own: the target of a soft link, then what was left of the path that led to it.
class PathBuffer {
public:
    explicit PathBuffer(Context& context) noexcept : context_(context) {}
    PathBuffer(const PathBuffer&) = delete;
    PathBuffer& operator=(const PathBuffer&) = delete;
    ~PathBuffer() { context_.release(MemoryKind::other, data_, size_); }

    Status join(ConstBytes target, std::string_view rest, std::string_view& path) noexcept {
        const std::size_t size = target.size() + 1 + rest.size();
        auto* data = static_cast<char*>(context_.allocate(MemoryKind::other, size));
        if (data == nullptr) {
            return Status::out_of_memory;
        }
        std::memcpy(data, target.data(), target.size());
        data[target.size()] = '/';
        std::memcpy(data + target.size() + 1, rest.data(), rest.size());
        context_.release(MemoryKind::other, data_, size_);
        data_ = data;
        size_ = size;
        path = {data, size};
        return Status::ok;
    }

private:
    Context& context_;
    char* data_ = nullptr;
    std::size_t size_ = 0;
};

#endif

}  // namespace

void GroupContent::write(HeaderWriter& header) const noexcept {
    LinkInfoMessage info;
    info.flags = track_order_ ? LinkInfoMessage::kTracked | LinkInfoMessage::kIndexed : 0;
    header.begin(MessageType::link_info);
    info.encode(header.out, header.shape);
    header.end();
    // Group info, version 0 without estimates: specification IV.A.2.k.
    header.begin(MessageType::group_info, kMessageConstant);
    header.out.u16(0);
    header.end();
    // Room for the first two links, if their names have eight bytes. libhdf5 makes room for more such links by default.
    header.reserve_continuation(2 * (message_header_size(0) + 3 + 8 + header.shape.sizeof_addr));
}

#if H5MOTE_ALL_FORMATS

// Kinds of objects are told apart as in libhdf5: by the messages that only groups have, then by those of datasets.
Status object_type(FileState& file, Address header, ObjectType& type) noexcept {
    MessageIterator message(file, header);
    bool space = false;
    bool datatype = false;
    Status status;
    while ((status = message.next()) == Status::ok) {
        switch (message.type()) {
            case MessageType::link_info:
            case MessageType::symbol_table:
                type = ObjectType::group;
                return Status::ok;
            case MessageType::layout:
                type = ObjectType::dataset;
                return Status::ok;
            case MessageType::dataspace:
                space = true;
                break;
            case MessageType::datatype:
                datatype = true;
                break;
            default:
                break;
        }
    }
    if (status != Status::not_found) {
        return status;
    }
    type = space ? ObjectType::dataset : ObjectType::datatype;
    return datatype ? Status::ok : file.context.fail(Module::group, H5MOTE_HERE, Status::corrupt_file, 0, header);
}

#else

Status object_type(FileState& file, Address header, ObjectType& type) noexcept {
    MessageIterator message(file, header);
    bool datatype = false;
    Status status;
    while ((status = message.next()) == Status::ok) {
        switch (message.type()) {
            case MessageType::link_info:
                type = ObjectType::group;
                return Status::ok;
            case MessageType::symbol_table:
                return file.context.unsupported(Module::group, H5MOTE_HERE, Feature::symbol_table_group);
            case MessageType::layout:
                type = ObjectType::dataset;
                return Status::ok;
            case MessageType::datatype:
                datatype = true;
                break;
            default:
                break;
        }
    }
    if (status != Status::not_found) {
        return status;
    }
    type = ObjectType::datatype;
    return datatype ? Status::ok : file.context.fail(Module::group, H5MOTE_HERE, Status::corrupt_file, 0, header);
}

namespace {

Status next_link_message(MessageIterator& message) noexcept {
    for (;;) {
        H5MOTE_TRY(message.next());
        Context& context = message.file().context;
        if (message.type() == MessageType::link_info) {
            LinkInfoMessage info;
            H5MOTE_TRY(info.decode(context, message.file().shape(), message.body()));
            if (info.dense) {
                return context.unsupported(Module::group, H5MOTE_HERE, Feature::dense_links);
            }
        } else if (message.type() == MessageType::link) {
            return Status::ok;
        } else if (message.type() == MessageType::symbol_table) {
            return context.unsupported(Module::group, H5MOTE_HERE, Feature::symbol_table_group);
        }
    }
}

}  // namespace

Status next_link(MessageIterator& message, LinkMessage& link) noexcept {
    H5MOTE_TRY(next_link_message(message));
    return link.decode(message.file().context, message.file().shape(), message.body());
}

Status find_link(MessageIterator& message, std::string_view name, LinkMessage& link) noexcept {
    do {
        H5MOTE_TRY(next_link_message(message));
    } while (!LinkMessage::has_name(message.body(), bytes_of(name)));
    return link.decode(message.file().context, message.file().shape(), message.body());
}

#endif

namespace {

class LinkContent final : public MessageContent {
public:
    LinkContent(const LinkMessage& link, FileShape shape) noexcept : link_(link), shape_(shape) {}
    void write(Writer& writer) const noexcept override { link_.encode(writer, shape_); }

private:
    const LinkMessage& link_;
    FileShape shape_;
};

}  // namespace

namespace {

// Takes the next creation order of a group that tracks it.
H5MOTE_STEP Status take_order(FileState& file, Address group, LinkMessage& link) noexcept {
    LinkInfoMessage info;
    MessageIterator message(file, group);
    H5MOTE_TRY(message.next(MessageType::link_info));
    H5MOTE_TRY(info.decode(file.context, file.shape(), message.body()));
    link.has_order = (info.flags & LinkInfoMessage::kTracked) != 0;
#if H5MOTE_CREATION_ORDER
    link.order = info.max_order;
    if (link.has_order) {
        // The number is taken before the link is added: after that nothing may fail. A number that no link gets does no
        // harm.
        return message.store(LinkInfoMessage::kOrderOffset, info.max_order + 1, 8, Phase::index);
    }
#else
    if (link.has_order) {
        return file.context.unsupported(Module::group, H5MOTE_HERE, Feature::creation_order);
    }
#endif
    return Status::ok;
}

}  // namespace

Status insert_link(FileState& file, Address group, LinkMessage& link) noexcept {
    H5MOTE_TRY(take_order(file, group, link));
    return add_message(file, group, MessageType::link, 0, 0, LinkContent(link, file.shape()));
}

#if H5MOTE_ALL_FORMATS

Status resolve(FileState& file, Address group, std::string_view path, Address& object) noexcept {
    Place place(file, group);
    H5MOTE_TRY(place.follow(path));
    object = place.header();
    return &place.file() == &file ? Status::ok
                                  : file.context.unsupported(Module::group, H5MOTE_HERE, Feature::external_link);
}

Status resolve_parent(FileState& file, Address group, std::string_view path, Address& parent,
                      std::string_view& name) noexcept {
    std::string_view parents;
    if (!split_path(path, parents, name) || !is_name(name)) {
        return file.context.fail(Module::group, H5MOTE_HERE, Status::invalid_argument);
    }
    H5MOTE_TRY(resolve(file, group, parents, parent));
    ObjectType type;
    H5MOTE_TRY(object_type(file, parent, type));
    return type == ObjectType::group
               ? Status::ok
               : file.context.fail(Module::group, H5MOTE_HERE, Status::not_found,
                                   subject(Subject::object_type, static_cast<std::uint32_t>(type)));
}

#else

Status resolve(FileState& file, Address group, std::string_view path, Address& object) noexcept {
    PathBuffer buffer(file.context);
    Address at = is_absolute(path) ? file.root() : group;
    unsigned soft_links = 0;
    for (std::string_view part = take_part(path); !part.empty(); part = take_part(path)) {
        MessageIterator message(file, at);
        LinkMessage link;
        H5MOTE_TRY(find_link(message, part, link));
        if (link.type == LinkMessage::Type::hard) {
            at = link.address;
        } else if (link.type == LinkMessage::Type::soft) {
            if (++soft_links > kMaxSoftLinks) {
                return file.context.fail(Module::group, H5MOTE_HERE, Status::not_found, 0, soft_links);
            }
            H5MOTE_TRY(buffer.join(link.target, path, path));
            at = is_absolute(path) ? file.root() : at;
        } else {
            return file.context.unsupported(
                Module::group, H5MOTE_HERE,
                link.type == LinkMessage::Type::external ? Feature::external_link : Feature::user_defined_link);
        }
    }
    object = at;
    return Status::ok;
}

Status resolve_parent(FileState& file, Address group, std::string_view path, Address& parent,
                      std::string_view& name) noexcept {
    std::size_t end = path.size();
    while (end > 0 && path[end - 1] == '/') {
        --end;
    }
    std::size_t begin = end;
    while (begin > 0 && path[begin - 1] != '/') {
        --begin;
    }
    name = {path.data() + begin, end - begin};
    if (!is_name(name) || name == std::string_view(".", 1)) {
        return file.context.fail(Module::group, H5MOTE_HERE, Status::invalid_argument);
    }
    H5MOTE_TRY(resolve(file, group, {path.data(), begin}, parent));
    ObjectType type;
    H5MOTE_TRY(object_type(file, parent, type));
    return type == ObjectType::group
               ? Status::ok
               : file.context.fail(Module::group, H5MOTE_HERE, Status::not_found,
                                   subject(Subject::object_type, static_cast<std::uint32_t>(type)));
}

#endif

namespace {

H5MOTE_STEP Status check_free(FileState& file, Address group, std::string_view name) noexcept {
#if H5MOTE_ALL_FORMATS
    StoredLink existing;
    const Status status = find_stored_link(file, group, name, existing);
#else
    MessageIterator message(file, group);
    LinkMessage existing;
    const Status status = find_link(message, name, existing);
#endif
    if (status == Status::ok) {
        return file.context.fail(Module::group, H5MOTE_HERE, Status::already_exists);
    }
    return status == Status::not_found ? Status::ok : status;
}

}  // namespace

#if H5MOTE_ALL_FORMATS
Status check_link_storage(FileState& file, Address group) noexcept {
    GroupStorage storage;
    H5MOTE_TRY(storage.open(file, group));
    if (storage.kind == LinkStorage::compact) {
        return storage.header_version != 1
                   ? Status::ok
                   : file.context.unsupported(Module::group, H5MOTE_HERE, Feature::object_header_version, 1);
    }
    return file.context.unsupported(
        Module::group, H5MOTE_HERE,
        storage.kind == LinkStorage::dense ? Feature::dense_links : Feature::symbol_table_group);
}
#endif

Status prepare_link(FileState& file, Address group, std::string_view path, Address& parent,
                    std::string_view& name) noexcept {
    H5MOTE_TRY(file.check_writable());
    H5MOTE_TRY(resolve_parent(file, group, path, parent, name));
#if H5MOTE_ALL_FORMATS
    H5MOTE_TRY(check_link_storage(file, parent));
#endif
    return check_free(file, parent, name);
}

}  // namespace h5mote
