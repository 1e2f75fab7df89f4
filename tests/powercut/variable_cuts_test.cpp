// The power fails at every point while rows with strings and sequences are appended and string attributes are made,
// replaced and removed: what a flush acknowledged is there, for libhdf5 as well, every collection of the global heap is
// sound, and logging goes on, also in the collections that the session before has begun.
#include "cuts.hpp"
#include "disk_states.hpp"
#include "faulty_disk.hpp"
#include "hdf5_image.hpp"
#include "sound.hpp"

#include <h5mote/h5mote.hpp>
#include <h5mote/port/malloc.hpp>
#include <h5mote/variable_length.hpp>
#include <h5mote/vfd/memory.hpp>

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

namespace h5mote_test {

struct Event {
    std::uint32_t number;
    h5mote::VariableString<> text;
    h5mote::Sequence<std::int32_t> values;
};
H5MOTE_COMPOUND(Event, number, text, values)

namespace {

using namespace h5mote;

struct Workload {
    const char* name;
    unsigned sessions;
    unsigned flushes;  // of a session
    unsigned rows;     // between two flushes
    std::size_t text;  // about the length of a text
    std::size_t cache;
    bool many_notes = false;  // a note is written before each flush, not before every second one
    bool gaps = false;        // some rows are not appended: the dataset grows, and they are the fill value
};

// What flushes have acknowledged: `rows` of the log, and the number of the note that was written last (0: none).
struct Acknowledged {
    std::size_t operations = 0;
    std::uint32_t rows = 0;
    std::uint32_t note = 0;
};

constexpr std::uint32_t kFillNumber = 77;
bool is_gap(const Workload& workload, std::uint32_t i) { return workload.gaps && i % 5 >= 3; }

std::string text_of(const Workload& workload, std::uint32_t i) {
    if (is_gap(workload, i)) {
        return "what nobody has written";
    }
    const std::size_t length = i % 11 == 5   ? 0
                               : i % 17 == 3 ? 9 * workload.text
                                             : workload.text / 2 + i * 7 % workload.text;
    std::string text = "row " + std::to_string(i) + " ";
    while (text.size() < length) {
        text += static_cast<char>('a' + (i + text.size()) % 26);
    }
    return i % 11 == 5 ? "" : text;
}

std::string note_of(std::uint32_t i) { return "note " + std::to_string(i) + std::string(i * 13 % 60, 'n'); }
constexpr bool has_note(std::uint32_t i) { return i % 4 != 3; }

Status append(TypedDataset<Event>& log, const Workload& workload, std::uint32_t i) {
    if (is_gap(workload, i)) {
        return log.set_extent({i + 1});
    }
    const std::string text = text_of(workload, i);
    std::int32_t values[8];
    for (std::int32_t& each : values) {
        each = static_cast<std::int32_t>(i) * 3 + static_cast<std::int32_t>(&each - values);
    }
    return log.append({i, {text.c_str()}, {i % 8, values}});
}

Status write_note(Group& root, std::uint32_t i) {
    return has_note(i)       ? root.write_attribute("note", VariableString<>{note_of(i).c_str()})
           : has_note(i - 1) ? root.remove_attribute("note")
                             : Status::ok;
}

DatasetCreate properties(const Workload& workload) {
    static std::int32_t values[] = {3 * static_cast<std::int32_t>(kFillNumber),
                                    3 * static_cast<std::int32_t>(kFillNumber) + 1};
    static const Event fill = {kFillNumber, {"what nobody has written"}, {2, values}};
    DatasetCreate create;
    create.chunk = {8};
    if (workload.gaps) {
        create.fill = {reinterpret_cast<const std::byte*>(&fill), sizeof fill};
    }
    return create;
}

FileAccess access_of(const Workload& workload) {
    FileAccess access;
    access.metadata_cache = workload.cache;
    access.chunk_cache = 2048;
    return access;
}

class Sweep {
public:
    explicit Sweep(const Workload& workload) : workload_(workload), tally(workload.name) {}

    void run(std::size_t floor) {
        record(0);
        cut(60);
        tally.report(floor);
    }

    // Lets one call of the driver fail after the other. The call of the library that returns the error is repeated, and
    // the power is cut from there on up to the third flush.
    void run_after_faults(std::size_t floor) {
        for (fault_ = 1; !tally.enough() && record(fault_); ++fault_) {
            std::size_t flushes = 0;
            for (const Acknowledged& each : acknowledged_) {
                flushes += each.operations > from_ ? 1 : 0;
                if (flushes == 3) {
                    operations_.resize(each.operations);
                    break;
                }
            }
            cut(4);
        }
        tally.report(floor);
    }

private:
    void cut(std::size_t random_subsets) {
        DiskStates states(Disks(1), operations_,
                          [this](const Disks& disks, std::size_t operations, const char* what, std::size_t number) {
                              judge(disks[0], operations, what, number);
                          });
        states.from = from_;
        states.random_subsets = random_subsets;
        states.enough = [this] { return tally.enough(); };
        states.run();
    }

    // False if the workload ended before the call that should fail.
    bool record(std::uint64_t fault) {
        operations_.clear();
        acknowledged_.clear();
        MallocAllocator memory;
        GrowingMemoryDriver storage(memory);
        DiskRecorder disk(storage, 0, operations_);
        FaultyDisk driver(disk, fault, operations_);
        play(memory, driver);
        from_ = driver.failed_at;
        return fault == 0 || driver.failed;
    }

    template <typename Call>
    auto attempt(const Call& call) -> decltype(call()) {
        auto first = call();
        return fault_ == 0 || first == Status::ok ? first : call();
    }

    void play(Allocator& memory, Driver& driver) {
        NullPort port;
        Acknowledged now;
        for (unsigned session = 0; session < workload_.sessions; ++session) {
            Library library(memory, port);
            File file;
            TypedDataset<Event> log;
            ASSERT_EQ(attempt([&] {
                          auto opened = File::open_or_create(library, driver, access_of(workload_));
                          file = static_cast<File&&>(*opened);
                          return opened.status();
                      }),
                      Status::ok);
            Group root = file.root();
            ASSERT_EQ(attempt([&] {
                          auto opened = root.open_or_create_dataset<Event>("log", properties(workload_));
                          log = static_cast<TypedDataset<Event>&&>(*opened);
                          return opened.status();
                      }),
                      Status::ok);
            for (unsigned flush = 0; flush < workload_.flushes; ++flush) {
                for (unsigned i = 0; i < workload_.rows; ++i) {
                    ASSERT_EQ(attempt([&] { return append(log, workload_, now.rows); }), Status::ok);
                    ++now.rows;
                }
                if (flush % 2 == 1 || workload_.many_notes) {
                    ++now.note;
                    ASSERT_EQ(attempt([&] { return write_note(root, now.note); }), Status::ok);
                }
                ASSERT_EQ(attempt([&] { return file.flush(); }), Status::ok);
                now.operations = operations_.size();
                acknowledged_.push_back(now);
            }
            ASSERT_EQ(attempt([&] { return log.valid() ? log.close() : Status::ok; }), Status::ok);
            const Status closed = file.close();  // which is not repeated: even if it fails, it ends all handles
            ASSERT_TRUE(closed == Status::ok || fault_ != 0);
        }
    }

    // What was acknowledged when so many operations were complete, and what the flush after that would have covered.
    void find(std::size_t operations, Acknowledged& least, Acknowledged& most) const {
        for (const Acknowledged& each : acknowledged_) {
            most = each;
            if (each.operations > operations) {
                return;
            }
            least = each;
        }
    }

    void judge(const Image& image, std::size_t operations, const char* what, std::size_t number) {
        Acknowledged least;
        Acknowledged most;
        find(operations, least, most);
        if (!tally.is_new(hash_of({image.data(), image.size()}, least.rows + fault_ * 0x100000000U))) {
            return;
        }
        tally.cut(true);
        std::string bad = by_h5mote(image, least, most);
        bad = bad.empty() && least.rows != 0 ? by_libhdf5(image, least, most) : bad;
        if (!bad.empty()) {
            tally.lost((fault_ == 0 ? "" : "call " + std::to_string(fault_) + " fails, ") + "cut after " +
                       std::to_string(operations) + ", " + what + " " + std::to_string(number) + ": " + bad);
        }
    }

    std::string compare(std::uint32_t row, std::uint32_t got, const char* text, std::size_t count, const int* values) {
        const std::string wanted = text_of(workload_, row);
        const bool gap = is_gap(workload_, row);
        const std::uint32_t number = gap ? kFillNumber : row;
        if (got != number || text == nullptr || wanted != text || count != (gap ? 2 : row % 8)) {
            return "row " + std::to_string(row) + " is another";
        }
        for (std::size_t i = 0; i < count; ++i) {
            if (values[i] != static_cast<int>(number) * 3 + static_cast<int>(i)) {
                return "values of row " + std::to_string(row) + " are others";
            }
        }
        return "";
    }

    std::string compare_note(bool exists, const std::string& text, const Acknowledged& least,
                             const Acknowledged& most) {
        for (std::uint32_t i = least.note; i <= most.note; ++i) {
            const bool wanted = i != 0 && has_note(i);
            if (wanted == exists && (!exists || text == note_of(i))) {
                return "";
            }
        }
        return exists ? "the note is '" + text + "'" : "there is no note";
    }

    std::string by_h5mote(const Image& image, const Acknowledged& least, const Acknowledged& most) {
        MallocAllocator memory;
        GrowingMemoryDriver storage(memory);
        NullPort port;
        Library library(memory, port);
        (void)storage.assign({image.data(), image.size()});
        auto file = File::open(library, storage, access_of(workload_));
        if (!file) {
            return least.rows == 0 ? "" : std::string("does not open: ") + to_string(file.status());
        }
        const Findings findings = findings_in(*file);
        if (!findings.none()) {
            return "problem " + std::to_string(findings.last_kind) + " at " + std::to_string(findings.last_address);
        }
        Group root = file->root();
        auto log = root.open_dataset<Event>("log");
        if (!log) {
            return least.rows == 0 ? "" : std::string("no log: ") + to_string(log.status());
        }
        std::string bad = check_rows(library, *log, least.rows);
        char note[128];
        std::size_t length = 0;
        const Status status = root.read_attribute("note", Span<char>(note, sizeof note), length);
        if (bad.empty() && status != Status::ok && status != Status::not_found) {
            bad = std::string("note: ") + to_string(status);
        }
        if (bad.empty()) {
            bad = compare_note(status == Status::ok, {note, length}, least, most);
        }
        // Logging goes on.
        const auto rows = static_cast<std::uint32_t>(log->size());
        for (std::uint32_t i = 0; bad.empty() && i < 3; ++i) {
            if (append(*log, workload_, rows + i) != Status::ok || file->flush() != Status::ok) {
                bad = "does not go on";
            }
        }
        bad = bad.empty() ? check_rows(library, *log, rows + 3) : bad;
        const Status closed = log->close();
        const Findings after = findings_in(*file);
        if (bad.empty() && (closed != Status::ok || !after.none() || file->close() != Status::ok)) {
            bad = "is not sound after going on: problem " + std::to_string(after.last_kind) + " at " +
                  std::to_string(after.last_address);
        }
        return bad;
    }

    std::string check_rows(Library& library, TypedDataset<Event>& log, std::uint32_t least) {
        const auto rows = static_cast<std::uint32_t>(log.size());
        std::vector<Event> events(rows);
        if (rows < least) {
            return "only " + std::to_string(rows) + " of " + std::to_string(least) + " rows";
        }
        const Status status = log.read(Selection::all(), Span<Event>(events.data(), rows));
        if (status != Status::ok) {
            return std::string("reading rows: ") + to_string(status);
        }
        std::string bad;
        for (std::uint32_t i = 0; bad.empty() && i < rows; ++i) {
            bad = compare(i, events[i].number, events[i].text.text, events[i].values.count, events[i].values.data);
        }
        EXPECT_EQ(reclaim(library, datatype_of<Event>(), rows, sizeof(Event), events.data()), Status::ok);
        return bad;
    }

    std::string by_libhdf5(const Image& image, const Acknowledged& least, const Acknowledged& most) {
        struct Row {
            unsigned number;
            char* text;
            hvl_t values;
        };
        // To read a chunk that is not stored, libhdf5 makes copies of the fill value in the heap.
        const Hdf5Id file = open_image({image.data(), image.size()}, workload_.gaps ? H5F_ACC_RDWR : H5F_ACC_RDONLY);
        const Hdf5Id log(H5Dopen2(file, "log", H5P_DEFAULT), H5Dclose);
        const Hdf5Id space(H5Dget_space(log), H5Sclose);
        const Hdf5Id text(H5Tcopy(H5T_C_S1), H5Tclose);
        const Hdf5Id values(H5Tvlen_create(H5T_NATIVE_INT), H5Tclose);
        const Hdf5Id type(H5Tcreate(H5T_COMPOUND, sizeof(Row)), H5Tclose);
        if (log < 0 || H5Tset_size(text, H5T_VARIABLE) < 0 || H5Tset_cset(text, H5T_CSET_UTF8) < 0 ||
            H5Tinsert(type, "number", HOFFSET(Row, number), H5T_NATIVE_UINT) < 0 ||
            H5Tinsert(type, "text", HOFFSET(Row, text), text) < 0 ||
            H5Tinsert(type, "values", HOFFSET(Row, values), values) < 0) {
            return "libhdf5: no log";
        }
        const auto rows = static_cast<std::uint32_t>(H5Sget_simple_extent_npoints(space));
        std::vector<Row> all(rows);
        if (rows < least.rows || H5Dread(log, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, all.data()) < 0) {
            return "libhdf5: cannot read " + std::to_string(rows) + " rows";
        }
        std::string bad;
        for (std::uint32_t i = 0; bad.empty() && i < rows; ++i) {
            bad = compare(i, all[i].number, all[i].text, all[i].values.len, static_cast<int*>(all[i].values.p));
        }
        (void)H5Dvlen_reclaim(type, space, H5P_DEFAULT, all.data());
        const bool exists = H5Aexists(file, "note") > 0;
        std::string note;
        if (exists) {
            const Hdf5Id attribute(H5Aopen(file, "note", H5P_DEFAULT), H5Aclose);
            char* value = nullptr;
            if (H5Aread(attribute, text, &value) < 0 || value == nullptr) {
                return "libhdf5: cannot read the note";
            }
            note = value;
            (void)H5free_memory(value);
        }
        bad = bad.empty() ? compare_note(exists, note, least, most) : bad;
        return bad.empty() ? "" : "libhdf5: " + bad;
    }

    Workload workload_;
    std::vector<DiskOperation> operations_;
    std::vector<Acknowledged> acknowledged_;
    std::uint64_t fault_ = 0;  // the call of the driver that fails; 0: none
    std::size_t from_ = 0;     // cuts before so many operations are not tried

public:
    Tally tally;
};

}  // namespace

TEST(VariableCuts, EachRow) { Sweep({"variable-1", 2, 40, 1, 30, 2048}).run(900); }
TEST(VariableCuts, SeveralRows) { Sweep({"variable-5", 3, 12, 5, 60, 4096}).run(1900); }
TEST(VariableCuts, LongRows) { Sweep({"variable-long", 2, 12, 2, 900, 4096}).run(3200); }
TEST(VariableCuts, AfterFaults) { Sweep({"variable-faults", 1, 14, 3, 23, 8192, true}).run_after_faults(7000); }
TEST(VariableCuts, FillValues) { Sweep({"variable-fill", 3, 12, 4, 40, 4096, false, true}).run(1000); }
TEST(VariableCuts, FillValuesAfterFaults) {
    Sweep({"variable-fill-faults", 1, 10, 4, 23, 8192, false, true}).run_after_faults(1000);
}
TEST(VariableCuts, LargeCache) { Sweep({"variable-large-cache", 2, 16, 3, 120, 65536}).run(950); }

}  // namespace h5mote_test
