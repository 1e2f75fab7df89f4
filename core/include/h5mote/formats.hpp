// Parts of HDF5's file format that a program can do without.
//
// A part is a constant table of operations. The core reaches it only through the list that the Library was given, so
// that the linker leaves out whatever the list does not name.
#pragma once

#include <h5mote/config.hpp>

namespace h5mote {

struct ConversionFormat;
struct VirtualDataFormat;
struct ExternalDataFormat;
struct DenseStorageFormat;
struct SymbolTableFormat;
struct SuperblockExtensionFormat;
struct ChunkIndexFormat;
struct FreeSpaceFormat;
struct ReclaimFormat;
struct AnyPlacementFormat;
struct VariableLengthFormat;
struct DenseChangesFormat;
struct SymbolTableChangesFormat;
struct VersionsFormat;
struct UnfilteredEdgesFormat;
struct ExternalChangesFormat;
struct VirtualChangesFormat;
struct SharedMessageChangesFormat;
struct MultiChangesFormat;

/// The parts that a program has beside what every program has. A file, or an object in it, that needs a part which is
/// missing is `unsupported`; the error trail names the Feature. Firmware that reads one kind of file names what it
/// needs, for example groups and chunked datasets as libhdf5 writes them by default:
///
///     constexpr h5mote::Formats mine = [] {
///         h5mote::Formats list;
///         list.symbol_tables = &h5mote::formats::symbol_tables;
///         list.chunk_btree1 = &h5mote::formats::chunk_btree1;
///         return list;
///     }();
///     h5mote::Library library{arena, port, filters, mine};
struct Formats {
    /// Reading and writing values as another datatype than the file's. Without it both must be the same.
    const ConversionFormat* conversion = nullptr;
    /// Datasets whose elements are in other datasets.
    const VirtualDataFormat* virtual_data = nullptr;
    /// Datasets whose elements are in files without HDF5 structure.
    const ExternalDataFormat* external_data = nullptr;
    /// Fractal heaps and version 2 B-trees: groups with many links and objects with many attributes (dense storage),
    /// shared messages.
    const DenseStorageFormat* dense_storage = nullptr;
    /// Groups of files that libhdf5 writes by default: version 1 B-trees of names in local heaps.
    const SymbolTableFormat* symbol_tables = nullptr;
    /// Settings of a file that its superblock has no room for: another width of B-trees, shared messages, an image of
    /// the metadata cache, and what the drivers of family and split files have stored.
    const SuperblockExtensionFormat* superblock_extension = nullptr;
    /// Chunked datasets with one unlimited dimension. Builds without H5MOTE_FIXED_CHUNKS have no other chunked
    /// datasets, and have these without being told.
    const ChunkIndexFormat* extensible_array = nullptr;
    /// Chunked datasets that cannot grow.
    const ChunkIndexFormat* fixed_array = nullptr;
    /// Chunked datasets that cannot grow and need no chunk index: with a single chunk, or with all chunks one behind
    /// the other (implicit index).
    const ChunkIndexFormat* unindexed_chunks = nullptr;
    /// Chunked datasets of files that libhdf5 writes by default: version 1 B-trees of chunks.
    const ChunkIndexFormat* chunk_btree1 = nullptr;
    /// Chunked datasets with more than one unlimited dimension: version 2 B-trees of chunks.
    const ChunkIndexFormat* chunk_btree2 = nullptr;
    /// Free space of which a file keeps a record from one opening to the next, and every way to place blocks but the
    /// default one: file space strategies, alignment, aggregation. Without it a file that asks for any of these cannot
    /// be written.
    const FreeSpaceFormat* free_space = nullptr;
    /// Finding space that nothing in the file uses, as a power cut leaves it behind: FileAccess::reclaim.
    const ReclaimFormat* reclaim = nullptr;
    /// Changing metadata that another library placed across the end of a sector, on storages where the order of writes
    /// keeps a file sound: such an object header is moved first. Without it the change is `unsupported`
    /// (Feature::ordered_writing). Also the indexes of fixed-size datasets that are larger than 64 KiB: they are
    /// changed in a copy, and without this part in place.
    const AnyPlacementFormat* any_placement = nullptr;
    /// Writing strings and sequences of any length, and references to regions and attributes: objects of the global
    /// heap. Reading these takes `conversion` only.
    const VariableLengthFormat* variable_length_changes = nullptr;
    /// Changing what dense_storage reads, with which it goes together: groups get dense storage at the number of links
    /// at which libhdf5 gives it to them, and compact storage again; objects likewise for their attributes. Without it
    /// all links and attributes that are added are messages in object headers, however many, and objects with dense
    /// storage cannot be changed.
    const DenseChangesFormat* dense_changes = nullptr;
    /// Changing what symbol_tables reads, with which it goes together: links are added to groups that libhdf5 has made
    /// by default, renamed and removed, and such groups are deleted. A symbol table has hard and soft links only: with
    /// the first external or user-defined link the group gets the storage of newer groups, as in libhdf5, so that HDF5
    /// 1.6 cannot read it any more. Without this part the links of such groups cannot be changed.
    const SymbolTableChangesFormat* symbol_table_changes = nullptr;
    /// Making object headers and messages in other versions, also those that HDF5 1.6 reads (FileAccess::low), and
    /// refusing what is newer than an upper bound (FileAccess::high).
    const VersionsFormat* versions = nullptr;
    /// Making and changing chunked datasets whose chunks at the edge of the extent are stored without filters
    /// (DatasetCreate::unfiltered_edges). Every build with H5MOTE_ALL_FORMATS reads them.
    const UnfilteredEdgesFormat* unfiltered_edges = nullptr;
    /// Making and writing what external_data reads, with which it goes together: datasets in files without HDF5
    /// structure (DatasetCreate::external).
    const ExternalChangesFormat* external_changes = nullptr;
    /// Making, writing and deleting what virtual_data reads, with which it goes together (DatasetCreate::mappings).
    const VirtualChangesFormat* virtual_changes = nullptr;
    /// Making and changing files that keep equal messages of object headers only once (FileCreate::shared_messages). It
    /// goes together with dense_storage, dense_changes and superblock_extension. Without it such files are read only.
    const SharedMessageChangesFormat* shared_message_changes = nullptr;
    /// Making and changing files that a MultiDriver keeps in several parts. Goes together with superblock_extension,
    /// which is enough to read them.
    const MultiChangesFormat* multi_changes = nullptr;
};

namespace formats {

extern const ConversionFormat conversion;
extern const VirtualDataFormat virtual_data;
extern const ExternalDataFormat external_data;
extern const DenseStorageFormat dense_storage;
extern const SymbolTableFormat symbol_tables;
extern const SuperblockExtensionFormat superblock_extension;
extern const ChunkIndexFormat extensible_array;
extern const ChunkIndexFormat fixed_array;
extern const ChunkIndexFormat unindexed_chunks;
extern const ChunkIndexFormat chunk_btree1;
extern const ChunkIndexFormat chunk_btree2;
extern const FreeSpaceFormat free_space;
extern const ReclaimFormat reclaim;
extern const ReclaimFormat reclaim_any;
extern const AnyPlacementFormat any_placement;
extern const VariableLengthFormat variable_length_changes;
extern const DenseChangesFormat dense_changes;
extern const SymbolTableChangesFormat symbol_table_changes;
extern const VersionsFormat versions;
extern const UnfilteredEdgesFormat unfiltered_edges;
extern const ExternalChangesFormat external_changes;
extern const VirtualChangesFormat virtual_changes;
extern const SharedMessageChangesFormat shared_message_changes;
extern const MultiChangesFormat multi_changes;

inline constexpr Formats none{};
inline constexpr Formats all{&conversion,
                             &virtual_data,
                             &external_data,
                             &dense_storage,
                             &symbol_tables,
                             &superblock_extension,
                             &extensible_array,
                             &fixed_array,
                             &unindexed_chunks,
                             &chunk_btree1,
                             &chunk_btree2,
                             H5MOTE_WRITE != 0 ? &free_space : nullptr,
                             H5MOTE_WRITE != 0 ? &reclaim_any : nullptr,
                             H5MOTE_WRITE != 0 ? &any_placement : nullptr,
                             H5MOTE_WRITE != 0 ? &variable_length_changes : nullptr,
                             H5MOTE_WRITE != 0 ? &dense_changes : nullptr,
                             H5MOTE_WRITE != 0 ? &symbol_table_changes : nullptr,
                             H5MOTE_WRITE != 0 ? &versions : nullptr,
                             H5MOTE_WRITE != 0 ? &unfiltered_edges : nullptr,
                             H5MOTE_WRITE != 0 ? &external_changes : nullptr,
                             H5MOTE_WRITE != 0 ? &virtual_changes : nullptr,
                             H5MOTE_WRITE != 0 ? &shared_message_changes : nullptr,
                             H5MOTE_WRITE != 0 ? &multi_changes : nullptr};
/// What files have that libhdf5 writes with the newest versions of all structures (H5Pset_libver_bounds, in h5py
/// libver="latest").
inline constexpr Formats newest{&conversion,
                                &virtual_data,
                                &external_data,
                                &dense_storage,
                                nullptr,
                                &superblock_extension,
                                &extensible_array,
                                &fixed_array,
                                &unindexed_chunks,
                                nullptr,
                                &chunk_btree2,
                                H5MOTE_WRITE != 0 ? &free_space : nullptr,
                                H5MOTE_WRITE != 0 ? &reclaim_any : nullptr,
                                H5MOTE_WRITE != 0 ? &any_placement : nullptr,
                                H5MOTE_WRITE != 0 ? &variable_length_changes : nullptr,
                                H5MOTE_WRITE != 0 ? &dense_changes : nullptr,
                                nullptr,
                                nullptr,
                                H5MOTE_WRITE != 0 ? &unfiltered_edges : nullptr,
                                H5MOTE_WRITE != 0 ? &external_changes : nullptr,
                                H5MOTE_WRITE != 0 ? &virtual_changes : nullptr,
                                H5MOTE_WRITE != 0 ? &shared_message_changes : nullptr,
                                H5MOTE_WRITE != 0 ? &multi_changes : nullptr};

/// Whether `standard` has formats::reclaim_any, variable_length_changes, symbol_table_changes, versions and the five
/// behind it, which are large or seldom used: reclaim_any is 24 KB of code on a Cortex-M4, because it looks at files as
/// check_file() does. Without an operating system a program names them itself.
#if defined(__unix__) || defined(__APPLE__)
inline constexpr bool kHosted = H5MOTE_ALL_FORMATS != 0 && H5MOTE_WRITE != 0;
#else
inline constexpr bool kHosted = false;
#endif

/// What a Library has that is given no list: all that its build has, but for what kHosted says, and for dense_changes:
/// links and attributes stay where programs have always had them, unless a program asks for dense storage.
inline constexpr Formats standard{H5MOTE_CONVERSION != 0 ? &conversion : nullptr,
                                  H5MOTE_ALL_FORMATS != 0 ? &virtual_data : nullptr,
                                  H5MOTE_ALL_FORMATS != 0 ? &external_data : nullptr,
                                  H5MOTE_ALL_FORMATS != 0 ? &dense_storage : nullptr,
                                  H5MOTE_ALL_FORMATS != 0 ? &symbol_tables : nullptr,
                                  H5MOTE_ALL_FORMATS != 0 ? &superblock_extension : nullptr,
                                  H5MOTE_FIXED_CHUNKS != 0 ? &extensible_array : nullptr,
                                  H5MOTE_FIXED_CHUNKS != 0 ? &fixed_array : nullptr,
                                  H5MOTE_FIXED_CHUNKS != 0 ? &unindexed_chunks : nullptr,
                                  H5MOTE_ALL_FORMATS != 0 ? &chunk_btree1 : nullptr,
                                  H5MOTE_ALL_FORMATS != 0 ? &chunk_btree2 : nullptr,
                                  H5MOTE_ALL_FORMATS* H5MOTE_WRITE != 0 ? &free_space : nullptr,
                                  kHosted ? &reclaim_any : nullptr,
                                  H5MOTE_ALL_FORMATS* H5MOTE_WRITE != 0 ? &any_placement : nullptr,
                                  kHosted ? &variable_length_changes : nullptr,
                                  nullptr,
                                  kHosted ? &symbol_table_changes : nullptr,
                                  kHosted ? &versions : nullptr,
                                  kHosted ? &unfiltered_edges : nullptr,
                                  kHosted ? &external_changes : nullptr,
                                  kHosted ? &virtual_changes : nullptr,
                                  kHosted ? &shared_message_changes : nullptr,
                                  kHosted ? &multi_changes : nullptr};

/// `standard`, and what logs need that delete their oldest data for new data, however often the power fails: free space
/// is recorded when the file is closed (FileCreate::persist_free_space) and found again otherwise
/// (FileAccess::reclaim).
inline constexpr Formats rotating = [] {
    Formats list = standard;
    list.free_space = &free_space;
    list.reclaim = H5MOTE_ALL_FORMATS != 0 ? &reclaim_any : &reclaim;
    return list;
}();

}  // namespace formats

}  // namespace h5mote
