// H5L - links: the names in a group, and what they lead to.
#pragma once

#include <h5mote/address.hpp>
#include <h5mote/context.hpp>
#include <h5mote/datatype.hpp>
#include <h5mote/link_type.hpp>

#include <string_view>

namespace h5mote {

struct LinkMessage;

/// One link of a group, with its name and what it leads to in memory of its own. Movable. Group::find_link() and
/// LinkIterator fill it in, and may be given the same Link again. Must not outlive the Library.
class Link {
public:
    Link() noexcept = default;
    Link(const Link&) = delete;
    Link& operator=(const Link&) = delete;
    Link(Link&& other) noexcept { take(other); }
    Link& operator=(Link&& other) noexcept {
        if (this != &other) {
            clear();
            take(other);
        }
        return *this;
    }
    ~Link() { clear(); }

    LinkType type() const noexcept { return type_; }
    bool user_defined() const noexcept { return static_cast<std::uint8_t>(type_) > 64; }
    std::string_view name() const noexcept { return {text_, name_length_}; }
    CharacterSet character_set() const noexcept { return character_set_; }
    bool has_order() const noexcept { return has_order_; }
    /// Creation order, where the group tracks it.
    std::int64_t order() const noexcept { return order_; }
    /// Hard links: address of the object header.
    Address address() const noexcept { return address_; }
    /// The contents of the link as they stand in the file: the path of a soft link, the encoded names of an external
    /// link, the data of a user-defined link. Empty for hard links.
    ConstBytes data() const noexcept;
    /// Soft links: the path. External links: the path of the object in the other file.
    std::string_view target() const noexcept;
    /// External links: the name of the other file.
    std::string_view file_name() const noexcept;

    /// Empties the link and gives its memory back.
    void clear() noexcept;

    /// Copies `from`. out_of_memory. (Internal.)
    Status assign(Context& context, const LinkMessage& from) noexcept;

private:
    void take(Link& other) noexcept;

    Context* context_ = nullptr;
    char* text_ = nullptr;  // the name, then the data
    std::uint32_t name_length_ = 0;
    std::uint32_t data_length_ = 0;
    std::uint32_t capacity_ = 0;
    Address address_ = kUndefinedAddress;
    std::int64_t order_ = 0;
    LinkType type_ = LinkType::hard;
    CharacterSet character_set_ = CharacterSet::ascii;
    bool has_order_ = false;
};

}  // namespace h5mote
