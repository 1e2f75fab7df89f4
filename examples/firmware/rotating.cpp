#include <h5mote/h5mote.hpp>

#include "sample.hpp"

alignas(8) static std::byte memory[8 * 1024];

h5mote::Status fill_next_log(h5mote::Driver& storage) {
    static constexpr const char* kNames[] = {"log0", "log1", "log2", "log3"};  // three that are kept, and a free name
    h5mote::Arena arena{memory};
    h5mote::NullPort port;
    h5mote::Library library{arena, port, {}, h5mote::formats::rotating};
    h5mote::FileAccess access;
    access.chunk_cache = 64 * sizeof(Sample);
    access.reclaim = true;  // after a power cut: finds the space that it left unused
    h5mote::FileCreate create;
    create.persist_free_space = true;  // close() records which space is free
    h5mote::DatasetCreate layout;
    layout.chunk = {64};

    auto file = h5mote::File::open_or_create(library, storage, access, create);
    H5MOTE_TRY(file.status());
    h5mote::Group root = file->root();
    std::uint32_t number = 0;  // of the log that is not full yet
    (void)root.read_attribute("number", number);
    if (root.exists(kNames[(number + 1) % 4])) {
        H5MOTE_TRY(root.unlink(kNames[(number + 1) % 4]));  // the oldest log goes before the next one comes
        H5MOTE_TRY(file->flush());
    }
    auto log = root.open_or_create_dataset<Sample>(kNames[number % 4], layout);
    H5MOTE_TRY(log.status());
    while (log->size() < 1000) {
        H5MOTE_TRY(log->append(take_sample()));
        if (log->size() % 100 == 0) {
            H5MOTE_TRY(file->flush());
        }
    }
    H5MOTE_TRY(root.write_attribute("number", number + 1));
    return file->close();
}
