// Fill values of variable length, which netCDF gives to every variable of texts: elements that were never written, in
// every layout, while a dataset is written, grows and shrinks. No element shares an object of the global heap with the
// fill value or with another one, so that whoever writes an element, h5mote or libhdf5, takes away nothing but its own.
#include <h5mote/config.hpp>

#if H5MOTE_ALL_FORMATS && H5MOTE_WRITE

#include "promising_driver.hpp"

#include <h5mote/check.hpp>
#include <h5mote/copy.hpp>
#include <h5mote/h5mote.hpp>
#include <h5mote/named_datatype.hpp>
#include <h5mote/port/malloc.hpp>
#include <h5mote/variable_length.hpp>
#include <h5mote/vfd/memory.hpp>

#ifdef H5MOTE_TEST_HDF5
#include "hdf5_image.hpp"
#endif

#include <gtest/gtest.h>

#include <string>
#include <vector>

using namespace h5mote;
using namespace h5mote_test;

namespace {

using Text = VariableString<CharacterSet::utf8>;
constexpr auto kText = make_variable_string(CharacterSet::utf8);

// What a text is: nothing, or characters.
struct Value {
    Value() = default;
    Value(const char* characters) : there(characters != nullptr), text(characters == nullptr ? "" : characters) {}
    bool operator==(const Value& other) const { return there == other.there && text == other.text; }
    const char* get() const { return there ? text.c_str() : nullptr; }

    bool there = false;
    std::string text;
};
void PrintTo(const Value& value, std::ostream* to) { *to << (value.there ? '"' + value.text + '"' : "nothing"); }

class Problems final : public CheckReporter {
public:
    void problem(const Problem& problem) noexcept override {
        ADD_FAILURE() << "problem " << static_cast<int>(problem.kind) << " at " << problem.address;
    }
};

struct Machine {
    explicit Machine(std::size_t chunk_cache = 16384, FormatVersion low = FormatVersion::standard) {
        access.chunk_cache = chunk_cache;
        access.metadata_cache = 16384;
        access.low = low;
        auto made = File::create(library, ordered, access);
        EXPECT_EQ(made.status(), Status::ok);
        file = static_cast<File&&>(*made);
    }
    void open() {
        auto opened = File::open(library, ordered, access);
        ASSERT_EQ(opened.status(), Status::ok);
        file = static_cast<File&&>(*opened);
        auto dataset = file.root().open_dataset("texts");
        ASSERT_EQ(dataset.status(), Status::ok);
        texts = static_cast<Dataset&&>(*dataset);
    }
    void create(const Dataspace& space, DatasetCreate properties, const Value& fill) {
        const char* const pointer = fill.get();
        properties.fill = {reinterpret_cast<const std::byte*>(&pointer), sizeof pointer};
        auto dataset = file.root().create_dataset("texts", kText.view(), space, properties);
        ASSERT_EQ(dataset.status(), Status::ok);
        texts = static_cast<Dataset&&>(*dataset);
    }
    void close() {
        ASSERT_EQ(texts.close(), Status::ok);
        ASSERT_EQ(file.close(), Status::ok);
    }
    Status write(const Selection& selection, const std::vector<Value>& values) {
        std::vector<const char*> pointers;
        for (const Value& each : values) {
            pointers.push_back(each.get());
        }
        return texts.write(selection, kText.view(),
                           {reinterpret_cast<const std::byte*>(pointers.data()), pointers.size() * sizeof(char*)});
    }
    std::vector<Value> read(Dataset& dataset, std::size_t count) {
        std::vector<char*> got(count);
        EXPECT_EQ(dataset.read(Selection::all(), kText.view(),
                               {reinterpret_cast<std::byte*>(got.data()), got.size() * sizeof(char*)}),
                  Status::ok);
        std::vector<Value> values(got.begin(), got.end());
        EXPECT_EQ(reclaim(library, kText.view(), count, sizeof(char*), got.data()), Status::ok);
        return values;
    }
    Value fill() {
        char* got = nullptr;
        EXPECT_EQ(texts.fill_value(kText.view(), {reinterpret_cast<std::byte*>(&got), sizeof got}), Status::ok);
        const Value value(got);
        EXPECT_EQ(reclaim(library, kText.view(), 1, sizeof(char*), &got), Status::ok);
        return value;
    }

    MallocAllocator memory;
    NullPort port;
    Library library{memory, port, {}, formats::all};
    GrowingMemoryDriver storage{memory};
    PromisingDriver ordered{storage, with_unit(512)};
    FileAccess access;
    File file;
    Dataset texts;
};

// The texts that a dataset of up to two dimensions should have.
class Model {
public:
    Model(std::vector<std::uint64_t> dims, const Value& fill) : fill_(fill) {
        resize(static_cast<decltype(dims)&&>(dims));
    }

    void resize(std::vector<std::uint64_t> dims) {
        std::vector<Value> values;
        const std::uint64_t columns = dims.size() < 2 ? 1 : dims[1];
        for (std::uint64_t row = 0; row < dims[0]; ++row) {
            for (std::uint64_t column = 0; column < columns; ++column) {
                const bool old = !dims_.empty() && row < dims_[0] && column < this->columns();
                values.push_back(old ? at(row, column) : fill_);
            }
        }
        dims_ = static_cast<decltype(dims)&&>(dims);
        values_ = static_cast<decltype(values)&&>(values);
    }
    Value& at(std::uint64_t row, std::uint64_t column) {
        return values_[static_cast<std::size_t>(row * columns() + column)];
    }
    std::uint64_t rows() const { return dims_[0]; }
    std::uint64_t columns() const { return dims_.size() < 2 ? 1 : dims_[1]; }
    std::size_t rank() const { return dims_.size(); }
    const std::vector<Value>& values() const { return values_; }

private:
    Value fill_;
    std::vector<std::uint64_t> dims_;
    std::vector<Value> values_;
};

// Writes the first columns of a row.
Status write_row(Machine& machine, const Model& model, std::uint64_t row, const std::vector<Value>& values) {
    if (model.rank() == 1) {
        return machine.write(Selection::hyperslab({row}, {1}), values);
    }
    return machine.write(Selection::hyperslab({row, 0}, {1, values.size()}), values);
}

// Every second text of the first column, and all of the last row.
void write_some(Machine& machine, Model& model, const std::string& text) {
    for (std::uint64_t row = 0; row < model.rows(); row += 2) {
        model.at(row, 0) = (text + std::to_string(row)).c_str();
        ASSERT_EQ(write_row(machine, model, row, {model.at(row, 0)}), Status::ok);
    }
    if (model.rows() == 0) {
        return;
    }
    std::vector<Value> values;
    for (std::uint64_t column = 0; column < model.columns(); ++column) {
        values.push_back(model.at(model.rows() - 1, column) = ("last " + text).c_str());
    }
    ASSERT_EQ(write_row(machine, model, model.rows() - 1, values), Status::ok);
}

#ifdef H5MOTE_TEST_HDF5
std::vector<Value> read_by_libhdf5(hid_t dataset, hid_t type, std::size_t count) {
    std::vector<char*> got(count);
    EXPECT_GE(H5Dread(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, got.data()), 0);
    std::vector<Value> values(got.begin(), got.end());
    for (char* const each : got) {
        EXPECT_GE(H5free_memory(each), 0);
    }
    return values;
}

// libhdf5 finds the same texts. It then writes some of them, which gives up what these had in the heap, and everything
// else is still there.
void change_by_libhdf5(Machine& machine, Model& model) {
    const std::string name = "variable_fill.h5";
    {
        std::ofstream(name, std::ios::binary)
            .write(reinterpret_cast<const char*>(machine.storage.contents().data()),
                   static_cast<std::streamsize>(machine.storage.contents().size()));
        const Hdf5Id file(H5Fopen(name.c_str(), H5F_ACC_RDWR, H5P_DEFAULT), H5Fclose);
        const Hdf5Id dataset(H5Dopen2(file, "texts", H5P_DEFAULT), H5Dclose);
        const Hdf5Id type(H5Tcopy(H5T_C_S1), H5Tclose);
        ASSERT_GE(H5Tset_size(type, H5T_VARIABLE), 0);
        ASSERT_GE(H5Tset_cset(type, H5T_CSET_UTF8), 0);
        EXPECT_EQ(read_by_libhdf5(dataset, type, model.values().size()), model.values());
        const Hdf5Id space(H5Dget_space(dataset), H5Sclose);
        for (std::uint64_t row = 0; row < model.rows(); ++row) {
            for (std::uint64_t column = row % 3; column < model.columns(); column += 3) {
                const hsize_t start[] = {row, column};
                const hsize_t count[] = {1, 1};
                ASSERT_GE(H5Sselect_hyperslab(space, H5S_SELECT_SET, start, nullptr, count, nullptr), 0);
                const Hdf5Id one(H5Screate(H5S_SCALAR), H5Sclose);
                const std::string text = "by libhdf5, row " + std::to_string(row);
                const char* const pointer = text.c_str();
                ASSERT_GE(H5Dwrite(dataset, type, one, space, H5P_DEFAULT, &pointer), 0);
                model.at(row, column) = pointer;
            }
        }
    }
    {
        // To read a chunk that is not stored, libhdf5 makes copies of the fill value in the heap.
        const Hdf5Id file(H5Fopen(name.c_str(), H5F_ACC_RDWR, H5P_DEFAULT), H5Fclose);
        const Hdf5Id dataset(H5Dopen2(file, "texts", H5P_DEFAULT), H5Dclose);
        const Hdf5Id type(H5Dget_type(dataset), H5Tclose);
        EXPECT_EQ(read_by_libhdf5(dataset, type, model.values().size()), model.values());
    }
    const std::vector<std::byte> changed = take_file(name);
    ASSERT_EQ(machine.storage.assign({changed.data(), changed.size()}), Status::ok);
}
#else
void change_by_libhdf5(Machine& /*machine*/, Model& /*model*/) {}
#endif

// Closes the file, finds no fault in it, lets libhdf5 change it, and goes on with what that leaves.
void pass_on(Machine& machine, Model& model, const Value& fill) {
    EXPECT_EQ(machine.read(machine.texts, model.values().size()), model.values());
    Problems problems;
    CheckOptions options;
    options.data = true;
    ASSERT_EQ(machine.file.flush(), Status::ok);
    EXPECT_EQ(check_file(machine.file, options, problems), Status::ok);
    machine.close();
    change_by_libhdf5(machine, model);
    machine.open();
    EXPECT_EQ(machine.fill(), fill);
    EXPECT_EQ(machine.read(machine.texts, model.values().size()), model.values());
}

struct Shape {
    const char* name;
    std::vector<std::uint64_t> dims, most;
    std::vector<std::uint32_t> chunk;
    Layout layout;
    AllocationTime allocation = AllocationTime::automatic;
    FormatVersion low = FormatVersion::standard;
    std::size_t chunk_cache = 16384;
};

const Shape kShapes[] = {
    {"contiguous", {13}, {13}, {}, Layout::contiguous},
    {"contiguous, early", {13}, {13}, {}, Layout::contiguous, AllocationTime::early},
    {"compact", {13}, {13}, {}, Layout::compact},
    {"single", {7, 5}, {7, 5}, {7, 5}, Layout::chunked, AllocationTime::automatic, FormatVersion::v110},
    {"implicit", {7, 5}, {20, 20}, {4, 3}, Layout::chunked, AllocationTime::early, FormatVersion::v110},
    {"fixed array", {7, 5}, {20, 20}, {4, 3}, Layout::chunked},
    {"extensible array", {7}, {kUnlimited}, {4}, Layout::chunked},
    {"extensible array, early", {7}, {kUnlimited}, {4}, Layout::chunked, AllocationTime::early},
    {"extensible array in place",
     {7},
     {kUnlimited},
     {60},
     Layout::chunked,
     AllocationTime::automatic,
     FormatVersion::standard,
     512},
    {"extensible array, two dimensions", {7, 5}, {kUnlimited, 9}, {4, 3}, Layout::chunked},
    {"B-tree 2", {7, 5}, {kUnlimited, kUnlimited}, {4, 3}, Layout::chunked},
    {"B-tree 2 in place",
     {7, 5},
     {kUnlimited, kUnlimited},
     {10, 6},
     Layout::chunked,
     AllocationTime::automatic,
     FormatVersion::standard,
     512},
    {"B-tree 1",
     {7, 5},
     {kUnlimited, kUnlimited},
     {4, 3},
     Layout::chunked,
     AllocationTime::automatic,
     FormatVersion::earliest},
    {"B-tree 1, late", {7}, {kUnlimited}, {4}, Layout::chunked, AllocationTime::late, FormatVersion::earliest},
};
const Value kFills[] = {"", "abc", "a longer text, which is more than an element could have in itself", nullptr};

Span<const std::uint64_t> span_of(const std::vector<std::uint64_t>& dims) { return {dims.data(), dims.size()}; }

}  // namespace

TEST(VariableFill, ElementsThatWereNeverWritten) {
    for (const Shape& shape : kShapes) {
        for (const Value& fill : kFills) {
            SCOPED_TRACE(std::string(shape.name) + ", " + testing::PrintToString(fill));
            Machine machine(shape.chunk_cache, shape.low);
            DatasetCreate properties;
            properties.layout = shape.layout;
            properties.allocation = shape.allocation;
            if (!shape.chunk.empty()) {
                properties.chunk = ChunkDims({shape.chunk.data(), shape.chunk.size()});
            }
            machine.create(Dataspace::simple(span_of(shape.dims), span_of(shape.most)), properties, fill);
            ASSERT_TRUE(machine.texts.valid());
            Model model(shape.dims, fill);
            pass_on(machine, model, fill);
            write_some(machine, model, "first ");
            pass_on(machine, model, fill);
            write_some(machine, model, "second, longer ");
            pass_on(machine, model, fill);
            if (shape.dims == shape.most) {
                continue;
            }
            // The extent becomes larger within a chunk and beyond, smaller, and larger once more.
            const std::uint64_t sizes[][2] = {{8, 6}, {15, 8}, {6, 9}, {3, 2}, {5, 2}, {12, 9}, {1, 1}, {11, 7}};
            for (const std::uint64_t* const size : sizes) {
                std::vector<std::uint64_t> dims(size, size + shape.dims.size());
                ASSERT_EQ(machine.texts.set_extent(span_of(dims)), Status::ok);
                model.resize(dims);
                EXPECT_EQ(machine.read(machine.texts, model.values().size()), model.values());
                if (size[0] % 2 != 0) {
                    pass_on(machine, model, fill);
                }
                write_some(machine, model, "at " + std::to_string(size[0]) + " ");
            }
            pass_on(machine, model, fill);
        }
    }
}

TEST(VariableFill, AppendedRows) {
    for (const std::size_t chunk_cache : {std::size_t{16384}, std::size_t{512}}) {
        for (const Value& fill : kFills) {
            SCOPED_TRACE(testing::PrintToString(fill));
            Machine machine(chunk_cache);
            DatasetCreate properties;
            properties.chunk = {chunk_cache == 512 ? 60U : 6U};
            machine.create(Dataspace::unlimited(), properties, fill);
            Model model({0}, fill);
            for (std::uint64_t i = 0; i < 30; ++i) {
                auto typed = machine.file.root().open_dataset<Text>("texts");
                ASSERT_EQ(typed.status(), Status::ok);
                ASSERT_EQ(typed->append(Text{i % 3 == 0 ? "" : "appended"}), Status::ok);
                model.resize({model.rows() + 1});
                model.at(model.rows() - 1, 0) = i % 3 == 0 ? "" : "appended";
                // Rows that nobody appends, in the same chunk and behind it.
                const std::uint64_t rows = model.rows() + (i % 4 == 2 ? 1 : i % 11 == 5 ? 14 : 0);
                ASSERT_EQ(machine.texts.set_extent({rows}), Status::ok);
                model.resize({rows});
                if (i % 7 == 6) {
                    ASSERT_EQ(typed->close(), Status::ok);
                    pass_on(machine, model, fill);
                }
            }
            pass_on(machine, model, fill);
        }
    }
}

// A session that ends without its last rows, and a reclaim() of all that is lost: nothing that elements have is.
TEST(VariableFill, ReclaimLeavesTheCopies) {
    for (const Value& fill : kFills) {
        Machine machine;
        DatasetCreate properties;
        properties.chunk = {5};
        machine.create(Dataspace::simple({12}, {kUnlimited}), properties, fill);
        Model model({12}, fill);
        write_some(machine, model, "text ");
        pass_on(machine, model, fill);
        for (unsigned i = 0; i < 3; ++i) {
            ASSERT_EQ(machine.texts.set_extent({4}), Status::ok);
            model.resize({4});
            ASSERT_EQ(machine.texts.close(), Status::ok);
            ASSERT_EQ(machine.file.reclaim(), Status::ok);
            auto opened = machine.file.root().open_dataset("texts");
            ASSERT_EQ(opened.status(), Status::ok);
            machine.texts = static_cast<Dataset&&>(*opened);
            ASSERT_EQ(machine.texts.set_extent({13 + i}), Status::ok);
            model.resize({13 + i});
            write_some(machine, model, "again ");
            pass_on(machine, model, fill);
        }
    }
}

// What is written over and over does not make the file longer: the copies go with the elements.
TEST(VariableFill, CopiesAreGivenUp) {
    Machine machine;
    DatasetCreate properties;
    properties.chunk = {32};
    machine.create(Dataspace::simple({64}, {kUnlimited}), properties, "a fill value of some length");
    Model model({64}, "a fill value of some length");
    std::uint64_t size = 0;
    for (unsigned i = 0; i < 50; ++i) {
        ASSERT_EQ(machine.write(Selection::all(), std::vector<Value>(64, "a text of the same length..")), Status::ok);
        ASSERT_EQ(machine.file.flush(), Status::ok);
        std::uint64_t now = 0;
        ASSERT_EQ(machine.storage.end_of_file(now), Status::ok);
        size = i == 4 ? now : size;
    }
    std::uint64_t now = 0;
    ASSERT_EQ(machine.storage.end_of_file(now), Status::ok);
    EXPECT_EQ(now, size);
}

TEST(VariableFill, CopiedDatasets) {
    for (const Shape& shape : kShapes) {
        SCOPED_TRACE(shape.name);
        Machine machine(shape.chunk_cache, shape.low);
        DatasetCreate properties;
        properties.layout = shape.layout;
        properties.allocation = shape.allocation;
        if (!shape.chunk.empty()) {
            properties.chunk = ChunkDims({shape.chunk.data(), shape.chunk.size()});
        }
        machine.create(Dataspace::simple(span_of(shape.dims), span_of(shape.most)), properties, "abc");
        Model model(shape.dims, "abc");
        write_some(machine, model, "text ");
        Group root = machine.file.root();
        ASSERT_EQ(copy_object(root, "texts", root, "copy"), Status::ok);
        ASSERT_EQ(root.move_link("texts", root, "old"), Status::ok);
        ASSERT_EQ(root.move_link("copy", root, "texts"), Status::ok);
        ASSERT_EQ(machine.texts.close(), Status::ok);
        ASSERT_EQ(root.unlink("old"), Status::ok);
        auto copy = root.open_dataset("texts");
        ASSERT_EQ(copy.status(), Status::ok);
        machine.texts = static_cast<Dataset&&>(*copy);
        root.close();
        pass_on(machine, model, "abc");
        write_some(machine, model, "other ");
        pass_on(machine, model, "abc");
    }
}

#endif
