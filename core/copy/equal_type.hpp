// H5O (H5Ocopy) - looks in a file for a committed datatype that equals another one.
#pragma once

#include <h5mote/group.hpp>

namespace h5mote {

/// Searches what links lead to, and what datasets and attributes there have as their type: that datatype need not have
/// a link. The first that is equal is found.
class EqualType final : private Visitor {
public:
    /// All are borrowed. `file`: an object of the file that is searched.
    EqualType(Context& context, const Object& file, DatatypeView type) noexcept
        : context_(context), file_(file), type_(type) {}

    /// Searches the group and everything below it, unless one is found already.
    Status search(Group& group) noexcept;
    /// Searches only the object at `path`, if there is one.
    Status search(Group& group, std::string_view path) noexcept;
    /// The header of what was found; kUndefinedAddress: nothing.
    Address found() const noexcept { return found_; }

private:
    Status object(std::string_view path, Object& object) noexcept override;
    Status compare(const Object& object, ObjectType kind) noexcept;
    Status compare_attributes(const Object& object) noexcept;
    void compare(DatatypeView type, Address header) noexcept;

    Context& context_;
    const Object& file_;
    DatatypeView type_;
    Address found_ = kUndefinedAddress;
};

}  // namespace h5mote
