// The program that logs: from the opening of the file to its end.
#pragma once

#include "rotation.hpp"

#include <h5mote/arena.hpp>
#include <h5mote/dataset.hpp>
#include <h5mote/filters/deflate.hpp>
#include <h5mote/filters/shuffle.hpp>
#include <h5mote/formats.hpp>
#include <h5mote/library.hpp>
#include <h5mote/port.hpp>
#include <h5mote/port/malloc.hpp>

#include <cstring>

namespace h5mote_test {

#if H5MOTE_ALL_FORMATS

/// A row with text, of which those who know of no text see the rest.
struct TextRow {
    std::uint32_t log;
    std::uint32_t number;
    std::uint32_t values[14];
    h5mote::VariableString<> text;
};
H5MOTE_COMPOUND(TextRow, log, number, values, text)

inline constexpr h5mote::VariableString<> kText{"the pressure of pump 3 is above its limit, a valve was opened"};

#else

using TextRow = Row;

#endif

class LoggingSession {
public:
    explicit LoggingSession(const RotationPlan& plan)
        : plan_(plan),
          memory_(memory_of(plan) / 8),
          arena_({reinterpret_cast<std::byte*>(memory_.data()), memory_.size() * 8}) {}

    /// Goes on with the file that is there, or makes one.
    h5mote::Status open(h5mote::Driver& driver) {
        h5mote::FileAccess access;
        access.metadata_cache = 2048;
        access.chunk_cache = std::size_t{plan_.chunk} * sizeof(Row);
        access.reclaim = plan_.reclaim;
        h5mote::FileCreate create;
        create.persist_free_space = plan_.persist;
        auto file = h5mote::File::open_or_create(library_, driver, access, create);
        H5MOTE_TRY(file.status());
        file_ = static_cast<h5mote::File&&>(*file);
        return h5mote::Status::ok;
    }
    /// Goes on with the log that is there, or makes one.
    h5mote::Status start(std::uint32_t log) {
        h5mote::DatasetCreate layout;
        layout.chunk = {plan_.chunk};
        layout.reserve = plan_.reserve;
        if (plan_.filters) {
            layout.filters = {h5mote::filters::shuffle, h5mote::filters::deflate};
        }
        if (plan_.text) {
            return start_text(log, layout);
        }
        auto opened = file_.root().open_or_create_dataset<Row>(name_of(log), layout);
        H5MOTE_TRY(opened.status());
        log_ = static_cast<h5mote::TypedDataset<Row>&&>(*opened);
        return h5mote::Status::ok;
    }
    std::uint64_t rows() const { return plan_.text ? text_log_.size() : log_.size(); }
    /// A chip reckons with the worst case: what it refuses may fit after a flush (vfd/README.md).
    h5mote::Status append(const Row& row) {
        const h5mote::Status status = append_once(row);
        if (status != h5mote::Status::no_space) {
            return status;
        }
        H5MOTE_TRY(file_.flush());
        return append_once(row);
    }
    h5mote::Status finish() { return plan_.text ? text_log_.close() : log_.close(); }
    h5mote::Status remove(std::uint32_t log) { return file_.root().unlink(name_of(log)); }
    h5mote::Status flush() { return file_.flush(); }
    h5mote::Status close() { return file_.close(); }

    /// The records of the error trail, newest first.
    std::string trail() {
        std::string text;
        for (std::size_t i = 0; i < library_.trail().size(); ++i) {
            const auto& record = library_.trail().newest(i);
            text += std::string("; ") + h5mote::to_string(record.module) + " line " + std::to_string(record.line) +
                    " " + h5mote::to_string(record.status) + " " + std::to_string(record.value);
        }
        return text;
    }

private:
    h5mote::Status start_text([[maybe_unused]] std::uint32_t log,
                              [[maybe_unused]] const h5mote::DatasetCreate& layout) {
#if H5MOTE_ALL_FORMATS
        auto opened = file_.root().open_or_create_dataset<TextRow>(name_of(log), layout);
        H5MOTE_TRY(opened.status());
        text_log_ = static_cast<h5mote::TypedDataset<TextRow>&&>(*opened);
        return text_log_.write_attribute("note", kText);
#else
        return h5mote::Status::unsupported;
#endif
    }
    h5mote::Status append_once(const Row& row) {
#if H5MOTE_ALL_FORMATS
        if (plan_.text) {
            TextRow with_text{row.log, row.number, {}, kText};
            std::memcpy(with_text.values, row.values, sizeof row.values);
            return text_log_.append(with_text);
        }
#endif
        return log_.append(row);
    }

    static std::size_t memory_of(const RotationPlan& plan) {
        const std::size_t chunk = std::size_t{plan.chunk} * sizeof(Row);
        const std::size_t text = plan.text ? 8192 : 0;
        return plan.memory != 0 ? plan.memory : (10240 + text + (plan.filters ? 4096 + 3 * chunk : chunk)) / 8 * 8;
    }

    static constexpr const h5mote::Filter* kFilters[] = {&h5mote::shuffle_filter, &h5mote::deflate_filter};

    const RotationPlan& plan_;
    std::vector<std::uint64_t> memory_;
    h5mote::Arena arena_;
    h5mote::NullPort port_;
    h5mote::Library library_{arena_, port_, kFilters, h5mote::formats::rotating};
    h5mote::File file_;
    h5mote::TypedDataset<Row> log_;
    h5mote::TypedDataset<TextRow> text_log_;
};

}  // namespace h5mote_test
