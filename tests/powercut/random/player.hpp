// Plays a plan on a storage, keeps the account of what may be found there after a cut, and compares.
#pragma once

#include "plan.hpp"
#include "world.hpp"

#include <h5mote/h5mote.hpp>
#include <h5mote/port/malloc.hpp>

#include <memory>
#include <optional>

namespace h5mote_test {

h5mote::Span<const h5mote::Filter* const> all_filters();
/// What workloads are played on: disks or a chip, and the driver on them.
class Storage {
public:
    Storage() = default;
    Storage(const Storage&) = delete;
    Storage& operator=(const Storage&) = delete;
    virtual ~Storage() = default;

    /// As after switching on. Empty, or what went wrong.
    virtual std::string start() = 0;
    virtual h5mote::Driver& driver() = 0;
    /// How many changes of the storage there were.
    virtual std::size_t operations() const = 0;
    /// Everything between two flushes appears at once.
    virtual bool atomic() const = 0;
    /// It may be full.
    virtual bool limited() const = 0;
    /// A mistake in the use of the storage, if there was one.
    virtual std::string violation() const { return ""; }
};

/// What may be found: one of these worlds.
using Allowed = std::vector<World>;

/// What may be found at each moment of a workload.
class Ledger {
public:
    explicit Ledger(const Allowed& begin, bool atomic) : atomic_(atomic) { intervals_.push_back({0, begin}); }

    /// A flush begins: the storage may have what it covers from now on.
    void attempt(const World& world);
    /// The file was made: it is there from now on.
    void created(std::size_t operations, const World& world) { intervals_.push_back({operations, {world}}); }
    /// A flush returned ok.
    void acknowledge(std::size_t operations, World& world);
    /// After the last call.
    void finish(const World& world);
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

/// Compares what a storage holds. Empty when it may be so; `found` has it then.
std::string verify(Storage& storage, const Allowed& allowed, World& found);

/// A driver that a program was killed on: nothing more arrives.
class Killable final : public h5mote::Driver {
public:
    explicit Killable(h5mote::Driver& inner) : inner_(inner) {}
    bool dead = false;

    h5mote::Capabilities capabilities() const noexcept override { return inner_.capabilities(); }
    h5mote::Status read(h5mote::Usage usage, std::uint64_t address, h5mote::Bytes to) noexcept override {
        return dead ? h5mote::Status::io_error : inner_.read(usage, address, to);
    }
    h5mote::Status write(h5mote::Usage usage, std::uint64_t address, h5mote::ConstBytes from) noexcept override {
        return dead ? h5mote::Status::io_error : inner_.write(usage, address, from);
    }
    h5mote::Status sync() noexcept override { return dead ? h5mote::Status::io_error : inner_.sync(); }
    h5mote::Status end_of_file(std::uint64_t& size) noexcept override { return inner_.end_of_file(size); }
    h5mote::Status truncate(std::uint64_t size) noexcept override {
        return dead ? h5mote::Status::io_error : inner_.truncate(size);
    }
    h5mote::Status release(h5mote::Usage usage, std::uint64_t address, std::uint64_t size) noexcept override {
        return dead ? h5mote::Status::io_error : inner_.release(usage, address, size);
    }
    h5mote::Status keep_room(std::uint32_t ranges, std::uint64_t bytes) noexcept override {
        return dead ? h5mote::Status::ok : inner_.keep_room(ranges, bytes);
    }
    h5mote::Status discard() noexcept override { return dead ? h5mote::Status::io_error : inner_.discard(); }

private:
    h5mote::Driver& inner_;
};

class Player {
public:
    /// `world` is what the storage holds, `ledger` what may be found there.
    Player(Storage& storage, World& world, Ledger& ledger);
    ~Player();

    /// Plays the plan and closes the file. Empty, or the first thing that went wrong without any cut.
    std::string play(const Plan& plan);

    /// One line for each call, when somebody wants to know.
    bool tells = false;
    std::vector<std::string> told;

private:
    struct Session;

    void tell(const std::string& what, h5mote::Status status);
    /// True for ok. What is no legal refusal ends the play.
    bool done(h5mote::Status status, const std::string& what, std::initializer_list<h5mote::Status> refusals = {});
    void open(const h5mote::FileAccess& access, const h5mote::FileCreate& create);
    void end_session(bool kill);
    void close();
    void flush();
    void kill();
    void step(const Step& step);

    h5mote::Dataset* dataset(const std::string& path);
    void append(const std::string& path, Random& random);
    void write(const std::string& path, Random& random);
    void grow(const std::string& path, Random& random);
    void make_dataset(const std::string& path, Random& random);
    void make_group(const std::string& path);
    void set_attribute(Random& random);
    void replace_attribute(Random& random);
    void remove_attribute(Random& random);
    bool put_attribute(const std::string& path, const std::string& name, std::size_t size, Random& random);
    bool drop_attribute(const std::string& path, const std::string& name);
    void soft_link(const std::string& path, Random& random);
    void hard_link(const std::string& path, Random& random);
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
    bool unclear_ = false;  // a call failed that may have changed something: what is there has to be looked at
};

}  // namespace h5mote_test
