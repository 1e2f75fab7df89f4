// Links and attributes that get other names and places.
#include "writing_run.hpp"

#include <algorithm>

namespace differential {

void Writing::rename_attribute(Random& random) {
    bool found = false;
    const std::size_t object = any_object(
        random, [](const ObjectValue& value) { return !value.attributes.empty(); }, found);
    if (!found) {
        return;
    }
    ObjectValue& value = model_.objects[object];
    auto at = value.attributes.begin();
    std::advance(at, random.below(value.attributes.size()));
    std::string name = "at" + std::to_string(random.below(12));
    name.append(random.one_in(4) ? random.below(60) : 0, '_');
    tell("rename_attribute %s@%s to %s\n", model_.path_of(object).c_str(), at->first.c_str(), name.c_str());
    Group group;
    Object* const opened = open_object(object, group);
    if (opened == nullptr) {
        return;
    }
    const Id to = other(object, file_);
    const bool exists = value.attributes.count(name) != 0 && name != at->first;
    const Status status = opened->rename_attribute(at->first, name);
    if (exists) {
        if (status == Status::ok || H5Arename(to, at->first.c_str(), name.c_str()) >= 0) {
            differ("rename_attribute: an existing name");
        }
        (void)done(status, "rename_attribute", {Status::already_exists});
        return;
    }
    if (!done(status, "rename_attribute")) {
        return;
    }
    DIFFERENTIAL_OK(H5Arename(to, at->first.c_str(), name.c_str()));
    const AttributeValue moved = at->second;
    value.attributes.erase(at);
    value.attributes[name] = moved;
}

void Writing::move_link(Random& random, bool copy) {
    bool found = false;
    const std::size_t from = any_object(
        random, [](const ObjectValue& value) { return is_group(value) && !value.links.empty(); }, found);
    if (!found) {
        return;
    }
    auto at = model_.objects[from].links.begin();
    std::advance(at, random.below(model_.objects[from].links.size()));
    const std::string name = at->first;
    const LinkValue value = at->second;
    // No second links to groups and no groups below others than their own, so that there are no cycles.
    const bool of_group = !value.soft && is_group(model_.objects[value.object]);
    const std::size_t to = of_group || random.one_in(2) ? from : any_object(random, is_group, found);
    if (of_group && copy) {
        return;
    }
    const std::string next = new_name(random);
    const std::string old_path = model_.path_of(from) + "/" + name;
    const std::string path = model_.path_of(to) + "/" + next;
    tell("%s %s to %s\n", copy ? "copy_link" : "move_link", old_path.c_str(), path.c_str());
    Group root = session_->file.root();
    const Status status = copy ? root.copy_link(old_path, root, path) : root.move_link(old_path, root, path);
    const auto theirs = [&] {
        return copy ? H5Lcopy(file_, old_path.c_str(), file_, path.c_str(), H5P_DEFAULT, H5P_DEFAULT)
                    : H5Lmove(file_, old_path.c_str(), file_, path.c_str(), H5P_DEFAULT, H5P_DEFAULT);
    };
    if (model_.objects[to].links.count(next) != 0) {
        if (status == Status::ok || theirs() >= 0) {
            differ("move_link: an existing name");
        }
        (void)done(status, "move_link", {Status::already_exists});
        return;
    }
    if (!done(status, "move_link")) {
        return;
    }
    DIFFERENTIAL_OK(theirs());
    if (!copy) {
        ObjectValue& group = model_.objects[from];
        group.links.erase(name);
        group.order.erase(std::find(group.order.begin(), group.order.end(), name));
    }
    link(to, next, value);
}

}  // namespace differential
