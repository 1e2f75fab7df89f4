// Build configuration: the one header that says what is compiled in.
//
// Every option has a default here. A compiler definition can replace it (CMake options have the same names), or a
// header of your own that H5MOTE_CONFIG_HEADER names and that is read first. core/README.md has the measured cost of
// each option in bytes of Cortex-M4 code.
//
// The public headers declare the same classes and functions in every build. A call of a function that a build lacks is
// an error of the compiler, which names the option.
#pragma once

#ifdef H5MOTE_CONFIG_HEADER
#include H5MOTE_CONFIG_HEADER
#endif

// A profile only sets defaults; each option below can still be replaced by itself.
//   logger  create, append, groups, attributes, reopen and continue; newest format only
//   reader  read everything, write nothing
//   full    all of it
#if defined(H5MOTE_PROFILE_LOGGER) + defined(H5MOTE_PROFILE_READER) + defined(H5MOTE_PROFILE_FULL) > 1
#error "h5mote: choose one profile"
#endif

// Creating and changing files. 0 or 1. Off: every call that would write returns Status::read_only.
#ifndef H5MOTE_WRITE
#ifdef H5MOTE_PROFILE_READER
#define H5MOTE_WRITE 0
#else
#define H5MOTE_WRITE 1
#endif
#endif

// Records kept by the error trail (8 to 24 bytes of RAM each). 0 to 64. 0 compiles the trail out.
#ifndef H5MOTE_ERROR_TRAIL
#ifdef H5MOTE_PROFILE_LOGGER
#define H5MOTE_ERROR_TRAIL 0
#else
#define H5MOTE_ERROR_TRAIL 16
#endif
#endif

// Largest rank of a dataspace. 1 to 32 (the format's own limit). A file with a larger one is `unsupported`. Costs 16
// bytes for each dimension in every Dataspace value.
#ifndef H5MOTE_MAX_RANK
#define H5MOTE_MAX_RANK 32
#endif

// Datasets with filters: the filter pipeline. 0 or 1. The filters themselves cost only what a program passes to its
// Library. Off: creating or opening a dataset with filters is `unsupported`.
#ifndef H5MOTE_FILTERS
#ifdef H5MOTE_PROFILE_LOGGER
#define H5MOTE_FILTERS 0
#else
#define H5MOTE_FILTERS 1
#endif
#endif

// Most filters of one pipeline. 1 to 32 (the format's own limit).
#ifndef H5MOTE_MAX_FILTERS
#ifdef H5MOTE_PROFILE_LOGGER
#define H5MOTE_MAX_FILTERS 4
#else
#define H5MOTE_MAX_FILTERS 32
#endif
#endif

// Deepest nesting of a datatype (compound in array in compound ...). 1 to 64. Limits the use of the stack.
#ifndef H5MOTE_MAX_TYPE_DEPTH
#ifdef H5MOTE_PROFILE_LOGGER
#define H5MOTE_MAX_TYPE_DEPTH 4
#else
#define H5MOTE_MAX_TYPE_DEPTH 16
#endif
#endif

// Extents of free file space that an open file remembers in memory in any case (24 bytes of RAM each, 12 without
// H5MOTE_LARGE_FILES). 1 to 1024. When more extents are free at once, they take memory from the allocator as long as
// nobody else needs it. Where there is none, programs that delete objects, or that name formats::free_space, keep the
// rest in a table in the file; in other programs the smallest extents are forgotten until File::reclaim() finds them.
// The default is the same in every profile, so that all write the same files.
#ifndef H5MOTE_FREE_EXTENTS
#define H5MOTE_FREE_EXTENTS 16
#endif

// Filters. 0 or 1 each. A filter that is compiled in costs code only when it is passed to a Library. Off: the folder of
// the filter is not built, and its object is no Filter (FilterNotInThisBuild).
#ifndef H5MOTE_FILTER_SHUFFLE
#define H5MOTE_FILTER_SHUFFLE 1
#endif
#ifndef H5MOTE_FILTER_FLETCHER32
#define H5MOTE_FILTER_FLETCHER32 1
#endif
#ifndef H5MOTE_FILTER_DEFLATE
#define H5MOTE_FILTER_DEFLATE 1
#endif
#ifndef H5MOTE_FILTER_SZIP
#define H5MOTE_FILTER_SZIP 1
#endif
#ifndef H5MOTE_FILTER_NBIT
#define H5MOTE_FILTER_NBIT 1
#endif
#ifndef H5MOTE_FILTER_SCALEOFFSET
#define H5MOTE_FILTER_SCALEOFFSET 1
#endif
#ifndef H5MOTE_FILTER_LZF
#define H5MOTE_FILTER_LZF 1
#endif

// Files of 4 GiB and more. 0 or 1. Off: addresses take 32 bits in memory; a larger file is `unsupported`, and growing
// to that size is no_space. Addresses in the file may have any width either way. Off is possible only where size_t has
// 32 bits. It is the default there for the profiles logger and reader, and without an operating system for every
// profile: FAT32, the usual file system of cards, has no larger files either, and profile full is 10 KB smaller.
#ifndef H5MOTE_LARGE_FILES
#if __SIZEOF_SIZE_T__ <= 4 && (defined(H5MOTE_PROFILE_LOGGER) || defined(H5MOTE_PROFILE_READER) || !defined(__unix__))
#define H5MOTE_LARGE_FILES 0
#else
#define H5MOTE_LARGE_FILES 1
#endif
#endif

// Data in other files that a file names: external links, external raw data, virtual datasets. 0 or 1. Works together
// with H5MOTE_ALL_FORMATS. Off: opening a file with a FileAccess::opener is `unsupported`.
#ifndef H5MOTE_OTHER_FILES
#ifdef H5MOTE_PROFILE_LOGGER
#define H5MOTE_OTHER_FILES 0
#else
#define H5MOTE_OTHER_FILES 1
#endif
#endif

// Chunk indexes of datasets that cannot grow (fixed array, single chunk, implicit). 0 or 1.
#ifndef H5MOTE_FIXED_CHUNKS
#ifdef H5MOTE_PROFILE_LOGGER
#define H5MOTE_FIXED_CHUNKS 0
#else
#define H5MOTE_FIXED_CHUNKS 1
#endif
#endif

// Reading and writing selections, and everything that can be reached only so: contiguous and compact datasets, more
// than one dimension, chunks larger than the chunk cache. 0 or 1. Off: a dataset is a log, of one dimension in chunks,
// that append() fills; other datasets are `unsupported`, larger chunks over_budget.
#ifndef H5MOTE_PARTIAL_IO
#ifdef H5MOTE_PROFILE_LOGGER
#define H5MOTE_PARTIAL_IO 0
#else
#define H5MOTE_PARTIAL_IO 1
#endif
#endif

// Tracking the order in which links and attributes are created. 0 or 1. Off: objects that track it can be read and
// appended to, but get no new links or attributes (`unsupported`).
#ifndef H5MOTE_CREATION_ORDER
#ifdef H5MOTE_PROFILE_LOGGER
#define H5MOTE_CREATION_ORDER 0
#else
#define H5MOTE_CREATION_ORDER 1
#endif
#endif

// Prepares the place for appended rows one flush ahead, on storages that need a sync between writes that depend on each
// other (files, SD cards). 0 or 1. Off: a flush takes up to four syncs instead of two whenever the chunk index has
// grown. Storages whose sync is a commit (flash, the journal) do not need it.
#ifndef H5MOTE_PREPARE_APPENDS
#define H5MOTE_PREPARE_APPENDS 1
#endif

// Keeps room on storages whose sync is a commit, for every chunk in memory and all new metadata. So the append that
// does not fit returns no_space, and flush() finds room for everything that was appended before. 0 or 1; 330 bytes of
// code. Off: it may be flush() that finds no room; what earlier flushes made durable is safe either way.
#ifndef H5MOTE_KEEP_ROOM
#define H5MOTE_KEEP_ROOM 1
#endif

// Conversion between datatypes in memory and in the file. 0 or 1. Off: both must be the same, otherwise `unsupported`.
#ifndef H5MOTE_CONVERSION
#ifdef H5MOTE_PROFILE_LOGGER
#define H5MOTE_CONVERSION 0
#else
#define H5MOTE_CONVERSION 1
#endif
#endif

// Reading everything that other programs put into HDF5 files: superblocks 0 and 1 and the superblock extension, object
// headers 1, symbol tables, dense links and attributes, shared messages, every chunk index, external and virtual data,
// variable-length data, references, times, complex numbers, datatypes in messages of versions 1 and 2, metadata blocks
// larger than the cache. 0 or 1. Off: each of these is `unsupported`, with its Feature in the error trail, and a header
// of which more than four continuation blocks wait to be visited at one time is over_budget.
#ifndef H5MOTE_ALL_FORMATS
#ifdef H5MOTE_PROFILE_LOGGER
#define H5MOTE_ALL_FORMATS 0
#else
#define H5MOTE_ALL_FORMATS 1
#endif
#endif

// The arena tells valgrind which of its bytes are in use (needs valgrind's header). 0 or 1. For tests on hosts.
#ifndef H5MOTE_VALGRIND
#define H5MOTE_VALGRIND 0
#endif

// The arena tells a memory checker which of its bytes are in use. An access to memory that was released, or behind the
// end of a block, is then reported. 0 or 1. On wherever AddressSanitizer is compiled in.
#ifndef H5MOTE_POISON
#if defined(__SANITIZE_ADDRESS__) || H5MOTE_VALGRIND
#define H5MOTE_POISON 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define H5MOTE_POISON 1
#endif
#endif
#ifndef H5MOTE_POISON
#define H5MOTE_POISON 0
#endif
#endif

// Several threads may use one Library at the same time: every public call takes Port::lock(). 0 or 1. Off: only one
// thread at a time may use a Library, and there is no code for the lock. On by default where there is an operating
// system (PosixPort has a mutex), but not in the profile logger; firmware turns it on together with the port of its
// RTOS.
#ifndef H5MOTE_THREADS
#if (defined(__unix__) || defined(__APPLE__)) && !defined(H5MOTE_PROFILE_LOGGER)
#define H5MOTE_THREADS 1
#else
#define H5MOTE_THREADS 0
#endif
#endif

// Free lists: memory that the library gives back is kept for the next request of its size, within limits
// (FreeListLimits), and returned to the allocator when that has no other memory. 0 or 1; 340 bytes of code, 76 bytes of
// each Library. Off: every request goes to the allocator.
#ifndef H5MOTE_FREE_LISTS
#ifdef H5MOTE_PROFILE_LOGGER
#define H5MOTE_FREE_LISTS 0
#else
#define H5MOTE_FREE_LISTS 1
#endif
#endif

// Use zlib in place of the library's own deflate (hosts only; needs a heap). 0 or 1.
#ifndef H5MOTE_DEFLATE_ZLIB
#define H5MOTE_DEFLATE_ZLIB 0
#endif

// The rule against losses by power cuts that is left out. For tests, which show that each rule is needed.
#if !defined(H5MOTE_TEST_OMIT)
#define H5MOTE_TEST_OMIT none
#endif

// How many of the H5MOTE_FREE_EXTENTS places are used. For tests of what happens when there are few.
#if !defined(H5MOTE_TEST_FREE_EXTENTS)
#define H5MOTE_TEST_FREE_EXTENTS H5MOTE_FREE_EXTENTS
#endif

// What stands before the declaration of a function that needs an option. The compiler refuses a call of it in a build
// in which the option is 0. (A compiler without this attribute leaves the error to the linker.)
#if defined(__has_cpp_attribute)
#if __has_cpp_attribute(gnu::error)
#define H5MOTE_LACKING(option) \
    [[gnu::error("this build of h5mote has " option " 0 (see <h5mote/config.hpp>) and lacks this function")]]
#endif
#endif
#if !defined(H5MOTE_LACKING)
#define H5MOTE_LACKING(option)
#endif
#if H5MOTE_ALL_FORMATS
#define H5MOTE_NEEDS_ALL_FORMATS
#else
#define H5MOTE_NEEDS_ALL_FORMATS H5MOTE_LACKING("H5MOTE_ALL_FORMATS")
#endif
#if H5MOTE_CONVERSION
#define H5MOTE_NEEDS_CONVERSION
#else
#define H5MOTE_NEEDS_CONVERSION H5MOTE_LACKING("H5MOTE_CONVERSION")
#endif

static_assert(H5MOTE_ERROR_TRAIL >= 0 && H5MOTE_ERROR_TRAIL <= 64, "H5MOTE_ERROR_TRAIL: 0 to 64");
static_assert(H5MOTE_MAX_RANK >= 1 && H5MOTE_MAX_RANK <= 32, "H5MOTE_MAX_RANK: 1 to 32");
static_assert(H5MOTE_FREE_EXTENTS >= 1 && H5MOTE_FREE_EXTENTS <= 1024, "H5MOTE_FREE_EXTENTS: 1 to 1024");
static_assert(H5MOTE_MAX_FILTERS >= 1 && H5MOTE_MAX_FILTERS <= 32, "H5MOTE_MAX_FILTERS: 1 to 32");
static_assert(H5MOTE_MAX_TYPE_DEPTH >= 1 && H5MOTE_MAX_TYPE_DEPTH <= 64, "H5MOTE_MAX_TYPE_DEPTH: 1 to 64");
static_assert(H5MOTE_LARGE_FILES || __SIZEOF_SIZE_T__ <= 4, "H5MOTE_LARGE_FILES 0 is for 32-bit machines");
static_assert(!H5MOTE_ALL_FORMATS || (H5MOTE_FIXED_CHUNKS && H5MOTE_PARTIAL_IO && H5MOTE_CONVERSION && H5MOTE_FILTERS &&
                                      H5MOTE_CREATION_ORDER),
              "H5MOTE_ALL_FORMATS needs H5MOTE_FIXED_CHUNKS, _PARTIAL_IO, _CONVERSION, _FILTERS, "
              "_CREATION_ORDER");
static_assert(!H5MOTE_DEFLATE_ZLIB || H5MOTE_FILTER_DEFLATE, "H5MOTE_DEFLATE_ZLIB needs H5MOTE_FILTER_DEFLATE");
