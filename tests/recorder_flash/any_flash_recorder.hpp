// A FlashRecorder of any blueprint and window behind one interface, for tests that choose them at random.
#pragma once

#include <h5mote/flash_recorder.hpp>

#include <memory>
#include <utility>
#include <vector>

namespace h5mote_test {

using Blob = std::vector<std::byte>;

/// Rows and values of settings are bytes as the file holds them. Datasets are counted without regard to the turns of
/// rings, settings without those that the log sets itself.
class AnyFlashRecorder {
public:
    struct Facts {
        std::uint32_t segments;
        std::uint32_t window;
        std::uint32_t recipe;               ///< bytes of the blueprint in the log
        std::vector<std::size_t> rows;      ///< bytes of a row of each dataset
        std::vector<std::size_t> settings;  ///< bytes of the value of each setting
        Blob values;                        ///< the values of all settings at first
    };

    virtual ~AnyFlashRecorder() = default;
    virtual h5mote::Status open(h5mote::FlashDevice& device) = 0;
    virtual h5mote::Status format(h5mote::FlashDevice& device) = 0;
    virtual h5mote::Status append(std::size_t dataset, const std::byte* row) = 0;
    virtual h5mote::Status set(std::size_t setting, const std::byte* value) = 0;
    virtual h5mote::FlashRecorderBase& base() = 0;
    const Facts& facts() const noexcept { return facts_; }

protected:
    explicit AnyFlashRecorder(Facts facts) : facts_(std::move(facts)) {}

private:
    Facts facts_;
};

template <const auto& Blueprint, std::uint32_t Window>
class FlashRecorderOf final : public AnyFlashRecorder {
public:
    FlashRecorderOf() : AnyFlashRecorder(find_facts()) {}
    h5mote::Status open(h5mote::FlashDevice& device) override { return recorder_.open(device); }
    h5mote::Status format(h5mote::FlashDevice& device) override { return recorder_.format(device); }
    h5mote::Status append(std::size_t dataset, const std::byte* row) override {
        return append(dataset * kSegments, row, std::make_index_sequence<Image::kDatasets>());
    }
    h5mote::Status set(std::size_t setting, const std::byte* value) override {
        return set(setting, value, std::make_index_sequence<kAttributes.size()>());
    }
    h5mote::FlashRecorderBase& base() override { return recorder_; }

private:
    using Image = h5mote::blueprint::Image<Blueprint>;
    static constexpr std::size_t kSegments = h5mote::blueprint::detail::kSegments<Blueprint>;
    static constexpr auto& kAttributes = h5mote::blueprint::detail::kParts<Blueprint>.attributes;

    static Facts find_facts() {
        constexpr auto& kRecipe = h5mote::blueprint::detail::kRecipe<Blueprint>;
        Facts facts{kSegments, Window, static_cast<std::uint32_t>(kRecipe.size()), {}, {}, {}};
        for (std::size_t i = 0; i < Image::kDatasets; i += kSegments) {
            facts.rows.push_back(Image::kTable.datasets[i].row);
        }
        for (const auto& part : kAttributes) {
            if (h5mote::blueprint::detail::is_set_by_program(part)) {
                facts.settings.push_back(part.value.size());
                facts.values.insert(facts.values.end(), part.value.begin(), part.value.end());
            }
        }
        return facts;
    }

    template <std::size_t I>
    h5mote::Status append_one([[maybe_unused]] const std::byte* bytes) {
        if constexpr (I % kSegments == 0) {
            typename Image::template Row<I> row;
            std::memcpy(static_cast<void*>(&row), bytes, sizeof row);
            return recorder_.template append<I>(row);
        }
        return h5mote::Status::invalid_argument;
    }
    template <std::size_t... I>
    h5mote::Status append(std::size_t dataset, const std::byte* row, std::index_sequence<I...>) {
        h5mote::Status status = h5mote::Status::invalid_argument;
        ((I == dataset ? void(status = append_one<I>(row)) : void()), ...);
        return status;
    }
    template <std::size_t I>
    h5mote::Status set_one([[maybe_unused]] const std::byte* bytes) {
        if constexpr (h5mote::blueprint::detail::is_set_by_program(kAttributes[I])) {
            typename Image::template Value<I> value;
            std::memcpy(static_cast<void*>(&value), bytes, sizeof value);
            return recorder_.template set<I>(value);
        }
        return h5mote::Status::invalid_argument;
    }
    template <std::size_t... I>
    h5mote::Status set(std::size_t setting, [[maybe_unused]] const std::byte* value, std::index_sequence<I...>) {
        h5mote::Status status = h5mote::Status::invalid_argument;
        std::size_t count = 0;
        ((h5mote::blueprint::detail::is_set_by_program(kAttributes[I]) && count++ == setting
              ? void(status = set_one<I>(value))
              : void()),
         ...);
        return status;
    }

    h5mote::FlashRecorder<Blueprint, Window> recorder_;
};

using MakeFlashRecorder = std::unique_ptr<AnyFlashRecorder> (*)();

namespace flash_blueprints {

namespace bp = h5mote::blueprint;

template <std::size_t N>
using Bytes = std::array<std::uint8_t, N>;
template <std::size_t N>
constexpr Bytes<N> table() noexcept {
    Bytes<N> result{};
    for (std::size_t i = 0; i < N; ++i) {
        result[i] = static_cast<std::uint8_t>(i * i + 3 * i);
    }
    return result;
}

inline constexpr bp::FileOptions kSmall{4, false};
inline constexpr auto kOne = bp::file(kSmall, bp::dataset<Bytes<12>>("a", 16));
inline constexpr auto kThree = bp::file(
    kSmall, bp::setting<std::uint32_t>("serial", 7), bp::dataset<Bytes<4>>("a", 32),
    bp::group("g", bp::dataset<Bytes<20>>("b", 8, bp::setting<Bytes<37>>("note")), bp::dataset<Bytes<90>>("c", 3)));
inline constexpr auto kManySettings =
    bp::file(kSmall, bp::setting<Bytes<180>>("s", table<180>()), bp::dataset<Bytes<9>>("a", 16));
inline constexpr auto kLong = bp::file(kSmall, bp::setting<std::uint16_t>("serial", 7),
                                       bp::constant("table", table<900>()), bp::dataset<Bytes<16>>("a", 16));
template <std::size_t N>
inline constexpr auto kRing = bp::file(kSmall, bp::ring<Bytes<12>, N>("a", 16));
template <std::size_t N>
inline constexpr auto kRings = bp::file(kSmall, bp::setting<std::uint32_t>("serial", 7), bp::ring<Bytes<5>, N>("a", 16),
                                        bp::ring<Bytes<33>, N>("b", 4, bp::setting<Bytes<19>>("note")));
template <std::size_t N>
inline constexpr auto kLongRing = bp::file(kSmall, bp::constant("table", table<900>()),
                                           bp::ring<Bytes<16>, N>("a", 16));

}  // namespace flash_blueprints

template <const auto& Blueprint, std::uint32_t Window>
std::unique_ptr<AnyFlashRecorder> make_flash_recorder() {
    return std::make_unique<FlashRecorderOf<Blueprint, Window>>();
}

/// Recorders of blueprints with settings and without, with one dataset and several, with rings of 2, 3 and 7; of some,
/// the blueprint takes more than one block of a small chip.
inline constexpr MakeFlashRecorder kFlashRecorders[] = {
    make_flash_recorder<flash_blueprints::kOne, 64>,
    make_flash_recorder<flash_blueprints::kOne, 256>,
    make_flash_recorder<flash_blueprints::kOne, 2048>,
    make_flash_recorder<flash_blueprints::kThree, 128>,
    make_flash_recorder<flash_blueprints::kThree, 512>,
    make_flash_recorder<flash_blueprints::kManySettings, 256>,
    make_flash_recorder<flash_blueprints::kManySettings, 1024>,
    make_flash_recorder<flash_blueprints::kLong, 128>,
    make_flash_recorder<flash_blueprints::kLong, 512>,
    make_flash_recorder<flash_blueprints::kRing<2>, 64>,
    make_flash_recorder<flash_blueprints::kRing<2>, 512>,
    make_flash_recorder<flash_blueprints::kRing<3>, 256>,
    make_flash_recorder<flash_blueprints::kRings<2>, 256>,
    make_flash_recorder<flash_blueprints::kRings<3>, 128>,
    make_flash_recorder<flash_blueprints::kRings<3>, 1024>,
    make_flash_recorder<flash_blueprints::kRings<7>, 256>,
    make_flash_recorder<flash_blueprints::kLongRing<2>, 128>,
    make_flash_recorder<flash_blueprints::kLongRing<3>, 512>,
};

}  // namespace h5mote_test
