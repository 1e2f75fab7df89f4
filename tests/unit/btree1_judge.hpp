// What tests of changes of version 1 B-trees share: an open file below the object model, and a judge of every node.
#pragma once

#include "btree1_changes.hpp"
#include "storage_bench.hpp"

#if H5MOTE_ALL_FORMATS && H5MOTE_WRITE

#include <h5mote/port/malloc.hpp>

#include <map>
#include <string>
#include <vector>

namespace h5mote_test {

using namespace h5mote;

class Storage {
public:
    explicit Storage(std::size_t capacity) : bytes_(capacity), memory({bytes_.data(), capacity}) {}

private:
    std::vector<std::byte> bytes_;

public:
    MemoryDriver memory;
};

// An open file without the public interface.
class OpenFile {
public:
    OpenFile(Driver& driver, std::uint16_t k, std::size_t cache, Allocator* allocator = nullptr)
        : library(allocator != nullptr ? *allocator : allocator_, port_), state(library, driver) {
        FileAccess access;
        access.metadata_cache = cache;
        EXPECT_EQ(state.create(access, FileCreate()), Status::ok);
        state.set_btree_k({k, k, k});
    }
    ~OpenFile() { state.abandon(); }

    Address free_bytes() {
        Address sum = 0;
        for (std::size_t i = 0; i < state.space.free().count(); ++i) {
            sum += state.space.free().get(i).size;
        }
        return sum;
    }

private:
    MallocAllocator allocator_;
    NullPort port_;

public:
    Library library;
    FileState state;
};

inline constexpr Address kSuperblock = 48;

// Judges every node of a tree.
class Judge {
public:
    Judge(FileState& file, unsigned type, unsigned k, std::size_t key_size)
        : file_(file),
          type_(type),
          width_(2 * k),
          key_size_(key_size),
          size_(24 + width_ * (key_size + 8) + key_size) {}

    struct Node {
        Address address = 0;
        unsigned level = 0;
        Address left = 0;
        Address right = 0;
        std::vector<std::string> keys;  // as bytes; of chunks without size and mask
        std::vector<Address> children;
    };

    // What is wrong.
    std::string judge(Address root) {
        leaves.clear();
        nodes = 0;
        levels_.clear();
        std::string wrong = visit(root, -1, nullptr, nullptr, true, true);
        for (auto& [level, row] : levels_) {
            for (std::size_t i = 0; wrong.empty() && i < row.size(); ++i) {
                const Address left = i == 0 ? kUndefinedAddress : row[i - 1].address;
                const Address right = i + 1 == row.size() ? kUndefinedAddress : row[i + 1].address;
                wrong = row[i].left != left ? "left link" : row[i].right != right ? "right link" : "";
                if (wrong.empty() && i > 0 && row[i - 1].keys.back() != row[i].keys.front()) {
                    wrong = "border on level " + std::to_string(level);
                }
            }
        }
        return wrong;
    }
    Address bytes() const { return nodes * size_; }

    std::vector<Node> leaves;
    Address nodes = 0;
    // A change that was taken back may have left wider ends to the nodes above the first or the last leaf.
    bool wide_ends = false;

private:
    std::string visit(Address address, int level, const std::string* first, const std::string* last, bool is_first,
                      bool is_last) {
        Node node;
        node.address = address;
        std::vector<std::byte> image(size_);
        {
            MetadataWindow window;
            if (file_.window(Usage::btree, address, size_, false, window) != Status::ok ||
                window.read(0, {image.data(), size_}) != Status::ok) {
                return "unreadable";
            }
        }
        BTree1Node prefix;
        if (!prefix.decode(file_.shape(), {image.data(), 24}) || prefix.type != type_ ||
            (level >= 0 && prefix.level != level) || prefix.entries > width_ || (prefix.entries == 0 && level >= 0)) {
            return "prefix";
        }
        node.level = prefix.level;
        node.left = prefix.left;
        node.right = prefix.right;
        for (unsigned i = 0; i <= prefix.entries; ++i) {
            const std::byte* const entry = image.data() + 24 + i * (key_size_ + 8);
            const std::size_t skip = type_ == BTree1Node::kChunks ? 8 : 0;
            node.keys.emplace_back(reinterpret_cast<const char*>(entry + skip), key_size_ - skip);
            if (i < prefix.entries) {
                node.children.push_back(load_le<std::uint64_t>(entry + key_size_));
            }
        }
        if (first != nullptr && ((node.keys.front() != *first && !(wide_ends && is_first)) ||
                                 (node.keys.back() != *last && !(wide_ends && is_last)))) {
            return "keys of node and parent on level " + std::to_string(node.level);
        }
        ++nodes;
        levels_[node.level].push_back(node);
        if (node.level == 0) {
            leaves.push_back(node);
            return "";
        }
        for (std::size_t i = 0; i < node.children.size(); ++i) {
            const std::string wrong =
                visit(node.children[i], static_cast<int>(node.level) - 1, &node.keys[i], &node.keys[i + 1],
                      is_first && i == 0, is_last && i + 1 == node.children.size());
            if (!wrong.empty()) {
                return wrong;
            }
        }
        return "";
    }

    FileState& file_;
    unsigned type_;
    unsigned width_;
    std::size_t key_size_;
    std::size_t size_;
    std::map<unsigned, std::vector<Node>> levels_;
};

}  // namespace h5mote_test

#endif
