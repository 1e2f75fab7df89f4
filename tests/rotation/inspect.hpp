// What the file of the rotating logs holds, as somebody sees it who opens a copy of its bytes.
#pragma once

#include <h5mote/compound.hpp>
#include <h5mote/file.hpp>

#include <string>
#include <vector>

namespace h5mote_test {

struct Row {
    std::uint32_t log;
    std::uint32_t number;
    std::uint32_t values[14];
};
H5MOTE_COMPOUND(Row, log, number, values)
static_assert(sizeof(Row) == 64);

/// Row `number` of a log. About half of its bytes are noise, so that compressed chunks differ in size.
Row row_of(std::uint32_t log, std::uint32_t number) noexcept;
bool operator==(const Row& a, const Row& b) noexcept;
inline std::string name_of(std::uint32_t log) { return "log" + std::to_string(log); }

struct FoundLog {
    std::uint32_t log;
    std::uint64_t rows;
};

/// Where the bytes of a file are.
struct SpaceUse {
    bool known = false;       ///< profile logger knows only `end`
    std::uint64_t end = 0;    ///< recorded end of the file
    std::uint64_t used = 0;   ///< bytes that belong to a structure
    std::uint64_t free = 0;   ///< bytes of which the file itself says that they are free
    std::uint64_t lost = 0;   ///< bytes that nothing uses, and nobody knows
    std::uint64_t pages = 0;  ///< bytes of whole pages that nothing uses
};

struct Inspection {
    std::string fault;  ///< what is wrong with the file; empty: nothing
    bool rows_wrong = false;
    std::vector<FoundLog> logs;  ///< by number
    SpaceUse space;
};

/// Opens the image and reads all rows of all logs in it. `page`: bytes of a page of the storage, for SpaceUse::pages.
Inspection inspect(h5mote::ConstBytes image, std::uint32_t page);

/// Checks the structures of the file and says where its bytes are. Empty, or what is wrong.
std::string measure_space(h5mote::File& file, std::uint32_t page, SpaceUse& space);

/// Lets libhdf5 read the image: it must hold these logs, and no others. Empty, or what is wrong.
std::string read_by_libhdf5(h5mote::ConstBytes image, const std::vector<FoundLog>& logs);

}  // namespace h5mote_test
