// The steps of a Player that create and remove datasets, groups, attributes and links.
#include "session.hpp"

#include <h5mote/copy.hpp>

#if H5MOTE_FILTER_DEFLATE
#include <h5mote/filters/deflate.hpp>
#endif
#include <h5mote/filters/fletcher32.hpp>
#include <h5mote/filters/shuffle.hpp>

#include <algorithm>
#include <cstdio>

namespace h5mote_test {

using namespace h5mote;

Span<const Filter* const> all_filters() {
    static constexpr const Filter* kFilters[] = {&shuffle_filter, &deflate_filter, &fletcher32_filter};
    return {kFilters, H5MOTE_FILTERS != 0 ? std::size_t{3} : std::size_t{0}};
}

Blob draw_bytes(std::size_t size, Random& random) {
    Blob bytes(size);
    // Half of the bytes repeat the byte before them, so that there is something to compress.
    for (std::size_t i = 0; i < size; ++i) {
        bytes[i] = i % 8 < 4 || size < 4 ? static_cast<std::byte>(random.next()) : bytes[i - 1];
    }
    return bytes;
}

namespace {

void put(Blob& to, std::uint64_t value, unsigned width) {
    for (unsigned i = 0; i < width; ++i) {
        to.push_back(static_cast<std::byte>(value >> 8 * i));
    }
}

void put_opaque(Blob& to, std::uint32_t size, unsigned mark) {
    put(to, 0x15, 1);
    put(to, 8, 3);
    put(to, size, 4);
    char tag[8] = {};
    std::snprintf(tag, sizeof tag, "%u", mark);
    for (const char each : tag) {
        put(to, static_cast<unsigned char>(each), 1);
    }
}

}  // namespace

Blob encode_opaque(std::uint32_t size, unsigned mark) {
    Blob type;
    put_opaque(type, size, mark);
    return type;
}

Blob encode_compound(const std::vector<std::uint32_t>& sizes, const std::vector<bool>& chosen, unsigned mark) {
    std::uint32_t size = 0;
    std::uint32_t count = 0;
    for (std::size_t m = 0; m < sizes.size(); ++m) {
        size += chosen[m] ? sizes[m] : 0;
        count += chosen[m] ? 1 : 0;
    }
    const unsigned width = size < 256 ? 1 : size < 65536 ? 2 : 3;
    Blob type;
    put(type, 0x36, 1);
    put(type, count, 3);
    put(type, size, 4);
    std::uint32_t offset = 0;
    for (std::size_t m = 0; m < sizes.size(); ++m) {
        if (!chosen[m]) {
            continue;
        }
        put(type, 'a' + m, 2);
        put(type, offset, width);
        put_opaque(type, sizes[m], mark);
        offset += sizes[m];
    }
    return type;
}

Texts::Texts(std::size_t count, Random& random) {
    for (std::size_t i = 0; i < count; ++i) {
        strings.emplace_back(random.one_in(6) ? 0 : 1 + random.below(kWidth - 1), ' ');
        for (char& each : strings.back()) {
            each = static_cast<char>('a' + random.below(26));
        }
        put_text(strings.back().c_str(), padded);
    }
    for (const std::string& each : strings) {
        pointers.push_back(each.c_str());
    }
}

DatatypeView Texts::type() noexcept {
    static constexpr auto kType = make_variable_string();
    return kType.view();
}

// ---- datasets ----------------------------------------------------------------------------------------------------

namespace {

void draw_filters(Random& random, DatasetCreate& create) {
    switch (random.below(6)) {
        case 0:
            create.filters = {filters::shuffle, filters::deflate, filters::fletcher32};
            break;
        case 1:
            create.filters = {filters::fletcher32};
            break;
        case 2:
            create.filters = {filters::deflate};
            break;
        default:
            break;
    }
}

// Draws a chunked dataset of one to four dimensions: one may grow without limit, with `several` more than one, others
// up to a maximum.
void draw_extent(Random& random, bool several, DatasetDraw& draw) {
    const std::size_t rank = random.one_in(3) ? 1 : 2 + random.below(3);
    const std::size_t unlimited = random.one_in(2) ? random.below(rank) : rank;
    const bool more_unlimited = several && random.one_in(3);
    Dims chunk;
    for (std::size_t d = 0; d < rank; ++d) {
        const bool endless = d == unlimited || (more_unlimited && random.one_in(2));
        const std::uint64_t dim = 1 + random.below(rank == 1 ? 30 : 6);
        const std::uint64_t more = endless || random.one_in(3) ? random.below(rank == 1 ? 30 : 5) : 0;
        draw.dims.push_back(endless && random.one_in(3) ? 0 : dim);
        draw.max_dims.push_back(endless ? kUnlimited : dim + more);
        draw.shape.box.push_back(dim + more);
        chunk.push_back(1 + random.below(static_cast<std::size_t>(dim)));
    }
    switch (rank) {
        case 1:
            draw.create.chunk = {static_cast<std::uint32_t>(chunk[0])};
            break;
        case 2:
            draw.create.chunk = {static_cast<std::uint32_t>(chunk[0]), static_cast<std::uint32_t>(chunk[1])};
            break;
        case 3:
            draw.create.chunk = {static_cast<std::uint32_t>(chunk[0]), static_cast<std::uint32_t>(chunk[1]),
                                 static_cast<std::uint32_t>(chunk[2])};
            break;
        default:
            draw.create.chunk = {static_cast<std::uint32_t>(chunk[0]), static_cast<std::uint32_t>(chunk[1]),
                                 static_cast<std::uint32_t>(chunk[2]), static_cast<std::uint32_t>(chunk[3])};
            break;
    }
    draw_filters(random, draw.create);
}

void draw_plain(Random& random, DatasetDraw& draw) {
    for (std::size_t d = random.below(4); d > 0; --d) {
        draw.dims.push_back(1 + random.below(7));
    }
    draw.max_dims = draw.dims;
    draw.shape.box = draw.dims;
    draw.create.layout = random.one_in(2) ? Layout::contiguous : Layout::compact;
}

}  // namespace

void draw_dataset(Random& random, std::uint32_t largest_compact, unsigned mark, bool everything, DatasetDraw& draw) {
    World::Shape& shape = draw.shape;
    shape.mark = mark;
    static constexpr std::uint32_t kElements[] = {1, 2, 4, 4, 8, 8, 12, 16, 16, 20, 24, 31, 44, 64, 100, 200, 568};
    static constexpr std::uint32_t kRows[] = {1, 1, 2, 3, 4, 8, 16, 37, 64};
    static constexpr std::uint32_t kReserve[] = {0, 64, 1000, 65536, 65536};
    static constexpr AllocationTime kTimes[] = {AllocationTime::automatic, AllocationTime::automatic,
                                                AllocationTime::early, AllocationTime::late,
                                                AllocationTime::incremental};
    shape.element = random.of(kElements);
    const std::size_t way = H5MOTE_PARTIAL_IO != 0 ? random.below(8) : 0;
    if (way < 4) {
        shape.is_log = true;
        draw.dims = {0};
        draw.max_dims = {kUnlimited};
        shape.box = {std::max<std::uint64_t>(20, std::min<std::uint64_t>(500, 6000 / shape.element))};
        draw.create.chunk = {random.of(kRows)};
        draw.create.reserve = random.of(kReserve);
        if (H5MOTE_FILTERS != 0) {
            draw_filters(random, draw.create);
        }
    } else if (way < 7) {
        draw_extent(random, everything, draw);
        shape.is_log = draw.dims.size() == 1 && draw.max_dims[0] == kUnlimited;
    } else {
        draw_plain(random, draw);
    }
    shape.chunk.assign(draw.create.chunk.data(), draw.create.chunk.data() + draw.create.chunk.rank());
    shape.filters = draw.create.filters.size();
    shape.chunked = !shape.chunk.empty();
    std::uint64_t elements = 1;
    for (const std::uint64_t dim : shape.box) {
        elements *= dim;
    }
    while (shape.element > 1 && elements * shape.element > 20000) {
        shape.element /= 2;
    }
    if (draw.create.layout == Layout::compact && elements * shape.element > largest_compact) {
        draw.create.layout = Layout::contiguous;
    }
    draw.create.allocation = random.of(kTimes);
    if (everything && random.one_in(6)) {
        const ConstBytes type = Texts::type().bytes();
        shape.texts = true;
        shape.mark = 0;
        shape.element = Texts::kWidth;
        shape.type = Blob(type.begin(), type.end());
        shape.fill = Blob(shape.element);
        return;
    }
    if (shape.element >= 8 && H5MOTE_CONVERSION != 0 && random.one_in(3)) {
        shape.members = {4, shape.element / 2, shape.element - 4 - shape.element / 2};
        if (shape.members[2] == 0) {
            shape.members.pop_back();
        }
        shape.type = encode_compound(shape.members, std::vector<bool>(shape.members.size(), true), mark);
    } else {
        shape.type = encode_opaque(shape.element, mark);
    }
    shape.fill = Blob(shape.element);
    if (random.one_in(2)) {
        shape.fill = draw_bytes(shape.element, random);
        draw.create.fill = {shape.fill.data(), shape.fill.size()};
    }
}

void Player::make_dataset(const std::string& path, Random& random) {
    if (world_.link(path).type != World::Link::Type::none) {
        return;
    }
    if constexpr (H5MOTE_ALL_FORMATS != 0) {
        if (wide_ && random.one_in(5)) {
            return commit_datatype(path, random);
        }
    }
    DatasetDraw draw;
    // Compact data is overwritten in place, in the object header. Without atomic transactions it must fit in one
    // sector.
    draw_dataset(random, storage_.atomic() ? 4000 : 400, world_.made, everything_, draw);
    if (draw.shape.texts && overwrites_texts_ && !storage_.atomic() && !random.one_in(3)) {
        draw.create.allocation = AllocationTime::early;  // only elements that have a place are overwritten
    }
    draw_attributes(random, everything_, draw.create);
    NewMapping mapping;
    NamedDatatype committed;
    bool is_committed = false;
    if constexpr (H5MOTE_ALL_FORMATS != 0) {
        is_committed = wide_ && random.one_in(2) && draw_committed(path, random, draw, committed);
        if (wide_ && !draw.shape.texts && !draw.shape.box.empty() && random.one_in(5)) {
            draw_virtual(draw, mapping);
        }
    }
    World::Object object;
    object.dataset = true;
    object.shape.mark = draw.shape.mark;
    if (world_.ambiguous(path, object)) {
        return;  // strings in the place of strings, which have no mark
    }
    const Dataspace space =
        Dataspace::simple({draw.dims.data(), draw.dims.size()}, {draw.max_dims.data(), draw.max_dims.size()});
    const DatatypeView type({draw.shape.type.data(), draw.shape.type.size()});
    auto made = is_committed ? session_->root.create_dataset(path, committed, space, draw.create)
                             : session_->root.create_dataset(path, type, space, draw.create);
    std::string text = "create dataset " + path + " of " + std::to_string(draw.shape.element) + " bytes,";
    for (std::size_t d = 0; d < draw.dims.size(); ++d) {
        text += " " + std::to_string(draw.dims[d]) +
                (draw.max_dims[d] == kUnlimited ? "/unlimited" : "/" + std::to_string(draw.max_dims[d])) +
                (draw.create.chunk.rank() == 0 ? "" : " in " + std::to_string(draw.create.chunk.data()[d]));
    }
    text += draw.create.layout == Layout::compact      ? ", compact"
            : draw.create.layout == Layout::contiguous ? ", contiguous"
                                                       : "";
    text += draw.shape.texts ? ", strings" : "";
    text += is_committed ? ", committed datatype" : "";
    text += draw.shape.is_virtual ? ", virtual" : "";
    text += ", filters " + std::to_string(draw.create.filters.size()) + ", allocation " +
            std::to_string(static_cast<int>(draw.create.allocation)) + ", reserve " +
            std::to_string(draw.create.reserve) + (draw.create.fill.empty() ? "" : ", fill value");
    if (!done(made.status(), text, {Status::over_budget, Status::invalid_argument, Status::unsupported})) {
        return;
    }
    object.extents = {{draw.dims, draw.dims.empty() ? 0 : draw.dims[0]}};
    std::size_t elements = 1;
    for (const std::uint64_t dim : draw.shape.box) {
        elements *= static_cast<std::size_t>(dim);
    }
    for (std::size_t i = 0; i < elements; ++i) {
        object.now.insert(object.now.end(), draw.shape.fill.begin(), draw.shape.fill.end());
    }
    object.shape = std::move(draw.shape);
    const unsigned number = world_.add(std::move(object));
    world_.set_link(path, {World::Link::Type::hard, number, ""});
    if (!random.one_in(3)) {
        session_->datasets[number] = static_cast<Dataset&&>(*made);
    }
}

void Player::make_group(const std::string& path, Random& random) {
    if (world_.link(path).type != World::Link::Type::none) {
        return;
    }
    if constexpr (H5MOTE_ALL_FORMATS != 0) {
        if (wide_ && random.one_in(2)) {
            return commit_datatype(path, random);
        }
    }
    GroupCreate create;
    if (everything_ && random.one_in(2)) {
        create.min_dense = static_cast<std::uint16_t>(random.below(3));
        create.max_compact = static_cast<std::uint16_t>(create.min_dense + random.below(2));
        create.track_link_order = random.one_in(3);
    }
    draw_attributes(random, everything_, create);
    if (done(session_->root.create_group(path, create).status(),
             "create group " + path + ", compact " + std::to_string(create.min_dense) + " to " +
                 std::to_string(create.max_compact),
             {Status::over_budget})) {
        world_.set_link(path, {World::Link::Type::hard, world_.add(World::Object()), ""});
    }
}

// ---- attributes --------------------------------------------------------------------------------------------------

template <typename Call>
Status Player::with_object(const std::string& path, const Call& call) {
    const World::Object* const object = world_.find(path);
    if (path == "/") {
        return call(session_->root);
    }
    if (object->dataset) {
        Dataset* const handle = dataset(path);
        return handle == nullptr ? Status::over_budget : call(*handle);
    }
    if (object->datatype) {
        auto type = session_->root.open_object(path);
        return type ? call(*type) : type.status();
    }
    auto group = session_->root.open_group(path);
    return group ? call(*group) : group.status();
}

namespace {

std::string draw_name(Random& random) {
    if (H5MOTE_ALL_FORMATS != 0 && random.one_in(4)) {
        return "a" + std::to_string(random.below(30));
    }
    static const std::string kNames[] = {"u", "scale", "units",        "serial number", "offset of the first channel",
                                         "c", "d",     "calibrated at"};
    return kNames[random.below(8)];
}

std::size_t draw_size(Random& random) {
    // Without H5MOTE_PARTIAL_IO, new values are small enough to be overwritten within one sector.
    static constexpr std::size_t kSizes[] = {1, 2, 4, 4, 8, 17, 40, 100, 200, 300, 511, 600, 1000, 2000, 2800};
    return kSizes[random.below(H5MOTE_PARTIAL_IO != 0 ? 15 : 10)];
}

}  // namespace

bool Player::put_attribute(const std::string& path, const std::string& name, std::size_t size, Random& random,
                           bool any) {
    const Blob value = draw_bytes(size, random);
    return put_values(path, name, datatype_of<std::uint8_t>(), size, {value.data(), value.size()}, value, any);
}

// The same with strings of variable length.
bool Player::put_texts(const std::string& path, const std::string& name, std::size_t count, Random& random, bool any) {
    const Texts texts(count, random);
    const ConstBytes bytes = as_bytes(Span<const char* const>(texts.pointers.data(), count));
    return put_values(path, name, Texts::type(), count, bytes, texts.padded, any);
}

// Gives an attribute `count` values. `found`: what a Tree has of them.
bool Player::put_values(const std::string& path, const std::string& name, DatatypeView type, std::uint64_t count,
                        ConstBytes bytes, const Blob& found, bool any) {
    const Status status = with_object(path, [&](Object& object) {
        const Dataspace space = Dataspace::simple({&count, 1});
        return any ? object.replace_attribute(name, type, space, bytes)
                   : object.write_attribute(name, type, space, bytes);
    });
    const std::string what = type.is_variable_string() ? " strings" : "";
    if (!done(status, "attribute " + path + "@" + name + " of " + std::to_string(count) + what,
              {Status::over_budget, Status::type_mismatch})) {
        return false;
    }
    world_.find(path)->set_attribute(name, {true, found});
    return true;
}

bool Player::drop_attribute(const std::string& path, const std::string& name) {
    const Status status = with_object(path, [&](Object& object) { return object.remove_attribute(name); });
    if (!done(status, "remove attribute " + path + "@" + name, {Status::over_budget})) {
        return false;
    }
    world_.find(path)->set_attribute(name, {});
    return true;
}

namespace {

std::vector<std::string> attributes_of(const World::Object& object) {
    std::vector<std::string> names;
    for (const auto& [name, states] : object.attributes) {
        if (states.back().there && name != Tree::kComment) {
            names.push_back(name);
        }
    }
    return names;
}

}  // namespace

// Draws the object whose attributes change: any one, often the root group.
std::string Player::some_object(Random& random) {
    std::vector<std::string> all = {"/"};
    for (const std::string& path : paths(false, false)) {
        if (world_.find(path) != nullptr) {
            all.push_back(path);
        }
    }
    return all[random.one_in(3) ? 0 : random.below(all.size())];
}

void Player::set_attribute(Random& random) {
    const std::string path = some_object(random);
    const std::string name = draw_name(random);
    const auto& attributes = world_.find(path)->attributes;
    const auto there = attributes.find(name);
    const bool same_size = there != attributes.end() && there->second.back().there && !random.one_in(4);
    const std::size_t size = draw_size(random);
    if (everything_ && random.one_in(6)) {
        set_comment(path, random);
    } else if (everything_ && random.one_in(5)) {
        put_texts(path, name, random.below(4), random, random.one_in(2));
    } else {
        put_attribute(path, name, same_size ? there->second.back().bytes.size() : size, random);
    }
}

void Player::set_comment(const std::string& path, Random& random) {
    Blob text = random.one_in(4) ? Blob() : draw_bytes(1 + random.below(Tree::kMostComment - 1), random);
    for (std::byte& each : text) {
        each = each == std::byte{0} ? std::byte{'c'} : each;
    }
    const std::string_view view(reinterpret_cast<const char*>(text.data()), text.size());
    const Status status = with_object(path, [&](Object& object) { return object.set_comment(view); });
    if (done(status, "comment " + path + " of " + std::to_string(text.size()), {Status::over_budget})) {
        world_.find(path)->set_attribute(Tree::kComment, {!text.empty(), text});
    }
}

void Player::replace_attribute(Random& random) {
    const std::string path = some_object(random);
    const std::vector<std::string> names = attributes_of(*world_.find(path));
    if (!names.empty()) {
        const std::string& name = names[random.below(names.size())];
        const bool at_once = H5MOTE_PARTIAL_IO != 0 && random.one_in(2);
        if (at_once || drop_attribute(path, name)) {
            put_attribute(path, name, draw_size(random), random, at_once);
        }
    }
}

void Player::rename_attribute(Random& random) {
    const std::string path = some_object(random);
    const std::vector<std::string> names = attributes_of(*world_.find(path));
    const std::string to = draw_name(random);
    if (names.empty() || std::find(names.begin(), names.end(), to) != names.end()) {
        return;
    }
    const std::string& from = names[random.below(names.size())];
    const Status status = with_object(path, [&](Object& object) { return object.rename_attribute(from, to); });
    if (done(status, "rename attribute " + path + "@" + from + " to " + to, {Status::over_budget})) {
        world_.find(path)->rename_attribute(from, to);
    }
}

void Player::remove_attribute(Random& random) {
    const std::string path = some_object(random);
    const std::vector<std::string> names = attributes_of(*world_.find(path));
    if (!names.empty()) {
        drop_attribute(path, names[random.below(names.size())]);
    }
}

// ---- links -------------------------------------------------------------------------------------------------------

void Player::soft_link(const std::string& path, Random& random) {
    if (world_.link(path).type != World::Link::Type::none) {
        return;
    }
    const std::string target = "/" + std::string(1 + random.below(60), static_cast<char>('a' + random.below(26)));
    if (everything_ && target.size() % 3 == 0) {
        const std::string file(target.size() / 2, 'f');
        if (done(session_->root.create_external_link(path, file, target), "external link " + path,
                 {Status::over_budget})) {
            world_.set_link(path, {World::Link::Type::soft, 0, file + ":" + target});
        }
    } else if (done(session_->root.create_soft_link(path, target), "soft link " + path, {Status::over_budget})) {
        world_.set_link(path, {World::Link::Type::soft, 0, target});
    }
}

void Player::hard_link(const std::string& target, Random& random) {
    const std::string path = some_path(random);
    if (world_.link(path).type != World::Link::Type::none) {
        return;
    }
    const World::Link link = world_.link(target);
    if (world_.ambiguous(path, link.object)) {
        return;
    }
    const Status status =
        with_object(target, [&](Object& object) { return session_->root.create_hard_link(path, object); });
    if (done(status, "hard link " + path + " to " + target, {Status::over_budget})) {
        world_.set_link(path, link);
    }
}

// Not into a group that is moved itself. Groups are moved only where no cut leaves both names: groups without a content
// cannot be told apart.
void Player::move_link(Random& random) {
    const std::vector<std::string> all = paths(false, false);
    const std::string to = some_path(random);
    if (all.empty() || world_.link(to).type != World::Link::Type::none) {
        return;
    }
    const std::string& from = all[random.below(all.size())];
    const World::Object* const object = world_.find(from);
    if (to.rfind(from, 0) == 0 || (object != nullptr && object->is_group() && !storage_.atomic()) ||
        (object != nullptr && world_.ambiguous(to, world_.link(from).object))) {
        return;
    }
    const Status status = session_->root.move_link(from, session_->root, to);
    if (done(status, "move " + from + " to " + to, {Status::over_budget})) {
        world_.move_link(from, to);
    } else {
        // For a while the link had both names, and still has them if there is no space, or no memory, for removing the
        // new one.
        world_.set_link(to, world_.link(from));
        world_.set_link(to, {});
        unclear_ = status == Status::no_space || status == Status::out_of_memory;
    }
}

void Player::copy(Random& random) {
    std::vector<std::string> all;
    for (const std::string& path : paths(false, false)) {
        if (world_.find(path) != nullptr) {
            all.push_back(path);
        }
    }
    const std::string to = some_path(random);
    if (all.empty() || world_.link(to).type != World::Link::Type::none) {
        return;
    }
    const std::string& from = all[random.below(all.size())];
    if (to.rfind(from + "/", 0) == 0 || world_.ambiguous(to, world_.link(from).object, true)) {
        return;
    }
    if constexpr (H5MOTE_ALL_FORMATS != 0) {
        CopyOptions options;
        options.shallow = random.one_in(4);
        options.without_attributes = random.one_in(4);
        options.buffer = random.one_in(2) ? 4096 : 1 + random.below(300);
        const Status status = copy_object(session_->root, from, session_->root, to, options);
        if (done(status, "copy " + from + " to " + to, {Status::over_budget})) {
            world_.copy(from, to, options.shallow, !options.without_attributes);
        }
    }
}

bool Player::unlink(const std::string& path) {
    const World::Link link = world_.link(path);
    if (link.type == World::Link::Type::hard) {
        leave_object(link.object);
    }
    if (!bad_.empty() || !done(session_->root.unlink(path), "unlink " + path, {Status::over_budget, Status::busy})) {
        return false;
    }
    world_.set_link(path, {});
    return true;
}

void Player::remake(Random& random) {
    const std::vector<std::string> all = paths(false, false);
    if (all.empty()) {
        return;
    }
    const std::string path = all[random.below(all.size())];
    if (!unlink(path)) {
        return;
    }
    switch (random.below(4)) {
        case 0:
            return make_group(path, random);
        case 1:
            return soft_link(path, random);
        default:
            return make_dataset(path, random);
    }
}

}  // namespace h5mote_test
