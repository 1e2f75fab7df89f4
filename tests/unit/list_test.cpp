#include <h5mote/list.hpp>

#include "test.hpp"

namespace {

using namespace h5mote;

struct Other {};

struct Item : ListNode<>, ListNode<Other> {
    explicit Item(int n) noexcept : number(n) {}
    bool in_first() const noexcept { return static_cast<const ListNode<>&>(*this).linked(); }
    int number;
};

// The numbers of the list as decimal digits, read forwards and backwards.
template <typename L>
long forward(L& list) noexcept {
    long digits = 0;
    for (Item* each = list.front(); each != nullptr; each = list.next(*each)) {
        digits = digits * 10 + each->number;
    }
    return digits;
}
template <typename L>
long backward(L& list) noexcept {
    long digits = 0;
    for (Item* each = list.back(); each != nullptr; each = list.previous(*each)) {
        digits = digits * 10 + each->number;
    }
    return digits;
}

struct Four {
    Item one{1}, two{2}, three{3}, four{4};
    List<Item> list;
    List<Item, Other> second;
};

TEST(List, Empty) {
    List<Item> list;
    EXPECT_TRUE(list.empty());
    EXPECT_TRUE(list.front() == nullptr);
    EXPECT_TRUE(list.back() == nullptr);
}

TEST(List, OrderOfInsertions) {
    Four rig;
    auto& [one, two, three, four, list, second] = rig;
    list.push_back(three);
    list.push_front(two);
    list.push_back(four);
    list.push_front(one);
    EXPECT_FALSE(list.empty());
    EXPECT_EQ(forward(list), 1234);
    EXPECT_EQ(backward(list), 4321);
    EXPECT_EQ(list.front(), &one);
    EXPECT_EQ(list.back(), &four);
    EXPECT_TRUE(list.next(four) == nullptr);
    EXPECT_TRUE(list.previous(one) == nullptr);
}

TEST(List, RemoveAnywhereAndInsertAgain) {
    Four rig;
    auto& [one, two, three, four, list, second] = rig;
    EXPECT_FALSE(one.in_first());
    list.push_back(one);
    list.push_back(two);
    list.push_back(three);
    EXPECT_TRUE(two.in_first());
    list.remove(two);
    EXPECT_FALSE(two.in_first());
    EXPECT_EQ(forward(list), 13);
    EXPECT_EQ(backward(list), 31);
    list.remove(one);
    list.push_back(one);
    EXPECT_EQ(forward(list), 31);
    list.remove(three);
    list.remove(one);
    EXPECT_TRUE(list.empty());
    list.push_front(two);
    EXPECT_EQ(forward(list), 2);
}

TEST(List, OneElementInTwoLists) {
    Four rig;
    auto& [one, two, three, four, first, second] = rig;
    first.push_back(one);
    first.push_back(two);
    second.push_front(one);
    second.push_front(two);
    EXPECT_EQ(forward(first), 12);
    EXPECT_EQ(forward(second), 21);
    first.remove(one);
    EXPECT_EQ(forward(first), 2);
    EXPECT_EQ(forward(second), 21);
}

}  // namespace
