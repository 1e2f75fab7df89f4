// A file in memory whose operations are recorded, and the states in which a power cut can leave it.
#pragma once

#include "promising_driver.hpp"
#include "recording_driver.hpp"

#include <h5mote/filters/fletcher32.hpp>
#include <h5mote/formats.hpp>
#include <h5mote/h5mote.hpp>
#include <h5mote/port/malloc.hpp>
#include <h5mote/vfd/memory.hpp>

#include <gtest/gtest.h>

#include <functional>

#if H5MOTE_ALL_FORMATS

namespace h5mote_test {

using Image = RecordingDriver::Image;
using Kind = DriverOperation::Kind;

// A recorded file in memory whose storage promises atomic units of `unit` bytes.
struct RecordedFile {
    explicit RecordedFile(const Image& image = {}, std::uint32_t unit = 512,
                          const h5mote::Formats& formats = h5mote::formats::standard,
                          std::size_t limit = ~std::size_t{0})
        : library(memory, port, filters, formats),
          storage(memory, limit),
          promising(filled(storage, image), with_unit(unit)) {}
    h5mote::File open(std::size_t metadata_cache = 2048, bool read_only = false, std::size_t chunk_cache = 16384,
                      const h5mote::FileCreate& create = {}) {
        h5mote::FileAccess access;
        access.metadata_cache = metadata_cache;
        access.chunk_cache = chunk_cache;
        access.read_only = read_only;
        return open(access, create);
    }
    h5mote::File open(const h5mote::FileAccess& access, const h5mote::FileCreate& create = {}) {
        auto opened = access.read_only ? h5mote::File::open(library, recorder, access)
                                       : h5mote::File::open_or_create(library, recorder, access, create);
        EXPECT_EQ(opened.status(), h5mote::Status::ok);
        return static_cast<h5mote::File&&>(*opened);
    }
    // The recording starts from the image.
    static h5mote::Driver& filled(h5mote::GrowingMemoryDriver& storage, const Image& image) {
        EXPECT_EQ(storage.assign({image.data(), image.size()}), h5mote::Status::ok);
        return storage;
    }
    std::size_t operations() const { return recorder.operations().size(); }

    h5mote::MallocAllocator memory;
    h5mote::NullPort port;
    const h5mote::Filter* filters[1] = {&h5mote::fletcher32_filter};
    h5mote::Library library;
    h5mote::GrowingMemoryDriver storage;
    PromisingDriver promising;
    RecordingDriver recorder{promising};
};

// Checks the states that a cut at or behind operation `from` can leave: all operations up to it, and at each sync any
// single one since the sync before, or all of these but one.
inline void for_each_cut(const RecordedFile& recorded, std::size_t from,
                         const std::function<void(const Image&)>& check) {
    const auto& operations = recorded.recorder.operations();
    std::size_t synced = from;
    for (std::size_t i = from; i <= operations.size() && !testing::Test::HasFailure(); ++i) {
        check(recorded.recorder.image(i));
        if (i < operations.size() && operations[i].kind != Kind::sync) {
            continue;
        }
        for (std::size_t one = synced; one < i; ++one) {
            Image alone = recorded.recorder.image(synced);
            RecordingDriver::apply(alone, operations[one]);
            check(alone);
            Image others = recorded.recorder.image(synced);
            for (std::size_t n = synced; n < i; ++n) {
                if (n != one) {
                    RecordingDriver::apply(others, operations[n]);
                }
            }
            check(others);
        }
        synced = i + 1;
    }
}

}  // namespace h5mote_test

#endif
