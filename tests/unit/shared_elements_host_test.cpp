// Shared attributes of a variable-length type: their elements in the global heap belong to all who use the message, and
// are given up with the last of them.
#include <h5mote/config.hpp>

#if H5MOTE_WRITE && H5MOTE_ALL_FORMATS && defined(H5MOTE_TEST_HDF5)

#include "attribute_storage.hpp"
#include "fractal_heap_changes.hpp"
#include "shared_changes.hpp"
#include "superblock_extension.hpp"
#include "turns.hpp"

#include <h5mote/check.hpp>
#include <h5mote/variable_length.hpp>

namespace {

using namespace h5mote;
using namespace h5mote_test;

constexpr auto kType = make_variable_string(CharacterSet::utf8);
constexpr const char* kText = "a text that has its bytes in the global heap";

/// A file whose groups have the attribute "text" of that value, which is one shared message. libhdf5 shares attributes
/// of such types, too, but its calls give each of them elements of its own. In dense storage each group has nine more.
struct SharedText {
    SharedText(unsigned groups, bool dense) {
        turns.create.shared_messages = {index_, 50, 40};
        turns.begin();
        const std::string text = kText;
        const std::vector<const char*> texts(10, text.c_str());
        for (unsigned i = 0; i < groups; ++i) {
            Group made = static_cast<Group&&>(*turns.root.create_group(name(i)));
            if (i == 0) {
                EXPECT_EQ(made.write_attribute("text", kType, Dataspace::simple({texts.size()}),
                                               {reinterpret_cast<const std::byte*>(texts.data()), 10 * sizeof(char*)}),
                          Status::ok);
            }
            headers_.push_back(made.address());
        }
        turns.close();
        turns.root = Group();
        share();
        auto opened = File::open(turns.library, *turns.used, turns.access);
        EXPECT_EQ(opened.status(), Status::ok);
        turns.file = static_cast<File&&>(*opened);
        turns.root = turns.file.root();
        for (unsigned i = 0; i < groups; ++i) {
            for (int k = 0; dense && k < 9; ++k) {
                EXPECT_EQ(group(i).write_attribute("number " + std::to_string(k), k), Status::ok);
            }
        }
        EXPECT_EQ(turns.file.flush(), Status::ok);
    }
    static std::string name(unsigned i) { return std::string(1, static_cast<char>('a' + i)); }
    Group group(unsigned i) { return static_cast<Group&&>(*turns.root.open_group(name(i))); }

    /// Whether libhdf5 reads that value, after new elements have taken what space the global heap has.
    void expect(unsigned i, const char* attribute) {
        EXPECT_EQ(turns.file.flush(), Status::ok);
        EXPECT_EQ(turns.file.flush(), Status::ok);  // what the first one has discarded is free now
        const std::string filler(3900, 'x');
        EXPECT_EQ(turns.root.write_attribute("filler " + std::to_string(fillers_++), VariableString<>{filler.c_str()}),
                  Status::ok);
        turns.by_libhdf5([&](hid_t file) {
            const Hdf5Id group(H5Gopen2(file, name(i).c_str(), H5P_DEFAULT), H5Gclose);
            const Hdf5Id opened(H5Aopen(group, attribute, H5P_DEFAULT), H5Aclose);
            ASSERT_GE(opened, 0) << name(i) << " " << attribute;
            const Hdf5Id type(H5Aget_type(opened), H5Tclose);
            char* texts[10] = {};
            ASSERT_GE(H5Aread(opened, type, texts), 0) << name(i) << " " << attribute;
            for (char* const text : texts) {
                EXPECT_STREQ(text, kText);
                EXPECT_GE(H5free_memory(text), 0);
            }
        });
    }
    /// Bytes of the file that belong to nobody, though the library does not know them as free.
    std::uint64_t lost() {
        class Reporter final : public CheckReporter {
            void problem(const Problem&) noexcept override {}
        } reporter;
        CheckSummary summary;
        EXPECT_EQ(turns.file.flush(), Status::ok);
        EXPECT_EQ(turns.file.flush(), Status::ok);  // what the first one has discarded is free now
        EXPECT_EQ(check_file(turns.file, {}, reporter, &summary), Status::ok);
        EXPECT_EQ(summary.problems, 0U);
        return summary.lost;
    }

    Turns turns;

private:
    // The first group's message becomes a shared one, which the others get, too.
    void share() {
        FileState state(turns.library, *turns.used);
        ASSERT_EQ(state.open(turns.access), Status::ok);
        ASSERT_EQ(state.context.formats().superblock_extension->load(state), Status::ok);
        std::vector<std::byte> message;
        {
            StoredAttributeMessage found;
            ASSERT_EQ(find_attribute(state, headers_[0], "text", found), Status::ok);
            message.resize(static_cast<std::size_t>(found.bytes.size()));
            ASSERT_EQ(found.bytes.read(0, {message.data(), message.size()}), Status::ok);
        }
        class Content final : public MessageContent {
        public:
            void write(Writer&) const noexcept override {}
        } none;
        for (std::size_t i = 0; i < headers_.size(); ++i) {
            std::byte reference[SharedReference::kHeapSize];
            bool shared = false;
            BytesContent body({message.data(), message.size()});
            ASSERT_EQ(share_message(state, MessageType::attribute, body, reference, shared), Status::ok);
            ASSERT_TRUE(shared);
            const ConstBytes id = ConstBytes(reference).subspan(SharedReference::kHeapPrefix);
            ASSERT_EQ(i == 0 ? replace_shared_attribute(state, headers_[0], "text", none, id)
                             : add_shared_attribute(state, headers_[i], id),
                      Status::ok);
        }
        ASSERT_EQ(state.commit(), Status::ok);
        ASSERT_EQ(state.close(), Status::ok);
    }

    std::vector<Address> headers_;
    unsigned fillers_ = 0;
    const SharedIndexCreate index_[1] = {{SharedKinds::attribute, 100}};
};

class SharedElements : public ::testing::TestWithParam<bool> {};

TEST_P(SharedElements, StayUntilTheLastUserIsRemoved) {
    SharedText file(3, GetParam());
    const VariableString<> other{"another text"};
    EXPECT_EQ(file.group(0).remove_attribute("text"), Status::ok) << file.turns.trail();
    file.expect(1, "text");
    EXPECT_EQ(file.group(1).replace_attribute("text", other), Status::ok) << file.turns.trail();
    file.expect(2, "text");
    const std::uint64_t before = file.lost();
    EXPECT_EQ(file.group(2).remove_attribute("text"), Status::ok) << file.turns.trail();
    EXPECT_EQ(file.lost(), before);
}

TEST_P(SharedElements, GoWhenTheLastUserGetsAnotherValue) {
    SharedText file(2, GetParam());
    EXPECT_EQ(file.turns.root.unlink("b"), Status::ok);
    file.expect(0, "text");
    const std::uint64_t before = file.lost();
    EXPECT_EQ(file.group(0).replace_attribute("text", std::int32_t{1}), Status::ok) << file.turns.trail();
    EXPECT_EQ(file.lost(), before);
}

// Two messages that lead to the same elements could not tell which of them is the last one: a renamed attribute gets
// elements of its own.
TEST_P(SharedElements, ARenamedAttributeHasItsOwn) {
    SharedText file(3, GetParam());
    EXPECT_EQ(file.group(0).rename_attribute("text", "renamed"), Status::ok) << file.turns.trail();
    file.expect(0, "renamed");
    file.expect(1, "text");
    EXPECT_EQ(file.group(1).remove_attribute("text"), Status::ok) << file.turns.trail();
    file.expect(0, "renamed");
    file.expect(2, "text");
    // The last one that has the message: with the new name comes the end of the old elements.
    std::uint64_t before = file.lost();
    EXPECT_EQ(file.group(2).rename_attribute("text", "renamed, too"), Status::ok) << file.turns.trail();
    EXPECT_EQ(file.lost(), before);
    file.expect(0, "renamed");
    file.expect(2, "renamed, too");
    before = file.lost();
    EXPECT_EQ(file.group(0).remove_attribute("renamed"), Status::ok) << file.turns.trail();
    EXPECT_EQ(file.group(2).remove_attribute("renamed, too"), Status::ok) << file.turns.trail();
    EXPECT_EQ(file.lost(), before);
}

INSTANTIATE_TEST_SUITE_P(InHeadersAndDense, SharedElements, ::testing::Bool());

}  // namespace

#endif
