#include <h5mote/vfd/journal.hpp>
#include <h5mote/vfd/posix.hpp>

h5mote::Status log_with_journal(h5mote::Status (*log_samples)(h5mote::Driver&)) {
    constexpr auto kMode = h5mote::PosixDriver::Mode::open_or_create;
    h5mote::PosixDriver file;
    h5mote::PosixDriver log;
    H5MOTE_TRY(file.open("flight.h5", kMode));
    H5MOTE_TRY(log.open("flight.h5-journal", kMode));
    alignas(8) static std::byte journal_memory[h5mote::JournalDriver::required_memory()];  // 1 KiB
    h5mote::JournalDriver journal{file, log, journal_memory};
    H5MOTE_TRY(journal.open());  // brings into the file what a power cut left in the log
    H5MOTE_TRY(log_samples(journal));
    return journal.close();  // now the file alone is complete
}
