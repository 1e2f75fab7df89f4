// Object headers: their blocks, and every message by itself.

#include "checker.hpp"
#include "datatype_message.hpp"
#include "object_messages.hpp"
#include "stored_message.hpp"
#include "text.hpp"

#if H5MOTE_ALL_FORMATS

namespace h5mote {
namespace {

// Checks that a message has `size` bytes or more, and that its first byte, the version, is from `least` to `most`.
Status check_prefix(Context& context, MessageType type, ConstBytes body, unsigned least, unsigned most,
                    std::size_t size) noexcept {
    if (body.size() < size) {
        return damaged_message(context, H5MOTE_HERE, type);
    }
    const unsigned version = std::to_integer<unsigned>(body[0]);
    return version >= least && version <= most
               ? Status::ok
               : context.unsupported(Module::format, H5MOTE_HERE, Feature::message_version, version);
}

Status check_datatype(Context& context, ConstBytes body) noexcept {
    std::size_t length = 0;
    Feature feature = Feature::none;
    const Status status = validate_datatype(body, length, feature);
    switch (status) {
        case Status::corrupt_file:
            return damaged_message(context, H5MOTE_HERE, MessageType::datatype);
        case Status::unsupported:
            return context.unsupported(Module::format, H5MOTE_HERE, feature);
        default:
            return status;
    }
}

Status check_pipeline(Context& context, ConstBytes body) noexcept {
    PipelineReader reader(body);
    unsigned filters = 0;
    H5MOTE_TRY(reader.count(context, filters));
    for (unsigned i = 0; i < filters; ++i) {
        FilterSpec spec;
        H5MOTE_TRY(reader.next(context, spec));
    }
    return Status::ok;
}

Status check_old_fill_value(Context& context, ConstBytes body) noexcept {
    Reader reader(body);
    const std::uint32_t size = reader.u32();
    return reader.ok() && size <= reader.remaining()
               ? Status::ok
               : damaged_message(context, H5MOTE_HERE, MessageType::fill_value_old);
}

// Whether messages of a type can be shared. All others are in the object header that they belong to. Specification
// IV.A.2, "shared message".
bool can_be_shared(MessageType type) noexcept {
    switch (type) {
        case MessageType::dataspace:
        case MessageType::datatype:
        case MessageType::fill_value_old:
        case MessageType::fill_value:
        case MessageType::filter_pipeline:
        case MessageType::attribute:
            return true;
        default:
            return false;
    }
}

}  // namespace

Status Checker::check_link(ConstBytes body, LinkMessage& link) noexcept {
    H5MOTE_TRY(link.decode(file_.context, shape(), body));
    return link.type == LinkType::hard ? link_to(link.address) : Status::ok;
}

Status Checker::check_body(MessageType type, ConstBytes body, HeaderFacts& facts) noexcept {
    Context& context = file_.context;
    switch (type) {
        case MessageType::dataspace: {
            DataspaceMessage space;
            return space.decode(context, shape(), body);
        }
        case MessageType::datatype:
            return check_datatype(context, body);
        case MessageType::fill_value_old:
            return check_old_fill_value(context, body);
        case MessageType::fill_value: {
            FillValueMessage fill;
            return fill.decode(context, body);
        }
        case MessageType::filter_pipeline:
            return check_pipeline(context, body);
        case MessageType::link: {
            LinkMessage link;
            return check_link(body, link);
        }
        case MessageType::link_info:
            return facts.links.decode(context, shape(), body);
        case MessageType::attribute_info:
            return facts.attributes.decode(context, shape(), body);
        case MessageType::group_info: {
            H5MOTE_TRY(check_prefix(context, type, body, 0, 0, GroupInfoMessage::kHeadSize));
            return check_prefix(context, type, body, 0, 0, GroupInfoMessage::size(body));
        }
        case MessageType::external_files: {
            H5MOTE_TRY(check_prefix(context, type, body, 1, 1, 8U + shape().sizeof_addr));
            return check_local_heap(shape().load_addr(body.data() + 8));
        }
        case MessageType::comment:
            return CommentMessage::length(body) < body.size() ? Status::ok
                                                              : damaged_message(context, H5MOTE_HERE, type);
        case MessageType::modification_time_old:
            return body.size() >= OldModificationTimeMessage::kDigits ? Status::ok
                                                                      : damaged_message(context, H5MOTE_HERE, type);
        case MessageType::modification_time:
            return check_prefix(context, type, body, 1, 1, ModificationTimeMessage::kSize);
        case MessageType::symbol_table:
            return facts.symbols.decode(shape(), body) ? Status::ok : damaged_message(context, H5MOTE_HERE, type);
        case MessageType::reference_count:
            H5MOTE_TRY(check_prefix(context, type, body, 0, 0, ReferenceCountMessage::kSize));
            facts.recorded = ReferenceCountMessage::decode(body);
            return Status::ok;
        default:
            return Status::ok;  // messages of the superblock extension were read when the file was opened
    }
}

// The version of most messages is their first byte, of datatypes its higher half.
void Checker::tell_message(MessageType type, std::byte first) noexcept {
    auto version = std::to_integer<std::uint8_t>(first);
    switch (type) {
        case MessageType::datatype:
            version >>= 4;
            break;
        case MessageType::fill_value_old:
        case MessageType::comment:
        case MessageType::modification_time_old:
        case MessageType::symbol_table:
            version = 0;
            break;
        default:
            break;
    }
    tell({type == MessageType::attribute ? CheckPart::attribute : CheckPart::message, static_cast<std::uint8_t>(type),
          version});
}

Status Checker::check_message(MessageIterator& message, HeaderFacts& facts) noexcept {
    const MessageType type = message.type();
    if (static_cast<unsigned>(type) < 32) {
        facts.present |= std::uint32_t{1} << static_cast<unsigned>(type);
    }
    if (type == MessageType::null || type == MessageType::continuation) {
        return Status::ok;
    }
    if (type == MessageType::bogus || type > MessageType::cache_image) {
        refuse(Status::unsupported);  // nobody knows which space such a message uses
    }
    const Address at = message.block_address() + message.offset();
    if (message.shared() && static_cast<unsigned>(type) < 32 && !can_be_shared(type)) {
        return bad(ProblemKind::malformed, CheckPart::message, at, static_cast<std::uint64_t>(type));
    }
    StoredMessage stored;
    const bool shared = message.shared();
    Status status = stored.open(message);
    // `stored` has the message from here on: let go of the header's block.
    message.park();
    if (status == Status::corrupt_file && shared) {
        return bad(ProblemKind::malformed, CheckPart::message, at, static_cast<std::uint64_t>(type));
    }
    H5MOTE_TRY(judge(status, CheckPart::message, at));
    if (stored.committed() != kUndefinedAddress) {
        H5MOTE_TRY(link_to(stored.committed()));
    }
    ConstBytes first;
    if (verifying() && stored.size() != 0 && stored.bytes().view(0, 1, first) == Status::ok) {
        tell_message(type, first[0]);
    }
    if (type == MessageType::attribute) {
        std::uint32_t hash = 0;
        return check_attribute(stored.bytes(), at, shared, hash);
    }
    ConstBytes body;
    LayoutMessage layout;
    if (type == MessageType::layout) {
        const Address most = LayoutMessage::kMaxHead;
        const Address size = stored.size();
        H5MOTE_TRY(judge(stored.bytes().view(0, static_cast<std::size_t>(size < most ? size : most), body),
                         CheckPart::message, at));
        status = layout.decode(file_.context, shape(), body, size);
    } else {
        H5MOTE_TRY(judge(stored.view(body), CheckPart::message, at));
        status = check_body(type, body, facts);
    }
    if (status == Status::ok && type == MessageType::layout && layout.layout_class == Layout::chunked) {
        tell({CheckPart::chunk, 0, layout.version, static_cast<std::uint8_t>(layout.index)});
    }
    if (status == Status::corrupt_file) {
        file_.context.trail().clear();
        return bad(ProblemKind::malformed, CheckPart::message, at, static_cast<std::uint64_t>(type));
    }
    return judge(status, CheckPart::message, at);
}

Status Checker::check_header(Address header, HeaderFacts& facts) noexcept {
    MessageIterator message(file_, header);
    Address block = kUndefinedAddress;
    bool has_null = false;  // the block, as far as it was walked
    Status status;
    while ((status = message.next()) == Status::ok) {
        if (message.block_address() != block) {
            block = message.block_address();
            has_null = false;
            H5MOTE_TRY(use(CheckPart::object_header, block, message.block_size()));
            if (block == header) {
                tell({CheckPart::object_header, 0, static_cast<std::uint8_t>(message.version())});
            }
            if (message.version() == 1) {
                HeaderPrefix prefix;
                H5MOTE_TRY(judge(message.read_prefix(prefix), CheckPart::object_header, header));
                facts.recorded = prefix.reference_count;
            }
        }
        has_null = has_null || message.type() == MessageType::null;
        const std::size_t left = message.end() - message.offset() - message.size();
        if (has_null && left != 0 && left < message.layout().head_size()) {
            // libhdf5 1.14 refuses such a block, a debug version of 1.10 as well.
            (void)bad(ProblemKind::malformed, CheckPart::object_header, block,
                      static_cast<std::uint64_t>(MessageType::null));
        }
        const Status checked = check_message(message, facts);
        H5MOTE_TRY(go_on(checked));
        facts.damaged = facts.damaged || (checked == kReported && message.type() != MessageType::attribute);
    }
    if (status != Status::not_found) {
        return judge(status, CheckPart::object_header, header);
    }
    if (block != kUndefinedAddress) {
        return Status::ok;
    }
    HeaderPrefix prefix;
    H5MOTE_TRY(judge(message.read_prefix(prefix), CheckPart::object_header, header));
    return use(CheckPart::object_header, header, prefix.block_size());
}

}  // namespace h5mote

#endif
