// H5T H5O - committed datatypes: what uses one refers to its object header, and is counted there like a link.
#pragma once

#include "header.hpp"

namespace h5mote {

/// What stands in place of an encoded datatype that is a committed one. Specification IV.A.2 ("shared message"),
/// version 2, as libhdf5 writes it: version 2 | 2 | address of the header.
struct CommittedReference {
    static std::size_t size(FileShape shape) noexcept { return 2U + shape.sizeof_addr; }
    static void encode(Writer& writer, FileShape shape, Address header) noexcept {
        writer.u8(2);
        writer.u8(2);
        shape.write_addr(writer, header);
    }
};

/// Header of the committed datatype that the iterator's current message uses, which may be a datatype message or an
/// attribute in the header; undefined: none, or what it shares is in the file's heap of shared messages. unsupported: a
/// reference of unknown version. corrupt_file.
Status committed_type_of(MessageIterator& message, Address& header) noexcept;

/// The same from the bytes that stand in place of the datatype.
Status committed_type_at(FileState& file, ConstBytes reference, Address& header) noexcept;

/// Counts one more user of the committed datatype. What uses it may then be linked: on the storage the count comes
/// first. Errors of change_reference_count() and FileState::order().
Status use_committed_type(FileState& file, Address header) noexcept;
/// Counts one user less; after the last one, when no link leads to the datatype any more, it is deleted. That user must
/// be gone on the storage (FileState::order()). A datatype that has attributes of committed types itself is not deleted
/// then; its space is lost.
Status release_committed_type(FileState& file, Address header) noexcept;

}  // namespace h5mote
