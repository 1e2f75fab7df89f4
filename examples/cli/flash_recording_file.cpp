// Making the file of a FlashRecorder's log: with the Recorder that would have made it on the device, of a blueprint
// that the log holds.
#include "flash_recording.hpp"

#include <h5mote/file.hpp>
#include <h5mote/library.hpp>
#include <h5mote/port/malloc.hpp>
#include <h5mote/recorder.hpp>

#include <algorithm>
#include <cstring>

namespace h5mote::cli {

namespace {

using blueprint::ArrayParameters;

// A blueprint as a program that was compiled with it would have it. What is read may be anything: nothing that a
// Recorder relies on is taken for granted.
class Recipe {
public:
    struct Setting {
        blueprint::RecordedSetting recorded;
        std::uint32_t sequence_of;  // number of the dataset whose sequence it is, plus 1
    };

    bool parse(const std::vector<std::byte>& from) {
        from_ = &from;
        table_.size = uint(4);
        table_.sizeof_addr = static_cast<std::uint8_t>(uint(1));
        table_.header_size = static_cast<std::uint8_t>(uint(1));
        table_.dimension = static_cast<std::uint8_t>(uint(1));
        segments_ = uint(1);
        const std::uint32_t piece_count = uint(2);
        const std::uint32_t dataset_count = uint(2);
        const std::uint32_t setting_count = uint(2);
        at_ += uint(2);
        for (std::uint32_t i = 0; i < dataset_count; ++i) {
            blueprint::RecordedDataset each{};
            for (std::uint32_t* const field : {&each.header, &each.header_bytes, &each.array, &each.array_bytes,
                                               &each.index_block, &each.chunk, &each.row}) {
                *field = uint(4);
            }
            datasets_.push_back(each);
        }
        for (std::uint32_t i = 0; i < setting_count; ++i) {
            Setting each{};
            for (std::uint32_t* const field : {&each.recorded.block, &each.recorded.block_bytes, &each.recorded.value,
                                               &each.recorded.size, &each.sequence_of}) {
                *field = uint(4);
            }
            settings_.push_back(each);
        }
        for (std::uint32_t i = 0; i < piece_count; ++i) {
            blueprint::Piece each{};
            each.address = uint(4);
            each.size = static_cast<std::uint16_t>(uint(2));
            each.kind = uint(1) == 0 ? blueprint::Piece::Kind::fixed : blueprint::Piece::Kind::changing;
            each.repeats = uint(1) != 0;
            pieces_.push_back(each);
        }
        if (at_ > from.size()) {
            return false;
        }
        bytes_ = {from.data() + at_, from.size() - at_};
        table_.bytes = bytes_.data();
        table_.pieces = pieces_.data();
        table_.datasets = datasets_.data();
        table_.piece_count = static_cast<std::uint16_t>(piece_count);
        table_.dataset_count = static_cast<std::uint16_t>(dataset_count);
        return is_sound();
    }

    const blueprint::Table& table() const { return table_; }
    const std::vector<Setting>& settings() const { return settings_; }
    std::uint32_t segments() const { return segments_; }

private:
    std::uint32_t uint(unsigned width) {
        std::uint32_t value = 0;
        for (unsigned i = 0; i < width && at_ + i < from_->size(); ++i) {
            value |= static_cast<std::uint32_t>((*from_)[at_ + i]) << (8 * i);
        }
        at_ += width;
        return value;
    }
    bool in_file(std::uint64_t address, std::uint64_t size) const {
        return address <= table_.size && size <= table_.size - address;
    }
    bool in_bytes(std::uint64_t offset, std::uint64_t size) const {
        return offset <= bytes_.size() && size <= bytes_.size() - offset;
    }
    bool is_sound() const {
        constexpr std::uint32_t kMostBytes = 1U << 30;  // of a chunk, and of the empty file
        const unsigned width = table_.sizeof_addr;
        bool sound = (width == 4 || width == 8) && segments_ != 0 && table_.dataset_count % segments_ == 0 &&
                     table_.size <= kMostBytes && in_bytes(0, 12 + 4 * width + 8) && in_file(0, 12 + 4 * width + 8) &&
                     table_.dimension + 2 * ArrayParameters::kSize + 4 <= table_.header_size;
        std::uint64_t used = 0;
        for (const blueprint::Piece& each : pieces_) {
            sound = sound && each.size != 0 && in_file(each.address, each.size);
            used += each.repeats ? 1U : each.size;
        }
        sound = sound && used == bytes_.size();
        for (const blueprint::RecordedDataset& each : datasets_) {
            sound = sound && in_file(each.header, table_.header_size) &&
                    in_bytes(each.header_bytes, table_.header_size) &&
                    in_file(each.array, ArrayParameters::header_size(width)) &&
                    in_bytes(each.array_bytes, ArrayParameters::header_size(width)) &&
                    in_file(each.index_block, ArrayParameters::index_block_size(width)) && each.chunk != 0 &&
                    each.row != 0 && each.chunk <= kMostBytes / each.row;
        }
        for (const Setting& each : settings_) {
            sound = sound && each.recorded.value <= 4096 && each.recorded.size <= 4096 &&
                    in_file(each.recorded.block, each.recorded.value + each.recorded.size + 4) &&
                    in_bytes(each.recorded.block_bytes, each.recorded.value) &&
                    each.sequence_of <= table_.dataset_count;
        }
        return sound;
    }

    const std::vector<std::byte>* from_ = nullptr;
    std::size_t at_ = 0;
    ConstBytes bytes_;
    std::uint32_t segments_ = 1;
    blueprint::Table table_{};
    std::vector<blueprint::RecordedDataset> datasets_;
    std::vector<Setting> settings_;
    std::vector<blueprint::Piece> pieces_;
};

// A Recorder whose blueprint is known only now.
class RecordedFile : public RecorderBase {
public:
    Status open(Driver& driver, const blueprint::Table& table) {
        std::size_t bytes = 0;
        for (std::size_t i = 0; i < table.dataset_count; ++i) {
            bytes += std::size_t{table.datasets[i].chunk} * table.datasets[i].row;
        }
        slots_.resize(std::max<std::size_t>(table.dataset_count, 1));
        chunks_.resize(std::max<std::size_t>(bytes, 1));
        return RecorderBase::open(driver, table, slots_.data(), chunks_.data(), call_link);
    }
    // `rows` are whole rows of `row` bytes.
    Status append(std::size_t dataset, std::uint32_t row, const std::vector<std::byte>& rows) {
        Slot& slot = slots_[dataset];
        for (std::size_t at = 0; at < rows.size(); at += row) {
            if (slot.next == slot.end) {
                H5MOTE_TRY(advance(slot));
            }
            std::memcpy(slot.next, rows.data() + at, row);
            slot.next += row;
        }
        return Status::ok;
    }
    Status set(const blueprint::RecordedSetting& setting, const std::byte* value) {
        std::vector<std::byte> bytes(setting.size + 4);
        std::copy(value, value + setting.size, bytes.begin());
        return RecorderBase::set(setting, bytes.data());
    }

private:
    static Status call_link(RecorderBase& recorder, const Slot& slot, const Change& change) {
        std::byte block[ArrayParameters::index_block_size(8)];
        return static_cast<RecordedFile&>(recorder).link(slot, change, block);
    }

    std::vector<Slot> slots_;
    std::vector<std::byte> chunks_;
};

// Gives the first dataset of each ring the ring's name, and removes the others.
class Joiner {
public:
    explicit Joiner(const Recipe& recipe) : recipe_(recipe) {}

    Status run(Driver& driver) {
        MallocAllocator allocator;
        NullPort port;
        Library library{allocator, port};
        Result<File> file = File::open(library, driver);
        H5MOTE_TRY(file.status());
        Group root = file->root();
        names_.resize(recipe_.table().dataset_count);
        H5MOTE_TRY(look(root, "", 0));
        for (std::size_t i = 0; i < names_.size(); ++i) {
            if (i % recipe_.segments() == 0) {
                Result<Object> object = root.open_object(names_[i]);
                H5MOTE_TRY(object.status());
                H5MOTE_TRY(root.create_hard_link(names_[i].substr(0, names_[i].rfind('_')), *object));
            }
            H5MOTE_TRY(root.unlink(names_[i]));
        }
        return file->close();
    }

private:
    // Finds the paths of the datasets. A blueprint that somebody made up may describe groups that form circles.
    Status look(Group& group, const std::string& path, unsigned depth) {
        LinkIterator links(group);
        Link link;
        Status status = Status::ok;
        while ((status = links.next(link)) == Status::ok) {
            const std::string name = path + std::string(link.name());
            for (std::size_t i = 0; i < names_.size() && link.type() == LinkType::hard; ++i) {
                if (recipe_.table().datasets[i].header == link.address()) {
                    names_[i] = name;
                }
            }
            Result<Group> below = group.open_group(link.name());
            if (below && depth < kMostDepth) {
                H5MOTE_TRY(look(*below, name + "/", depth + 1));
            }
        }
        return status == Status::not_found ? Status::ok : status;
    }

    static constexpr unsigned kMostDepth = 64;

    const Recipe& recipe_;
    std::vector<std::string> names_;
};

}  // namespace

Status write_recording(const FlashRecording& recording, const RecordingOptions& options, Driver& driver) {
    Recipe recipe;
    if (!recipe.parse(recording.recipe())) {
        return Status::corrupt_file;
    }
    const blueprint::Table& table = recipe.table();
    const std::uint32_t segments = recipe.segments();
    const bool join = options.join && segments > 1;
    RecordedFile file;
    H5MOTE_TRY(file.open(driver, table));
    std::vector<std::uint32_t> sequences(segments, 0);
    for (const FlashRecording::Rows& rows : recording.rows()) {
        const std::uint32_t turn = rows.segment % segments;
        const std::uint32_t dataset = rows.dataset + (join ? 0 : turn);
        if (rows.dataset % segments != 0 || dataset >= table.dataset_count ||
            rows.bytes.size() % table.datasets[dataset].row != 0) {
            return Status::corrupt_file;
        }
        sequences[turn] = rows.segment;
        H5MOTE_TRY(file.append(dataset, table.datasets[dataset].row, rows.bytes));
    }
    std::size_t at = 0;
    for (const Recipe::Setting& each : recipe.settings()) {
        if (each.sequence_of != 0) {
            std::byte value[4];
            for (unsigned i = 0; i < 4; ++i) {
                value[i] = static_cast<std::byte>(sequences[(each.sequence_of - 1) % segments] >> (8 * i));
            }
            H5MOTE_TRY(each.recorded.size == sizeof value ? file.set(each.recorded, value) : Status::corrupt_file);
        } else if (at + each.recorded.size <= recording.settings().size()) {
            H5MOTE_TRY(file.set(each.recorded, recording.settings().data() + at));
            at += each.recorded.size;
        }
    }
    H5MOTE_TRY(file.close());
    return join ? Joiner(recipe).run(driver) : Status::ok;
}

}  // namespace h5mote::cli
