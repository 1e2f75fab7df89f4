#include "copier.hpp"
#include "deletion.hpp"
#include "info_fields.hpp"
#include "link_storage.hpp"
#include "links.hpp"
#include "symbol_table_changes.hpp"
#include "text.hpp"

namespace h5mote {

// A link that is to be expanded, a copy that has references, or one whose attributes are still to be copied.
struct Copier::Pending {
    Pending(Context& context, Object&& of, Address address, bool without_attributes) noexcept
        : object(static_cast<Object&&>(of)), copy(address), unfinished(without_attributes), path(context) {}

    Object object;    // what the link leads to; the original of the copy
    Address copy;     // undefined: a link
    bool unfinished;  // the attributes are still to be copied; else the references are to be set
    OwnedText path;   // of the link, from the staging group on
    // What the link that is made in the place of an expanded one keeps of it.
    CharacterSet character_set = CharacterSet::ascii;
    bool has_order = false;
    std::uint64_t order = 0;
    Pending* next = nullptr;
};

void Copier::Queue::add(Pending& added) noexcept {
    *end = &added;
    end = &added.next;
}

Copier::Pending* Copier::Queue::take() noexcept {
    Pending* const taken = first;
    if (taken != nullptr) {
        first = taken->next;
        end = first == nullptr ? &first : end;
    }
    return taken;
}

Copier::Copier(Group& destination, Group& staging, const CopyOptions& options, bool whole) noexcept
    : destination_(file_of(destination)),
      root_(destination_, destination_.root()),
      staging_(staging),
      options_(options),
      copied_(context()),
      path_(context()),
      buffer_(context()),
      resolved_(context()),
      referenced_(context()),
      whole_(whole) {}

Copier::~Copier() {
    while (Pending* const left = take_pending()) {
        context().destroy(MemoryKind::other, left);
    }
}

Copier::Pending* Copier::take_pending() noexcept {
    Pending* const link = unfinished_.take();
    return link != nullptr ? link : complete_.take();
}

Status Copier::run(Object& from) noexcept {
    Status status = copy_tree(from, "copy");
    while (Pending* const next = status == Status::ok ? take_pending() : nullptr) {
        status = resolve(*next);
        context().destroy(MemoryKind::other, next);
    }
    return status;
}

// Copies an object, and under a group what hard links lead to, to the path `to` of the staging group.
Status Copier::copy_tree(Object& from, std::string_view to) noexcept {
    H5MOTE_TRY(path_.set(0, to));
    base_ = to.size();
    Result<Group> group = Group::from(from.duplicate());
    if (!group) {
        // No group, so that there is nothing below the object.
        return group.status() == Status::not_found ? copy_one(from) : group.status();
    }
    walked_ = &*group;
    Status status = Status::ok;
    if (options_.shallow) {
        status = object(".", from);
        status = status == Status::ok ? walk_links(*group) : status;
    } else {
        status = group->visit(*this, IndexOrder::creation);
    }
    walked_ = nullptr;
    return status;
}

// Copies what an expanded link or a reference leads to. A shallow copy has of groups nothing but the group there,
// because it is already one level below the group that is copied.
Status Copier::copy_beside(Object& from, std::string_view to) noexcept {
    if (!options_.shallow) {
        return copy_tree(from, to);
    }
    H5MOTE_TRY(path_.set(0, to));
    return copy_one(from);
}

// Copies what the links of one group lead to, and no more.
Status Copier::walk_links(Group& from) noexcept {
    GroupInfo info;
    H5MOTE_TRY(from.group_info(info));
    LinkIterator links(from, info.tracks_order ? IndexOrder::creation : IndexOrder::name);
    Link each;
    Status status;
    while ((status = links.next(each)) == Status::ok) {
        H5MOTE_TRY(link(each.name(), each));
        if (each.type() == LinkType::hard && copy_of(from, each.address()) == kUndefinedAddress) {
            Result<Object> below = from.open_object_at(each.address());
            H5MOTE_TRY(below.status());
            H5MOTE_TRY(object(each.name(), *below));
        }
    }
    return status == Status::not_found ? Status::ok : status;
}

// The path of the walk becomes one from the staging group on.
Status Copier::set_path(std::string_view path) noexcept {
    if (path == ".") {
        return path_.set(base_, {});
    }
    H5MOTE_TRY(path_.set(base_, "/"));
    return path_.set(base_ + 1, path);
}

Status Copier::object(std::string_view path, Object& object) noexcept {
    is_new_ = copy_of(object, object.address()) == kUndefinedAddress;
    if (!is_new_) {
        return Status::ok;  // copied with a dataset that uses it, or in an earlier walk; link() has made the link
    }
    H5MOTE_TRY(set_path(path));
    H5MOTE_TRY(copy_one(object));
    return finish_link();
}

// A group that was copied in an earlier walk has all of its links: the walk must not make them again.
bool Copier::enters(std::string_view /*path*/) noexcept { return is_new_; }

Status Copier::link(std::string_view path, const Link& link) noexcept {
    H5MOTE_TRY(set_path(path));
    H5MOTE_TRY(keep_character_set(link));
    set_ = link.character_set();
    other_set_ = (set_ == CharacterSet::ascii) != is_ascii(bytes_of(link.name()));
    H5MOTE_TRY(gaps_ && link.has_order() ? keep_order(link.order()) : Status::ok);
    if (link.type() != LinkType::hard) {
        bool expanded = false;
        H5MOTE_TRY(expand(path, link, expanded));
        if (expanded) {
            other_set_ = false;  // make_expanded() sees to it
            return Status::ok;
        }
        H5MOTE_TRY(make_link(link));
        return finish_link();
    }
    const Address copy = copy_of(*walked_, link.address());
    if (copy == kUndefinedAddress) {
        return Status::ok;  // object() follows
    }
    const Result<Object> target = staging_.open_object_at(copy);
    H5MOTE_TRY(target.status());
    H5MOTE_TRY(staging_.create_hard_link(path_.view(), *target));
    return finish_link();
}

// A symbol table cannot tell the character set of a name: for one in UTF-8 the group gets the storage of newer groups,
// as in libhdf5. The link itself follows, at the path at hand.
Status Copier::keep_character_set(const Link& link) noexcept {
    const SymbolTableChangesFormat* const tables = context().formats().symbol_table_changes;
    if (tables == nullptr || link.character_set() != CharacterSet::utf8 || is_ascii(bytes_of(link.name()))) {
        return Status::ok;
    }
    LinkGroup parent;
    std::string_view name;
    H5MOTE_TRY(resolve_parent(destination_, staging_.address(), path_.view(), parent, name));
    return tables->convert(destination_, parent.address);
}

// The link at the path at hand has been made. It gets the character set of its original if the name does not tell that.
// Symbol tables have none.
Status Copier::finish_link() noexcept {
    if (!other_set_) {
        return Status::ok;
    }
    other_set_ = false;
    LinkGroup parent;
    std::string_view name;
    H5MOTE_TRY(resolve_parent(destination_, staging_.address(), path_.view(), parent, name));
    LinkStorage kind = LinkStorage::compact;
    H5MOTE_TRY(changeable_storage(destination_, parent.address, kind));
    if (kind == LinkStorage::symbol_table) {
        return Status::ok;
    }
    Link link;
    {
        StoredLink stored;
        H5MOTE_TRY(find_stored_link(destination_, parent.address, name, stored));
        H5MOTE_TRY(link.assign(context(), stored.link));
    }
    LinkMessage renamed;
    renamed.type = link.type();
    renamed.keep_set(static_cast<std::uint8_t>(set_));
    renamed.has_order = link.has_order();
    renamed.order = static_cast<std::uint64_t>(link.order());
    renamed.name = bytes_of(link.name());
    renamed.address = link.address();
    renamed.target = link.data();
    H5MOTE_TRY(remove_link(destination_, parent.address, name));
    H5MOTE_TRY(insert_link(destination_, parent.address, renamed));
    // A group that lost its only link has begun to count again.
    return raise_link_order(destination_, parent.address, renamed.order + 1);
}

// The link that follows in the group of the path at hand gets the number that its original has, also where others
// before it have gone.
Status Copier::keep_order(std::int64_t order) noexcept {
    LinkGroup parent;
    std::string_view name;
    H5MOTE_TRY(resolve_parent(destination_, staging_.address(), path_.view(), parent, name));
    return raise_link_order(destination_, parent.address, static_cast<std::uint64_t>(order));
}

// The same for the link that somebody adds to the copy, if that is a group.
Status Copier::keep_next_order(Object& from, const Object& to) noexcept {
    const Result<Group> group = Group::from(from.duplicate());
    GroupInfo info;
    const Status status = group ? (*group).group_info(info) : group.status();
    if (status != Status::ok) {
        return status == Status::not_found ? Status::ok : status;
    }
    return raise_link_order(destination_, to.address(), static_cast<std::uint64_t>(info.max_order));
}

Status Copier::make_link(const Link& link) noexcept {
    switch (link.type()) {
        case LinkType::soft:
            return staging_.create_soft_link(path_.view(), link.target());
        case LinkType::external:
            return staging_.create_external_link(path_.view(), link.file_name(), link.target());
        default:
            return staging_.create_user_link(path_.view(), link.type(), link.data());
    }
}

// Notes a soft or external link, for which a hard link is to stand in the copy, if the options ask for that and the
// link leads somewhere.
Status Copier::expand(std::string_view path, const Link& link, bool& expanded) noexcept {
    const bool wanted = (link.type() == LinkType::soft && options_.expand_soft_links) ||
                        (link.type() == LinkType::external && options_.expand_external_links);
    if (!wanted) {
        return Status::ok;
    }
    Result<Object> target = walked_->open_object(path);
    if (!target) {
        return target.status() == Status::not_found ? Status::ok : target.status();
    }
    expanded = true;
    H5MOTE_TRY(note(static_cast<Object&&>(*target), path_.view(), kUndefinedAddress, false, &link));
    // The link is made later; its number is not for the next one.
    return link.has_order() ? keep_order(link.order() + 1) : Status::ok;
}

Status Copier::note(Object&& object, std::string_view to, Address copy, bool unfinished, const Link* link) noexcept {
    auto* const noted =
        context().create<Pending>(MemoryKind::other, context(), static_cast<Object&&>(object), copy, unfinished);
    if (noted == nullptr) {
        return Status::out_of_memory;
    }
    (copy == kUndefinedAddress || unfinished ? unfinished_ : complete_).add(*noted);
    if (link != nullptr) {
        noted->character_set = link->character_set();
        noted->has_order = link->has_order();
        noted->order = static_cast<std::uint64_t>(link->order());
    }
    return noted->path.set(0, to);
}

Status Copier::resolve(Pending& pending) noexcept {
    if (pending.copy != kUndefinedAddress) {
        Result<Object> copy = staging_.open_object_at(pending.copy);
        H5MOTE_TRY(copy.status());
        if (pending.unfinished) {
            return finish(pending.object, *copy);
        }
        H5MOTE_TRY(options_.expand_references ? set_references(pending.object, *copy) : Status::ok);
        return keep_next_order(pending.object, *copy);
    }
    Address copy = copy_of(pending.object, pending.object.address());
    if (copy == kUndefinedAddress) {
        OwnedText name(context());
        H5MOTE_TRY(number_name('x', name));
        H5MOTE_TRY(copy_beside(pending.object, name.view()));
        copy = copy_of(pending.object, pending.object.address());
    }
    return make_expanded(pending, copy);
}

// Makes a hard link to the copy in the place of an expanded link.
Status Copier::make_expanded(const Pending& pending, Address copy) noexcept {
    LinkMessage link;
    LinkGroup parent;
    std::string_view name;
    H5MOTE_TRY(prepare_link(destination_, staging_.address(), pending.path.view(), parent, name));
    link.name = bytes_of(name);
    link.address = copy;
    link.keep_set(static_cast<std::uint8_t>(pending.character_set));
    link.has_order = pending.has_order;
    link.order = pending.order;
    H5MOTE_TRY(add_reference(destination_, copy));
    return insert_link(destination_, parent.address, link);
}

Status Copier::number_name(char kind, OwnedText& name) noexcept {
    char text[1 + 10];
    std::size_t at = sizeof text;
    for (std::uint32_t left = ++numbers_; left != 0; left /= 10) {
        text[--at] = static_cast<char>('0' + left % 10);
    }
    text[--at] = kind;
    return name.set(0, {text + at, sizeof text - at});
}

namespace {

// An empty group to which no link leads.
H5MOTE_STEP Status make_staging(FileState& file, Address& group) noexcept {
    return create_group_object(file, GroupCreate{}, group);
}

Status remove_staging(FileState& file, Group& staging) noexcept {
    Link link;
    for (;;) {
        Status status = Status::ok;
        {
            LinkIterator links(staging);
            status = links.next(link);
        }
        if (status == Status::not_found) {
            return delete_unlinked(file, staging.address());
        }
        H5MOTE_TRY(status);
        H5MOTE_TRY(staging.unlink_tree(link.name()));
    }
}

// "~obj_pointed_by_" and the address in decimal, which is the name that libhdf5 gives such an object. Where that name
// is taken, `attempt` follows behind it.
std::string_view referenced_name(Address address, std::uint32_t attempt, char (&text)[64]) noexcept {
    constexpr std::string_view kPrefix = "~obj_pointed_by_";
    std::size_t at = sizeof text;
    const auto number = [&](std::uint64_t left) {
        do {
            text[--at] = static_cast<char>('0' + left % 10);
            left /= 10;
        } while (left != 0);
    };
    if (attempt != 0) {
        number(attempt);
        text[--at] = '_';
    }
    number(address);
    at -= kPrefix.size();
    std::memcpy(text + at, kPrefix.data(), kPrefix.size());
    return {text + at, sizeof text - at};
}

Status link_object(Group& root, const Object& object) noexcept {
    char text[64];
    for (std::uint32_t attempt = 0;; ++attempt) {
        const Status status = root.create_hard_link(referenced_name(object.address(), attempt, text), object);
        if (status != Status::already_exists) {
            return status;
        }
    }
}

// Removes the link that link_object() has made, if it has. The storage may have failed, so nothing waits for it here:
// the object keeps its reference count. One that is too high does no harm, and File::reclaim() finds the object.
Status unlink_object(FileState& file, Address root, Address object) noexcept {
    char text[64];
    for (std::uint32_t attempt = 0;; ++attempt) {
        const std::string_view name = referenced_name(object, attempt, text);
        bool found = false;
        {
            StoredLink stored;
            H5MOTE_TRY(find_stored_link(file, root, name, stored));
            found = stored.link.type == LinkType::hard && stored.link.address == object;
        }
        if (found) {
            return remove_link(file, root, name);
        }
    }
}

}  // namespace

// Notes the copy of an object that only references lead to.
Status Copier::note_referenced(Address copy) noexcept {
    const std::size_t size = referenced_count_ * sizeof copy;
    if (size + sizeof copy > referenced_.capacity()) {
        H5MOTE_TRY(referenced_.reserve(size == 0 ? 8 * sizeof copy : 2 * size, size));
    }
    std::memcpy(referenced_.data() + size, &copy, sizeof copy);
    ++referenced_count_;
    return Status::ok;
}

Address Copier::referenced(std::size_t i) const noexcept {
    Address copy = kUndefinedAddress;
    std::memcpy(&copy, referenced_.data() + i * sizeof copy, sizeof copy);
    return copy;
}

// Also copies that have other links get one, as with libhdf5: those may come from nowhere but the object itself.
Status Copier::link_referenced() noexcept {
    for (std::size_t i = 0; i < referenced_count_; ++i) {
        const Result<Object> target = staging_.open_object_at(referenced(i));
        H5MOTE_TRY(target.status());
        H5MOTE_TRY(link_object(root_, *target));
    }
    return Status::ok;
}

void Copier::unlink_referenced() noexcept {
    for (std::size_t i = 0; i < referenced_count_; ++i) {
        (void)unlink_object(destination_, root_.address(), referenced(i));
    }
}

Status Copier::make_visible(Group& destination, std::string_view name) noexcept {
    // The links lead to the copies when all of these is on the storage.
    H5MOTE_TRY(destination_.order());
    Status status = link_referenced();
    if (status == Status::ok) {
        const Result<Object> copied = staging_.open_object("copy");
        status = copied ? destination.create_hard_link(name, *copied) : copied.status();
    }
    if (status != Status::ok) {
        unlink_referenced();
    }
    return status;
}

Status Copier::copy(Group& source, std::string_view path, Group& destination, std::string_view name,
                    const CopyOptions& options) noexcept {
    const LibraryLock lock(source.library());
    H5MOTE_TRY(source.check());
    H5MOTE_TRY(destination.check());
    FileState& file = file_of(destination);
    LinkGroup parent;
    std::string_view last;
    const Status prepared = prepare_link(file, destination.address(), name, parent, last);
    if (FileState* const other = parent.other()) {
        Group there(*other, parent.address);
        return parent.commit_change(copy(source, path, there, last, options));
    }
    H5MOTE_TRY(prepared);
    Result<Object> from = source.open_object(path);
    H5MOTE_TRY(from.status());
    Address address = kUndefinedAddress;
    H5MOTE_TRY(make_staging(file, address));
    Group staging(file, address);
    Status status = Status::ok;
    {
        Copier copier(destination, staging, options, false);
        status = copier.run(*from);
        if (status == Status::ok) {
            status = copier.make_visible(destination, name);
        }
    }
    // The copies have all links that they are to have; those of the staging group go. After an error these are the only
    // ones, so that everything goes. Where this fails, the copy is complete nevertheless, and File::reclaim() finds
    // what is left.
    (void)remove_staging(file, staging);
    return status;
}

Status Copier::copy_root(Group& source, Group& destination, const CopyOptions& options) noexcept {
    const LibraryLock lock(source.library());
    H5MOTE_TRY(source.check());
    H5MOTE_TRY(destination.check());
    FileState& file = file_of(destination);
    H5MOTE_TRY(file.check_writable());
    GroupInfo links;
    std::uint32_t attributes = 0;
    H5MOTE_TRY(destination.group_info(links));
    H5MOTE_TRY(destination.attribute_count(attributes));
    if (source.same_file(destination) || links.links != 0 || attributes != 0) {
        return file.context.fail(Module::file, H5MOTE_HERE, Status::invalid_argument);
    }
    Address address = kUndefinedAddress;
    H5MOTE_TRY(make_staging(file, address));
    Group staging(file, address);
    const Status status = fill_root(source, destination, staging, options);
    (void)remove_staging(file, staging);
    return status;
}

// Copies the root group to the staging group and puts the copy in the place of the root group that was there.
Status Copier::fill_root(Group& source, Group& destination, Group& staging, const CopyOptions& options) noexcept {
    FileState& file = file_of(destination);
    Address root = kUndefinedAddress;
    {
        Copier copier(destination, staging, options, true);
        H5MOTE_TRY(copier.run(source));
        Result<Group> copied = staging.open_group("copy");
        H5MOTE_TRY(copied.status());
        root = copied->address();
    }
    // The superblock leads to the copy when all of it is on the storage.
    H5MOTE_TRY(file.order());
    H5MOTE_TRY(remove_link(file, staging.address(), "copy"));
    file.set_root(root);
    // The copy is complete. Where this fails, File::reclaim() finds the former root group.
    (void)delete_unlinked(file, destination.address());
    return Status::ok;
}

Status copy_object(Group& source, std::string_view path, Group& destination, std::string_view name,
                   const CopyOptions& options) noexcept {
    return Copier::copy(source, path, destination, name, options);
}

Status copy_file(File& source, File& destination, const CopyOptions& options) noexcept {
    CopyOptions all = options;
    all.expand_references = true;
    Group from = source.root();
    Group to = destination.root();
    return Copier::copy_root(from, to, all);
}

}  // namespace h5mote
