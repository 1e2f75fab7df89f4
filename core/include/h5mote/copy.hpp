// H5O (H5Ocopy) - copies of objects, with everything below them, within a file or into another one.
#pragma once

#include <h5mote/file.hpp>
#include <h5mote/group.hpp>

namespace h5mote {

/// What copy_object() copies and how (H5Pset_copy_object).
struct CopyOptions {
    /// Of a group only the objects that its own links lead to are copied, and of groups among them nothing but the
    /// group itself, which is then empty (H5O_COPY_SHALLOW_HIERARCHY_FLAG). The same holds for what expanded links and
    /// references lead to.
    bool shallow = false;
    /// A soft link to an object is replaced by a hard link to a copy of that object
    /// (H5O_COPY_EXPAND_SOFT_LINK_FLAG). A link that leads nowhere stays a soft link.
    bool expand_soft_links = false;
    /// The same for external links (H5O_COPY_EXPAND_EXT_LINK_FLAG), through FileAccess::opener.
    bool expand_external_links = false;
    /// Objects that references in the copied data lead to are copied as well, unless links of the copy lead to them
    /// anyway, and the copied references lead to the copies (H5O_COPY_EXPAND_REFERENCE_FLAG). Each object that only
    /// references have brought gets a link in the destination's root group, named as libhdf5 names it:
    /// "~obj_pointed_by_" and the address of the copy, with "_1" or a higher number behind it if that name is taken.
    /// Without this option references lead nowhere in another file; those in fill values lead nowhere there with it,
    /// too. In a copy within one file references stay as they are, with this option and without it: what they lead to
    /// is there. (libhdf5 1.10 copies it if the reference is an attribute's, and not if it is a dataset's.)
    bool expand_references = false;
    /// No attributes are copied (H5O_COPY_WITHOUT_ATTR_FLAG).
    bool without_attributes = false;
    /// In the place of a committed datatype that equals one of the destination's file, that one is used, by datasets,
    /// attributes and links (H5O_COPY_MERGE_COMMITTED_DTYPE_FLAG). It is looked for among all that links lead to from
    /// the root group on, with the types of datasets and attributes, and among the copies: each committed datatype
    /// that is copied takes a walk over the file. In a copy within one file the datatype itself is used. Otherwise
    /// each committed datatype is copied.
    bool merge_datatypes = false;
    /// Paths from the destination's root group on that are searched first (H5Padd_merge_committed_dtype_path): those
    /// of committed datatypes, or of datasets or groups that use them. Nothing need be there; what lies in another file
    /// is passed over.
    Span<const std::string_view> merge_paths = {};
    /// Bytes of memory for raw data on their way. A filtered chunk that is larger takes more, because it is copied as
    /// it is stored, and so does a larger element.
    std::size_t buffer = 4096;
};

/// Copies the object at `path` of `source`, and under a group everything that hard links lead to, to the new link
/// `name` of `destination`, which may belong to another open file. Objects with several links among those that are
/// copied are copied once. Filtered chunks are copied as they are stored, so that their filters need not be there.
/// A copy keeps the properties with which its original was created, creation orders and times among them; a header of
/// version 1 has only the time of the last change, and no limits for attributes.
///
/// Values are copied in the form in which the file has them, so that there is a copy also of types that no program here
/// can write; only chunks with sequences or references need their filters.
///
/// Before the call returns ok no link leads to the copy; afterwards it is durable with the next flush() of the
/// destination's file. After an error, or a power cut before the link is durable, the destination's links are as they
/// were; space that was taken for a part of the copy is then found by File::reclaim(). With expand_references, links
/// to objects that references lead to come before that of the copy: after a power cut between them, and while memory is
/// missing to remove them again, some may be there.
///
/// The destination may lie below the object that is copied, as with libhdf5: the copy then has what was there before
/// the call, and so not itself.
///
/// already_exists: `name` is taken. not_found: nothing is at `path`. unsupported: the object has something that this
/// program cannot write. Memory: some bytes for each level of groups, and 24 for each object that is copied.
Status copy_object(Group& source, std::string_view path, Group& destination, std::string_view name,
                   const CopyOptions& options = {}) noexcept;

/// Copies everything that `source` has, the root group's attributes and links included, into `destination`, a file
/// whose root group has neither (H5Ocopy has no such call; h5repack does the same). References lead to the copies;
/// those to objects that no link leads to, such as deleted ones, become null. The copy becomes the root group of
/// `destination` in one step when it is complete: handles of the former root group must not be used any more. Durable
/// with the next flush() of `destination`; after an error, or a power cut before, `destination` has its empty root
/// group.
///
/// invalid_argument: both are the same file, or the root group of `destination` is not empty. Other errors as for
/// copy_object().
Status copy_file(File& source, File& destination, const CopyOptions& options = {}) noexcept;

}  // namespace h5mote
