// Runs the storage examples of vfd/README.md: logs rows, starts again, and finds the rows.
#include <h5mote/h5mote.hpp>
#include <h5mote/vfd/posix.hpp>

#include <cstdio>

h5mote::Status log_to_flash(h5mote::Status (*log_samples)(h5mote::Driver&));
h5mote::Status log_with_journal(h5mote::Status (*log_samples)(h5mote::Driver&));
h5mote::Status log_to_family(h5mote::Status (*log_samples)(h5mote::Driver&));

namespace {

alignas(8) std::byte memory[8 * 1024];
std::uint64_t rows = 0;

// Appends a hundred rows, and makes them durable after each ten.
h5mote::Status log_samples(h5mote::Driver& storage) {
    h5mote::Arena arena{memory};
    h5mote::NullPort port;
    h5mote::Library library{arena, port};
    h5mote::FileAccess access;
    access.metadata_cache = 2048;
    access.chunk_cache = 64 * sizeof(std::uint32_t);
    h5mote::DatasetCreate layout;
    layout.chunk = {64};
    auto file = h5mote::File::open_or_create(library, storage, access);
    H5MOTE_TRY(file.status());
    auto log = file->root().open_or_create_dataset<std::uint32_t>("log", layout);
    H5MOTE_TRY(log.status());
    for (std::uint32_t i = 0; i < 100; ++i) {
        H5MOTE_TRY(log->append(static_cast<std::uint32_t>(log->size())));
        if (i % 10 == 9) {
            H5MOTE_TRY(file->flush());
        }
    }
    rows = log->size();
    return file->close();
}

bool twice(const char* what, h5mote::Status (*run)(h5mote::Status (*)(h5mote::Driver&))) {
    for (const std::uint64_t expected : {100U, 200U}) {
        const h5mote::Status status = run(log_samples);
        if (status != h5mote::Status::ok || rows != expected) {
            std::printf("%s: %s, %u rows\n", what, h5mote::to_string(status), static_cast<unsigned>(rows));
            return false;
        }
    }
    return true;
}

}  // namespace

int main() {
    std::remove("chip.bin");
    std::remove("flight.h5");
    std::remove("flight.h5-journal");
    std::remove("flight000.h5");
    const bool good =
        twice("flash", log_to_flash) && twice("journal", log_with_journal) && twice("family", log_to_family);
    // The file alone, without its journal, has all rows and can be continued.
    h5mote::PosixDriver file;
    return good && file.open("flight.h5", h5mote::PosixDriver::Mode::read_write) == h5mote::Status::ok &&
                   log_samples(file) == h5mote::Status::ok && rows == 300
               ? 0
               : 1;
}
