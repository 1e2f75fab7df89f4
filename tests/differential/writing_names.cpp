// Links that get other names and places.
#include "writing_run.hpp"

#include <algorithm>
#include <cstring>

namespace differential {

// How libhdf5 follows the user-defined links of this test.
static hid_t lead_nowhere(const char* /*name*/, hid_t /*group*/, const void* /*data*/, std::size_t /*size*/,
                          hid_t /*properties*/, hid_t /*access*/) {
    return -1;
}

static ssize_t copy_data(const char* /*name*/, const void* data, std::size_t size, void* to, std::size_t room) {
    if (to != nullptr && size != 0) {  // data of no bytes are a null pointer
        std::memcpy(to, data, std::min(size, room));
    }
    return static_cast<ssize_t>(size);
}

void Writing::other_link(Random& random) {
    bool found = false;
    const std::size_t parent = any_object(random, is_group, found);
    const std::string name = new_name(random);
    const std::string path = model_.path_of(parent) + "/" + name;
    if (model_.objects[parent].links.count(name) != 0) {
        return;
    }
    Group root = session_->file.root();
    if (random.one_in(2)) {
        const char* const file = random.pick({"other.h5", "no such file", "\xc3\xa4/b.h5"});
        const char* const target = random.pick({"/", "/a/b", "a"});
        tell("create_external_link %s to %s %s\n", path.c_str(), file, target);
        if (done(root.create_external_link(path, file, target), "create_external_link")) {
            DIFFERENTIAL_OK(H5Lcreate_external(file, target, file_, path.c_str(), H5P_DEFAULT, H5P_DEFAULT));
            link(parent, name, {true, link_text(file, target), 0});
        }
        return;
    }
    constexpr H5L_type_t kClass = static_cast<H5L_type_t>(187);
    static const H5L_class_t known = {H5L_LINK_CLASS_T_VERS, kClass,  "random",  nullptr, nullptr, nullptr,
                                      &lead_nowhere,         nullptr, &copy_data};
    DIFFERENTIAL_OK(H5Lregister(&known));
    Blob data(random.below(40));
    for (std::byte& each : data) {
        each = static_cast<std::byte>(random.below(256));
    }
    tell("create_user_link %s, %zu bytes\n", path.c_str(), data.size());
    if (done(root.create_user_link(path, static_cast<LinkType>(kClass), {data.data(), data.size()}),
             "create_user_link")) {
        DIFFERENTIAL_OK(H5Lcreate_ud(file_, path.c_str(), kClass, data.data(), data.size(), H5P_DEFAULT, H5P_DEFAULT));
        link(parent, name, {true, link_text(kClass, data.data(), data.size()), 0});
    }
}

void Writing::comment(Random& random) {
    bool found = false;
    const std::size_t object = any_object(random, is_any, found);
    std::string text(random.one_in(4) ? 0 : 1 + random.small(250), 'c');
    for (char& each : text) {
        each = static_cast<char>('a' + random.below(26));
    }
    tell("comment %s %s\n", model_.path_of(object).c_str(), text.c_str());
    Object holder;
    Object* const opened = open_object(object, holder);
    if (opened != nullptr && done(opened->set_comment(text), "set_comment")) {
        DIFFERENTIAL_OK(H5Oset_comment(other(object, file_), text.empty() ? nullptr : text.c_str()));
        model_.objects[object].comment = text;
    }
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
    if (!copy && is_pinned(old_path)) {
        return;
    }
    tell("%s %s to %s\n", copy ? "copy_link" : "move_link", old_path.c_str(), path.c_str());
    Group root = session_->file.root();
    const Status status = copy ? root.copy_link(old_path, root, path) : root.move_link(old_path, root, path);
    const auto theirs = [&] {
        return copy ? H5Lcopy(file_, old_path.c_str(), file_, path.c_str(), H5P_DEFAULT, H5P_DEFAULT)
                    : H5Lmove(file_, old_path.c_str(), file_, path.c_str(), H5P_DEFAULT, H5P_DEFAULT);
    };
    if (model_.objects[to].links.count(next) != 0) {
        if (theirs() >= 0) {
            differ("libhdf5 moves a link to an existing name");
        }
        return expect_exists(status, "move_link");
    }
    if (!done(status, "move_link")) {
        // The object may have both names after io_error.
        calm();
        if (root.exists(path) && root.unlink(path) != Status::ok) {
            differ("move_link: the second name cannot be removed");
        }
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
