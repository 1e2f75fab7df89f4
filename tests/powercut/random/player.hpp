// Plays a plan on a storage, records in a Ledger what may be found there after a cut, and compares what is found.
#pragma once

#include "../killable.hpp"
#include "plan.hpp"
#include "world.hpp"

#include <h5mote/h5mote.hpp>
#include <h5mote/port/malloc.hpp>

#include <memory>
#include <optional>

namespace h5mote_test {

h5mote::Span<const h5mote::Filter* const> all_filters();
/// A storage on which workloads are played: disks or a flash chip, with the driver on them.
class Storage {
public:
    Storage() = default;
    Storage(const Storage&) = delete;
    Storage& operator=(const Storage&) = delete;
    virtual ~Storage() = default;

    /// Mounts the storage as after switching on. Returns what went wrong; empty: nothing.
    virtual std::string start() = 0;
    virtual h5mote::Driver& driver() = 0;
    /// How many changes of the storage there were.
    virtual std::size_t operations() const = 0;
    /// Whether a cut leaves all changes between two flushes, or none of them, as a journal or flash driver promises.
    virtual bool atomic() const = 0;
    /// Whether the storage may become full, so that no_space is no failure.
    virtual bool limited() const = 0;
    /// Describes the first mistake in the use of the storage; empty if there was none.
    virtual std::string violation() const { return ""; }
};

/// The states in which a file may be found: one of these worlds.
using Allowed = std::vector<World>;

/// Records what may be found after a cut at each moment of a workload.
class Ledger {
public:
    explicit Ledger(const Allowed& begin, bool atomic) : atomic_(atomic) { intervals_.push_back({0, begin}); }

    /// A flush begins: an atomic storage may hold this world from now on.
    void attempt(const World& world);
    /// The file was created: it is there from now on.
    void created(std::size_t operations, const World& world) { intervals_.push_back({operations, {world}}); }
    /// A flush returned ok.
    void acknowledge(std::size_t operations, World& world);
    /// Call after the last change: completes the last interval.
    void finish(const World& world);
    /// What may be found after a cut when so many operations were done.
    const Allowed& at(std::size_t operations) const;
    const Allowed& last() const { return intervals_.back().allowed; }

private:
    struct Interval {
        std::size_t operations;
        Allowed allowed;
    };
    std::vector<Interval> intervals_;
    bool atomic_;
};

/// Reads the file on a storage and compares it with the allowed worlds. Returns what is wrong; empty: nothing, and
/// `found` is the world that was found.
std::string verify(Storage& storage, const Allowed& allowed, World& found);

/// Draws how an object that is created keeps its attributes; as by default unless `otherwise`.
template <typename Create>
void draw_attributes([[maybe_unused]] Random& random, [[maybe_unused]] bool otherwise,
                     [[maybe_unused]] Create& create) {
    if constexpr (H5MOTE_ALL_FORMATS != 0) {
        if (otherwise && random.one_in(2)) {
            create.attributes.track_order = random.one_in(2);
            create.attributes.min_dense = static_cast<std::uint16_t>(random.below(3));
            create.attributes.max_compact = static_cast<std::uint16_t>(create.attributes.min_dense + random.below(2));
        }
    }
}

struct DatasetDraw;

class Player {
public:
    /// `world` is what the storage holds at the beginning, `ledger` records what may be found there. Both are borrowed.
    Player(Storage& storage, World& world, Ledger& ledger);
    ~Player();

    /// Plays the plan and closes the file. Returns the first thing that went wrong, without any cut; empty: nothing.
    std::string play(const Plan& plan);

    /// If `tells`, a line for each call is added to `told`.
    bool tells = false;
    std::vector<std::string> told;

private:
    struct Session;

    void tell(const std::string& what, h5mote::Status status);
    /// True for ok. An error that is neither one of `refusals` nor explained by a full storage ends the play.
    bool done(h5mote::Status status, const std::string& what, std::initializer_list<h5mote::Status> refusals = {});
    void open(const h5mote::FileAccess& access, const h5mote::FileCreate& create);
    void end_session(bool kill);
    void close();
    void flush();
    void reclaim();
    void kill();
    void step(const Step& step);

    h5mote::Dataset* dataset(const std::string& path);
    void append(const std::string& path, Random& random);
    void write(const std::string& path, Random& random);
    bool lie_in_sectors(h5mote::Dataset& handle, const World::Object& object, std::vector<Dims>& elements);
    void write_chunk(h5mote::Dataset& handle, World::Object& object, const std::string& path, Random& random);
    void grow(const std::string& path, Random& random);
    void shrink(const std::string& path, Random& random);
    void set_extent(h5mote::Dataset& handle, const std::string& path, const Dims& dims);
    void make_dataset(const std::string& path, Random& random);
    void make_group(const std::string& path, Random& random);
    void commit_datatype(const std::string& path, Random& random);
    bool draw_committed(const std::string& path, Random& random, DatasetDraw& draw, h5mote::NamedDatatype& type);
    static void draw_virtual(DatasetDraw& draw, h5mote::NewMapping& mapping);
    void set_attribute(Random& random);
    void set_comment(const std::string& path, Random& random);
    void replace_attribute(Random& random);
    void remove_attribute(Random& random);
    void rename_attribute(Random& random);
    void move_link(Random& random);
    bool put_texts(const std::string& path, const std::string& name, std::size_t count, Random& random, bool any);
    bool put_attribute(const std::string& path, const std::string& name, std::size_t size, Random& random,
                       bool any = false);
    bool put_values(const std::string& path, const std::string& name, h5mote::DatatypeView type, std::uint64_t count,
                    h5mote::ConstBytes bytes, const Blob& found, bool any);
    bool drop_attribute(const std::string& path, const std::string& name);
    void soft_link(const std::string& path, Random& random);
    void hard_link(const std::string& path, Random& random);
    void copy(Random& random);
    bool unlink(const std::string& path);
    void remake(Random& random);
    void leave_object(unsigned number);
    template <typename Call>
    h5mote::Status with_object(const std::string& path, const Call& call);
    std::vector<std::string> paths(bool datasets, bool logs) const;
    std::string some_path(Random& random);
    std::string some_object(Random& random);

    Storage& storage_;
    World& world_;
    Ledger& ledger_;
    std::unique_ptr<Session> session_;
    std::string bad_;
    bool everything_ = false;  // the library has all parts of the format
    bool wide_ = false;        // what Setting::wide says, where the library has them
    bool overwrites_texts_ = false;
    bool unclear_ = false;  // a call failed that may have changed something: kill() finds out what is there
};

}  // namespace h5mote_test
