// The base class of Library, which is what the layers below see of it: memory with accounting, the error trail, the
// filters, the port.
#pragma once

#include <h5mote/allocator.hpp>
#include <h5mote/filter.hpp>
#include <h5mote/formats.hpp>
#include <h5mote/free_lists.hpp>
#include <h5mote/list.hpp>
#include <h5mote/port.hpp>
#include <h5mote/status.hpp>

#include <cstddef>
#include <new>
#include <type_traits>
#include <utility>

namespace h5mote {

class FileState;
class UserConversion;

/// Something that holds memory which it can do without, such as clean cache entries.
class Reclaimer : public ListNode<> {
public:
    /// Gives back memory that is not in use. Called when an allocation failed and by garbage_collect(); must not
    /// allocate.
    virtual void reclaim() noexcept = 0;
    /// Gives back memory that is in use as well, at the price that this has; false: it gave back nothing. Called when
    /// an allocation still fails although everybody has given back what was not in use; must not allocate.
    virtual bool reclaim_used() noexcept { return false; }

protected:
    ~Reclaimer() = default;
};

/// The conversions that a program adds to those of the library, as a Context keeps them. (Internal.)
class AddedConversions {
public:
    void set_conversions(Span<const UserConversion* const> conversions) noexcept { conversions_ = conversions; }
    Span<const UserConversion* const> conversions() const noexcept { return conversions_; }

private:
    Span<const UserConversion* const> conversions_;
};

/// What a Context has in place of AddedConversions without H5MOTE_CONVERSION: there are never any. (Internal.)
class NoAddedConversions {
public:
    static constexpr void set_conversions(Span<const UserConversion* const> /*conversions*/) noexcept {}
    static constexpr Span<const UserConversion* const> conversions() noexcept { return {}; }
};

/// The parts of the file format that a program has, as a Context keeps them. (Internal.)
class ChosenFormats {
public:
    void set_formats(const Formats& formats) noexcept { formats_ = &formats; }
    const Formats& formats() const noexcept { return *formats_; }

private:
    const Formats* formats_ = &formats::none;
};

/// What a Context has in place of ChosenFormats in a build that has no such part. (Internal.)
class NoFormats {
public:
    static constexpr void set_formats(const Formats& /*formats*/) noexcept {}
    static constexpr const Formats& formats() noexcept { return formats::none; }
};

class Context {
public:
    /// Everything is borrowed and must outlive the context. `filters` are the filters, `formats` the parts of the file
    /// format, that this program links.
    Context(Allocator& allocator, Port& port, Span<const Filter* const> filters,
            const Formats& formats = formats::none) noexcept
        : allocator_(allocator), port_(port), filters_(filters) {
        accounts_.set_formats(formats);
    }
    Context(const Context&) = delete;
    Context& operator=(const Context&) = delete;

    /// Returns `size` bytes aligned to 8, uninitialised, as allocate_spare() does. When that fails, every reclaimer
    /// gives back what is not in use, then one after the other what is in use, and the allocation is tried again.
    /// nullptr when all of that does not help; the trail has a record with the bytes asked for.
    void* allocate(MemoryKind kind, std::size_t size) noexcept;
    /// The same for memory that the caller can do without. It comes from the free lists or the allocator; when the
    /// allocator refuses, it is asked again after the free lists gave back what lies idle. Nobody else is asked to give
    /// anything back.
    void* allocate_spare(MemoryKind kind, std::size_t size) noexcept;
    /// Takes back what allocate() gave, with the same kind and size. As long as a file is open, the memory goes into a
    /// free list. nullptr is ignored.
    void release(MemoryKind kind, void* memory, std::size_t size) noexcept;

    template <typename T, typename... Arguments>
    T* create(MemoryKind kind, Arguments&&... arguments) noexcept {
        void* memory = allocate(kind, sizeof(T));
        return memory == nullptr ? nullptr : ::new (memory) T(std::forward<Arguments>(arguments)...);
    }
    template <typename T>
    void destroy(MemoryKind kind, T* object) noexcept {
        if (object != nullptr) {
            object->~T();
            release(kind, object, sizeof(T));
        }
    }

    void add_reclaimer(Reclaimer& reclaimer) noexcept { reclaimers_.push_back(reclaimer); }
    void remove_reclaimer(Reclaimer& reclaimer) noexcept { reclaimers_.remove(reclaimer); }
    /// Sets how much memory may lie idle in the free lists, and empties them. Without H5MOTE_FREE_LISTS nothing is
    /// done.
    void set_free_list_limits(const FreeListLimits& limits) noexcept;
    /// Empties the free lists and drops clean cache entries.
    void garbage_collect() noexcept;
    MemoryReport memory_report() const noexcept;

    /// The parts of the file format that the program has.
    const Formats& formats() const noexcept { return accounts_.formats(); }
    /// The filter with that identifier among those given to the constructor, or nullptr.
    const Filter* find_filter(FilterId id) const noexcept;

    /// Sets the conversions that the program adds (H5Tregister). They are borrowed, and apply to everything that is
    /// read and written from now on.
    H5MOTE_NEEDS_CONVERSION void set_conversions(Span<const UserConversion* const> conversions) noexcept;
    Span<const UserConversion* const> conversions() const noexcept { return accounts_.conversions(); }

    [[gnu::always_inline]] Status fail(Module module, SourcePlace place, Status status, std::uint32_t detail = 0,
                                       std::uint64_t value = 0) noexcept {
        return trail_.fail(module, place, status, detail, value);
    }
    [[gnu::always_inline]] Status unsupported(Module module, SourcePlace place, Feature feature,
                                              std::uint32_t detail = 0) noexcept {
        return trail_.fail(module, place, Status::unsupported, detail, static_cast<std::uint64_t>(feature));
    }
    /// The files that are open, so that opening a storage again finds its file. (Internal.)
    struct OpenFiles {};
    List<FileState, OpenFiles>& open_files() noexcept { return open_files_; }

    ErrorTrail& trail() noexcept { return trail_; }
    Port& port() noexcept { return port_; }
    Allocator& allocator() noexcept { return allocator_; }

private:
    ErrorTrail trail_;  // first, so that it has the address of the context: hundreds of calls need not add an offset
    Allocator& allocator_;
    Port& port_;
    Span<const Filter* const> filters_;
    List<Reclaimer> reclaimers_;
    List<FileState, OpenFiles> open_files_;
    // What only some builds have is a base class, so that it takes no memory in the others.
    struct Accounts
        : std::conditional_t<H5MOTE_FREE_LISTS != 0, FreeLists, NoFreeLists>,
          std::conditional_t<H5MOTE_CONVERSION != 0, AddedConversions, NoAddedConversions>,
          std::conditional_t<H5MOTE_CONVERSION + H5MOTE_ALL_FORMATS + H5MOTE_FIXED_CHUNKS + H5MOTE_WRITE != 0,
                             ChosenFormats, NoFormats> {
        MemoryUsage kinds[kMemoryKinds];
    };
    Accounts accounts_;
};

}  // namespace h5mote
