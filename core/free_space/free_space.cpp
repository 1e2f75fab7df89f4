#include "free_space.hpp"

#include "extension_messages.hpp"
#include "free_space_manager.hpp"
#include "header.hpp"
#include "superblock_extension.hpp"

#include <h5mote/limits.hpp>

#include <cstring>

namespace h5mote {
namespace {

// The rules of core/file/file_state.cpp, continued.
enum class Rule {
    none,
    drop_first,  // the file names no free-space managers any more before their space is used
};

constexpr bool keep(Rule rule) noexcept { return rule != Rule::H5MOTE_TEST_OMIT; }

constexpr unsigned kManagers = FileSpaceInfoMessage::kMaxManagers;
constexpr std::uint64_t kLeastPage = 512;
constexpr std::uint64_t kMostPage = std::uint64_t{1} << 30;

constexpr bool has_managers(std::uint8_t strategy) noexcept {
    return strategy <= static_cast<std::uint8_t>(SpaceStrategy::pages);
}

class ExtensionContent : public HeaderContent {
public:
    explicit ExtensionContent(const FileSpaceInfoMessage& message) noexcept : message_(message) {}
    void write(HeaderWriter& header) const noexcept override {
        header.begin(MessageType::file_space_info, kMessageNotShareable | kMessageMarkIfUnknown);
        message_.encode(header.shape, header.out);
        header.end();
    }

private:
    const FileSpaceInfoMessage& message_;
};

// The same for a file whose driver has something to keep.
class InformedExtensionContent final : public ExtensionContent {
public:
    InformedExtensionContent(const FileSpaceInfoMessage& message, const SuperblockInfo& info) noexcept
        : ExtensionContent(message), info_(info) {}
    void write(HeaderWriter& header) const noexcept override {
        ExtensionContent::write(header);
        write_driver_info(header, info_);
    }

private:
    const SuperblockInfo& info_;
};

// Builds that do not read all formats have refused version 0.
std::size_t addresses_offset(const FileSpaceInfoMessage& info, FileShape shape) noexcept {
    return H5MOTE_ALL_FORMATS == 0 ? FileSpaceInfoMessage::end_offset(shape) : info.addresses_offset(shape);
}

// Finds out whether sections overlap each other, or anything else that is offered.
class Overlaps final : public SectionVisitor {
public:
    void begin_pass() noexcept { next_.begin_pass(); }
    Status section(Address address, std::uint64_t size) noexcept override {
        offer(address, narrow(size));
        ++sections_;
        bytes_ += narrow(size);
        return Status::ok;
    }
    void offer(Address address, Address size) noexcept {
        ++offered_;
        next_.offer({address, size});
    }
    // Judges what the pass has found. `done`: there is no more.
    bool sound(Address limit, bool& done) noexcept {
        for (std::size_t i = 0; i < next_.count(); ++i) {
            const NumberPair& each = next_[i];
            if (each.second == 0 || each.first < end_ || !within(each.first, each.second, limit)) {
                return false;
            }
            end_ = each.first + each.second;
        }
        judged_ += next_.count();
        most_ = most_ == 0 ? offered_ : most_;
        done = next_.count() < NextPairs::kMost;
        // Of two equal sections one may have been passed over.
        return !done || judged_ == most_;
    }
    // Whether the sections since the call before are as many and as large as the manager says.
    bool agrees(const FreeSpaceHeader& header) noexcept {
        const bool same = sections_ == header.serialized && bytes_ == header.bytes;
        sections_ = 0;
        bytes_ = 0;
        return same;
    }

private:
    NextPairs next_;
    std::size_t sections_ = 0;
    Address bytes_ = 0;
    std::size_t offered_ = 0;
    std::size_t most_ = 0;
    std::size_t judged_ = 0;
    Address end_ = 0;
};

// Takes the sections of at least `bound` bytes, or those that are smaller.
class Loader final : public SectionVisitor {
public:
    Loader(FileSpace& space, SpaceKind kind, Address bound, bool smaller) noexcept
        : space_(space), kind_(kind), bound_(bound), smaller_(smaller) {}
    Status section(Address address, std::uint64_t size) noexcept override {
        if ((size < bound_) == smaller_ && !is_own(address, size)) {
            // What is known already was released since the file was opened, or comes from a call that failed half way.
            (void)space_.add_free(address, narrow(size), kind_);
        }
        return Status::ok;
    }

private:
    // Whether the table of extents has taken part of the section, before the call that failed half way.
    bool is_own(Address address, std::uint64_t size) const noexcept {
        bool is = false;
        for (const FreeExtent& part : space_.keeper()->own()) {
            is = is || (part.address < address + size && address < part.address + part.size);
        }
        return is;
    }

    FileSpace& space_;
    SpaceKind kind_;
    Address bound_;
    bool smaller_;
};

FreeSpace* attach(FileState& file) noexcept {
    auto* const keeper = file.context.create<FreeSpace>(MemoryKind::file, file);
    if (keeper != nullptr) {
        file.space.set_keeper(*keeper);
    }
    return keeper;
}

Status check(FileState& file, const FileCreate& create) noexcept {
    if (create.file_space > SpaceStrategy::none || create.page_size < kLeastPage || create.page_size > kMostPage ||
        (create.persist_free_space && create.file_space > SpaceStrategy::pages)) {
        return file.context.fail(Module::file, H5MOTE_HERE, Status::invalid_argument);
    }
    return H5MOTE_ALL_FORMATS == 0 && create.file_space != SpaceStrategy::managers
               ? file.context.unsupported(Module::file, H5MOTE_HERE, Feature::free_space)
               : Status::ok;
}

Status create(FileState& file, const FileCreate& create) noexcept {
    FreeSpace* const keeper = attach(file);
    return keeper == nullptr ? Status::out_of_memory : keeper->create(create);
}

Status open(FileState& file) noexcept {
    FreeSpace* const keeper = attach(file);
    return keeper == nullptr ? Status::out_of_memory : keeper->open();
}

bool is_complete(FileState& file) noexcept {
    // Every file of a program with this part has such a keeper.
    const auto* const keeper = static_cast<const FreeSpace*>(file.space.keeper());
    return keeper != nullptr && keeper->is_complete();
}

}  // namespace

// What a file's message names.
struct FreeSpace::Managers {
    Address operator[](unsigned i) const noexcept { return of[i]; }

    Address of[kManagers];
    Address tail;  // behind it, and before `end`, the file has managers only; undefined: there is no such part
    Address end;
};

static_assert(sizeof(FreeSpace) <= footprint::kFreeSpace, "raise footprint::kFreeSpace");

const FreeSpaceFormat formats::free_space = {&check, &create, &open, &is_complete};

Status find_space_info(MessageIterator& message) noexcept {
    do {
        H5MOTE_TRY(message.next(MessageType::file_space_info));
    } while ((message.flags() & kMessageWasUnknown) != 0);
    return Status::ok;
}

void FreeSpace::use(SpaceStrategy strategy, std::uint64_t page_size) noexcept {
    SpaceRule rule = file_.space.rule();
    rule.reuse = strategy <= SpaceStrategy::pages;
    rule.page = strategy == SpaceStrategy::pages ? narrow(page_size) : 0;
    file_.space.set_rule(rule);
}

Status FreeSpace::create(const FileCreate& create) noexcept {
    begun_ = true;
    if (has_default_space(create)) {
        return Status::ok;
    }
    use(create.file_space, create.page_size);
    persistent_ = create.persist_free_space;
    threshold_ = create.free_space_threshold;
    FileSpaceInfoMessage message;
    message.strategy = static_cast<std::uint8_t>(create.file_space);
    message.persistent = persistent_;
    message.threshold = threshold_;
    message.page_size = create.page_size;
    Address extension = 0;
    const SuperblockInfo* const info = file_.storage().superblock_info();
    if (info != nullptr) {
        H5MOTE_TRY(create_header(file_, InformedExtensionContent(message, *info), extension));
    } else {
        H5MOTE_TRY(create_header(file_, ExtensionContent(message), extension));
    }
    file_.set_extension(extension);
    return Status::ok;
}

Status FreeSpace::open() noexcept {
    if (file_.superblock().is_old() || file_.superblock().extension == kUndefinedAddress) {
        return Status::ok;
    }
    const bool understood = file_.context.formats().superblock_extension != nullptr;
    MessageIterator message(file_, file_.superblock().extension);
    Status status;
    while ((status = message.next()) == Status::ok) {
        const MessageType type = message.type();
        if (type == MessageType::file_space_info) {
            H5MOTE_TRY(file_.writable() ? read(message) : Status::ok);
        } else if (!understood && type != MessageType::null && type != MessageType::continuation) {
            return file_.context.unsupported(Module::file, H5MOTE_HERE, Feature::superblock_extension,
                                             static_cast<std::uint32_t>(type));
        }
    }
    return status == Status::not_found ? Status::ok : status;
}

// A message that a library has marked as unknown to it may be out of date. libhdf5 pays no attention to it then.
Status FreeSpace::read(MessageIterator& message) noexcept {
    if ((message.flags() & kMessageWasUnknown) != 0) {
        return Status::ok;
    }
    FileSpaceInfoMessage info;
    const FileShape shape = file_.shape();
    const bool sound = info.decode(shape, message.body());
    const std::size_t least = info.persistent_size(shape);
    if (info.version == 0) {
        if constexpr (H5MOTE_ALL_FORMATS == 0) {
            return file_.context.unsupported(Module::file, H5MOTE_HERE, Feature::superblock_extension,
                                             static_cast<std::uint32_t>(message.type()));
        } else if (!sound || !info.renew()) {
            return damaged_message(file_.context, H5MOTE_HERE, message.type());
        }
    }
    const bool pages = sound && info.strategy == FileSpaceStrategy::kPages;
    if (info.strategy > static_cast<std::uint8_t>(SpaceStrategy::none) || (info.persistent && message.size() < least) ||
        (pages && (info.page_size < kLeastPage || info.page_size > kMostPage))) {
        return damaged_message(file_.context, H5MOTE_HERE, message.type());
    }
    if (H5MOTE_ALL_FORMATS == 0 && info.strategy != 0) {
        return file_.context.unsupported(Module::file, H5MOTE_HERE, Feature::free_space, info.strategy);
    }
    use(static_cast<SpaceStrategy>(info.strategy), info.page_size);
    persistent_ = info.persistent && has_managers(info.strategy);
    threshold_ = info.threshold;
    // A power cut may come between the record and the superblock, which is to say that the file has become shorter.
    // What lies between both ends belongs to the tail then, or, in a file without one, is recorded nowhere.
    const Address end = file_.superblock().end_of_file;
    recorded_ = persistent_ && info.least_page_end != FileSpaceInfoMessage::kIncomplete &&
                info.end != kUndefinedAddress && (info.end >= end || info.tail(shape, end) != kUndefinedAddress);
    return Status::ok;
}

// libhdf5 has a manager for each kind of metadata and for raw data, of which global heaps are a part for it, and in
// files with pages as many again for what is not smaller than a page.
SpaceKind FreeSpace::kind_of(unsigned manager) const noexcept {
    if (manager >= kManagers / 2 && file_.space.rule().page != 0) {
        return SpaceKind::pages;
    }
    const unsigned usage = manager % (kManagers / 2);
    return usage == 2 || usage == 3 ? SpaceKind::raw_data : SpaceKind::metadata;
}

// Whether the managers can be believed: their sections lie in the file, and overlap neither each other nor the
// superblock, its extension, the root group's header or the managers themselves. corrupt_file: they do not.
Status FreeSpace::check(const MessageIterator& message, const Managers& managers) noexcept {
    constexpr Address kLeastHeader = 12;
    const Superblock& superblock = file_.superblock();
    Overlaps overlaps;
    for (bool first = true, done = false; !done; first = false) {
        overlaps.begin_pass();
        overlaps.offer(0, static_cast<Address>(superblock.size()));
        overlaps.offer(superblock.root, kLeastHeader);
        overlaps.offer(message.block_address(), message.block_size());
        if (message.block_address() != superblock.extension) {
            overlaps.offer(superblock.extension, kLeastHeader);
        }
        if (managers.tail != kUndefinedAddress) {
            overlaps.offer(managers.tail, managers.end - managers.tail);
        }
        for (unsigned i = 0; i < kManagers; ++i) {
            if (managers[i] == kUndefinedAddress) {
                continue;
            }
            FreeSpaceManager manager(file_, managers[i]);
            H5MOTE_TRY(manager.open());
            if (managers[i] < managers.tail) {
                overlaps.offer(managers[i], static_cast<Address>(FreeSpaceHeader::size(file_.shape())));
            }
            if (manager.has_list()) {
                if (manager.header().list < managers.tail) {
                    overlaps.offer(manager.header().list, manager.header().list_size);
                }
                H5MOTE_TRY(first ? manager.verify() : Status::ok);
                H5MOTE_TRY(manager.walk(overlaps));
            }
            if (!overlaps.agrees(manager.header())) {
                return Status::corrupt_file;
            }
        }
        if (!overlaps.sound(file_.space.end(), done)) {
            return Status::corrupt_file;
        }
    }
    return Status::ok;
}

// Takes over the sections of all managers. Large ones come first: a full storage has room for the table of extents only
// in these.
Status FreeSpace::load(const Managers& managers) noexcept {
    for (unsigned i = 0; i < 2 * kManagers; ++i) {
        const Address address = managers[i % kManagers];
        if (address == kUndefinedAddress) {
            continue;
        }
        FreeSpaceManager manager(file_, address);
        H5MOTE_TRY(manager.open());
        if (manager.has_list()) {
            Loader loader(file_.space, kind_of(i % kManagers), kLeastPart, i >= kManagers);
            H5MOTE_TRY(manager.walk(loader));
        }
    }
    return Status::ok;
}

// Takes over the space of the managers themselves. `gone`: the storage names them no more. If one of them cannot be
// read any more, its space is left to File::reclaim().
Status FreeSpace::release(const Managers& managers, bool gone) noexcept {
    Status result = Status::ok;
    for (unsigned i = 0; i < kManagers; ++i) {
        if (managers[i] == kUndefinedAddress) {
            continue;
        }
        FreeSpaceManager manager(file_, managers[i]);
        const Status status = manager.open();
        if (status != Status::ok) {
            file_.space.free().set_complete(false);
            result = status;
        } else if (manager.has_list() && manager.header().list < managers.tail) {
            file_.space.release(manager.header().list, manager.header().list_size, gone);
        }
        if (managers[i] < managers.tail) {
            file_.space.release(managers[i], static_cast<Address>(FreeSpaceHeader::size(file_.shape())), gone);
        }
    }
    if (managers.tail != kUndefinedAddress) {
        file_.space.release(managers.tail, managers.end - managers.tail, gone);
    }
    return result;
}

// Makes all addresses in the message undefined, which begin at offset `from` of its body. Where the order of writes
// counts that is written at once, before anything else that has changed. `waits`: it was not, because other changes of
// the same block are to be written first.
Status FreeSpace::drop(MessageIterator& message, std::size_t from, bool& waits) noexcept {
    std::byte* at = nullptr;
    const bool atomic = file_.is_atomic();
    H5MOTE_TRY(message.change(from, at, atomic ? Phase::object : Phase::ends));
    std::memset(at, 0xff, message.size() - from);
    if (atomic) {
        return Status::ok;
    }
    // What the block has before that place may come from a session that ended before its last sync.
    H5MOTE_TRY(file_.barrier());
    const Status status = file_.cache.flush(Phase::ends);
    waits = message.block()->dirty();
    if (status != Status::ok) {
        // What a failed write has left is undefined: the next commit writes the block again, whatever it is made for.
        MetadataCache::mark_dirty(*message.block(), message.block_size(), Phase::object);
        return status;
    }
    return file_.barrier();
}

Status FreeSpace::begin() noexcept {
    if (!begun_ && persistent_) {
        bool waits = false;
        H5MOTE_TRY(take_over(waits));
        H5MOTE_TRY(waits ? file_.commit_metadata() : Status::ok);
    }
    begun_ = true;
    return Status::ok;
}

// Whether the end of the file has room for the block of the message, which changes from its byte `from` on, and all
// blocks that lead to it. If only some of them could be moved, they would lie behind a record that still says that
// nothing does: libhdf5 cuts the file there. That takes units smaller than the message. In files with pages only one
// block leads to it, the extension's first one.
Status FreeSpace::check_end(const MessageIterator& message, std::size_t from) noexcept {
    if constexpr (H5MOTE_ALL_FORMATS != 0) {
        constexpr unsigned kMostBlocks = 8;
        const std::uint64_t begin = message.block_address();
        if (file_.is_atomic() || file_.space.rule().page != 0 ||
            file_.one_write(begin + from, begin + message.block_size())) {
            return Status::ok;
        }
        FreeExtent taken[kMostBlocks];
        unsigned count = 0;
        Status status = Status::ok;
        Address block = kUndefinedAddress;
        MessageIterator each(file_, message.address());
        while (status == Status::ok && block != message.block_address() && count < kMostBlocks) {
            status = each.next();
            if (status == Status::ok && each.block_address() != block) {
                block = each.block_address();
                FreeExtent& room = taken[count];
                room.size = each.block_size();
                status = file_.space.extend(Usage::object_header, room.size, room.address);
                count += status == Status::ok ? 1 : 0;
            }
        }
        while (count-- > 0) {
            file_.space.release(taken[count].address, taken[count].size, true);
        }
        return status;
    }
    return Status::ok;
}

// All that begin() does but the commit, which then needs less stack.
Status FreeSpace::take_over(bool& waits) noexcept {
    MessageIterator message(file_, file_.superblock().extension);
    H5MOTE_TRY(find_space_info(message));
    FileSpaceInfoMessage info;
    (void)info.decode(file_.shape(), message.body());
    Managers managers;
    for (unsigned i = 0; i < kManagers; ++i) {
        managers.of[i] = info.manager(file_.shape(), i);
    }
    managers.end = file_.space.end();
    managers.tail = info.tail(file_.shape(), managers.end);
    const Status sound = check(message, managers);
    if (sound != Status::ok && sound != Status::corrupt_file) {
        return sound;
    }
    // If the block of the message has to be moved, it goes where nothing is free yet: to the end of the file.
    const std::size_t addresses = addresses_offset(info, file_.shape());
    H5MOTE_TRY(check_end(message, message.offset() + addresses));
    H5MOTE_TRY(message.secure(message.offset() + addresses));
    H5MOTE_TRY(sound == Status::ok ? load(managers) : Status::ok);
    if (sound != Status::ok || !recorded_) {
        file_.space.free().set_complete(false);
    }
    // After an error the message may be changed in memory, so that the managers are found only now.
    const Status status = keep(Rule::drop_first) ? drop(message, addresses, waits) : Status::ok;
    if (sound != Status::ok) {
        return status;
    }
    const Status released = release(managers, status == Status::ok && !waits && !file_.is_atomic());
    return status == Status::ok ? released : status;
}

}  // namespace h5mote
