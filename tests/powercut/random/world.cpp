#include "world.hpp"

#include <algorithm>
#include <cstring>

namespace h5mote_test {

bool World::Extent::allows(const Dims& found) const {
    return found == dims || (found.size() == dims.size() && !dims.empty() && found[0] >= least && found[0] <= dims[0] &&
                             std::equal(found.begin() + 1, found.end(), dims.begin() + 1));
}

std::size_t World::Object::place(const Dims& at) const {
    std::uint64_t place = 0;
    for (std::size_t d = 0; d < at.size(); ++d) {
        place = place * shape.box[d] + at[d];
    }
    return static_cast<std::size_t>(place);
}

void World::Object::set(std::size_t place, const std::byte* value) { set_bytes(place, 0, shape.element, value); }

void World::Object::set_bytes(std::size_t place, std::size_t offset, std::size_t size, const std::byte* value) {
    const auto at = now.begin() + static_cast<std::ptrdiff_t>(place * shape.element);
    before[place].emplace_back(at, at + static_cast<std::ptrdiff_t>(shape.element));
    cut_off.erase(place);
    std::copy_n(value, size, at + static_cast<std::ptrdiff_t>(offset));
}

void World::Object::shrink(const Dims& dims) {
    for_each_element(this->dims(), [&](const Dims& at) {
        bool stays = true;
        for (std::size_t d = 0; d < at.size(); ++d) {
            stays = stays && at[d] < dims[d];
        }
        if (!stays) {
            set(place(at), shape.fill.data());
            cut_off[place(at)] = extents.size();
        }
    });
    extents.push_back({dims, dims[0]});
}

bool World::Object::was_shrunk() const {
    for (std::size_t i = 1; i < extents.size(); ++i) {
        for (std::size_t d = 0; d < extents[i].dims.size(); ++d) {
            if (extents[i].dims[d] < extents[i - 1].dims[d]) {
                return true;
            }
        }
    }
    return false;
}

void World::Object::set_attribute(const std::string& name, const Value& value) {
    std::vector<Value>& states = attributes[name];
    if (states.empty()) {
        states.push_back({});
    }
    states.push_back(value);
    renamed.erase(std::remove_if(renamed.begin(), renamed.end(),
                                 [&](const auto& each) { return each.first == name || each.second == name; }),
                  renamed.end());
}

void World::Object::rename_attribute(const std::string& from, const std::string& to) {
    const std::vector<Value>& states = attributes[from];
    const Value value = states.back();
    const bool certain = std::all_of(states.begin(), states.end(), [](const Value& each) { return each.there; });
    set_attribute(from, {});
    set_attribute(to, value);
    if (certain) {
        renamed.emplace_back(from, to);
    }
}

World::World() { objects[0]; }

World::Object* World::parent(const std::string& path, std::string& name) {
    const std::size_t slash = path.rfind('/');
    name = path.substr(slash + 1);
    return find(path.substr(0, slash));
}

World::Object* World::find(const std::string& path) {
    if (path.empty() || path == "/") {
        return &root();
    }
    const Link last = link(path);
    return last.type == Link::Type::hard ? &objects.at(last.object) : nullptr;
}

World::Link World::link(const std::string& path) {
    std::string name;
    Object* const group = parent(path, name);
    if (group == nullptr) {
        return {};
    }
    const auto found = group->links.find(name);
    return found == group->links.end() ? Link() : found->second.back();
}

void World::set_link(const std::string& path, const Link& link) {
    std::string name;
    Object* const group = parent(path, name);
    std::vector<Link>& states = group->links[name];
    if (states.empty()) {
        states.push_back({});
    }
    states.push_back(link);
    const Place place{number_of(*group), name};
    moved.erase(std::remove_if(moved.begin(), moved.end(),
                               [&](const auto& each) { return each.first == place || each.second == place; }),
                moved.end());
}

bool World::ambiguous(const std::string& path, unsigned object, bool copied) {
    return ambiguous(path, objects.at(object), copied ? kNoObject : object);
}

bool World::ambiguous(const std::string& path, const Object& object, unsigned itself) {
    std::string name;
    Object* const group = parent(path, name);
    const auto states = group->links.find(name);
    return states != group->links.end() &&
           std::any_of(states->second.begin(), states->second.end(), [&](const Link& link) {
               return link.type == Link::Type::hard && link.object != itself &&
                      objects.at(link.object).looks_like(object);
           });
}

void World::move_link(const std::string& from, const std::string& to) {
    const Link value = link(from);
    std::string old_name;
    std::string new_name;
    Object& old_group = *parent(from, old_name);
    const Place new_place{number_of(*parent(to, new_name)), new_name};
    const std::vector<Link>& states = old_group.links[old_name];
    const bool certain =
        std::all_of(states.begin(), states.end(), [](const Link& each) { return each.type != Link::Type::none; });
    set_link(to, value);
    set_link(from, {});
    if (certain) {
        moved.push_back({{number_of(old_group), old_name}, new_place});
    }
}

unsigned World::number_of(const Object& object) const {
    return std::find_if(objects.begin(), objects.end(), [&](const auto& each) { return &each.second == &object; })
        ->first;
}

unsigned World::add(Object&& object) {
    objects[made] = std::move(object);
    return made++;
}

unsigned World::copy(unsigned number, unsigned levels, bool with_attributes, std::map<unsigned, unsigned>& copies) {
    const auto there = copies.find(number);
    if (there != copies.end()) {
        return there->second;
    }
    Object result;
    const Object& from = objects.at(number);
    result.dataset = from.dataset;
    result.datatype = from.datatype;
    result.shape = from.shape;
    result.now = from.now;
    if (from.dataset) {
        const Dims& dims = from.dims();
        result.extents = {{dims, dims.empty() ? 0 : dims[0]}};
    }
    for (const auto& [name, states] : from.attributes) {
        if (with_attributes || name == Tree::kComment) {
            result.attributes[name] = {states.back()};
        }
    }
    std::map<std::string, std::vector<Link>> links;
    if (levels > 0) {
        links = from.links;
    }
    const unsigned made_here = add(std::move(result));
    copies[number] = made_here;
    for (const auto& [name, states] : links) {
        Link link = states.back();
        if (link.type == Link::Type::hard) {
            link.object = copy(link.object, levels - 1, with_attributes, copies);
        }
        objects.at(made_here).links[name] = {link};
    }
    return made_here;
}

void World::copy(const std::string& from, const std::string& to, bool shallow, bool with_attributes) {
    std::map<unsigned, unsigned> copies;
    constexpr unsigned kAllLevels = 1000;
    const unsigned object = copy(link(from).object, shallow ? 1 : kAllLevels, with_attributes, copies);
    set_link(to, {Link::Type::hard, object, ""});
}

void World::settle() {
    moved.clear();
    for (auto& [number, object] : objects) {
        object.renamed.clear();
        for (auto& [name, states] : object.links) {
            states = {states.back()};
        }
        for (auto& [name, states] : object.attributes) {
            states = {states.back()};
        }
        if (object.dataset) {
            object.extents = {object.extents.back()};
            object.extents[0].least = object.dims().empty() ? 0 : object.dims()[0];
        }
        object.before.clear();
        object.cut_off.clear();
    }
    keep_reachable();
}

void World::keep_reachable() {
    std::set<unsigned> kept;
    std::vector<unsigned> open = {0};
    while (!open.empty()) {
        const unsigned number = open.back();
        open.pop_back();
        if (!kept.insert(number).second) {
            continue;
        }
        for (const auto& [name, states] : objects.at(number).links) {
            for (const Link& link : states) {
                if (link.type == Link::Type::hard) {
                    open.push_back(link.object);
                }
            }
        }
    }
    for (auto object = objects.begin(); object != objects.end();) {
        object = kept.count(object->first) != 0 ? std::next(object) : objects.erase(object);
    }
}

void World::adopt(const World& found) {
    created = found.created;
    moved.clear();
    for (auto& [number, object] : objects) {
        object.renamed.clear();
    }
    for (auto& [number, object] : objects) {
        const auto same = found.objects.find(number);
        if (same == found.objects.end()) {
            continue;
        }
        for (auto& [name, states] : object.links) {
            const auto state = same->second.links.find(name);
            states.push_back(state == same->second.links.end() ? Link() : state->second.back());
        }
        for (auto& [name, states] : object.attributes) {
            const auto state = same->second.attributes.find(name);
            states.push_back(state == same->second.attributes.end() ? Value() : state->second.back());
        }
        if (!object.dataset) {
            continue;
        }
        const Dims dims = same->second.dims();
        // A larger extent than the one that was found never reached the storage, or comes from before a smaller one.
        const bool shrunk = object.was_shrunk();
        for (Extent& extent : object.extents) {
            for (std::size_t d = 0; d < dims.size() && !shrunk; ++d) {
                extent.dims[d] = std::min(extent.dims[d], dims[d]);
            }
            extent.least = dims.empty() ? 0 : std::min(extent.least, extent.dims[0]);
        }
        object.extents.push_back({dims, dims.empty() ? 0 : dims[0]});
        std::map<std::size_t, std::vector<Blob>> before;
        for_each_element(dims, [&](const Dims& at) {
            const std::size_t place = object.place(at);
            if (object.before.count(place) != 0) {
                before[place] = object.before[place];
            }
        });
        if (!shrunk) {
            object.before = before;
        }
        object.cut_off.clear();
        object.now = same->second.now;
    }
}

// Whether the datatype of a dataset, or a committed one, is that of the object.
bool World::is_marked(const Object& object, const Tree::Node& node) {
    return node.element == object.shape.element && node.mark == std::to_string(object.shape.mark);
}

std::string World::judge(const Tree& tree, World& found) const {
    found = World();
    found.created = true;
    found.made = made;
    std::string bad = judge(tree, 0, tree.root, "/", found);
    const auto has = [&](const Place& place) {
        const auto group = found.objects.find(place.first);
        const auto link = group == found.objects.end() ? decltype(group->second.links.begin())()
                                                       : group->second.links.find(place.second);
        return group == found.objects.end() ||
               (link != group->second.links.end() && link->second.back().type != Link::Type::none);
    };
    for (const auto& [from, to] : moved) {
        bad +=
            !bad.empty() || has(from) || has(to) ? "" : from.second + " and " + to.second + ": both names are lost; ";
    }
    if (bad.empty()) {
        found.keep_reachable();
    }
    return bad;
}

std::string World::judge(const Tree& tree, unsigned number, std::uint64_t address, const std::string& path,
                         World& found) const {
    const Object& object = objects.at(number);
    const auto at = tree.nodes.find(address);
    if (at == tree.nodes.end()) {
        return path + ": not there; ";
    }
    const Tree::Node& node = at->second;
    if (node.dataset != object.dataset || node.datatype != object.datatype) {
        return path + ": another kind of object; ";
    }
    Object& result = found.objects[number];
    result = Object();
    result.dataset = object.dataset;
    result.datatype = object.datatype;
    result.shape = object.shape;
    std::string bad = node.attribute_count == node.attributes.size() ? "" : path + ": number of attributes; ";
    std::set<std::string> seen;
    for (const Tree::Attribute& attribute : node.attributes) {
        if (!seen.insert(attribute.name).second) {
            bad += path + "@" + attribute.name + ": there twice; ";
        } else if (object.attributes.count(attribute.name) == 0) {
            bad += path + "@" + attribute.name + ": never made; ";
        }
    }
    for (const auto& [name, states] : object.attributes) {
        const auto is = std::find_if(node.attributes.begin(), node.attributes.end(),
                                     [&name = name](const Tree::Attribute& a) { return a.name == name; });
        const bool there = is != node.attributes.end();
        const auto state = std::find_if(states.begin(), states.end(), [&](const Value& value) {
            return value.there == there && (!there || value.bytes == is->value);
        });
        if (state == states.end()) {
            bad += path + "@" + name + (there ? ": another value; " : ": lost; ");
        } else {
            result.attributes[name] = {*state};
        }
    }
    for (const auto& [from, to] : object.renamed) {
        const bool kept = seen.count(from) != 0 || seen.count(to) != 0;
        bad += kept ? "" : path + "@" + from + " and " + to + ": both names are lost; ";
    }
    if (object.dataset) {
        return bad + judge_data(object, node, path, result);
    }
    if (object.datatype) {
        return bad + (is_marked(object, node) ? "" : path + ": another datatype; ");
    }
    seen.clear();
    for (const Tree::Link& link : node.links) {
        if (!seen.insert(link.name).second) {
            bad += path + link.name + ": there twice; ";
        } else if (object.links.count(link.name) == 0) {
            bad += path + link.name + ": never made; ";
        }
    }
    for (const auto& [name, states] : object.links) {
        const auto is = std::find_if(node.links.begin(), node.links.end(),
                                     [&name = name](const Tree::Link& link) { return link.name == name; });
        std::string why = path + name + (is == node.links.end() ? ": lost; " : ": another link; ");
        bool good = false;
        // A name may have stood for several objects: take the newest state that fits.
        for (auto state = states.rbegin(); state != states.rend() && !good; ++state) {
            if (is == node.links.end() || !is->hard) {
                good = is == node.links.end() ? state->type == Link::Type::none
                                              : state->type == Link::Type::soft && state->target == is->target;
            } else if (state->type == Link::Type::hard) {
                World attempt = found;
                why = judge(tree, state->object, is->address, path + name + "/", attempt);
                good = why.empty();
                if (good) {
                    found.objects.swap(attempt.objects);
                }
            }
            if (good) {
                found.objects[number].links[name] = {*state};
            }
        }
        bad += good ? "" : why;
    }
    return bad;
}

std::string World::judge_data(const Object& object, const Tree::Node& node, const std::string& path,
                              Object& found) const {
    const auto text = [](const Dims& dims) {
        std::string all;
        for (const std::uint64_t dim : dims) {
            all += (all.empty() ? "" : "x") + std::to_string(dim);
        }
        return all;
    };
    if (!is_marked(object, node)) {
        return path + ": another dataset, of " + std::to_string(node.element) + " bytes, mark " + node.mark + "; ";
    }
    std::size_t newest = 0;  // of the extents, the newest that it may be, counted from 1
    std::string all;
    for (std::size_t i = 0; i < object.extents.size(); ++i) {
        const Extent& extent = object.extents[i];
        newest = extent.allows(node.dims) ? i + 1 : newest;
        all += (all.empty() ? "" : " or ") + (extent.dims.empty() ? "" : std::to_string(extent.least) + "-") +
               text(extent.dims);
    }
    if (newest == 0) {
        return path + ": " + text(node.dims) + ", not " + all + "; ";
    }
    found.extents = {{node.dims, node.dims.empty() ? 0 : node.dims[0]}};
    found.now.clear();
    const std::size_t element = object.shape.element;
    for (std::size_t i = 0; i < object.now.size() / element; ++i) {
        found.now.insert(found.now.end(), object.shape.fill.begin(), object.shape.fill.end());
    }
    const std::byte* value = node.data.data();
    std::string bad;
    std::size_t wrong = 0;
    for_each_element(node.dims, [&](const Dims& at) {
        const std::size_t place = object.place(at);
        const std::byte* const now = object.now.data() + place * element;
        std::copy_n(value, element, found.now.begin() + static_cast<std::ptrdiff_t>(place * element));
        const auto cut_off = object.cut_off.find(place);
        const bool may_be_now = cut_off == object.cut_off.end() || cut_off->second < newest;
        if (!may_be_now || std::memcmp(value, now, element) != 0) {
            std::vector<const std::byte*> states;
            if (may_be_now) {
                states.push_back(now);
            }
            const auto before = object.before.find(place);
            if (before != object.before.end()) {
                for (const Blob& other : before->second) {
                    states.push_back(other.data());
                }
            }
            const auto is = [&](std::size_t from, std::size_t size) {
                return std::any_of(states.begin(), states.end(), [&](const std::byte* state) {
                    return std::memcmp(value + from, state + from, size) == 0;
                });
            };
            // An element may be overwritten in place, and a cut may leave it half written: each byte is new or old.
            // A string is one of those that were written.
            const std::size_t step = object.shape.texts ? element : 1;
            bool good = true;
            for (std::size_t i = 0; i < element && good; i += step) {
                good = is(i, step);
            }
            if (!good && ++wrong == 1) {
                bad = path + ": element " + text(at) + " of " + text(node.dims) + " is another; ";
            }
        }
        value += element;
    });
    return wrong > 1 ? bad + std::to_string(wrong) + " such; " : bad;
}

}  // namespace h5mote_test
