// Version 1 B-trees of groups are changed at random beside a model: ranges of names are split, moved and removed.
#include "btree1_judge.hpp"
#include "promising_driver.hpp"
#include "world.hpp"

#if H5MOTE_ALL_FORMATS && H5MOTE_WRITE

using namespace h5mote;
using namespace h5mote_test;

namespace {

// Replaces the local heap: a name is a number of 8 bytes, and its offset is that number.
class NumberNames final : public SymbolNames {
public:
    Status compare(Address offset, ConstBytes name, int& order) noexcept override {
        const auto mine = load_le<std::uint64_t>(name.data());
        order = mine < offset ? -1 : mine > offset ? 1 : 0;
        return Status::ok;
    }
};

struct Name {
    explicit Name(std::uint64_t value) noexcept { store_le(bytes, value); }
    operator ConstBytes() const noexcept { return {bytes, 8}; }
    std::byte bytes[8];
};

// A tree of a group whose symbol table nodes are only addresses. The model has the greatest name of each.
class NameTree {
public:
    NameTree(Driver& driver, std::uint16_t k, std::size_t cache, Allocator* allocator = nullptr)
        : open(driver, k, cache, allocator), judge_(open.state, BTree1Node::kGroup, k, 8) {
        EXPECT_EQ(BTree1Changes::create(open.state, BTree1Node::kGroup, k, 8, root), Status::ok);
        tree.open(open.state, root, names_);
    }

    template <typename Change>
    Status change(std::uint64_t name, Change make) {
        const Name wanted(name);
        tree.look_for(wanted);
        BTree1Changes changes(tree);
        Status status = changes.find();
        if (status == Status::ok || status == Status::not_found) {
            status = make(changes, status == Status::not_found);
        }
        if (status == Status::ok && changes.moved()) {
            root = changes.root();
            changes.apply();
        }
        return status;
    }
    // Enters a node whose greatest name is `name`: splits the one in whose range that lies, or goes behind the last.
    Status insert(std::uint64_t name, Address child) {
        const Status status = change(name, [&](BTree1Changes& changes, bool empty) {
            const Name zero(0);
            const Name key(name);
            BTree1Edit edit;
            if (empty) {
                edit.left = zero;
                edit.child = child;
                edit.right = key;
                return changes.change(edit);
            }
            Address old = 0;
            H5MOTE_TRY(changes.child(old));
            std::byte end[8];
            H5MOTE_TRY(changes.right_key({end, 8}));
            if (changes.behind()) {
                edit.added = child;
                edit.middle = {end, 8};
                edit.right = key;
            } else {
                edit.child = child;
                edit.middle = key;
                edit.added = old;
            }
            return changes.change(edit);
        });
        if (status == Status::ok) {
            model[name] = child;
        }
        return status;
    }
    // Gives the node in whose range `name` lies another greatest name and another place.
    Status replace(std::uint64_t name, std::uint64_t greatest, Address child) {
        const std::uint64_t old = model.lower_bound(name)->first;
        const Status status = change(name, [&](BTree1Changes& changes, bool) {
            const Name key(greatest);
            BTree1Edit edit;
            edit.child = child;
            edit.right = key;
            return changes.change(edit);
        });
        if (status == Status::ok) {
            model.erase(old);
            model[greatest] = child;
        }
        return status;
    }
    Status remove(std::uint64_t name) {
        const Status status = change(name, [&](BTree1Changes& changes, bool) { return changes.remove(); });
        if (status == Status::ok) {
            model.erase(name);
        }
        return status;
    }

    std::string judge() {
        std::string wrong = judge_.judge(root);
        auto at = model.begin();
        for (const auto& leaf : judge_.leaves) {
            for (std::size_t i = 0; wrong.empty() && i < leaf.children.size(); ++i, ++at) {
                if (at == model.end() || leaf.children[i] != at->second) {
                    return "child";
                }
                const auto key = load_le<std::uint64_t>(reinterpret_cast<const std::byte*>(leaf.keys[i + 1].data()));
                wrong = key != at->first ? "key" : "";
            }
        }
        return wrong.empty() && at != model.end() ? "too few" : wrong;
    }
    bool keeps_space() {
        return !open.state.space.free().is_complete() ||
               judge_.bytes() + open.free_bytes() + kSuperblock == open.state.space.end();
    }

    OpenFile open;
    Address root = kUndefinedAddress;
    GroupBTree1 tree;
    std::map<std::uint64_t, Address> model;

private:
    NumberNames names_;
    Judge judge_;
};

}  // namespace

TEST(BTree1Names, FollowAModelThroughRandomChanges) {
    for (const std::uint16_t k : {std::uint16_t{1}, std::uint16_t{2}, std::uint16_t{16}}) {
        for (const bool atomic : {false, true}) {
            for (const std::uint32_t seed : {1U, 2U, 3U}) {
                Storage storage(1 << 20);
                Capabilities capabilities = storage.memory.capabilities();
                capabilities.sync_is_commit = atomic;
                PromisingDriver driver(storage.memory, capabilities);
                NameTree tree(driver, k, 4096);
                Numbers numbers(seed);
                unsigned growing = 75;
                for (unsigned i = 0; i < 3000; ++i) {
                    growing = i % 500 == 499 ? 100 - growing : growing;
                    const std::uint64_t name = 10 + numbers.below(4000);
                    const auto at = tree.model.lower_bound(name);
                    if (numbers.below(100) < growing) {
                        if (tree.model.count(name) == 0) {
                            ASSERT_EQ(tree.insert(name, 5000 + i), Status::ok);
                        }
                    } else if (at != tree.model.end() && numbers.below(3) == 0) {
                        // A smaller greatest name, or for the last node also a greater one.
                        const std::uint64_t before = at == tree.model.begin() ? 0 : std::prev(at)->first;
                        const bool last = std::next(at) == tree.model.end();
                        const std::uint64_t to = last ? at->first + 1 : at->first - 1;
                        if (to > before) {
                            ASSERT_EQ(tree.replace(name, to, 9000 + i), Status::ok);
                        }
                    } else if (at != tree.model.end()) {
                        ASSERT_EQ(tree.remove(at->first), Status::ok);
                    }
                    if (numbers.below(25) == 0) {
                        ASSERT_EQ(tree.open.state.commit(), Status::ok);
                        ASSERT_EQ(tree.judge(), "") << k << " " << seed << " " << i;
                        ASSERT_TRUE(tree.keeps_space()) << k << " " << i;
                    }
                }
                ASSERT_EQ(tree.judge(), "");
            }
        }
    }
}

#endif
