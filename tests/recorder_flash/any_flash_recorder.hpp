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

template <const auto& Blueprint, std::uint32_t Window>
std::unique_ptr<AnyFlashRecorder> make_flash_recorder() {
    return std::make_unique<FlashRecorderOf<Blueprint, Window>>();
}

/// Recorders of blueprints with settings and without, with one dataset and several, with rings of 2, 3 and 7; of some,
/// the blueprint takes more than one block of a small chip.
h5mote::Span<const MakeFlashRecorder> flash_recorders() noexcept;

}  // namespace h5mote_test
