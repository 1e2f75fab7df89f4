// Workloads of loggers, which the sweeps cut at every point.
#pragma once

#include "session.hpp"

namespace h5mote_test {

/// What a scenario works with: the library, the storage, and the history that it records.
struct Scene {
    h5mote::Library& library;
    h5mote::Driver& driver;
    History& history;
    std::function<std::size_t()> operations;  ///< how many operations the storage has done
    std::string failure = {};                 ///< the first call that failed although it should not
    bool repeat_calls = false;                ///< sessions make a call that fails once more

    Session session() { return Session(library, driver, history, operations, repeat_calls); }
    void end(const Session& session) {
        if (failure.empty() && session.failed()) {
            failure = session.what();
        }
    }
};
using Scenario = std::function<void(Scene&)>;

struct Appending {
    unsigned flush_rows = 1;
    bool filtered = false;
    unsigned rows = 200;
    std::uint32_t chunk = 8;
    std::uint32_t reserve = 65536;
};
/// One log, which is flushed after every `flush_rows` rows.
Scenario appending(const Appending& options);
/// Three logs at different rates: for 48 rows of the first, 16 of the second and 3 of the third.
Scenario rates(unsigned rows, unsigned flush_rows, bool filtered);
/// Between the rows of a log, groups, logs in them and attributes are created, and attributes are changed.
Scenario objects(unsigned rows, unsigned flush_rows, bool filtered);
/// Attributes of groups and of the log are removed and created again.
Scenario attributes(unsigned rows, unsigned flush_rows);
/// Soft and hard links are created and removed; with the last hard link its object goes, which is created again later.
Scenario links(unsigned rows, unsigned flush_rows, bool filtered);
/// Between two flushes, links and attributes are removed and created again, in room that others have left. Logs begin
/// with a row of fill values that is never written, so that its chunk is allocated after that row was acknowledged.
Scenario remaking(unsigned rounds, unsigned flush_rounds);
/// `count` sessions with one file, which is closed and opened again between them.
Scenario sessions(unsigned count, unsigned rows, bool filtered, std::uint8_t sizeof_addr);
/// Logs and soft links get other names and groups, attributes other names and types, and a log becomes shorter.
Scenario changing(unsigned rounds, unsigned flush_rounds, bool filtered);
struct Churning {
    h5mote::FileCreate create = {};
    unsigned sessions = 4;
    unsigned rounds = 8;  ///< of each session
};
/// Logs and groups are made, unlinked and made again, in sessions that close the file, sessions that are killed, and
/// sessions that find what the killed ones have lost.
Scenario churning(const Churning& options);
/// `count` sessions with one file that records its free space. Each session removes the log of the session before the
/// last one, and begins a new one in its place.
Scenario rotating(unsigned count, unsigned rows, unsigned flush_rows, std::uint8_t sizeof_addr);
/// Fills the storage until there is no space left; then a log is unlinked, which makes room for more rows. `late`: it
/// is flush() that may report no_space, because how long a compressed chunk will be, or how much a flash driver can
/// free, is not known before.
Scenario filling(bool filtered, bool late);

}  // namespace h5mote_test
