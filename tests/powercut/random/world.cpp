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
    std::copy_n(value, size, at + static_cast<std::ptrdiff_t>(offset));
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
}

unsigned World::add(Object&& object) {
    objects[made] = std::move(object);
    return made++;
}

void World::settle() {
    for (auto& [number, object] : objects) {
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
        for (Extent& extent : object.extents) {
            for (std::size_t d = 0; d < dims.size(); ++d) {
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
        object.before = before;
        object.now = same->second.now;
    }
}

std::string World::judge(const Tree& tree, World& found) const {
    found = World();
    found.created = true;
    found.made = made;
    const std::string bad = judge(tree, 0, tree.root, "/", found);
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
    if (node.dataset != object.dataset) {
        return path + ": another kind of object; ";
    }
    Object& result = found.objects[number];
    result = Object();
    result.dataset = object.dataset;
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
    if (object.dataset) {
        return bad + judge_data(object, node, path, result);
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
    if (node.element != object.shape.element || node.mark != std::to_string(object.shape.mark)) {
        return path + ": another dataset, of " + std::to_string(node.element) + " bytes, mark " + node.mark + "; ";
    }
    bool allowed = false;
    std::string all;
    for (const Extent& extent : object.extents) {
        allowed = allowed || extent.allows(node.dims);
        all += (all.empty() ? "" : " or ") + (extent.dims.empty() ? "" : std::to_string(extent.least) + "-") +
               text(extent.dims);
    }
    if (!allowed) {
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
        if (std::memcmp(value, now, element) != 0) {
            const auto before = object.before.find(place);
            bool good = before != object.before.end();
            // An element may be overwritten in place, and a cut may leave it half written: each byte is new or old.
            for (std::size_t i = 0; i < element && good; ++i) {
                good = value[i] == now[i] || std::any_of(before->second.begin(), before->second.end(),
                                                         [&](const Blob& other) { return other[i] == value[i]; });
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
