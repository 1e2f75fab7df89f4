// H5T (H5Tcommit) - committed datatypes: datatypes that are objects of a file, under a name.
#pragma once

#include <h5mote/object.hpp>

namespace h5mote {

/// A handle of a committed datatype. It holds the datatype in memory of its own.
class NamedDatatype : public Object {
public:
    NamedDatatype() noexcept = default;
    NamedDatatype(NamedDatatype&& other) noexcept;
    NamedDatatype& operator=(NamedDatatype&& other) noexcept;
    ~NamedDatatype() { close(); }

    /// Turns a handle of an object into a handle of the datatype that the object is. not_found: it is no datatype.
    /// unsupported (datatype_version, datatype_class), corrupt_file.
    static Result<NamedDatatype> from(Object&& object) noexcept;

    /// The datatype; the view lives as long as the handle.
    DatatypeView type() const noexcept { return DatatypeView({bytes_, size_}); }
    void close() noexcept;

private:
    std::byte* bytes_ = nullptr;
    std::uint32_t size_ = 0;
};

}  // namespace h5mote
