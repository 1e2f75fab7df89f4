#include "place.hpp"

#include "text.hpp"

#include <cstring>

namespace h5mote {
namespace {

// The most links that are not hard in one path (libhdf5's default).
constexpr unsigned kMaxLinks = 16;

bool is_absolute(std::string_view path) noexcept { return !path.empty() && path.front() == '/'; }

// File name and object path in an external link: version and flags 1 | name\0 | path\0. Specification IV.A.2.g.
bool split_external(ConstBytes data, std::string_view& file, std::string_view& object) noexcept {
    std::string_view text = text_of(data);
    if (text.empty() || text.front() != '\0') {
        return false;
    }
    text.remove_prefix(1);
    const std::size_t end = text.find('\0');
    if (end == std::string_view::npos) {
        return false;
    }
    file = {text.data(), end};
    object = text_before(text_after(text, end + 1), '\0');
    return true;
}

}  // namespace

bool split_path(std::string_view path, std::string_view& parent, std::string_view& name) noexcept {
    std::size_t end = path.size();
    while (end > 0 && path[end - 1] == '/') {
        --end;
    }
    std::size_t begin = end;
    while (begin > 0 && path[begin - 1] != '/') {
        --begin;
    }
    name = {path.data() + begin, end - begin};
    parent = {path.data(), begin};
    return !name.empty() && name != std::string_view(".", 1);
}

// The part of a path that is still to be followed. Once a link was followed, it is in memory of its own: the target of
// the link, then what was left of the path.
class Place::Path {
public:
    Path(Context& context, std::string_view path) noexcept : context_(context), rest_(path) {}
    Path(const Path&) = delete;
    Path& operator=(const Path&) = delete;
    ~Path() { context_.release(MemoryKind::other, data_, size_); }

    // Takes the next part off; empty at the end. "." and repeated '/' are passed over.
    std::string_view take() noexcept {
        for (;;) {
            while (!rest_.empty() && rest_.front() == '/') {
                rest_.remove_prefix(1);
            }
            const std::string_view part = text_before(rest_, '/');
            rest_.remove_prefix(part.size());
            if (part != std::string_view(".", 1)) {
                return part;
            }
        }
    }
    // Makes room for a link target of `length` bytes in front of what is left; the caller writes it there.
    Status prepend(std::size_t length, char*& target) noexcept {
        const std::size_t size = length + 1 + rest_.size();
        auto* data = static_cast<char*>(context_.allocate(MemoryKind::other, size));
        if (data == nullptr) {
            return Status::out_of_memory;
        }
        data[length] = '/';
        std::memcpy(data + length + 1, rest_.data(), rest_.size());
        context_.release(MemoryKind::other, data_, size_);
        data_ = data;
        size_ = size;
        rest_ = {data, size};
        target = data;
        return Status::ok;
    }
    Status prepend(std::string_view target) noexcept {
        char* to = nullptr;
        H5MOTE_TRY(prepend(target.size(), to));
        std::memcpy(to, target.data(), target.size());
        return Status::ok;
    }

private:
    Context& context_;
    std::string_view rest_;
    char* data_ = nullptr;
    std::size_t size_ = 0;
};

Status find_object(FileState& from, Address group, std::string_view path, FileState*& file, Address& header) noexcept {
    Place place(from, group);
    H5MOTE_TRY(place.follow(path));
    file = &place.file();
    file->retain();
    header = place.header();
    return Status::ok;
}

void Place::move(FileState& file, Address header) noexcept {
    file.retain();
    FileState::release(file_);
    file_ = &file;
    header_ = header;
}

void Place::go_to_root() noexcept {
    FileState& top = file_->top();
    move(top, top.root());
}

void Place::enter_mount() noexcept {
    while (FileState* mounted = file_->mounted_at(header_)) {
        move(*mounted, mounted->root());
    }
}

Status Place::follow(std::string_view path) noexcept {
    const Status status = look(path);
    return status != Status::not_found
               ? status
               : file_->context.fail(Module::group, H5MOTE_HERE, status, subject(Subject::path_part, missing_), links_);
}

Status Place::look(std::string_view path) noexcept {
    Path rest(file_->context, path);
    if (is_absolute(path)) {
        go_to_root();
    }
    enter_mount();
    missing_ = 1;
    for (std::string_view part = rest.take(); !part.empty(); part = rest.take()) {
        H5MOTE_TRY(step(part, rest));
        enter_mount();
        ++missing_;
    }
    return Status::ok;
}

Status Place::follow_to_parent(std::string_view path, std::string_view& name) noexcept {
    std::string_view parent;
    if (!split_path(path, parent, name)) {
        return file_->context.fail(Module::group, H5MOTE_HERE, Status::invalid_argument);
    }
    return follow(parent);
}

Status Place::step(std::string_view part, Path& path) noexcept {
    StoredLink link;
    H5MOTE_TRY(find_stored_link(*file_, header_, part, link));
    if (link.link.type == LinkType::hard) {
        header_ = link.link.address;
        return Status::ok;
    }
    if (++links_ > kMaxLinks) {
        return Status::not_found;
    }
    return leave_by(link, path);
}

Status Place::leave_by(StoredLink& link, Path& path) noexcept {
    missing_ = 0;  // counted anew in the path that the link leads to
    if (link.link.type == LinkType::soft) {
        const std::string_view target = text_of(link.link.target);
        H5MOTE_TRY(path.prepend(target));
        if (is_absolute(target)) {
            go_to_root();
        }
        return Status::ok;
    }
    const bool external = link.link.type == LinkType::external;
    if constexpr (H5MOTE_ALL_FORMATS == 0) {
        return file_->context.unsupported(Module::group, H5MOTE_HERE,
                                          external ? Feature::external_link : Feature::user_defined_link);
    }
    if (!external) {
        return resolve_user_link(link, path);
    }
    std::string_view name;
    std::string_view object;
    if (!split_external(link.link.target, name, object)) {
        return file_->context.fail(Module::group, H5MOTE_HERE, Status::corrupt_file);
    }
    H5MOTE_TRY(path.prepend(object));
    FileState* other = nullptr;
    H5MOTE_TRY(file_->open_linked(name, other));
    link.close();
    move(*other, other->root());
    FileState::release(other);
    return Status::ok;
}

Status Place::resolve_user_link(const StoredLink& stored, Path& path) noexcept {
    LinkResolver* const resolver = file_->foreign()->file_access.link_resolver;
    if (resolver == nullptr) {
        return file_->context.unsupported(Module::group, H5MOTE_HERE, Feature::user_defined_link,
                                          static_cast<std::uint32_t>(stored.link.type));
    }
    Link link;
    H5MOTE_TRY(link.assign(file_->context, stored.link));
    char text[128];
    char* target = text;
    std::size_t room = sizeof text;
    std::size_t length = 0;
    Status status = resolver->resolve(link, text, length);
    if (status == Status::ok && length <= room) {
        H5MOTE_TRY(path.prepend(length, target));
        std::memcpy(target, text, length);
    } else if (status == Status::invalid_argument && length > room && length <= 0xffff) {
        room = length;
        H5MOTE_TRY(path.prepend(room, target));
        status = resolver->resolve(link, {target, room}, length);
        if (status == Status::ok && length < room) {
            std::memset(target + length, '/', room - length);
        }
    }
    // A target that is longer than its room was not written as a whole.
    status = status == Status::ok && length > room ? Status::invalid_argument : status;
    if (status != Status::ok) {
        return file_->context.fail(Module::group, H5MOTE_HERE, status);
    }
    if (is_absolute({target, length})) {
        go_to_root();
    }
    return Status::ok;
}

}  // namespace h5mote
