// H5F - the rules by which a recorder keeps what was flushed. A test build leaves one of them out (H5MOTE_TEST_OMIT).
#pragma once

#include <h5mote/config.hpp>

namespace h5mote {

enum class RecorderRule {
    none,
    blank_first,      // where new space is not zero, the superblock's place is made zero before there is more
    superblock_last,  // everything else of a new file is on the storage before its superblock
    sync_found,       // what open() found is on the storage before flush() returns ok
    cut_found,       // the superblock that open() found is on the storage before what lies behind the file's end is cut
    blocks_first,    // chunks and blocks are on the storage before the superblock says that the file is longer
    end_first,       // the superblock's end of file covers a block before anything points to it
    rows_first,      // rows and their index are on the storage before the dimension that counts them
    count_found,     // chunks that a power cut left uncounted are counted before they get rows
    sync_last,       // everything is on the storage before flush() or open() returns ok
    copy_first,      // the shorter copy of a block is on the storage before anything points to it
    unlink_first,    // nothing points to what is given back before the superblock says that the file is shorter
    filtered_first,  // a chunk's filtered bytes are on the storage before the chunk index leads to them
    one_change,      // everything before a change of a chunk index, others of it among that, is on the storage first
    place_free,      // that is on the storage before the next chunk's rows overwrite those of this one
    nodes_first,     // new nodes of a chunk index are on the storage before others lead to them
    one_sector,      // a node of a chunk index that another program placed is moved into one sector before it changes
    end_open,        // nodes that another program gave an end have none before a chunk is added behind it
    shorten_last,    // the superblock says that the file is shorter before the storage is cut
};

constexpr bool keep(RecorderRule rule) noexcept { return rule != RecorderRule::H5MOTE_TEST_OMIT; }

}  // namespace h5mote
