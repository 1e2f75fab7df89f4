// Fractal heaps are changed at random and read back, against a model.
#include "fractal_heap.hpp"
#include "fractal_heap_changes.hpp"
#include "storage_bench.hpp"
#include "text.hpp"

#include <cstdlib>
#include <map>
#include <random>
#include <string>
#include <vector>

#if H5MOTE_ALL_FORMATS && H5MOTE_WRITE

using namespace h5mote;
using namespace h5mote_test;

namespace {

alignas(16) std::byte heap_memory[256 * 1024];
std::byte heap_storage[16 * 1024 * 1024];

// Sees that no two blocks overlap, and adds them up.
class Extents final : public BlockVisitor {
public:
    Status block(BlockKind kind, Address address, Address size) noexcept override {
        const auto next = map_.lower_bound(address);
        EXPECT_TRUE(next == map_.end() || next->first >= address + size);
        EXPECT_TRUE(next == map_.begin() || std::prev(next)->second <= address);
        map_[address] = address + size;
        bytes += size;
        direct += kind == BlockKind::direct_block ? size : 0;
        return Status::ok;
    }
    Address bytes = 0;
    Address direct = 0;

private:
    std::map<Address, Address> map_;
};

class HeapBench {
public:
    explicit HeapBench(const HeapKind& kind, std::size_t cache = 4096)
        : arena({heap_memory, sizeof heap_memory}),
          library(arena, port, {}, formats::all),
          driver(Bytes{heap_storage, sizeof heap_storage}),
          file(library, driver),
          kind_(kind) {
        FileAccess access;
        access.metadata_cache = cache;
        EXPECT_EQ(file.create(access, FileCreate{}), Status::ok);
        EXPECT_EQ(file.space.allocate(Usage::object_header, 512, header), Status::ok);
        EXPECT_EQ(FractalHeapChanges::create(file, kind, header), Status::ok);
    }
    ~HeapBench() {
        file.abandon();
        EXPECT_EQ(arena.usage().now, 0U);
    }

    Status insert(const std::string& object, std::string& id, bool undo = false) {
        FractalHeapChanges heap(file);
        H5MOTE_TRY(heap.open(kind_, header));
        std::byte bytes[FractalHeapChanges::kMostId];
        BytesContent content(bytes_of(std::string_view(object).substr(0, 3)),
                             bytes_of(std::string_view(object).substr(object.size() < 3 ? object.size() : 3)));
        Status status = heap.insert(content, bytes);
        status = status == Status::ok ? heap.prepare(true) : status;
        if (status != Status::ok || undo) {
            heap.undo();
            return status;
        }
        heap.apply();
        id.assign(reinterpret_cast<const char*>(bytes), kind_.id_length);
        return Status::ok;
    }
    Status remove(const std::string& id) {
        FractalHeapChanges heap(file);
        H5MOTE_TRY(heap.open(kind_, header));
        Status status = heap.remove(bytes_of(std::string_view(id)));
        status = status == Status::ok ? heap.prepare(true) : status;
        if (status != Status::ok) {
            heap.undo();
            return status;
        }
        heap.apply();
        return Status::ok;
    }
    std::string read(const std::string& id) {
        FractalHeap heap;
        MetadataWindow window;
        EXPECT_EQ(heap.open(file, header), Status::ok);
        EXPECT_EQ(heap.object(bytes_of(std::string_view(id)), window), Status::ok);
        std::string object(static_cast<std::size_t>(window.size()), ' ');
        EXPECT_EQ(window.read(0, Bytes{reinterpret_cast<std::byte*>(object.data()), object.size()}), Status::ok);
        return object;
    }
    // The heap's own numbers agree with its blocks and with the model.
    void check(const std::map<std::string, std::string>& objects) {
        for (const auto& [id, object] : objects) {
            ASSERT_EQ(read(id), object);
        }
        FractalHeap heap;
        FractalHeapHeader fields;
        Extents extents;
        ASSERT_EQ(heap.open(file, header), Status::ok);
        ASSERT_EQ(heap.read_header(fields), Status::ok);
        ASSERT_EQ(heap.walk(extents), Status::ok);
        EXPECT_EQ(fields.allocated, extents.direct);
        EXPECT_EQ(fields.managed + fields.tiny + fields.huge, objects.size());
        EXPECT_TRUE(fields.root != kUndefinedAddress || fields.managed == 0);
    }

    Arena arena;
    NullPort port;
    Library library;
    MemoryDriver driver;
    FileState file;
    Address header = 0;

private:
    HeapKind kind_;
};

std::string random_object(std::mt19937& random, unsigned most) {
    std::string object(1 + random() % (random() % 4 == 0 ? most : 60), ' ');
    for (char& c : object) {
        c = static_cast<char>('a' + random() % 26);
    }
    return object;
}

void run(const HeapKind& kind, unsigned seed, unsigned steps, unsigned most, unsigned few) {
    std::mt19937 random(seed);
    // With a large cache every second time: new blocks stay in it, and the manager of free sections where it is.
    HeapBench bench(kind, seed % 2 == 0 ? 131072 : 4096);
    std::map<std::string, std::string> objects;
    std::vector<std::string> ids;
    bool growing = true;
    for (unsigned i = 0; i < steps; ++i) {
        growing = ids.size() < few ? true : ids.size() > 8 * few ? false : growing;
        if (ids.empty() || random() % 8 < (growing ? 6U : 1U)) {
            std::string id;
            const std::string object = random_object(random, most);
            ASSERT_EQ(bench.insert(object, id, random() % 16 == 0), Status::ok) << seed << ' ' << i;
            if (!id.empty()) {
                if (object.size() > FractalHeapId::max_tiny(kind.id_length)) {
                    ASSERT_EQ(objects.count(id), 0U);
                    objects[id] = object;
                    ids.push_back(id);
                } else {
                    ASSERT_EQ(bench.read(id), object);
                    ASSERT_EQ(bench.remove(id), Status::ok);
                }
            }
        } else {
            std::swap(ids[random() % ids.size()], ids.back());
            ASSERT_EQ(bench.remove(ids.back()), Status::ok) << seed << ' ' << i;
            objects.erase(ids.back());
            ids.pop_back();
        }
        if (random() % 50 == 0) {
            ASSERT_EQ(bench.file.commit(), Status::ok);
        }
        if (random() % 100 == 0) {
            bench.check(objects);
        }
        ASSERT_FALSE(testing::Test::HasFailure()) << seed << ' ' << i;
    }
    bench.check(objects);
    while (!ids.empty()) {
        ASSERT_EQ(bench.remove(ids.back()), Status::ok);
        objects.erase(ids.back());
        ids.pop_back();
    }
    bench.check(objects);
}

}  // namespace

TEST(FractalHeapChanges, ManyObjectsOfLinks) {
    for (unsigned seed = 0; seed < 4; ++seed) {
        run(kLinkHeap, seed, 3000, 4096, 20);
    }
}

TEST(FractalHeapChanges, ManyObjectsOfAttributes) {
    for (unsigned seed = 0; seed < 4; ++seed) {
        run(kAttributeHeap, seed, 3000, 1500, 100);
    }
}

TEST(FractalHeapChanges, HugeObjects) {
    for (unsigned seed = 0; seed < 4; ++seed) {
        run(kLinkHeap, seed, 1500, 20000, 20);
        run(kAttributeHeap, seed, 1500, 9000, 20);
    }
}

TEST(FractalHeapChanges, GrowsThroughAllRows) {
    HeapBench bench(kLinkHeap);
    std::map<std::string, std::string> objects;
    std::mt19937 random(1);
    for (unsigned i = 0; i < 2500; ++i) {
        std::string id;
        const std::string object = random_object(random, 4096) + std::string(2000, 'x');
        if (object.size() <= 4096) {
            ASSERT_EQ(bench.insert(object, id), Status::ok);
            objects[id] = object;
        }
    }
    ASSERT_EQ(bench.file.commit(), Status::ok);
    bench.check(objects);
    for (const auto& [id, object] : objects) {
        ASSERT_EQ(bench.remove(id), Status::ok);
    }
    bench.check({});
}

#endif
