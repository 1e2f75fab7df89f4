// One run of the writing test: the session of h5mote, the file of libhdf5, the model, and a function for each kind of
// call.
#pragma once

#include "selection.hpp"
#include "storage.hpp"
#include "test_allocators.hpp"
#include "tree.hpp"
#include "writing.hpp"

#include <h5mote/arena.hpp>
#include <h5mote/h5mote.hpp>
#include <h5mote/opener.hpp>
#include <h5mote/port/malloc.hpp>
#include <h5mote/vfd/memory.hpp>

#include <initializer_list>
#include <memory>
#include <optional>
#include <set>

namespace differential {

inline constexpr std::uint64_t kMostBytes = 60000;  // largest size of one dataset

using namespace h5mote;  // this header belongs to one program

/// The external files that h5mote writes. Those of libhdf5, which have the same names, are in the working directory.
class Shelf final : public DriverOpener {
public:
    Status open(const Driver& parent, std::string_view name, OpenPurpose purpose, Driver*& driver) noexcept override;
    Status open_to_write(const Driver& parent, std::string_view name, OpenPurpose purpose,
                         Driver*& driver) noexcept override;
    void close(Driver& /*driver*/) noexcept override {}

private:
    MallocAllocator heap_;
    std::map<std::string, std::unique_ptr<GrowingMemoryDriver>, std::less<>> files_;
};

/// The filters of the writing test.
h5mote::Span<const h5mote::Filter* const> writing_filters() noexcept;
/// Throws Difference unless `image`, read by h5mote, equals the model and h5mote's check finds no problem in it. Does
/// nothing in the profile `logger`.
void verify_with_h5mote(const Tree& model, const Blob& image, const std::string& who, DriverOpener& opener);

/// Memory (an arena or malloc), and a library that uses it.
struct Machine {
    Machine(Random& random, bool everything);
    Machine(const Machine&) = delete;
    Machine& operator=(const Machine&) = delete;
    Allocator& allocator() { return *failing; }
    /// Throws Difference unless the files, which are closed, have given back all memory.
    void expect_unused();

    const bool everything;  ///< the library has all parts of the format
    std::unique_ptr<std::byte[]> memory;
    std::optional<Arena> arena;
    MallocAllocator heap;
    std::optional<h5mote_test::FailingAllocator> failing;
    NullPort port;
    std::optional<Library> library;
};

/// One session of h5mote: file and the handles that stay open, on a machine of its own or on one that has other files.
struct Session {
    Session(Random& random, Driver& storage, bool everything, Machine* shared) : driver(storage) {
        machine = shared != nullptr ? shared : &own.emplace(random, everything);
        access.metadata_cache = random.pick<std::size_t>({1024, 1536, 2048, 4096, 16384, 262144});
        access.chunk_cache = random.pick<std::size_t>({256, 481, 1024, 4096, 16384, 1 << 20});
        if (everything) {
            using Version = FormatVersion;
            access.low =
                random.pick({Version::standard, Version::standard, Version::earliest, Version::v18, Version::v110});
            access.torn_headers = random.one_in(2);
            access.reclaim = random.one_in(4);
            access.reclaim_memory = random.pick<std::size_t>({64, 256, 1024, 16384});
        }
    }

    std::optional<Machine> own;
    Machine* machine;
    Driver& driver;
    FileAccess access;
    File file;
    std::map<std::size_t, Dataset> datasets;  // by the index of the object in the model
};

/// Random values in memory, in the type `type`, with all that they point to.
class Values {
public:
    Values(Random& random, const Type& type, std::uint64_t count)
        : type_(type.id()), count_(count), bytes_(random_values(random, type_, count)) {}
    Values(const Values&) = delete;
    Values& operator=(const Values&) = delete;
    ~Values() { release_values(type_, count_, bytes_); }
    ConstBytes bytes() const noexcept { return {bytes_.data(), bytes_.size()}; }
    /// In the form in which a Tree has them.
    Blob flat() const;

private:
    Id type_;
    std::uint64_t count_;
    Blob bytes_;
};
/// The type that values of `type` have in memory.
Type native_type(const Type& type);

/// How a new object keeps its attributes.
class NewAttributes : public AttributesCreate {
public:
    NewAttributes(Random& random, bool everything);
    std::string text() const;
    template <typename Create>
    void set([[maybe_unused]] Create& create) const {
        if constexpr (H5MOTE_ALL_FORMATS != 0) {
            create.attributes = *this;
        }
    }
    void set_list(hid_t list) const;
};

/// What a new file is asked to be.
class NewFile {
public:
    NewFile(Random& random, bool everything);
    NewFile(const NewFile&) = delete;
    NewFile& operator=(const NewFile&) = delete;
    std::string text() const;
    const FileCreate& create() const noexcept { return create_; }
    Id list() const;
    bool shares_messages() const noexcept { return !create_.shared_messages.empty(); }
    bool shares_attributes() const noexcept;

private:
    static constexpr std::size_t kMostIndexes = 3;

    NewAttributes attributes_;
    FileCreate create_;
    SharedIndexCreate indexes_[kMostIndexes];
};

class Writing {
public:
    /// `shared`: the machine, if it has other files as well; then `label` says in the log which file this is.
    Writing(std::uint64_t seed, const WritingOptions& options, Machine* shared = nullptr, const char* label = "");
    /// Takes one step, on a storage that may be full meanwhile.
    void run(const Step& step);
    /// Copies an object of another file, or of the same one, with all that belongs to it.
    void copy_object(Writing& other, Random& random);
    void finish() { (void)end(); }
    const WritingCounts& counts() const noexcept { return counts_; }
    bool shares_messages() const noexcept { return shares_messages_; }

private:
    [[gnu::format(printf, 2, 3)]] void tell(const char* format, ...) const;
    h5mote_test::FailingAllocator& memory() { return *session_->machine->failing; }
    Library& library() { return *session_->machine->library; }

    void start();
    Blob end();
    void reopen(Random& random);
    // Returns false if h5mote does not support the file.
    bool open(Random& random, bool create, const FileCreate& properties);
    void verify(const Blob& image, const std::string& who);
    // Copies a whole file, with other versions of structures, and compares the copy with the model.
    void repack(const Blob& image);

    // Counts a call and returns whether h5mote carried it out. Throws Difference if the status is neither ok nor one of
    // the refusals that are allowed.
    bool done(Status status, const std::string& what, std::initializer_list<Status> allowed = {});
    // Throws Difference if a call carried out what it must not, since there is an object of that name.
    void expect_exists(Status status, const std::string& what);
    std::size_t any_object(Random& random, bool (*fits)(const ObjectValue&), bool& found) const;
    std::string new_name(Random& random) const;
    Dataset* dataset(std::size_t object);
    // The handle of a dataset, or `other` after opening it; nullptr if h5mote refused.
    Object* open_object(std::size_t object, Object& other);
    Id other(std::size_t object, hid_t file) const;

    void take(const Step& step);
    // Ends what run() has begun: no call on the storage is refused any more, and no memory.
    void calm();
    bool is_refusal(Status status);
    void create_group(Random& random);
    Result<Dataset> create(const std::string& path, const Type& type, std::size_t type_object, const Dataspace& space,
                           const DatasetCreate& create);
    void create_dataset(Random& random);
    void append(Random& random);
    void write(Random& random);
    void read(Random& random);
    void set_extent(Random& random);
    AttributeValue new_attribute(Random& random);
    void attribute(Random& random);
    Status write_attribute(Object& object, const std::string& name, const AttributeValue& made, ConstBytes data,
                           bool any);
    void delete_attributes(std::size_t object, const std::vector<std::string>& names);
    void renew_attributes(std::size_t object, const std::vector<std::string>& before);
    void remove_attribute(std::size_t object, const std::string& name);
    void remove_attribute(Random& random);
    void rename_attribute(Random& random);
    void move_link(Random& random, bool copy);
    void soft_link(Random& random);
    void other_link(Random& random);
    void comment(Random& random);
    void commit_datatype(Random& random);
    void hard_link(Random& random);
    void unlink(Random& random);
    void variable_length(Random& random);
    void external(Random& random);
    void virtual_dataset(Random& random);
    void look_through();
    void write_through(Random& random);
    void references(Random& random);
    // References as both libraries write them.
    struct NewReferences {
        h5mote::ReferenceType kind;
        std::size_t size;  ///< bytes of each
        Blob ours;
        Blob theirs;
        std::vector<std::size_t> targets;
        std::vector<Sizes> regions;
    };
    bool refer(Random& random, std::size_t i, NewReferences& made);
    // What virtual datasets or references lead to keeps its path.
    void pin(std::size_t object);
    bool is_pinned(const std::string& path) const;
    // Adds an object with a link to it. Invalidates references to others.
    ObjectValue& add_object(std::size_t parent, const std::string& name, ObjectValue::Kind kind);
    ObjectValue& add_dataset(std::size_t parent, const std::string& name, const Type& type, const Extent& extent);
    // A copy of an object of a model and of all below it. `copies`: which objects have one already.
    std::size_t copied(const Writing& from, std::size_t object, std::map<std::size_t, std::size_t>& copies);
    // How many objects a copy of that one in another file, or the same, would have; many where no copy is possible, or
    // one that cannot be compared.
    std::size_t copy_size(std::size_t object, const Writing& to) const;
    void close_dataset(Random& random);
    void reclaim(Random& random);

    void link(std::size_t group, const std::string& name, const LinkValue& value);
    void grow(ObjectValue& value, const Sizes& dims);
    void put(ObjectValue& value, const Sizes& elements, hid_t memory_type, const Blob& data);
    void put_libhdf5(std::size_t object, const Sizes& elements, hid_t memory_type, const Blob& data);

    Random random_;
    WritingOptions options_;
    Machine* shared_;
    const char* label_;
    // Whether h5mote has all parts of the format, and may refuse nothing for the want of one.
    bool everything_ = false;
    bool shares_messages_ = false;
    bool short_addresses_ = false;
    bool uncertain_ = false;      ///< has copies from a file in which calls were refused
    bool renewed_ = false;        ///< attributes may have other creation orders: some were renewed, or refused
    bool lacks_memory_ = false;   ///< during some of the steps memory is refused
    bool was_disturbed_ = false;  ///< memory, or a call on the storage, was refused
    WritingCounts counts_;
    // Selections are made even while the library of the session lacks memory.
    MallocAllocator heap_;
    NullPort port_;
    Library selections_{heap_, port_};
    std::unique_ptr<Storage> storage_;
    std::optional<Session> session_;
    Bounds bounds_;
    bool exchanged_ = false;  // file_ is one that h5mote has made
    Id file_;
    Tree model_;
    Shelf shelf_;
    std::set<std::string> pinned_;
    // The value of new elements of each dataset, and 0xff if it is known, else 0.
    std::map<std::size_t, std::pair<Blob, std::byte>> fills_;
};

inline bool is_group(const ObjectValue& value) { return value.kind == ObjectValue::Kind::group; }
inline bool is_dataset(const ObjectValue& value) { return value.kind == ObjectValue::Kind::dataset; }
inline bool is_datatype(const ObjectValue& value) { return value.kind == ObjectValue::Kind::datatype; }
inline bool is_variable_length(const ObjectValue& value) {
    return is_dataset(value) && contains_class(value.type.view(), TypeClass::variable_length);
}
/// A dataset whose elements the model has in their stored form, all of one size.
inline bool has_elements(const ObjectValue& value) {
    return is_dataset(value) && !is_variable_length(value) && value.parts.empty() && !value.is_reference;
}
inline bool is_any(const ObjectValue&) { return true; }

}  // namespace differential
