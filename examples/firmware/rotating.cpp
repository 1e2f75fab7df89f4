#include "rotating.hpp"

h5mote::Status fill_next_log(h5mote::Library& library, h5mote::Driver& storage) {
    h5mote::FileAccess access;
    access.chunk_cache = 64 * sizeof(Sample);
    access.reclaim = true;  // finds what a power cut has left unused
    h5mote::FileCreate create;
    create.persist_free_space = true;  // close() records what is free
    auto file = h5mote::File::open_or_create(library, storage, access, create);
    auto root = file->root();
    std::uint32_t number = 0;  // of the log that is not full yet
    const h5mote::Status known = root.read_attribute("number", number);
    H5MOTE_TRY(known == h5mote::Status::not_found ? h5mote::Status::ok : known);
    bool full = false;
    H5MOTE_TRY(root.exists(log_name(number + 1), full));
    if (full) {  // there are four names: this one is that of the oldest log
        H5MOTE_TRY(root.unlink(log_name(number + 1)));
        H5MOTE_TRY(file->flush());  // from here on its space can be used
    }
    auto log = root.open_or_create_dataset<Sample>(log_name(number), kChunksOf64);
    H5MOTE_TRY(log.status());
    while (log->size() < 1000) {
        H5MOTE_TRY(log->append(take_sample()));
        H5MOTE_TRY(log->size() % 100 == 0 ? file->flush() : h5mote::Status::ok);
    }
    H5MOTE_TRY(root.write_attribute("number", number + 1));
    return file->close();
}
