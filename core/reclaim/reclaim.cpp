// H5MF - finding space that nothing uses in files that this library made: the blocks of an object are those that its
// deletion would give up.

#include "lost_space.hpp"

#include "attribute_message.hpp"
#include "dataset_state.hpp"
#include "disposal.hpp"
#include "extension_messages.hpp"
#include "free_space_format.hpp"
#include "header.hpp"
#include "link_message.hpp"
#include "messages.hpp"

namespace h5mote {
namespace {

// Reads a datatype message of which no more is wanted than whether its values are nothing but their own bytes, and
// accepts it only in the versions that this library writes. Values of variable length and references to regions are in
// the global heap, to which nothing else leads. Specification IV.A.2.d.
class PlainType {
public:
    explicit PlainType(ConstBytes body) noexcept : reader_(body) {}
    bool check() noexcept { return type(0) && reader_.ok(); }

private:
    static constexpr unsigned kVersion = 3;

    void name() noexcept {
        while (reader_.ok() && reader_.u8() != 0) {
        }
    }

    // It recurses as deep as types may be nested.
    bool type(unsigned depth) noexcept {
        const std::uint32_t head = reader_.u32();
        const std::uint32_t size = reader_.u32();
        const unsigned version = head >> 4 & 15;
        const std::uint32_t count = head >> 8 & 0xffff;
        if (!reader_.ok() || depth > H5MOTE_MAX_TYPE_DEPTH) {
            return false;
        }
        switch (static_cast<TypeClass>(head & 15)) {
            case TypeClass::integer:
            case TypeClass::bitfield:
                reader_.skip(4);
                return true;
            case TypeClass::floating:
                reader_.skip(12);
                return true;
            case TypeClass::string:
                return true;
            case TypeClass::opaque:
                reader_.skip(count & 0xff);
                return true;
            case TypeClass::array:
                reader_.skip(std::size_t{4} * reader_.u8());
                return version == kVersion && type(depth + 1);
            case TypeClass::enumeration:
                if (version != kVersion || !type(depth + 1)) {
                    return false;
                }
                for (std::uint32_t i = 0; i < count; ++i) {
                    name();
                }
                for (std::uint32_t i = 0; i < count; ++i) {
                    reader_.skip(size);
                }
                return true;
            case TypeClass::compound:
                for (std::uint32_t i = 0; i < count; ++i) {
                    name();
                    reader_.skip(uint_width(size));
                    if (version != kVersion || !type(depth + 1)) {
                        return false;
                    }
                }
                return true;
            default:
                return false;
        }
    }

    Reader reader_;
};

class OwnFileWalk final : public BlockWalk, private BlockWitness {
public:
    explicit OwnFileWalk(FileState& file) noexcept
        : BlockWalk(file.context), file_(file), headers_(file.context), disposal_(file, *this) {}

    Status walk(UsedRuns& runs) noexcept override {
        runs_ = &runs;
        const Superblock& superblock = file_.superblock();
        H5MOTE_TRY(block(0, superblock.size()));
        if (superblock.extension != kUndefinedAddress) {
            H5MOTE_TRY(object(superblock.extension));
        }
        if (headers_.size() == 0) {
            H5MOTE_TRY(headers_.add(file_.root()));
        }
        for (std::size_t i = 0; i < headers_.size(); ++i) {
            H5MOTE_TRY(object(headers_[i]));
        }
        complete_ = true;
        return Status::ok;
    }

private:
    Status block(Address address, Address size) noexcept override {
        return runs_->add(address, size)
                   ? Status::ok
                   : file_.context.fail(Module::file, H5MOTE_HERE, Status::corrupt_file, 0, address);
    }

    H5MOTE_STEP Status object(Address header) noexcept {
        bool dataset = false;
        H5MOTE_TRY(survey(header, dataset));
        if (dataset) {
            H5MOTE_TRY(dataset_at(header));
        }
        return dispose_header(file_, header, disposal_);
    }

    Status dataset_at(Address header) noexcept {
        return DatasetState::visit(file_, header, [&](DatasetState& dataset) {
            bool ahead = false;
            H5MOTE_TRY(complete_ ? Status::ok : dataset.find_ahead(ahead));
            H5MOTE_TRY(ahead ? ahead_.add(header) : Status::ok);
            return dataset.dispose(disposal_);
        });
    }

    H5MOTE_STEP Status survey(Address header, bool& dataset) noexcept {
        MessageIterator message(file_, header);
        Status status;
        while ((status = message.next()) == Status::ok) {
            const bool known =
                (message.flags() & kMessageShared) == 0 && (H5MOTE_ALL_FORMATS == 0 || message.version() != 1);
            dataset = dataset || message.type() == MessageType::layout;
            H5MOTE_TRY(known ? look_at(message) : unsupported(message.type()));
        }
        return status == Status::not_found ? Status::ok : status;
    }

    Status unsupported(MessageType type) noexcept {
        return file_.context.unsupported(Module::file, H5MOTE_HERE, Feature::reclaim, static_cast<std::uint32_t>(type));
    }

    Status look_at_type(ConstBytes body, MessageType holder) noexcept {
        return PlainType(body).check() ? Status::ok : unsupported(holder);
    }

    // Accepts nothing that might use space of which disposing of the object says nothing.
    Status look_at(MessageIterator& message) noexcept {
        const ConstBytes body = message.body();
        const MessageType type = message.type();
        Context& context = file_.context;
        switch (type) {
            case MessageType::link: {
                LinkMessage link;
                H5MOTE_TRY(link.decode(context, file_.shape(), body));
                return complete_ || link.type != LinkType::hard ? Status::ok : headers_.add(link.address);
            }
            case MessageType::link_info: {
                LinkInfoMessage info;
                H5MOTE_TRY(info.decode(context, file_.shape(), body));
                return info.dense ? unsupported(type) : Status::ok;
            }
            case MessageType::attribute_info: {
                AttributeInfoMessage info;
                H5MOTE_TRY(info.decode(context, file_.shape(), body));
                return info.dense ? unsupported(type) : Status::ok;
            }
            case MessageType::attribute: {
                AttributeMessage attribute;
                H5MOTE_TRY(attribute.decode(context, body));
                return look_at_type(attribute.type, type);
            }
            case MessageType::datatype:
                return look_at_type(body, type);
            case MessageType::file_space_info: {
                FileSpaceInfoMessage space;
                bool none = space.decode(file_.shape(), body);
                for (unsigned i = 0; i < FileSpaceInfoMessage::kMaxManagers; ++i) {
                    none = none && space.manager(file_.shape(), i) == kUndefinedAddress;
                }
                return none ? Status::ok : unsupported(type);
            }
            case MessageType::null:
            case MessageType::continuation:
            case MessageType::dataspace:
            case MessageType::fill_value_old:
            case MessageType::fill_value:
            case MessageType::layout:
            case MessageType::group_info:
            case MessageType::filter_pipeline:
            case MessageType::comment:
            case MessageType::modification_time_old:
            case MessageType::modification_time:
            case MessageType::btree_k:
            case MessageType::reference_count:
                return Status::ok;
            default:
                return unsupported(type);
        }
    }

    FileState& file_;
    UsedRuns* runs_ = nullptr;
    HeaderList headers_;     // of all objects that hard links lead to; these may form circles
    bool complete_ = false;  // all headers are known
    Disposal disposal_;
};

Status search(FileState& file, std::size_t memory, std::uint64_t& bytes) noexcept {
    OwnFileWalk walk(file);
    return give_back_lost_space(file, memory, walk, bytes);
}

}  // namespace

const ReclaimFormat formats::reclaim = {&search};

}  // namespace h5mote
