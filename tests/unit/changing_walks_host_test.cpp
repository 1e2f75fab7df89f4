// Groups and objects that change while their links and attributes are walked over: the file stays sound, everything
// that stays is found, and walks come to an end.
#include <h5mote/config.hpp>

#if H5MOTE_ALL_FORMATS && H5MOTE_WRITE

#include "sound.hpp"
#include "test.hpp"

#include <h5mote/attribute.hpp>
#include <h5mote/h5mote.hpp>
#include <h5mote/port/malloc.hpp>
#include <h5mote/vfd/memory.hpp>

#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

using namespace h5mote;
using h5mote_test::findings_in;

namespace {

std::string name_of(unsigned i) { return "x" + std::to_string(1000 + i) + std::string(i % 5 * 7, 'n'); }

class Scene {
public:
    explicit Scene(unsigned seed) : random_(seed) {
        access_.low = of({FormatVersion::earliest, FormatVersion::v18, FormatVersion::v110});
        access_.metadata_cache = of({std::size_t{4096}, std::size_t{16384}, std::size_t{1} << 20});
        auto opened = File::create(library_, storage_, access_);
        EXPECT_EQ(opened.status(), Status::ok);
        file_ = static_cast<File&&>(*opened);
    }

    template <typename T>
    T of(std::initializer_list<T> values) {
        return values.begin()[below(static_cast<unsigned>(values.size()))];
    }
    unsigned below(unsigned bound) { return static_cast<unsigned>(random_() % bound); }
    Direction direction() { return of({Direction::increasing, Direction::decreasing}); }
    IndexOrder order(bool tracked) {
        return tracked ? of({IndexOrder::native, IndexOrder::name, IndexOrder::creation})
                       : of({IndexOrder::native, IndexOrder::name});
    }

    Group group(bool tracked) {
        GroupCreate create;
        create.track_link_order = tracked;
        create.unindexed_link_order = tracked && below(2) == 0;
        create.attributes.track_order = tracked;
        auto made = file_.root().create_group("group", create);
        EXPECT_EQ(made.status(), Status::ok);
        return static_cast<Group&&>(*made);
    }
    /// A new object in `group`, which gets the next name.
    std::string add(Group& group) {
        const std::string name = name_of(made_++);
        if (below(2) == 0) {
            EXPECT_EQ(group.create_group(name).status(), Status::ok);
        } else {
            DatasetCreate layout;
            layout.chunk = {16};
            EXPECT_EQ(group.create_dataset<std::int32_t>(name, layout).status(), Status::ok);
        }
        return name;
    }
    File& file() { return file_; }
    /// Judges the file, before and after it is opened anew.
    void judge() {
        EXPECT_TRUE(findings_in(file_).none());
        ASSERT_EQ(file_.close(), Status::ok);
        auto again = File::open(library_, storage_, access_);
        ASSERT_EQ(again.status(), Status::ok);
        file_ = static_cast<File&&>(*again);
        EXPECT_TRUE(findings_in(file_).none());
    }

private:
    std::mt19937 random_;
    unsigned made_ = 0;
    MallocAllocator memory_;
    GrowingMemoryDriver storage_{memory_};
    NullPort port_;
    Library library_{memory_, port_, {}, formats::all};
    FileAccess access_;
    File file_;
};

std::set<std::string> links_of(const Group& group) {
    std::set<std::string> names;
    LinkIterator links(group);
    for (Link link; links.next(link) == Status::ok;) {
        names.insert(std::string(link.name()));
    }
    return names;
}

constexpr unsigned kSeeds = 400;

}  // namespace

// Every link is met once, however the group keeps its links meanwhile.
TEST(ChangingWalks, RemoveEachLinkThatTheyMeet) {
    for (unsigned seed = 0; seed < kSeeds; ++seed) {
        SCOPED_TRACE(seed);
        Scene scene(seed);
        const bool tracked = scene.below(2) == 0;
        Group group = scene.group(tracked);
        std::set<std::string> expected;
        for (unsigned i = scene.below(40) + 1; i > 0; --i) {
            expected.insert(scene.add(group));
        }
        const std::set<std::string> all = expected;
        std::set<std::string> met;
        {
            LinkIterator links(group, scene.order(tracked), scene.direction());
            Link link;
            Status status = Status::ok;
            while ((status = links.next(link)) == Status::ok) {
                const std::string name(link.name());
                EXPECT_TRUE(met.insert(name).second) << name;
                ASSERT_EQ(group.unlink(name), Status::ok) << name;
                ASSERT_EQ(scene.below(3) == 0 ? scene.file().flush() : Status::ok, Status::ok);
            }
            EXPECT_EQ(status, Status::not_found);
        }
        EXPECT_EQ(met, all);
        EXPECT_TRUE(links_of(group).empty());
        group.close();
        scene.judge();
    }
}

// In the order of names and of creation, what is there all the time is met, and met once if only links that were passed
// go.
TEST(ChangingWalks, MeetWhatStays) {
    for (unsigned seed = 0; seed < kSeeds; ++seed) {
        SCOPED_TRACE(seed);
        Scene scene(seed);
        const bool tracked = scene.below(2) == 0;
        Group group = scene.group(tracked);
        std::set<std::string> staying;
        for (unsigned i = scene.below(40) + 1; i > 0; --i) {
            staying.insert(scene.add(group));
        }
        const std::set<std::string> first = staying;
        std::map<std::string, unsigned> met;
        {
            LinkIterator links(group, tracked ? IndexOrder::creation : IndexOrder::name);
            unsigned added = 0;
            Link link;
            Status status = Status::ok;
            while ((status = links.next(link)) == Status::ok) {
                const std::string name(link.name());
                ASSERT_LE(++met[name], 1U) << name;
                if (scene.below(3) == 0) {
                    ASSERT_EQ(group.unlink(name), Status::ok);
                    staying.erase(name);
                }
                if (added < 20 && scene.below(2) == 0) {
                    ++added;
                    staying.insert(scene.add(group));
                }
                if (scene.below(4) == 0) {
                    ASSERT_EQ(group.write_attribute(name_of(scene.below(20)), 7), Status::ok);
                }
                ASSERT_EQ(scene.below(5) == 0 ? scene.file().flush() : Status::ok, Status::ok);
            }
            ASSERT_EQ(status, Status::not_found);
        }
        for (const std::string& name : first) {
            EXPECT_EQ(met[name], 1U) << name;
        }
        EXPECT_EQ(links_of(group), staying);
        group.close();
        scene.judge();
    }
}

TEST(ChangingWalks, OverAttributes) {
    for (unsigned seed = 0; seed < kSeeds; ++seed) {
        SCOPED_TRACE(seed);
        Scene scene(seed);
        const bool tracked = scene.below(2) == 0;
        Group group = scene.group(tracked);
        std::set<std::string> all;
        for (unsigned i = 0, count = scene.below(30) + 1; i < count; ++i) {
            ASSERT_EQ(group.write_attribute(name_of(i), i), Status::ok);
            all.insert(name_of(i));
        }
        std::set<std::string> met;
        {
            AttributeIterator attributes(group, scene.order(tracked), scene.direction());
            Attribute attribute;
            Status status = Status::ok;
            while ((status = attributes.next(attribute)) == Status::ok) {
                const std::string name(attribute.name());
                EXPECT_TRUE(met.insert(name).second) << name;
                attribute.close();
                ASSERT_EQ(group.remove_attribute(name), Status::ok);
                ASSERT_EQ(scene.below(3) == 0 ? scene.file().flush() : Status::ok, Status::ok);
            }
            EXPECT_EQ(status, Status::not_found);
        }
        EXPECT_EQ(met, all);
        group.close();
        scene.judge();
    }
}

namespace {

// Deletes, makes and annotates what it meets, anywhere below.
class Busy final : public Visitor {
public:
    Busy(Scene& scene, Group& root) : scene_(scene), root_(root) {}

    Status link(std::string_view path, const Link& /*link*/) noexcept override {
        if (changes_ < 60 && scene_.below(3) == 0) {
            ++changes_;
            const Status status = root_.unlink_tree(path);
            EXPECT_EQ(status, Status::ok) << path;
        }
        return add();
    }
    Status object(std::string_view path, Object& object) noexcept override {
        if (scene_.below(3) == 0) {
            EXPECT_EQ(object.write_attribute("seen", 1), Status::ok);
        }
        if (path != "." && changes_ < 60 && scene_.below(5) == 0) {
            ++changes_;
            EXPECT_EQ(root_.unlink_tree(path), Status::ok) << path;
        }
        return add();
    }

private:
    Status add() {
        if (changes_ < 60 && scene_.below(3) == 0) {
            ++changes_;
            auto deeper = root_.open_group(scene_.of<const char*>({".", "a", "b", "a/c"}));
            if (deeper) {
                scene_.add(*deeper);
            }
        }
        return Status::ok;
    }

    Scene& scene_;
    Group& root_;
    unsigned changes_ = 0;
};

}  // namespace

TEST(ChangingWalks, VisitorsMayChangeTheFile) {
    for (unsigned seed = 0; seed < kSeeds; ++seed) {
        SCOPED_TRACE(seed);
        Scene scene(seed);
        Group root = scene.file().root();
        for (const char* const path : {"a", "b", "a/c"}) {
            auto group = root.create_group(path);
            ASSERT_EQ(group.status(), Status::ok);
            for (unsigned i = scene.below(20); i > 0; --i) {
                scene.add(*group);
            }
        }
        Busy busy(scene, root);
        EXPECT_EQ(root.visit(busy, scene.order(false), scene.direction()), Status::ok);
        root.close();
        scene.judge();
    }
}

// A walk over a deleted group ends, also when another object has taken its place.
TEST(ChangingWalks, EndWithTheirGroup) {
    for (unsigned seed = 0; seed < 50; ++seed) {
        SCOPED_TRACE(seed);
        Scene scene(seed);
        Group root = scene.file().root();
        Group group = scene.group(false);
        for (unsigned i = 0; i < 20; ++i) {
            scene.add(group);
        }
        LinkIterator links(group);
        Link link;
        ASSERT_EQ(links.next(link), Status::ok);
        ASSERT_EQ(root.unlink_tree("group"), Status::ok);
        ASSERT_EQ(scene.file().flush(), Status::ok);
        for (unsigned i = 0; i < 20; ++i) {
            scene.add(root);
        }
        EXPECT_EQ(links.next(link), Status::not_found);
        scene.judge();
    }
}

#endif
