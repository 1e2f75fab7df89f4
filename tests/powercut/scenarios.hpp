// What loggers do, to be cut at any instant.
#pragma once

#include "session.hpp"

namespace h5mote_test {

/// Where a scenario plays.
struct Scene {
    h5mote::Library& library;
    h5mote::Driver& driver;
    History& history;
    std::function<std::size_t()> operations;
    std::string failure = {};  ///< what went wrong, when nothing should

    Session session() { return Session(library, driver, history, operations); }
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
/// One log, flushed every so many rows.
Scenario appending(const Appending& options);
/// Three logs: a row of one for every 3 and 16 of the others.
Scenario rates(unsigned rows, unsigned flush_rows, bool filtered);
/// Between the rows of a log groups, logs in them, and attributes are made, and attributes changed.
Scenario objects(unsigned rows, unsigned flush_rows, bool filtered);
/// Attributes are deleted and made anew, of groups and of the log.
Scenario attributes(unsigned rows, unsigned flush_rows);
/// Links of all kinds are made and removed, with and without their objects, which are made anew.
Scenario links(unsigned rows, unsigned flush_rows, bool filtered);
/// Names are removed and made again between two flushes, of links and of attributes, where others have left room; logs
/// begin with a row of fill values, the chunk of which gets its place after that row was acknowledged.
Scenario remaking(unsigned rounds, unsigned flush_rounds);
/// Closed and opened again in between.
Scenario sessions(unsigned count, unsigned rows, bool filtered, std::uint8_t sizeof_addr);
/// Until there is no space left. Then a log is deleted, and there is room again. `late`: that there is none is told by
/// flush() - how long a compressed chunk will be, or what a flash driver can free, is not known before.
Scenario filling(bool filtered, bool late);

}  // namespace h5mote_test
