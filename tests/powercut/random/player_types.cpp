// The steps of a Player that need all parts of the format: committed datatypes, datasets that use them, and virtual
// datasets.
#include "session.hpp"

#if H5MOTE_ALL_FORMATS

namespace h5mote_test {

using namespace h5mote;

void Player::commit_datatype(const std::string& path, Random& random) {
    static constexpr std::uint32_t kSizes[] = {1, 4, 8, 8, 16, 44};
    World::Object object;
    object.datatype = true;
    object.shape.element = random.of(kSizes);
    object.shape.mark = world_.made;
    object.shape.type = encode_opaque(object.shape.element, object.shape.mark);
    AttributesCreate attributes;
    attributes.track_order = random.one_in(3);
    const Status status =
        session_->root
            .commit_datatype(path, DatatypeView({object.shape.type.data(), object.shape.type.size()}), attributes)
            .status();
    if (done(status, "commit datatype " + path, {Status::over_budget})) {
        world_.set_link(path, {World::Link::Type::hard, world_.add(std::move(object)), ""});
    }
}

// Gives the dataset that is drawn one of the committed datatypes, and opens it. False: there is none that could be told
// apart from what the name stood for before.
bool Player::draw_committed(const std::string& path, Random& random, DatasetDraw& draw, NamedDatatype& type) {
    std::vector<std::string> all;
    for (const std::string& each : paths(false, false)) {
        World::Object made;
        const World::Object* const object = world_.find(each);
        if (object != nullptr && object->datatype) {
            made.dataset = true;
            made.shape.mark = object->shape.mark;
            if (!world_.ambiguous(path, made)) {
                all.push_back(each);
            }
        }
    }
    World::Shape& shape = draw.shape;
    std::uint64_t elements = 1;
    for (const std::uint64_t dim : shape.box) {
        elements *= dim;
    }
    if (all.empty() || shape.texts || elements > 500) {
        return false;
    }
    const std::string& chosen = all[random.below(all.size())];
    auto opened = session_->root.open_object(chosen);
    auto committed =
        opened ? NamedDatatype::from(static_cast<Object&&>(*opened)) : Result<NamedDatatype>(opened.status());
    if (!done(committed.status(), "open datatype " + chosen, {Status::over_budget})) {
        return false;
    }
    type = static_cast<NamedDatatype&&>(*committed);
    const World::Shape& of_type = world_.find(chosen)->shape;
    shape.element = of_type.element;
    shape.mark = of_type.mark;
    shape.type = of_type.type;
    shape.members.clear();
    const bool filled = !draw.create.fill.empty();
    shape.fill = filled ? draw_bytes(shape.element, random) : Blob(shape.element);
    draw.create.fill = filled ? ConstBytes(shape.fill.data(), shape.fill.size()) : ConstBytes();
    if (draw.create.layout == Layout::compact) {
        draw.create.layout = Layout::contiguous;
    }
    return true;
}

// Makes a virtual dataset of what is drawn. Its source is not there, so that all elements have the fill value.
void Player::draw_virtual(DatasetDraw& draw, NewMapping& mapping) {
    const ConstBytes fill = draw.create.fill;
    draw.create = DatasetCreate();
    draw.create.fill = fill;
    mapping = {".", "/the/source/of/it", Selection::all(), nullptr, Selection::all()};
    draw.create.mappings = {&mapping, 1};
    draw.max_dims = draw.dims = draw.shape.box;
    draw.shape.chunk.clear();
    draw.shape.chunked = draw.shape.is_log = false;
    draw.shape.filters = 0;
    draw.shape.is_virtual = true;
}

}  // namespace h5mote_test

#endif
