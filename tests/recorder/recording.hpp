// A recorder of any blueprint behind one interface, and what its file must hold. Hosts only.
#pragma once

#include <h5mote/recorder.hpp>

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace h5mote_test {

using Blob = std::vector<std::byte>;

/// What a test needs to know of a blueprint.
struct Described {
    struct Dataset {
        std::string path;
        std::size_t row;      ///< bytes
        std::uint32_t chunk;  ///< rows
    };
    struct Setting {
        std::string path;  ///< of its object, "/" for the root group
        std::string name;
        Blob value;  ///< at first
    };
    h5mote::ConstBytes image;
    unsigned sizeof_addr;
    std::vector<Dataset> datasets;
    std::vector<Setting> settings;
};

/// A Recorder whose blueprint is known when running. Rows and values are bytes as a little-endian file holds them.
class Recording {
public:
    virtual ~Recording() = default;
    virtual h5mote::Status open(h5mote::Driver& driver) noexcept = 0;
    virtual h5mote::Status append(std::size_t dataset, h5mote::ConstBytes row) noexcept = 0;
    virtual h5mote::Status set(std::size_t setting, h5mote::ConstBytes value) noexcept = 0;
    virtual std::uint64_t rows(std::size_t dataset) const noexcept = 0;
    virtual h5mote::Status flush() noexcept = 0;
    virtual h5mote::Status close() noexcept = 0;
    virtual void abandon() noexcept = 0;
    virtual bool is_open() const noexcept = 0;
    virtual h5mote::Address difference() const noexcept = 0;

    const Described& described() const noexcept { return described_; }

protected:
    explicit Recording(const Described& described) : described_(described) {}
    const Described& described_;
};

inline std::string path_of(h5mote::Span<const h5mote::blueprint::detail::ObjectPart> objects, std::size_t object) {
    std::string path;
    for (; object != 0; object = objects[object].parent) {
        path = "/" + std::string(objects[object].name) + path;
    }
    return path.empty() ? "/" : path;
}

template <const auto& Blueprint>
const Described& describe() {
    using namespace h5mote::blueprint;
    static const Described described = [] {
        Described result{h5mote::blueprint::Image<Blueprint>::bytes(), Blueprint.options.sizeof_addr, {}, {}};
        const auto objects = detail::span(detail::kParts<Blueprint>.objects);
        for (std::size_t i = 0; i < objects.size(); ++i) {
            if (objects[i].kind == detail::Kind::dataset) {
                result.datasets.push_back({path_of(objects, i), static_cast<std::size_t>(objects[i].row),
                                           static_cast<std::uint32_t>(objects[i].chunk)});
            }
        }
        for (const auto& part : detail::span(detail::kParts<Blueprint>.attributes)) {
            if (part.is_setting) {
                result.settings.push_back(
                    {path_of(objects, part.object), part.name, {part.value.begin(), part.value.end()}});
            }
        }
        return result;
    }();
    return described;
}

template <const auto& Blueprint>
class RecordingOf final : public Recording {
public:
    RecordingOf() : Recording(describe<Blueprint>()) {}
    h5mote::Status open(h5mote::Driver& driver) noexcept override { return recorder_.open(driver); }
    h5mote::Status append(std::size_t dataset, h5mote::ConstBytes row) noexcept override {
        return append(dataset, row, std::make_index_sequence<Image::kDatasets>());
    }
    h5mote::Status set(std::size_t setting, h5mote::ConstBytes value) noexcept override {
        return set(setting, value,
                   std::make_index_sequence<h5mote::blueprint::detail::kParts<Blueprint>.attributes.size()>());
    }
    std::uint64_t rows(std::size_t dataset) const noexcept override {
        return rows(dataset, std::make_index_sequence<Image::kDatasets>());
    }
    h5mote::Status flush() noexcept override { return recorder_.flush(); }
    h5mote::Status close() noexcept override { return recorder_.close(); }
    void abandon() noexcept override { recorder_.abandon(); }
    bool is_open() const noexcept override { return recorder_.is_open(); }
    h5mote::Address difference() const noexcept override { return recorder_.difference(); }
    h5mote::Recorder<Blueprint>& recorder() noexcept { return recorder_; }

private:
    using Image = h5mote::blueprint::Image<Blueprint>;

    template <std::size_t... I>
    h5mote::Status append(std::size_t dataset, [[maybe_unused]] h5mote::ConstBytes row,
                          std::index_sequence<I...>) noexcept {
        h5mote::Status status = h5mote::Status::invalid_argument;
        const auto one = [&](auto i) {
            typename Image::template Row<decltype(i)::value> value;
            std::memcpy(static_cast<void*>(&value), row.data(), sizeof value);
            status = recorder_.template append<decltype(i)::value>(value);
        };
        ((I == dataset ? one(std::integral_constant<std::size_t, I>{}) : void()), ...);
        (void)one;
        return status;
    }
    template <std::size_t I>
    h5mote::Status set_one(h5mote::ConstBytes bytes) noexcept {
        if constexpr (h5mote::blueprint::detail::kParts<Blueprint>.attributes[I].is_setting) {
            typename Image::template Value<I> value;
            std::memcpy(static_cast<void*>(&value), bytes.data(), sizeof value);
            return recorder_.template set<I>(value);
        }
        return h5mote::Status::invalid_argument;
    }
    // Settings are numbered among all attributes by the recorder, and here among themselves.
    template <std::size_t... I>
    h5mote::Status set(std::size_t setting, [[maybe_unused]] h5mote::ConstBytes value,
                       std::index_sequence<I...>) noexcept {
        h5mote::Status status = h5mote::Status::invalid_argument;
        std::size_t count = 0;
        const auto attributes =
            h5mote::blueprint::detail::span(h5mote::blueprint::detail::kParts<Blueprint>.attributes);
        ((attributes[I].is_setting && count++ == setting ? void(status = set_one<I>(value)) : void()), ...);
        (void)attributes;
        return status;
    }
    template <std::size_t... I>
    std::uint64_t rows(std::size_t dataset, std::index_sequence<I...>) const noexcept {
        std::uint64_t count = 0;
        ((I == dataset ? void(count = recorder_.template rows<I>()) : void()), ...);
        return count;
    }

    h5mote::Recorder<Blueprint> recorder_;
};

/// The bytes of a row: they follow from the dataset, the row's number and the life in which it was appended. Of longer
/// rows, those of every other 16 can be compressed.
inline void make_row(std::size_t dataset, std::uint64_t number, unsigned life, h5mote::Bytes row) noexcept {
    std::uint64_t state =
        (number + 1) * 0x9e3779b97f4a7c15U + dataset * 0xbf58476d1ce4e5b9U + life * 0x94d049bb133111ebU;
    const bool is_simple = number / 16 % 2 == 0;
    std::size_t at = 0;
    for (std::byte& byte : row) {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        byte = static_cast<std::byte>(state >> 24) & static_cast<std::byte>(is_simple && at++ >= 8 ? 3 : 0xff);
    }
}

/// What a file holds, or may hold.
struct Contents {
    bool created = false;                      ///< open() has returned ok
    std::vector<std::uint64_t> least;          ///< rows of each dataset that must be there
    std::vector<std::vector<unsigned>> lives;  ///< for each row that may be there, the life in which it was appended
    std::vector<std::vector<Blob>> settings;   ///< the values that each setting may have
};

/// What was found: the rows of each dataset, and which of its values each setting has.
struct Seen {
    std::vector<std::uint64_t> rows;
    std::vector<std::size_t> settings;
};

Contents empty_contents(const Described& described);
/// What a file that has been read may hold, until something is done to it.
Contents contents_as(const Contents& contents, const Seen& seen);

/// Reads a file with libhdf5, or with h5mote, and compares. Returns what is wrong; empty: nothing.
std::string compare_by_libhdf5(h5mote::ConstBytes image, const Described& described, const Contents& contents,
                               Seen& seen);
std::string compare_by_h5mote(h5mote::Driver& driver, const Described& described, const Contents& contents, Seen& seen);

/// Judges rows and values. Both readers use it.
std::string judge_rows(const Described& described, const Contents& contents, std::size_t dataset, const Blob& rows);
std::string judge_setting(const Described& described, const Contents& contents, std::size_t setting, const Blob& value,
                          Seen& seen);

}  // namespace h5mote_test
