// Files of libhdf5 with every way to store chunks, links, attributes and messages: what check_file() and
// formats::reclaim_any take for unused is overwritten, and everything in the file reads as before.
#include <h5mote/config.hpp>

#if H5MOTE_WRITE && H5MOTE_ALL_FORMATS

#include <h5mote/check.hpp>
#include <h5mote/port/malloc.hpp>
#include <h5mote/selection_set.hpp>
#include <h5mote/vfd/memory.hpp>

#include "hdf5_files.hpp"
#include "reclaim_files.hpp"
#include "walker.hpp"

#include <gtest/gtest.h>

using namespace h5mote;
using namespace h5mote_test;

namespace {

using Image = std::vector<std::byte>;

class Machine {
public:
    explicit Machine(const Image& image) {
        EXPECT_EQ(storage.assign({image.data(), image.size()}), Status::ok);
        access.metadata_cache = 65536;
    }
    Status open() {
        auto opened = File::open(library, storage, access);
        file = static_cast<File&&>(*opened);
        return opened.status();
    }
    Image image() const { return Image(storage.contents().begin(), storage.contents().end()); }

    MallocAllocator memory;
    MallocAllocator bytes;
    GrowingMemoryDriver storage{bytes};
    NullPort port;
    FileAccess access;
    Library library{memory, port, {}, formats::all};
    File file;
};

std::uint32_t digest_of(const Image& image) {
    Machine machine(image);
    machine.access.read_only = true;
    static std::byte buffer[8192];
    WalkResult result;
    EXPECT_EQ(walk_file(machine.library, machine.storage, machine.access, buffer, {}, result), Status::ok);
    return result.digest;
}

class Overwriter final : public CheckReporter {
public:
    explicit Overwriter(Image& image) noexcept : image_(image) {}
    void problem(const Problem& problem) noexcept override { problems += problem.note ? 0U : 1U; }
    void unused(Address address, std::uint64_t size) noexcept override {
        EXPECT_GE(address, last_);
        last_ = narrow(address + size);
        bytes += size;
        for (std::uint64_t i = 0; i < size && address + i < image_.size(); ++i) {
            image_[static_cast<std::size_t>(address + i)] = std::byte{0xee};
        }
    }

    unsigned problems = 0;
    std::uint64_t bytes = 0;

private:
    Image& image_;
    Address last_ = 0;
};

// A dataset of which nothing is stored but its fill value, two sequences of one number.
MadeFile made_fill(Hdf5Maker::Format format) {
    Hdf5Maker another(format);
    const hsize_t two = 2;
    const Hdf5Id inner(H5Tvlen_create(H5T_NATIVE_INT), H5Tclose);
    {
        int number = 5;
        hvl_t fill = {1, &number};
        const hsize_t chunk = 2;
        const hsize_t most = H5S_UNLIMITED;
        const Hdf5Id growing(H5Screate_simple(1, &two, &most), H5Sclose);
        const Hdf5Id list(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
        H5Pset_chunk(list, 1, &chunk);
        H5Pset_fill_value(list, inner, &fill);
        const Hdf5Id data(H5Dcreate2(another.file(), "filled", inner, growing, H5P_DEFAULT, list, H5P_DEFAULT),
                          H5Dclose);
    }
    return {"fill value", another.finish()};
}

// Texts in the global heap to which only attributes in dense storage lead, in shared messages or not. Datasets that
// were removed leave more gaps than the smallest table has room for, so that one walk does not see the whole file.
MadeFile made_dense_texts(bool shared) {
    Hdf5Maker maker(Hdf5Maker::Format::newest);
    if (shared) {
        H5Pset_shared_mesg_nindexes(maker.properties(), 1);
        H5Pset_shared_mesg_index(maker.properties(), 0, H5O_SHMESG_ATTR_FLAG, 1);
    }
    const hid_t file = maker.file();
    const Hdf5Id type(H5Tcopy(H5T_C_S1), H5Tclose);
    H5Tset_size(type, H5T_VARIABLE);
    const Hdf5Id space(H5Screate(H5S_SCALAR), H5Sclose);
    for (unsigned i = 0; i < 20; ++i) {
        const std::string text(100 + i, static_cast<char>('a' + i));
        const char* const value = text.c_str();
        const Hdf5Id attribute(
            H5Acreate2(file, ("text" + std::to_string(i)).c_str(), type, space, H5P_DEFAULT, H5P_DEFAULT), H5Aclose);
        H5Awrite(attribute, type, &value);
    }
    MadeDataset data;
    data.dims = data.max_dims = {40};
    for (const bool remove : {false, true}) {
        for (unsigned i = 0; i < 16; i += remove ? 2U : 1U) {
            const std::string name = "d" + std::to_string(i);
            data.name = name.c_str();
            if (remove) {
                H5Ldelete(file, data.name, H5P_DEFAULT);
            } else {
                data.make(file);
            }
        }
    }
    return {shared ? "shared texts" : "dense texts", maker.finish()};
}

std::vector<MadeFile> all_files() {
    std::vector<MadeFile> files = files_of_chunks();
    for (MadeFile& file : files_of_objects()) {
        files.push_back(file);
    }
    for (const auto format : {Hdf5Maker::Format::oldest, Hdf5Maker::Format::newest}) {
        files.push_back(made_fill(format));
    }
    for (const bool shared : {false, true}) {
        files.push_back(made_dense_texts(shared));
    }
    // What is in the global heap only: region references, sequences of sequences.
    for (const auto format : {Hdf5Maker::Format::oldest, Hdf5Maker::Format::newest}) {
        Hdf5Maker maker(format);
        const hid_t file = maker.file();
        MadeDataset target;
        target.dims = target.max_dims = {40};
        target.make(file);
        const hsize_t one = 1;
        const hsize_t two = 2;
        const Hdf5Id space(H5Screate_simple(1, &two, nullptr), H5Sclose);
        {
            const Hdf5Id data(
                H5Dcreate2(file, "regions", H5T_STD_REF_DSETREG, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT),
                H5Dclose);
            const Hdf5Id region(H5Dget_space(Hdf5Id(H5Dopen2(file, "d", H5P_DEFAULT), H5Dclose)), H5Sclose);
            hdset_reg_ref_t references[2] = {};
            H5Sselect_hyperslab(region, H5S_SELECT_SET, &one, nullptr, &two, nullptr);
            H5Rcreate(&references[0], file, "d", H5R_DATASET_REGION, region);
            H5Rcreate(&references[1], file, "d", H5R_DATASET_REGION, region);
            H5Dwrite(data, H5T_STD_REF_DSETREG, H5S_ALL, H5S_ALL, H5P_DEFAULT, references);
        }
        const Hdf5Id inner(H5Tvlen_create(H5T_NATIVE_INT), H5Tclose);
        const Hdf5Id outer(H5Tvlen_create(inner), H5Tclose);
        {
            // The inner sequences do not fit in one collection.
            std::vector<int> numbers(20000, 7);
            hvl_t inside[2] = {{numbers.size(), numbers.data()}, {numbers.size(), numbers.data()}};
            hvl_t rows[2] = {{2, inside}, {1, inside}};
            const Hdf5Id data(H5Dcreate2(file, "nested", outer, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT),
                              H5Dclose);
            H5Dwrite(data, outer, H5S_ALL, H5S_ALL, H5P_DEFAULT, rows);
        }
        files.push_back({"global heap", maker.finish()});
    }
    return files;
}

// What walk_file() does not read: elements of sequences in sequences, and fill values of variable length.
void expect_values(const MadeFile& made, const Image& image) {
    const Hdf5Id file = open_image({image.data(), image.size()});
    ASSERT_GE(file, 0);
    hvl_t rows[2] = {};
    const Hdf5Id inner(H5Tvlen_create(H5T_NATIVE_INT), H5Tclose);
    const Hdf5Id outer(H5Tvlen_create(inner), H5Tclose);
    if (made.name == "global heap") {
        const Hdf5Id data(H5Dopen2(file, "nested", H5P_DEFAULT), H5Dclose);
        ASSERT_GE(H5Dread(data, outer, H5S_ALL, H5S_ALL, H5P_DEFAULT, rows), 0);
        for (unsigned i = 0; i < 2; ++i) {
            ASSERT_EQ(rows[i].len, 2U - i);
            for (unsigned k = 0; k < rows[i].len; ++k) {
                const hvl_t& sequence = static_cast<const hvl_t*>(rows[i].p)[k];
                ASSERT_EQ(sequence.len, 20000U);
                for (unsigned n = 0; n < 20000; ++n) {
                    ASSERT_EQ(static_cast<const int*>(sequence.p)[n], 7);
                }
            }
        }
        H5Dvlen_reclaim(outer, Hdf5Id(H5Dget_space(data), H5Sclose), H5P_DEFAULT, rows);
    } else if (made.name == "fill value") {
        const Hdf5Id data(H5Dopen2(file, "filled", H5P_DEFAULT), H5Dclose);
        ASSERT_GE(H5Dread(data, inner, H5S_ALL, H5S_ALL, H5P_DEFAULT, rows), 0);
        for (const hvl_t& row : rows) {
            ASSERT_EQ(row.len, 1U);
            ASSERT_EQ(*static_cast<const int*>(row.p), 5);
        }
        H5Dvlen_reclaim(inner, Hdf5Id(H5Dget_space(data), H5Sclose), H5P_DEFAULT, rows);
    }
}

}  // namespace

TEST(ReclaimStructures, WhatIsUnusedIsReadByNobody) {
    unsigned writable = 0;
    unsigned with_gaps = 0;
    const std::vector<MadeFile> files = all_files();
    for (const MadeFile& made : files) {
        SCOPED_TRACE(made.name);
        const std::uint32_t digest = digest_of(made.image);
        for (const std::size_t memory : {0U, 65536U}) {
            Machine machine(made.image);
            machine.access.read_only = true;
            ASSERT_EQ(machine.open(), Status::ok);
            Image overwritten = made.image;
            Overwriter overwriter(overwritten);
            CheckSummary summary;
            CheckOptions options;
            options.memory = 65536 + memory;
            ASSERT_EQ(check_file(machine.file, options, overwriter, &summary), Status::ok);
            EXPECT_EQ(overwriter.problems, 0U);
            EXPECT_EQ(overwriter.bytes, summary.unused);
            EXPECT_EQ(summary.unused, summary.free + summary.lost);
            with_gaps += summary.unused != 0 ? 1U : 0U;
            EXPECT_EQ(digest_of(overwritten), digest);
            expect_values(made, overwritten);
            ASSERT_EQ(machine.file.close(), Status::ok);
        }
        for (const std::size_t memory : {0U, 65536U}) {
            Machine machine(made.image);
            machine.access.reclaim_memory = memory;
            if (machine.open() != Status::ok) {
                continue;  // files of old versions are only read
            }
            ++writable;
            std::uint64_t bytes = 0;
            ASSERT_EQ(machine.file.reclaim(&bytes), Status::ok);
            EXPECT_EQ(lost_bytes(machine.file), 0U);
            Image overwritten = machine.image();
            EXPECT_GE(overwrite_free(machine.file, overwritten), bytes);
            EXPECT_EQ(digest_of(overwritten), digest);
            expect_values(made, overwritten);
            ASSERT_EQ(machine.file.close(), Status::ok);
            EXPECT_EQ(digest_of(machine.image()), digest);
        }
    }
    printf("reclaim in files of libhdf5: %zu files, %u searches, %u with gaps\n", files.size(), writable, with_gaps);
    EXPECT_GE(files.size(), 20U);
    EXPECT_GE(writable, 20U);
    EXPECT_GE(with_gaps, 10U);
}

// The datatype that libhdf5 gives to revised references says that they lead to objects, whatever each of them leads to.
TEST(ReclaimStructures, WhatReferencesLeadToIsTheirOwnMatter) {
    Machine machine({});
    auto made = File::create(machine.library, machine.storage, machine.access);
    ASSERT_EQ(made.status(), Status::ok);
    Group root = made->root();
    auto dataset = root.create_dataset("dataset", datatype_of<int>(), Dataspace::simple({8}));
    ASSERT_EQ(dataset.status(), Status::ok);
    constexpr auto kType = make_reference(ReferenceType::object2);
    std::byte references[2][18];
    ASSERT_EQ(root.create_region_reference(ReferenceType::region2, *dataset, Dataspace::simple({8}),
                                           Selection::hyperslab({1}, {4}), references[0]),
              Status::ok);
    ASSERT_EQ(dataset->write_attribute("unit", 1), Status::ok);
    ASSERT_EQ(root.create_attribute_reference(*dataset, "unit", references[1]), Status::ok);
    ASSERT_EQ(root.write_attribute("references", kType, Dataspace::simple({2}), {references[0], sizeof references}),
              Status::ok);
    ASSERT_EQ(dataset->close(), Status::ok);
    ASSERT_EQ(made->close(), Status::ok);
    ASSERT_EQ(machine.open(), Status::ok);
    std::uint64_t bytes = 0;
    ASSERT_EQ(machine.file.reclaim(&bytes), Status::ok);
    EXPECT_LT(bytes, 100U);  // not the heap, which takes 4,096
    EXPECT_EQ(lost_bytes(machine.file), 0U);
    Image overwritten = machine.image();
    (void)overwrite_free(machine.file, overwritten);
    ASSERT_EQ(machine.file.close(), Status::ok);
    Machine after(overwritten);
    ASSERT_EQ(after.open(), Status::ok);
    Object target;
    SelectionSet region(after.library);
    ASSERT_EQ(after.file.root().read_attribute("references", kType, {references[0], sizeof references}), Status::ok);
    EXPECT_EQ(after.file.root().reference_region(ReferenceType::region2, references[0], target, region), Status::ok);
    EXPECT_EQ(after.file.root().open_reference(ReferenceType::attribute, references[1]).status(), Status::ok);
}

// How many nodes of version 1 B-trees name other neighbours than they have.
unsigned wrong_siblings(const Image& image) {
    class Siblings final : public CheckReporter {
    public:
        void problem(const Problem& problem) noexcept override {
            EXPECT_TRUE(problem.note);
            found += problem.kind == ProblemKind::siblings ? 1U : 0U;
        }
        unsigned found = 0;
    } siblings;
    Machine machine(image);
    EXPECT_EQ(machine.open(), Status::ok);
    EXPECT_EQ(check_file(machine.file, {}, siblings), Status::ok);
    EXPECT_EQ(machine.file.close(), Status::ok);
    return siblings.found;
}

// The nodes of a level of a version 1 B-tree name each other. A power cut may have left the names of nodes that were
// removed, whose space others get: libhdf5 would change what is there as if it were a node.
TEST(ReclaimStructures, LinksOfNodesAreMadeRight) {
    Machine machine({});
    machine.access.low = FormatVersion::earliest;
    FileCreate create;
    create.btree_k = {2, 2, 2};
    {
        auto file = File::create(machine.library, machine.storage, machine.access, create);
        ASSERT_EQ(file.status(), Status::ok);
        DatasetCreate chunked;
        chunked.chunk = {2};
        auto log = file->root().create_dataset<std::int32_t>("log", chunked);
        ASSERT_EQ(log.status(), Status::ok);
        for (int i = 0; i < 100; ++i) {
            ASSERT_EQ(log->append(i), Status::ok);
            ASSERT_EQ(file->root().create_group("group" + std::to_string(i)).status(), Status::ok);
        }
        EXPECT_EQ(log->close(), Status::ok);
        EXPECT_EQ(file->close(), Status::ok);
    }
    const Image sound = machine.image();
    Image cut = sound;
    unsigned changed = 0;
    for (std::size_t at = 0; at + 24 <= cut.size(); ++at) {
        if (std::memcmp(cut.data() + at, "TREE", 4) != 0) {
            continue;
        }
        for (const std::size_t link : {at + 8, at + 16}) {
            if (load_le<std::uint64_t>(&cut[link]) != ~std::uint64_t{0}) {
                store_le<std::uint64_t>(&cut[link], cut.size() / 2 + 8 * changed++);
            }
        }
    }
    EXPECT_GT(changed, 100U);
    EXPECT_GT(wrong_siblings(cut), 40U);
    Machine after(cut);
    after.access.reclaim = true;
    ASSERT_EQ(after.open(), Status::ok);
    EXPECT_EQ(after.file.close(), Status::ok);
    EXPECT_EQ(wrong_siblings(after.image()), 0U);
    EXPECT_EQ(digest_of(after.image()), digest_of(sound));
}

#endif
