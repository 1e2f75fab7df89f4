// H5S - the encoded form of selections in region references and virtual dataset mappings (H5S_select_deserialize).
#pragma once

#include "cursor.hpp"
#include "versions.hpp"

#include <h5mote/selection_set.hpp>

namespace h5mote {

/// type 4: 0 none, 1 points, 2 hyperslabs, 3 all | version 4 | by type and version:
///   none 1, all 1     reserved 8
///   points 1          reserved 4 | length 4 | rank 4 | number 4 | coordinates of 4 bytes
///   points 2          width w 1 | rank 4 | number w | coordinates of w bytes
///   hyperslabs 1      reserved 4 | length 4 | rank 4 | number 4 | first and last coordinates of each block, 4 bytes
///   hyperslabs 2      flags 1 (1: regular) | length 4 | rank 4 | each dimension's start, stride, count, block, 8 bytes
///   hyperslabs 3      flags 1 | width w 1 | rank 4 | as 2 or, irregular, number w and blocks, of w bytes
/// A count or block with all bits set is unlimited. Format specification, "Dataspace selection".
///
/// Decodes the selection that `bytes` begin with into `selection`; `consumed` becomes its encoded length in bytes.
/// `rank` is the rank that it has to have, 0 for any. corrupt_file, unsupported (another version, a rank that this
/// build has no room for), out_of_memory; after an error `selection` is as it was.
Status decode_selection(Context& context, ConstBytes bytes, unsigned rank, SelectionSet& selection,
                        std::size_t& consumed) noexcept;

/// Writes a selection in the oldest version that holds it, as libhdf5 does for its earliest format: regular hyperslabs,
/// also those of four blocks and more, as blocks of version 1; unlimited ones in version 2; selections that need more
/// than 32 bits in version 2 (regular hyperslabs, points) or 3 (blocks). The selection's offset is not stored. With a
/// Writer that only counts this gives the encoded size. `space` is the extent that the selection belongs to.
/// invalid_argument: it does not fit there.
Status encode_selection(Writer& writer, const Selection& selection, const Dataspace& space) noexcept;

/// The same in the version that the bounds of the file ask for (FileAccess::low). unsupported: FileAccess::high is
/// older than that version.
inline Status encode_selection_in(FileState& file, Writer& writer, const Selection& selection,
                                  const Dataspace& space) noexcept {
    if constexpr (H5MOTE_ALL_FORMATS != 0 && H5MOTE_WRITE != 0) {
        if (const VersionsFormat* const format = file.context.formats().versions) {
            return format->encode_selection(file, writer, selection, space);
        }
    }
    return encode_selection(writer, selection, space);
}

}  // namespace h5mote
