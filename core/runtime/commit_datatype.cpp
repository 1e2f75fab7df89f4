// H5T (H5Tcommit) - datatypes become objects of a file.

#include "links.hpp"
#include "prepare.hpp"
#include "text.hpp"
#include "versions.hpp"

#include <h5mote/group.hpp>
#include <h5mote/named_datatype.hpp>

namespace h5mote {
namespace {

class DatatypeContent final : public HeaderContent {
public:
    DatatypeContent(DatatypeView type, const AttributesOrDefault& the_attributes, bool times) noexcept : type_(type) {
        attributes = the_attributes;
        track_times = times;
    }
    void write(HeaderWriter& header) const noexcept override {
        header.begin(MessageType::datatype, kMessageConstant | kMessageNotShareable);
        header.out.bytes(type_.bytes());
        header.end();
        header.reserve_continuation();
    }

private:
    DatatypeView type_;
};

}  // namespace

Result<NamedDatatype> Group::commit_datatype(std::string_view path, DatatypeView type,
                                             const AttributesOrDefault& attributes) noexcept {
    const LibraryLock lock(context_of(file_));
    H5MOTE_TRY(check());
    H5MOTE_TRY(check_storable(file_->context, type));
    H5MOTE_TRY(check_attributes(file_->context, attributes));
    StoredType stored(*file_);
    H5MOTE_TRY(stored.assign(type));
    return commit_stored(path, stored.view(), attributes);
}

Result<NamedDatatype> Group::commit_stored(std::string_view path, DatatypeView type,
                                           const AttributesOrDefault& attributes, bool track_times) noexcept {
    FileState& file = *file_;
    LinkMessage link;
    LinkGroup parent;
    std::string_view name;
    const Status prepared = prepare_link(file, address_, path, parent, name);
    if (FileState* const other = parent.other()) {
        return Group(*other, parent.address).commit_stored(name, type, attributes, track_times);
    }
    H5MOTE_TRY(prepared);
    H5MOTE_TRY(allow_type(file, type));
    H5MOTE_TRY(create_header(file, DatatypeContent(type, attributes, track_times), link.address));
    // The handle is made before the link: it needs memory.
    Result<NamedDatatype> named = NamedDatatype::from(Object(file, link.address));
    link.name = bytes_of(name);
    const Status status = named ? insert_link(file, parent.address, link) : named.status();
    if (status != Status::ok) {
        discard_fresh_block(file, link.address);
        return status;
    }
    return named;
}

}  // namespace h5mote
