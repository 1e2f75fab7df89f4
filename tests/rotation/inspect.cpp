#include "inspect.hpp"

#include "../powercut/random.hpp"

#include <h5mote/dataset.hpp>
#include <h5mote/filters/deflate.hpp>
#include <h5mote/filters/shuffle.hpp>
#include <h5mote/formats.hpp>
#include <h5mote/library.hpp>
#include <h5mote/port.hpp>
#include <h5mote/port/malloc.hpp>
#include <h5mote/vfd/memory.hpp>

#include <algorithm>
#include <cstring>

namespace h5mote_test {

using h5mote::Status;

Row row_of(std::uint32_t log, std::uint32_t number) noexcept {
    Row row{log, number, {}};
    Random random(std::uint64_t{log} << 32 | number);
    for (unsigned i = 0; i < 7; ++i) {
        row.values[i] = static_cast<std::uint32_t>(random.next());
        row.values[7 + i] = number + i;
    }
    return row;
}

bool operator==(const Row& a, const Row& b) noexcept { return std::memcmp(&a, &b, sizeof a) == 0; }

namespace {

// Reads a log, piece by piece. Empty, or what is wrong.
std::string read_log(h5mote::Group& root, FoundLog& found) {
    auto log = root.open_dataset<Row>(name_of(found.log));
    if (!log) {
        return std::string("cannot be opened: ") + h5mote::to_string(log.status());
    }
    found.rows = log->size();
    std::vector<Row> rows(static_cast<std::size_t>(std::min<std::uint64_t>(found.rows, 1 << 20)));
    const Status status = log->read(h5mote::Selection::all(), h5mote::Span<Row>(rows.data(), rows.size()));
    if (status != Status::ok) {
        return std::string("cannot be read: ") + h5mote::to_string(status);
    }
    for (std::uint32_t i = 0; i < rows.size(); ++i) {
        if (!(rows[i] == row_of(found.log, i))) {
            return "row " + std::to_string(i) + " of " + std::to_string(rows.size()) + " is wrong";
        }
    }
    return "";
}

// The logs that the root group has.
std::string find_logs(h5mote::Group& root, std::vector<FoundLog>& logs) {
    std::uint32_t count = 0;
    if (root.link_count(count) != Status::ok) {
        return "the root group cannot be read";
    }
    for (std::uint32_t i = 0; i < count; ++i) {
        char text[32] = {};
        h5mote::LinkInfo info;
        if (root.link(i, info, {text, sizeof text - 1}) != Status::ok || std::strncmp(text, "log", 3) != 0) {
            return "link " + std::to_string(i) + " of the root group cannot be read";
        }
        logs.push_back({static_cast<std::uint32_t>(std::strtoul(text + 3, nullptr, 10)), 0});
    }
    std::sort(logs.begin(), logs.end(), [](const FoundLog& a, const FoundLog& b) { return a.log < b.log; });
    return "";
}

}  // namespace

Inspection inspect(h5mote::ConstBytes image, std::uint32_t page) {
    static constexpr const h5mote::Filter* kFilters[] = {&h5mote::shuffle_filter, &h5mote::deflate_filter};
    Inspection result;
    auto storage = h5mote::MemoryDriver::reading(image);
    h5mote::MallocAllocator allocator;
    h5mote::NullPort port;
    h5mote::Library library{allocator, port, kFilters, h5mote::formats::rotating};
    h5mote::FileAccess access;
    access.read_only = true;
    access.metadata_cache = 65536;
    auto file = h5mote::File::open(library, storage, access);
    if (!file) {
        result.fault = std::string("the file cannot be opened: ") + h5mote::to_string(file.status());
        return result;
    }
    h5mote::FileInfo info;
    (void)file->info(info);
    result.space.end = info.end_of_address;
    auto root = file->root();
    result.fault = find_logs(root, result.logs);
    for (FoundLog& each : result.logs) {
        const std::string wrong = result.fault.empty() ? read_log(root, each) : "";
        if (!wrong.empty()) {
            result.fault = name_of(each.log) + ": " + wrong;
            result.rows_wrong = true;
        }
    }
    if (result.fault.empty()) {
        result.fault = measure_space(*file, page, result.space);
    }
    return result;
}

}  // namespace h5mote_test
