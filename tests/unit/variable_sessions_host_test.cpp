// Strings of variable length that one session after the other writes: what commits and killed sessions do to them.
#include "promising_driver.hpp"

#include <h5mote/h5mote.hpp>
#include <h5mote/port/malloc.hpp>
#include <h5mote/variable_length.hpp>
#include <h5mote/vfd/memory.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#if H5MOTE_ALL_FORMATS && H5MOTE_WRITE

using namespace h5mote;
using namespace h5mote_test;

namespace {

constexpr auto kText = make_variable_string(CharacterSet::utf8);

}  // namespace

// The first space that a session takes is that of a heap collection, before which the record of free space is taken out
// of the file by a commit. That commit writes the chunk or the header that the value's element is part of.
TEST(VariableSessions, CommitsWhileValuesAreWritten) {
    for (const Layout layout : {Layout::chunked, Layout::compact, Layout::contiguous}) {
        const bool chunked = layout == Layout::chunked;
        MallocAllocator memory;
        NullPort port;
        Library library{memory, port, {}, formats::all};
        GrowingMemoryDriver storage{memory};
        PromisingDriver ordered(storage, with_unit(512));
        FileCreate form;
        form.persist_free_space = true;
        DatasetCreate create;
        create.layout = layout;
        if (chunked) {
            create.chunk = {4};
        }
        const std::vector<const char*> texts = {"one", "two", "three"};
        const auto write = [&](Dataset& dataset, std::uint64_t i) {
            const Span<const char* const> text(&texts[static_cast<std::size_t>(i)], 1);
            return chunked ? dataset.append_rows(kText.view(), text.data(), 1)
                           : dataset.write(Selection::hyperslab({i}, {1}), kText.view(), as_bytes(text));
        };
        {
            auto file = File::create(library, ordered, {}, form);
            ASSERT_EQ(file.status(), Status::ok);
            auto dataset = file->root().create_dataset(
                "texts", kText.view(), chunked ? Dataspace::simple({0}, {kUnlimited}) : Dataspace::simple({3}), create);
            ASSERT_EQ(dataset.status(), Status::ok);
            ASSERT_EQ(write(*dataset, 0), Status::ok);
            // Leaves free space to be recorded, but none that a collection fits in.
            ASSERT_EQ(file->root().create_group("gone").status(), Status::ok);
            ASSERT_EQ(file->flush(), Status::ok);
            ASSERT_EQ(file->root().unlink("gone"), Status::ok);
            ASSERT_EQ(dataset->close(), Status::ok);
            ASSERT_EQ(file->close(), Status::ok);
        }
        for (std::uint64_t i = 1; i < texts.size(); ++i) {
            auto file = File::open(library, ordered);
            ASSERT_EQ(file.status(), Status::ok);
            auto dataset = file->root().open_dataset("texts");
            ASSERT_EQ(write(*dataset, i), Status::ok);
            ASSERT_EQ(dataset->close(), Status::ok);
            ASSERT_EQ(file->close(), Status::ok);
        }
        auto file = File::open(library, ordered);
        ASSERT_EQ(file.status(), Status::ok);
        auto dataset = file->root().open_dataset("texts");
        std::vector<char*> read(texts.size());
        ASSERT_EQ(dataset->read(Selection::all(), kText.view(),
                                {reinterpret_cast<std::byte*>(read.data()), read.size() * sizeof(char*)}),
                  Status::ok);
        for (std::size_t i = 0; i < texts.size(); ++i) {
            EXPECT_STREQ(read[i], texts[i]) << "layout " << static_cast<int>(layout);
        }
        ASSERT_EQ(reclaim(library, kText.view(), read.size(), sizeof(char*), read.data()), Status::ok);
    }
}

// A session that was killed may have left elements beyond the extent. What these refer to may belong to others by now.
TEST(VariableSessions, ElementsThatAKilledSessionLeft) {
    using Text = VariableString<CharacterSet::utf8>;
    MallocAllocator memory;
    NullPort port;
    Library library{memory, port, {}, formats::all};
    GrowingMemoryDriver storage{memory};
    auto file = File::create(library, storage);
    ASSERT_EQ(file.status(), Status::ok);
    DatasetCreate create;
    create.chunk = {4};
    auto made = file->root().create_dataset<Text>("texts", create);
    ASSERT_EQ(made.status(), Status::ok);
    ASSERT_EQ(made->append(Text{"one"}), Status::ok);
    ASSERT_EQ(made->close(), Status::ok);
    ASSERT_EQ(file->close(), Status::ok);

    // The first element once more, in the place of the second. An element: its length, collection and index.
    std::vector<std::byte> image(storage.contents().begin(), storage.contents().end());
    constexpr std::byte kCollection[] = {std::byte{'G'}, std::byte{'C'}, std::byte{'O'}, std::byte{'L'}};
    const auto heap = std::search(image.begin(), image.end(), kCollection, kCollection + 4) - image.begin();
    std::byte element[16] = {std::byte{3}};
    for (unsigned i = 0; i < 8; ++i) {
        element[4 + i] = static_cast<std::byte>(static_cast<std::uint64_t>(heap) >> 8 * i);
    }
    element[12] = std::byte{1};
    const auto at = std::search(image.begin(), image.end(), element, element + sizeof element);
    ASSERT_NE(at, image.end());
    std::copy_n(at, sizeof element, at + sizeof element);
    ASSERT_EQ(storage.assign({image.data(), image.size()}), Status::ok);

    file = File::open(library, storage);
    ASSERT_EQ(file.status(), Status::ok);
    auto texts = file->root().open_dataset<Text>("texts");
    ASSERT_EQ(texts.status(), Status::ok);
    for (const char* const text : {"two", "six"}) {
        ASSERT_EQ(texts->append(Text{text}), Status::ok);
        ASSERT_EQ(file->flush(), Status::ok);
    }
    Text read[3];
    ASSERT_EQ(texts->read(Selection::all(), Span<Text>(read, 3)), Status::ok);
    EXPECT_STREQ(read[0].text, "one");
    EXPECT_STREQ(read[1].text, "two");
    EXPECT_STREQ(read[2].text, "six");
    ASSERT_EQ(reclaim(library, kText.view(), 3, sizeof(Text), read), Status::ok);
    ASSERT_EQ(texts->close(), Status::ok);
    ASSERT_EQ(file->close(), Status::ok);
}

// What elements refer to is in use, whatever finds their chunks: reclaim() gives back nothing of it.
TEST(VariableSessions, ReclaimFindsTheValuesOfAllChunks) {
    using Text = VariableString<CharacterSet::utf8>;
    struct Shape {
        std::uint64_t most_rows, most_columns;
        std::uint32_t chunk;
        AllocationTime allocation;
        FormatVersion low;
    };
    const Shape shapes[] = {
        {5, 2, 5, AllocationTime::automatic, FormatVersion::v110},                        // a single chunk
        {5, 2, 1, AllocationTime::early, FormatVersion::v110},                            // no index
        {5, 2, 1, AllocationTime::automatic, FormatVersion::v110},                        // a fixed array
        {kUnlimited, 2, 2, AllocationTime::automatic, FormatVersion::v110},               // an extensible array
        {kUnlimited, kUnlimited, 2, AllocationTime::automatic, FormatVersion::v110},      // a version 2 B-tree
        {kUnlimited, kUnlimited, 2, AllocationTime::automatic, FormatVersion::earliest},  // a version 1 B-tree
    };
    for (const Shape& shape : shapes) {
        SCOPED_TRACE(&shape - shapes);
        MallocAllocator memory;
        NullPort port;
        Library library{memory, port, {}, formats::all};
        GrowingMemoryDriver storage{memory};
        FileAccess access;
        access.low = shape.low;
        access.metadata_cache = 16384;
        Text written[10];
        for (unsigned i = 0; i < 10; ++i) {
            written[i].text = i % 3 == 0 ? "a text of some length" : "another one";
        }
        auto file = File::create(library, storage, access);
        ASSERT_EQ(file.status(), Status::ok);
        DatasetCreate create;
        create.chunk = {shape.chunk, shape.chunk == 5 ? 2U : 1U};
        create.allocation = shape.allocation;
        auto texts = file->root().create_dataset(
            "texts", kText.view(), Dataspace::simple({5, 2}, {shape.most_rows, shape.most_columns}), create);
        ASSERT_EQ(texts.status(), Status::ok);
        ASSERT_EQ(texts->write(Selection::all(), kText.view(), as_bytes(Span<const Text>(written, 10))), Status::ok);
        ASSERT_EQ(texts->close(), Status::ok);
        ASSERT_EQ(file->flush(), Status::ok);
        ASSERT_EQ(file->reclaim(), Status::ok);
        const std::vector<std::byte> zeros(8000);
        auto other =
            file->root().create_dataset("other", datatype_of<std::uint8_t>(), Dataspace::simple({zeros.size()}));
        ASSERT_EQ(other.status(), Status::ok);
        ASSERT_EQ(other->write(Selection::all(), datatype_of<std::uint8_t>(), {zeros.data(), zeros.size()}),
                  Status::ok);
        ASSERT_EQ(file->flush(), Status::ok);
        texts = file->root().open_dataset("texts");
        ASSERT_EQ(texts.status(), Status::ok);
        Text read[10];
        ASSERT_EQ(texts->read(Selection::all(), kText.view(), {reinterpret_cast<std::byte*>(read), sizeof read}),
                  Status::ok);
        for (unsigned i = 0; i < 10; ++i) {
            EXPECT_STREQ(read[i].text, written[i].text);
        }
        ASSERT_EQ(reclaim(library, kText.view(), 10, sizeof(Text), read), Status::ok);
    }
}

#endif
