// A tree with everything that copies treat in a way of its own, and the judgement whether a copy of it is whole.
#pragma once

#include <h5mote/filters/deflate.hpp>
#include <h5mote/filters/shuffle.hpp>
#include <h5mote/h5mote.hpp>
#include <h5mote/named_datatype.hpp>
#include <h5mote/type_builder.hpp>
#include <h5mote/variable_length.hpp>

#include <cstring>
#include <string>

#if H5MOTE_ALL_FORMATS

namespace h5mote_test {

inline constexpr const h5mote::Filter* kCopiedFilters[] = {&h5mote::shuffle_filter, &h5mote::deflate_filter};
inline constexpr int kCopiedRows = 60;
inline constexpr unsigned kCopiedTexts = 6;
inline constexpr unsigned kCopiedLinks = 10;

inline std::string copied_text(unsigned i) { return std::string(3 + 7 * i, static_cast<char>('a' + i)); }

template <typename T>
h5mote::Bytes writable(T& values) {
    return {reinterpret_cast<std::byte*>(&values), sizeof values};
}

/// The type of a sequence of references to objects.
class CopiedReferences {
public:
    CopiedReferences() {
        h5mote::TypeBuilder base{reference_};
        h5mote::TypeBuilder whole{sequence_};
        sound_ = base.reference() == h5mote::Status::ok && whole.variable_length(base.type()) == h5mote::Status::ok;
        type_ = whole.type();
    }
    bool sound() const { return sound_; }
    h5mote::DatatypeView type() const { return type_; }

private:
    std::byte reference_[16];
    std::byte sequence_[64];
    h5mote::DatatypeView type_;
    bool sound_ = false;
};

/// Makes the group `numbered`, whose links and attributes have the numbers 1, because those with the number 0 and 2
/// have gone.
inline h5mote::Status make_numbered(h5mote::Group& tree) {
    using namespace h5mote;
    GroupCreate create;
    create.track_link_order = true;
    create.attributes.track_order = true;
    Result<Group> group = tree.create_group("numbered", create);
    H5MOTE_TRY(group.status());
    for (const char* const name : {"gone", "kept", "gone too"}) {
        H5MOTE_TRY(group->create_soft_link(name, "/nowhere"));
        H5MOTE_TRY(group->write_attribute(name, 1));
    }
    for (const char* const name : {"gone", "gone too"}) {
        H5MOTE_TRY(group->unlink(name));
        H5MOTE_TRY(group->remove_attribute(name));
    }
    return Status::ok;
}

inline bool has_numbers(h5mote::Group& tree) {
    using namespace h5mote;
    Result<Group> group = tree.open_group("numbered");
    Link link;
    GroupInfo info;
    if (!group || group->find_link("kept", link) != Status::ok || group->group_info(info) != Status::ok) {
        return false;
    }
    const Result<Attribute> attribute = group->open_attribute("kept");
    return attribute && (*attribute).creation_order() == 1 && link.order() == 1 && info.max_order == 3;
}

/// Fills the empty group `tree`: filtered rows with a second name and an attribute, texts, a sequence of references to
/// the rows and to the tree, a committed datatype with a dataset of it, links of every kind, many in one group.
inline h5mote::Status make_copied_tree(h5mote::Group& tree) {
    using namespace h5mote;
    DatasetCreate filtered;
    filtered.chunk = {16};
    filtered.filters = {filters::shuffle, filters::deflate};
    Result<TypedDataset<std::int32_t>> rows = tree.create_dataset<std::int32_t>("rows", filtered);
    H5MOTE_TRY(rows.status());
    for (std::int32_t i = 0; i < kCopiedRows; ++i) {
        H5MOTE_TRY(rows->append(i * i));
    }
    H5MOTE_TRY(rows->write_attribute("unit", "m"));
    Result<Group> below = tree.create_group("below");
    H5MOTE_TRY(below.status());
    H5MOTE_TRY(below->create_hard_link("again", *rows));
    H5MOTE_TRY(below->create_external_link("external", "other.h5", "/there"));
    for (unsigned i = 0; i < kCopiedLinks; ++i) {
        H5MOTE_TRY(below->create_soft_link("soft" + std::to_string(i), "/nowhere"));
    }
    H5MOTE_TRY(make_numbered(tree));
    static constexpr auto kText = make_variable_string(CharacterSet::ascii);
    Result<Dataset> texts = tree.create_dataset("texts", kText, Dataspace::simple({kCopiedTexts}));
    H5MOTE_TRY(texts.status());
    std::string values[kCopiedTexts];
    const char* pointers[kCopiedTexts];
    for (unsigned i = 0; i < kCopiedTexts; ++i) {
        values[i] = copied_text(i);
        pointers[i] = values[i].c_str();
    }
    H5MOTE_TRY(texts->write(Selection::all(), kText, as_bytes(Span<const char* const>(pointers, kCopiedTexts))));
    const CopiedReferences references;
    std::byte stored[2][8];
    H5MOTE_TRY(references.sound() ? Status::ok : Status::invalid_argument);
    H5MOTE_TRY(tree.create_reference(ReferenceType::object1, *rows, stored[0]));
    H5MOTE_TRY(tree.create_reference(ReferenceType::object1, tree, stored[1]));
    const VariableLength sequence{2, stored};
    H5MOTE_TRY(tree.write_attribute("list", references.type(), Dataspace::scalar(),
                                    as_bytes(Span<const VariableLength>(&sequence, 1))));
    Result<NamedDatatype> type = tree.commit_datatype("type", datatype_of<std::int16_t>());
    H5MOTE_TRY(type.status());
    H5MOTE_TRY(type->write_attribute("what", "a type"));
    const std::int16_t numbers[] = {1, -2, 3};
    Result<Dataset> typed = tree.create_dataset("typed", *type, Dataspace::simple({3}));
    H5MOTE_TRY(typed.status());
    return typed->write(Selection::all(), datatype_of<std::int16_t>(), as_bytes(Span<const std::int16_t>(numbers)));
}

/// What is missing in, or wrong with, the copy `tree`; empty if it is whole. `references`: they lead to the copies.
inline std::string judge_copied_tree(h5mote::Context& context, h5mote::Group& tree, bool references) {
    using namespace h5mote;
    Result<Dataset> rows = tree.open_dataset("rows");
    std::int32_t numbers[kCopiedRows] = {};
    char unit[8];
    std::size_t length = 0;
    if (!rows || rows->size() != kCopiedRows ||
        rows->read(Selection::all(), datatype_of<std::int32_t>(), writable(numbers)) != Status::ok ||
        rows->read_attribute("unit", Span<char>(unit), length) != Status::ok || length != 1 || unit[0] != 'm') {
        return "rows; ";
    }
    for (int i = 0; i < kCopiedRows; ++i) {
        if (numbers[i] != i * i) {
            return "values of rows; ";
        }
    }
    Result<Dataset> again = tree.open_dataset("below/again");
    Link link;
    GroupInfo info;
    Result<Group> below = tree.open_group("below");
    if (!again || again->address() != rows->address() || !below || below->group_info(info) != Status::ok ||
        info.links != kCopiedLinks + 2 || below->find_link("external", link) != Status::ok ||
        link.file_name() != "other.h5") {
        return "links; ";
    }
    if (!has_numbers(tree)) {
        return "creation orders; ";
    }
    static constexpr auto kText = make_variable_string(CharacterSet::ascii);
    char* texts[kCopiedTexts] = {};
    Result<Dataset> strings = tree.open_dataset("texts");
    if (!strings || strings->read(Selection::all(), kText, writable(texts)) != Status::ok) {
        return "texts; ";
    }
    bool same = true;
    for (unsigned i = 0; i < kCopiedTexts; ++i) {
        same = same && texts[i] != nullptr && copied_text(i) == texts[i];
    }
    (void)reclaim(context, kText, kCopiedTexts, sizeof(char*), texts);
    const CopiedReferences types;
    VariableLength sequence;
    if (!same || tree.read_attribute("list", types.type(), writable(sequence)) != Status::ok) {
        return "values of texts; ";
    }
    same = sequence.count == 2;
    const Address wanted[] = {rows->address(), tree.address()};
    for (std::size_t i = 0; same && i < 2; ++i) {
        ReferenceTarget target;
        const ConstBytes stored(static_cast<std::byte*>(sequence.data) + 8 * i, 8);
        same = tree.reference_target(ReferenceType::object1, stored, target) == Status::ok &&
               (references ? target.address == wanted[i] : target.null);
    }
    (void)reclaim(context, types.type(), 1, sizeof sequence, &sequence);
    Result<Object> type = tree.open_object("type");
    Result<Dataset> typed = tree.open_dataset("typed");
    DatasetInfo properties;
    std::int16_t small[3] = {};
    if (!same || !type || !typed || typed->info(properties) != Status::ok ||
        properties.type_object != type->address() ||
        typed->read(Selection::all(), datatype_of<std::int16_t>(), writable(small)) != Status::ok || small[1] != -2) {
        return "references or committed datatype; ";
    }
    return "";
}

}  // namespace h5mote_test

#endif
