// H5A - a value that an attribute gets, and the one that it gives up.
#pragma once

#include "attribute.hpp"
#include "attribute_storage.hpp"
#include "extent.hpp"
#include "owned_bytes.hpp"
#include "prepare.hpp"
#include "shared_changes.hpp"

namespace h5mote {

/// The message of a new attribute, or of one that gets another value.
class AttributeContent final : public MessageContent {
public:
    AttributeMessage message;
    Extent space;
    FileShape shape;
    /// The value may take the place of one with any other datatype and dataspace.
    bool any = false;
    /// If the attribute exists with another datatype, of which values can be made, write_attribute_value() returns
    /// type_mismatch and sets `other_type`. Nothing is in the trail then: write_converted() comes next.
    bool may_convert = false;
    bool other_type = false;
    /// The value has the datatype of the attribute, which exists.
    bool converted = false;
    /// Header of the committed datatype, to which `message.type` then refers; undefined: `message.type` is the type.
    Address committed = kUndefinedAddress;

    bool has_committed_type() const noexcept { return H5MOTE_ALL_FORMATS != 0 && committed != kUndefinedAddress; }

    void write(Writer& writer) const noexcept override {
        Writer counter;
        write_space(counter);
        message.encode(writer, counter.written(), has_committed_type() ? AttributeParts::kSharedType : 0);
        write_space(writer);
        writer.bytes(message.data);
    }

private:
    void write_space(Writer& writer) const noexcept { encode_dataspace(writer, shape, space); }
};

/// What changes values of variable length; nullptr in programs that do not.
inline const VariableLengthFormat* changes_of(FileState& file) noexcept {
    return H5MOTE_ALL_FORMATS != 0 && H5MOTE_WRITE != 0 ? file.context.formats().variable_length_changes : nullptr;
}

/// Gives an object the attribute `content`, or an attribute that it has the value of it. `data` has the values as
/// `memory` describes them, which `stored` describes in the file.
Status write_attribute_value(FileState& file, Address header, AttributeContent& content, DatatypeView memory,
                             DatatypeView stored, ConstBytes data) noexcept;
/// The same where `content.message.data` has the values as the file has them.
Status write_attribute_value(FileState& file, Address header, AttributeContent& content) noexcept;

/// Gives an attribute that exists a value of its own datatype, made of `data`: of a committed datatype, which stays, or
/// of other numbers than `memory` says. type_mismatch: no such value can be made.
H5MOTE_STEP Status write_converted(FileState& file, Address header, AttributeContent& content, DatatypeView memory,
                                   ConstBytes data) noexcept;

/// Makes a change with SharedMessageChangesFormat::change_attribute: `run(shared)`. `moves_value`: the new attribute
/// has the value of the removed one.
template <typename Run>
Status change_sharing(FileState& file, Address object, std::string_view removed, HeapContent* added, bool moves_value,
                      const Run& run) noexcept {
    class Change final : public AttributeChange {
    public:
        Change(const Run& run, bool moves_value) noexcept : AttributeChange(moves_value), run_(run) {}
        Status run(ConstBytes shared) noexcept override { return run_(shared); }

    private:
        const Run& run_;
    };
    const SharedMessageChangesFormat* const format = shared_changes(file);
    if (format == nullptr) {
        return run(ConstBytes{});
    }
    Change change(run, moves_value);
    return format->change_attribute(file, object, removed, added, change);
}

/// Allows a search of a header for an attribute to pass one that is a shared message. A program that can change these
/// looks for them in another way. unsupported: it cannot.
Status pass_shared(FileState& file) noexcept;

/// Whether attributes with that datatype may be one message if they are equal: nothing refers to values of their own.
bool may_be_shared(DatatypeView type) noexcept;

/// Header of the committed datatype of an attribute; undefined: it has a datatype of its own. unsupported: something
/// else of it is shared.
Status committed_type_of(FileState& file, StoredAttributeMessage& stored, Address& header) noexcept;
/// The same of the attribute in `message`, whatever else of it is shared.
Status committed_type_of(FileState& file, MetadataWindow& message, const AttributeParts& parts,
                         Address& header) noexcept;

/// Copies the datatype of an attribute to memory, wherever it is stored; `type` views `bytes`.
Status read_type(FileState& file, StoredAttributeMessage& stored, OwnedBytes& bytes, DatatypeView& type) noexcept;

/// Call before an attribute that was found changes or goes. In `stored` a copy takes the place of parts that it shares;
/// `header` becomes that of its committed datatype. unsupported: the program cannot change what is shared.
Status own_parts(FileState& file, StoredAttributeMessage& stored, Address& header) noexcept;

/// The value of an attribute that is about to go: what its sequences refer to in the global heap goes with it. That of
/// a shared message goes with its last use only: SharedMessageChangesFormat::change_attribute.
class OldValue {
public:
    explicit OldValue(FileState& file) noexcept : file_(file) {}

    /// Discards that, if the program can. What cannot be read is left where it is. `stored` is closed.
    void take(StoredAttributeMessage& stored) noexcept;
    /// Takes that back if the value has stayed, as `status` says.
    Status finish(Status status) noexcept;

private:
    Status discard(StoredAttributeMessage& stored, const VariableLengthFormat& changes) noexcept;

    FileState& file_;
    bool taken_ = false;
    std::size_t before_ = 0;
};

}  // namespace h5mote
