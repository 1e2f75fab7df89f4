#include "checker.hpp"

#include "extension_messages.hpp"

#if H5MOTE_ALL_FORMATS

namespace h5mote {

Checker::Checker(FileState& file, const CheckOptions& options, CheckReporter& reporter) noexcept
    : file_(file),
      options_(options),
      reporter_(reporter),
      objects_(file.context),
      extents_(file.context),
      global_heap_(file) {}

// A problem that repeats the one before is reported once: many elements of an object may lead to the same block.
void Checker::report(const Problem& problem) noexcept {
    if (problem.kind == last_.kind && problem.part == last_.part && problem.address == last_.address &&
        problem.number == last_.number && problem.object == last_.object && problem.note == last_.note) {
        return;
    }
    if (!problem.note) {
        refuse(Status::corrupt_file);
    }
    last_ = problem;
    (problem.note ? summary_.notes : summary_.problems) += 1;
    reporter_.problem(problem);
    file_.context.trail().clear();  // the reporter may have looked for the object's name
}

Status Checker::bad(ProblemKind kind, CheckPart part, Address address, std::uint64_t number) noexcept {
    refuse(kind == ProblemKind::unknown ? Status::unsupported : Status::corrupt_file);
    if (verifying()) {
        complete_ = false;
        report({kind, part, false, address, number, object_});
    }
    return kReported;
}

Status Checker::note(ProblemKind kind, CheckPart part, Address address, std::uint64_t number) noexcept {
    if (kind == ProblemKind::unknown || kind == ProblemKind::too_large) {
        refuse(kind == ProblemKind::unknown ? Status::unsupported : Status::out_of_memory);
    }
    if (verifying()) {
        report({kind, part, true, address, number, object_});
    }
    return kReported;
}

// The newest record in the error trail tells what the reading code met. Module::file: a block is not within the file.
// Module::storage, with the block's size as detail: its checksum is wrong. Other modules: the bytes make no sense.
Status Checker::judge(Status status, CheckPart part, Address address) noexcept {
    ErrorTrail& trail = file_.context.trail();
    const ErrorRecord record = trail.newest();
    trail.clear();
    const bool known = record.status == status && record.value != 0 && record.value != kUndefinedAddress;
    const Address at = known && record.module != Module::format ? narrow(record.value) : address;
    switch (status) {
        case Status::corrupt_file:
        case Status::overflow:
            break;
        case Status::io_error:
            refuse(Status::io_error);
            // Report the first failure of the storage in later walks as well.
            if (verifying() || !unreadable_) {
                report({ProblemKind::unreadable, part, false, address, 0, object_});
            }
            complete_ = false;
            unreadable_ = true;
            return kReported;
        case Status::unsupported:
            // A missing filter says nothing about the file, and a writer may mark messages as not to be ignored: both
            // are notes. All else that is unsupported is damage.
            return record.value == static_cast<std::uint64_t>(Feature::filter) ||
                           record.value == static_cast<std::uint64_t>(Feature::unknown_message)
                       ? note(ProblemKind::unknown, part, address, record.value)
                       : bad(ProblemKind::unknown, part, address, record.value);
        default:
            return status;
    }
    switch (known ? record.module : Module::none) {
        case Module::file:
            return bad(ProblemKind::outside, part, at);
        case Module::storage:
            return bad(record.detail != 0 ? ProblemKind::checksum : ProblemKind::malformed, part, at);
        case Module::filter:
            return bad(ProblemKind::data, part, at);
        default:
            return bad(ProblemKind::malformed, part, at);
    }
}

Status Checker::use(CheckPart part, Address address, Address size, bool shared) noexcept {
    if (!file_.contains(address, size)) {
        return bad(ProblemKind::outside, part, address);
    }
    if (only_space()) {
        return runs_->add(address, size, shared) ? Status::ok : bad(ProblemKind::overlap, part, address);
    }
    if (part >= CheckPart::symbol_table_tree && part <= CheckPart::extensible_array) {
        tell({part});
    }
    extents_.add({address, size, object_, part, shared});
    return Status::ok;
}

Status Checker::link_to(Address header) noexcept {
    if (!verifying()) {
        return Status::ok;
    }
    // No object header is shorter than the prefix of an old one.
    if (!file_.contains(header, HeaderPrefix::kOldSize)) {
        return bad(ProblemKind::outside, CheckPart::object_header, header);
    }
    if (objects_.add(header)) {
        return Status::ok;
    }
    if (only_space()) {
        H5MOTE_TRY(objects_.grow());
        (void)objects_.add(header);
        return Status::ok;
    }
    return file_.context.fail(Module::file, H5MOTE_HERE, Status::over_budget, 0, 2 * std::uint64_t{options_.memory});
}

Status Checker::open(CheckPart part, Address address, Address size, bool checksummed, MetadataWindow& window) noexcept {
    H5MOTE_TRY(judge(file_.window(Usage::btree, address, size, checksummed, window), part, address));
    return use(part, address, size);
}

Status UsedBlocks::block(BlockKind kind, Address address, Address size) noexcept {
    CheckPart part = tree_;
    switch (kind) {
        case BlockKind::local_heap_header:
        case BlockKind::local_heap_data:
            part = CheckPart::local_heap;
            break;
        case BlockKind::huge_object:
        case BlockKind::fractal_heap_header:
        case BlockKind::direct_block:
        case BlockKind::indirect_block:
            part = CheckPart::fractal_heap;
            break;
        case BlockKind::free_space_header:
            H5MOTE_TRY(checker_.check_list_size(address));
            [[fallthrough]];
        case BlockKind::free_space_sections:
            part = CheckPart::free_space;
            break;
        default:
            break;
    }
    return checker_.use(part, address, size);
}

void Checker::check_reference_counts() noexcept {
    for (std::uint32_t i = 0; i < objects_.size(); ++i) {
        const CheckedObject& object = objects_[i];
        // If a structure was given up, it may hold further links to the object: fewer links than recorded are no
        // problem then.
        const bool wrong = complete_ ? object.links != object.recorded : object.links > object.recorded;
        if (object.recorded != ObjectTable::kUnknown && wrong) {
            // A count that is too high is a note: it only keeps the object from ever being deleted.
            report({ProblemKind::reference_count, CheckPart::object_header, object.links < object.recorded,
                    object.address, object.links, object.address});
        }
    }
}

// Nothing that was met so far uses [begin, end). Where the driver keeps usages apart, each of its files holds a range
// of addresses of its own, and what lies between two of them is in no file.
void Checker::found_unused(Address begin, Address end) noexcept {
    const UsageRanges* const ranges = file_.storage().usage_ranges();
    const SpaceRanges* const writing = file_.space.ranges();
    while (begin < end) {
        Address next = ranges == nullptr ? begin : end;  // the lowest address from `begin` on that a file holds
        Address stop = end;                              // and the end of that file
        for (unsigned i = 0; ranges != nullptr && i < ranges->count; ++i) {
            const UsageRange& range = ranges->list[i];
            const Address start = narrow(range.start);
            const bool current = writing != nullptr && writing->first() == start;
            const Address range_end = current ? file_.space.current_range().end : narrow(range.end);
            const Address from = start < begin ? begin : start;
            if (from < range_end && from < next) {
                next = from;
                stop = range_end < end ? range_end : end;
            }
        }
        if (next < stop) {
            reporter_.unused(next, stop - next);
            summary_.unused += stop - next;
        }
        begin = stop;
    }
}

void Checker::find_overlaps() noexcept {
    extents_.finish();
    for (std::size_t i = 0; i < extents_.size(); ++i) {
        const CheckExtent& extent = extents_[i];
        const Address end = extent.address + extent.size;
        if (extent.address < reach_) {
            report({ProblemKind::overlap, extent.part, false, extent.address, reached_by_, extent.object});
        }
        if (extent.address > reach_) {
            found_unused(reach_, extent.address);
        }
        if (end > reach_) {
            const Address from = extent.address < reach_ ? reach_ : extent.address;
            if (extent.free) {
                found_unused(from, end);
            } else {
                summary_.used += end - from;
            }
            reach_ = end;
            reached_by_ = extent.address;
        }
    }
}

Status Checker::check_superblock() noexcept {
    const Superblock& superblock = file_.superblock();
    object_ = kUndefinedAddress;
    std::uint64_t stored = 0;
    H5MOTE_TRY(go_on(judge(file_.driver.end_of_file(stored), CheckPart::superblock, 0)));
    if (file_.foreign()->truncated) {
        (void)bad(ProblemKind::truncated, CheckPart::superblock, narrow(stored), superblock.end_of_file);
    }
    if (!superblock.is_old() && superblock.flags != 0) {
        (void)note(ProblemKind::open_for_writing, CheckPart::superblock, 0, superblock.flags);
    }
    tell({CheckPart::superblock, 0, superblock.version});
    H5MOTE_TRY(go_on(use(CheckPart::superblock, 0, superblock.size())));
    if (superblock.driver_info != kUndefinedAddress) {
        std::byte prefix[DriverInfoBlock::kPrefixSize];
        DriverInfoBlock block;
        H5MOTE_TRY(go_on(judge(file_.driver.read(Usage::superblock, superblock.driver_info, prefix),
                               CheckPart::driver_information, superblock.driver_info)));
        (void)block.decode(prefix);  // it was read when the file was opened
        H5MOTE_TRY(
            go_on(use(CheckPart::driver_information, superblock.driver_info, sizeof prefix + Address{block.size})));
    }
    if (superblock.extension != kUndefinedAddress) {
        H5MOTE_TRY(go_on(check_extension()));
    }
    return file_.foreign()->shared_table == kUndefinedAddress ? Status::ok : go_on(check_shared_messages());
}

Status Checker::check_object(std::uint32_t i) noexcept {
    const Address header = objects_[i].address;
    object_ = header;
    HeaderFacts facts;
    H5MOTE_TRY(check_header(header, facts));
    objects_[i].recorded = facts.recorded;
    if (facts.symbols.btree != kUndefinedAddress || facts.symbols.heap != kUndefinedAddress) {
        H5MOTE_TRY(go_on(check_symbol_table(facts.symbols.btree, facts.symbols.heap)));
    }
    if (facts.links.dense) {
        H5MOTE_TRY(go_on(check_dense_links(facts.links)));
    }
    if (facts.attributes.dense) {
        H5MOTE_TRY(go_on(check_dense_attributes(facts.attributes)));
    }
    if (facts.damaged) {
        return Status::ok;
    }
    if (facts.has(MessageType::layout)) {
        return check_dataset(header);
    }
    return facts.is_group() || facts.is_datatype() ? Status::ok
                                                   : bad(ProblemKind::malformed, CheckPart::object_header, header);
}

Status Checker::walk() noexcept {
    H5MOTE_TRY(check_superblock());
    H5MOTE_TRY(go_on(link_to(file_.root())));
    for (std::uint32_t i = 0; i < objects_.size(); ++i) {
        H5MOTE_TRY(go_on(check_object(i)));
    }
    object_ = kUndefinedAddress;
    return file_.foreign()->shared_table == kUndefinedAddress ? Status::ok : check_message_owners();
}

Status Checker::run(CheckSummary& summary) noexcept {
    H5MOTE_TRY(objects_.reserve(options_.memory / 2));
    H5MOTE_TRY(extents_.reserve(options_.memory / 2));
    file_.context.trail().clear();
    do {
        collection_ = kUndefinedAddress;
        H5MOTE_TRY(walk());
        if (verifying()) {
            check_reference_counts();
        }
        find_overlaps();
        ++walks_;
    } while (extents_.advance());
    found_unused(reach_, file_.space.end());
    for (std::size_t i = 0; i < file_.space.free().count(); ++i) {
        free_ += file_.space.free().get(i).size;
    }
    if (SpaceKeeper* const keeper = file_.space.keeper()) {
        for (const FreeExtent& own : keeper->own()) {
            free_ += own.size;
        }
    }
    free_ += file_.space.aggregation_rest(SpaceKind::metadata).size;
    free_ += file_.space.aggregation_rest(SpaceKind::raw_data).size;
    summary = summary_;
    summary.objects = objects_.size();
    summary.walks = walks_;
    summary.free = free_ < summary.unused ? free_ : summary.unused;
    summary.lost = summary.unused - summary.free;
    return Status::ok;
}

Status Checker::find_used(UsedRuns& runs, HeaderList& ahead) noexcept {
    runs_ = &runs;
    ahead_ = &ahead;
    if (verifying()) {
        H5MOTE_TRY(objects_.reserve(0));
    }
    collection_ = kUndefinedAddress;
    H5MOTE_TRY(walk());
    if (verifying()) {
        check_reference_counts();
    }
    ++walks_;
    return refusal_ == Status::ok ? Status::ok : file_.context.fail(Module::file, H5MOTE_HERE, refusal_);
}

Status check_file(File& file, const CheckOptions& options, CheckReporter& reporter, CheckSummary* summary) noexcept {
    FileState* const state = Checker::state_of(file);
    const LibraryLock lock(context_of(state));
    if (state == nullptr || !state->is_open()) {
        return Status::invalid_handle;
    }
    if (state->writable()) {
        H5MOTE_TRY(state->commit());
    }
    Context& context = state->context;
    auto* const checker = context.create<Checker>(MemoryKind::other, *state, options, reporter);
    if (checker == nullptr) {
        return Status::out_of_memory;
    }
    CheckSummary found;
    const Status status = checker->run(found);
    context.destroy(MemoryKind::other, checker);
    if (summary != nullptr) {
        *summary = found;
    }
    return status;
}

}  // namespace h5mote

#endif
