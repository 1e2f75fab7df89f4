// H5F H5D - the C++ side of a recorder that a program in C uses: the one file of C++ has the blueprint and this line.
//
//     H5MOTE_RECORDER_FOR_C(flight_recorder, kFlight)
//
// defines `h5mote_recorder* flight_recorder(void)`, which C declares and whose result it hands to the functions of
// <h5mote/recorder.h>.
#pragma once

#include <h5mote/recorder.h>
#include <h5mote/recorder.hpp>

namespace h5mote::detail {

/// A storage whose functions are C.
class CallbackDriver final : public Driver {
public:
    constexpr CallbackDriver() noexcept = default;
    void set(const h5mote_storage* storage) noexcept { storage_ = storage; }

    Capabilities capabilities() const noexcept override;
    Status read(Usage usage, std::uint64_t address, Bytes to) noexcept override;
    Status write(Usage usage, std::uint64_t address, ConstBytes from) noexcept override;
    Status sync() noexcept override;
    Status end_of_file(std::uint64_t& size) noexcept override;
    Status truncate(std::uint64_t size) noexcept override;

private:
    const h5mote_storage* storage_ = nullptr;
};

}  // namespace h5mote::detail

/// What the functions of <h5mote/recorder.h> work on.
struct h5mote_recorder {
    /// The calls that depend on the blueprint.
    struct Calls {
        h5mote::Status (*open)(h5mote_recorder& recorder);
        h5mote::Status (*append)(h5mote_recorder& recorder, unsigned dataset, const void* rows, std::size_t count);
        h5mote::Status (*set)(h5mote_recorder& recorder, unsigned setting, const void* value);
        std::uint64_t (*rows)(const h5mote_recorder& recorder, unsigned dataset);
        h5mote::Status (*flush)(h5mote_recorder& recorder);
        h5mote::Status (*close)(h5mote_recorder& recorder);
        void (*abandon)(h5mote_recorder& recorder);
        bool (*is_open)(const h5mote_recorder& recorder);
        h5mote::Address (*difference)(const h5mote_recorder& recorder);
    };

    constexpr h5mote_recorder(const Calls& the_calls, void* the_recorder) noexcept
        : calls(the_calls), typed_recorder(the_recorder) {}

    const Calls& calls;
    void* typed_recorder;  ///< the Recorder of the blueprint
    h5mote::detail::CallbackDriver driver;
};

namespace h5mote::detail {

/// The calls of one blueprint.
template <const auto& Blueprint>
class CallsForC {
    using Image = blueprint::Image<Blueprint>;
    using Typed = Recorder<Blueprint>;
    static constexpr const auto& kAttributes = blueprint::detail::kParts<Blueprint>.attributes;

    static Typed& typed(const h5mote_recorder& recorder) noexcept {
        return *static_cast<Typed*>(recorder.typed_recorder);
    }

    static Status open(h5mote_recorder& recorder) noexcept { return typed(recorder).open(recorder.driver); }
    static Status append(h5mote_recorder& recorder, unsigned dataset, const void* rows, std::size_t count) noexcept {
        return append_to(typed(recorder), dataset, rows, count, std::make_index_sequence<Image::kDatasets>{});
    }
    static Status set(h5mote_recorder& recorder, unsigned setting, const void* value) noexcept {
        return set_one(typed(recorder), setting, value, std::make_index_sequence<kAttributes.size()>{});
    }
    static std::uint64_t rows(const h5mote_recorder& recorder, unsigned dataset) noexcept {
        return rows_of(typed(recorder), dataset, std::make_index_sequence<Image::kDatasets>{});
    }
    static Status flush(h5mote_recorder& recorder) noexcept { return typed(recorder).flush(); }
    static Status close(h5mote_recorder& recorder) noexcept { return typed(recorder).close(); }
    static void abandon(h5mote_recorder& recorder) noexcept { typed(recorder).abandon(); }
    static bool is_open(const h5mote_recorder& recorder) noexcept { return typed(recorder).is_open(); }
    static Address difference(const h5mote_recorder& recorder) noexcept { return typed(recorder).difference(); }

    template <std::size_t... I>
    static Status append_to(Typed& recorder, unsigned dataset, const void* rows, std::size_t count,
                            std::index_sequence<I...> /*all*/) noexcept {
        Status status = Status::invalid_argument;
        (void)((dataset == I && (status = append_rows<I>(recorder, rows, count), true)) || ...);
        return status;
    }
    template <std::size_t I>
    static Status append_rows(Typed& recorder, const void* rows, std::size_t count) noexcept {
        using Row = typename Image::template Row<I>;
        return recorder.template append<I>(Span<const Row>(static_cast<const Row*>(rows), count));
    }
    template <std::size_t... I>
    static std::uint64_t rows_of(const Typed& recorder, unsigned dataset, std::index_sequence<I...> /*all*/) noexcept {
        std::uint64_t rows = 0;
        (void)((dataset == I && (rows = recorder.template rows<I>(), true)) || ...);
        return rows;
    }
    // `I` are the numbers of all attributes; those that are no settings are not counted.
    template <std::size_t... I>
    static Status set_one(Typed& recorder, unsigned setting, const void* value,
                          std::index_sequence<I...> /*all*/) noexcept {
        Status status = Status::invalid_argument;
        (void)(try_set<I>(recorder, setting, value, status) || ...);
        return status;
    }
    template <std::size_t I>
    static bool try_set(Typed& recorder, unsigned setting, const void* value, Status& status) noexcept {
        if constexpr (kAttributes[I].is_setting) {
            if (setting == blueprint::detail::count_settings(blueprint::detail::span(kAttributes).first(I))) {
                status = recorder.template set<I>(*static_cast<const typename Image::template Value<I>*>(value));
                return true;
            }
        }
        return false;
    }

public:
    static constexpr h5mote_recorder::Calls kCalls{open, append, set, rows, flush, close, abandon, is_open, difference};
};

}  // namespace h5mote::detail

// Two objects: the recorder with its chunks is memory that is zero at first and takes no ROM, the other one is small.
#define H5MOTE_RECORDER_FOR_C(name, description)                                                              \
    extern "C" h5mote_recorder* name(void);                                                                   \
    h5mote_recorder* name(void) {                                                                             \
        static ::h5mote::Recorder<description> typed_recorder_;                                               \
        static h5mote_recorder recorder_(::h5mote::detail::CallsForC<description>::kCalls, &typed_recorder_); \
        return &recorder_;                                                                                    \
    }
