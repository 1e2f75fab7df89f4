// Intrusive doubly linked list: the links live in the elements, so that a list never allocates.
#pragma once

#include <cstddef>

namespace h5mote {

/// Base class of an element, which can be in one List<T> at a time for each Tag.
template <typename Tag = void>
class ListNode {
public:
    ListNode() = default;
    ListNode(const ListNode&) = delete;
    ListNode& operator=(const ListNode&) = delete;
    bool linked() const noexcept { return next_ != nullptr; }

private:
    template <typename, typename>
    friend class List;
    ListNode* next_ = nullptr;
    ListNode* previous_ = nullptr;
};

/// Circular list of T, which derives from ListNode<Tag>. It owns nothing; elements must be removed before they are
/// destroyed.
template <typename T, typename Tag = void>
class List {
    using Node = ListNode<Tag>;

public:
    List() noexcept { head_.next_ = head_.previous_ = &head_; }
    List(const List&) = delete;
    List& operator=(const List&) = delete;

    bool empty() const noexcept { return head_.next_ == &head_; }
    T* front() noexcept { return empty() ? nullptr : element(head_.next_); }
    T* back() noexcept { return empty() ? nullptr : element(head_.previous_); }
    /// The element after `item`, or nullptr at the end.
    T* next(T& item) noexcept { return step(static_cast<Node&>(item).next_); }
    T* previous(T& item) noexcept { return step(static_cast<Node&>(item).previous_); }

    void push_front(T& item) noexcept { insert(item, head_.next_); }
    void push_back(T& item) noexcept { insert(item, &head_); }
    void remove(T& item) noexcept {
        Node& node = item;
        node.previous_->next_ = node.next_;
        node.next_->previous_ = node.previous_;
        node.next_ = node.previous_ = nullptr;
    }

private:
    static T* element(Node* node) noexcept { return static_cast<T*>(node); }
    T* step(Node* node) noexcept { return node == &head_ ? nullptr : element(node); }
// GCC takes pointers from one local variable to another one for dangling pointers.
#if defined(__GNUC__) && !defined(__clang__) && __GNUC__ >= 12
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdangling-pointer"
#endif
    static void insert(T& item, Node* before) noexcept {
        Node& node = item;
        node.next_ = before;
        node.previous_ = before->previous_;
        before->previous_->next_ = &node;
        before->previous_ = &node;
    }
#if defined(__GNUC__) && !defined(__clang__) && __GNUC__ >= 12
#pragma GCC diagnostic pop
#endif

    Node head_;
};

}  // namespace h5mote
