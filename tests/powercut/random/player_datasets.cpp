// The steps of a Player that change the elements and the extents of datasets.
#include "session.hpp"

#include <algorithm>

namespace h5mote_test {

using namespace h5mote;

Dataset* Player::dataset(const std::string& path) {
    const unsigned number = world_.link(path).object;
    const auto open = session_->datasets.find(number);
    if (open != session_->datasets.end()) {
        return &open->second;
    }
    auto opened = session_->root.open_dataset(path);
    if (!done(opened.status(), "open dataset " + path, {Status::over_budget})) {
        return nullptr;
    }
    const World::Object& object = world_.objects.at(number);
    if (!object.dims().empty() && opened->size() != object.dims()[0]) {
        bad_ = path + " has " + std::to_string(opened->size()) + " rows when it is opened; ";
        return nullptr;
    }
    return &(session_->datasets[number] = static_cast<Dataset&&>(*opened));
}

void Player::append(const std::string& path, Random& random) {
    Dataset* const log = dataset(path);
    if (log == nullptr) {
        return;
    }
    World::Object& object = *world_.find(path);
    static constexpr std::size_t kCounts[] = {1, 1, 1, 2, 3, 5, 8, 20, 60};
    const std::uint64_t before = object.dims()[0];
    const std::size_t count =
        static_cast<std::size_t>(std::min<std::uint64_t>(random.of(kCounts), object.shape.box[0] - before));
    const bool one_by_one = random.one_in(2);
    const Texts texts(object.shape.texts ? count : 0, random);
    Blob rows = texts.padded;
    for (std::size_t i = 0; i < count && !object.shape.texts; ++i) {
        const Blob row = random.one_in(6) ? object.shape.fill : draw_bytes(object.shape.element, random);
        rows.insert(rows.end(), row.begin(), row.end());
    }
    // The new rows enter the model first, since their bytes may reach the file before its extent counts them.
    std::copy(rows.begin(), rows.end(),
              object.now.begin() + static_cast<std::ptrdiff_t>(before * object.shape.element));
    Status status = Status::ok;
    for (std::size_t i = 0; i < count && status == Status::ok; i += one_by_one ? 1 : count) {
        const std::size_t at_once = one_by_one ? 1 : count;
        status = object.shape.texts ? log->append_rows(Texts::type(), texts.pointers.data() + i, at_once)
                                    : log->append_records(rows.data() + i * object.shape.element, at_once);
    }
    const std::uint64_t after = log->size();
    done(status,
         "append " + std::to_string(count) + (one_by_one ? " one by one to " : " to ") + path + ", now " +
             std::to_string(after),
         {Status::over_budget});
    if (after < before || after > before + count || (status == Status::ok && after != before + count)) {
        bad_ = path + ": " + std::to_string(after) + " rows after appending " + std::to_string(count) + " to " +
               std::to_string(before) + "; ";
        return;
    }
    for (std::uint64_t i = after; i < before + count; ++i) {
        std::copy(object.shape.fill.begin(), object.shape.fill.end(),
                  object.now.begin() + static_cast<std::ptrdiff_t>(i * object.shape.element));
    }
    object.extents.push_back({{after}, before});
}

void Player::grow(const std::string& path, Random& random) {
    World::Object& object = *world_.find(path);
    if (!object.shape.chunked || object.dims() == object.shape.box) {
        return;
    }
    Dataset* const handle = dataset(path);
    if (handle == nullptr) {
        return;
    }
    Dims dims = object.dims();
    for (std::size_t d = 0; d < dims.size(); ++d) {
        dims[d] +=
            random.below(static_cast<std::size_t>(std::min<std::uint64_t>(object.shape.box[d] - dims[d], 9)) + 1);
    }
    set_extent(*handle, path, dims);
    object.extents.push_back({dims, dims[0]});
}

void Player::shrink(const std::string& path, Random& random) {
    World::Object& object = *world_.find(path);
    if (!object.shape.chunked) {
        return;
    }
    Dataset* const handle = dataset(path);
    if (handle == nullptr) {
        return;
    }
    Dims dims = object.dims();
    for (std::uint64_t& dim : dims) {
        dim -= random.one_in(2) ? 0 : random.below(static_cast<std::size_t>(dim) + 1);
    }
    set_extent(*handle, path, dims);
    object.shrink(dims);
}

void Player::set_extent(Dataset& handle, const std::string& path, const Dims& dims) {
    if constexpr (H5MOTE_PARTIAL_IO != 0) {
        std::string text = "set_extent " + path;
        for (const std::uint64_t dim : dims) {
            text += " " + std::to_string(dim);
        }
        unclear_ = !done(handle.set_extent({dims.data(), dims.size()}), text, {Status::over_budget});
    }
}

// Writes one chunk as it is stored, with no filter applied. What of it lies beyond the extent has the fill value.
void Player::write_chunk(Dataset& handle, World::Object& object, const std::string& path, Random& random) {
    if constexpr (H5MOTE_ALL_FORMATS != 0) {
        const World::Shape& shape = object.shape;
        const Dims& dims = object.dims();
        Dims first;
        std::size_t count = 1;
        for (std::size_t d = 0; d < dims.size(); ++d) {
            first.push_back(random.below(static_cast<std::size_t>(dims[d])) / shape.chunk[d] * shape.chunk[d]);
            count *= static_cast<std::size_t>(shape.chunk[d]);
        }
        Blob stored;
        std::vector<std::pair<std::size_t, std::size_t>> written;  // places in the box and in the chunk
        for_each_element(shape.chunk, [&](const Dims& within) {
            Dims at = first;
            bool inside = true;
            for (std::size_t d = 0; d < at.size(); ++d) {
                at[d] += within[d];
                inside = inside && at[d] < dims[d];
            }
            if (inside) {
                written.emplace_back(object.place(at), stored.size());
            }
            const Blob element = inside ? draw_bytes(shape.element, random) : shape.fill;
            stored.insert(stored.end(), element.begin(), element.end());
        });
        const std::uint32_t none = (std::uint32_t{1} << shape.filters) - 1;
        const Status status = handle.write_chunk({first.data(), first.size()}, {stored.data(), stored.size()}, none);
        unclear_ =
            !done(status, "write a chunk of " + std::to_string(count) + " elements of " + path, {Status::over_budget});
        for (const auto& [place, offset] : written) {
            object.set(place, stored.data() + offset);
        }
    }
}

// Leaves those elements whose bytes lie in one sector, wherever they are written: a cut leaves such an element as it
// was or as it becomes, as a whole. No sector is smaller than 128 bytes, and what has no place yet may get any. Chunks
// that are filtered are written beside their old form, and compact data are small enough. False: a call failed.
bool Player::lie_in_sectors(Dataset& handle, const World::Object& object, std::vector<Dims>& elements) {
    if constexpr (H5MOTE_ALL_FORMATS != 0) {
        constexpr std::uint64_t kSector = 128;
        DatasetInfo info;
        if (!done(handle.info(info), "information on a dataset")) {
            return false;
        }
        if (info.filters != 0 || info.layout == Layout::compact) {
            return true;
        }
        const Dims& whole = object.shape.chunked ? object.shape.chunk : object.dims();
        std::vector<Dims> left;
        for (const Dims& at : elements) {
            std::uint64_t address = info.address;
            if (info.layout == Layout::chunked) {
                ChunkInfo chunk;
                if (!done(handle.chunk_info({at.data(), at.size()}, chunk), "place of a chunk",
                          {Status::over_budget})) {
                    return false;
                }
                address = chunk.address;
            }
            std::uint64_t place = 0;
            for (std::size_t d = 0; d < at.size(); ++d) {
                place = place * whole[d] + at[d] % whole[d];
            }
            const std::uint64_t begin = address + place * info.element_size;
            if (address != kUndefinedAddress && begin % kSector + info.element_size <= kSector) {
                left.push_back(at);
            }
        }
        elements = left;
    }
    return !elements.empty();
}

void Player::write(const std::string& path, Random& random) {
    World::Object& object = *world_.find(path);
    // Without atomic transactions a cut may leave half of an element that crosses the end of a sector (vfd/README.md):
    // no string is found then.
    const bool in_sectors = object.shape.texts && !storage_.atomic();
    if (object.shape.is_virtual || (in_sectors && !overwrites_texts_)) {
        return;
    }
    for (const std::uint64_t dim : object.dims()) {
        if (dim == 0) {
            return;
        }
    }
    Dataset* const handle = dataset(path);
    if (handle == nullptr) {
        return;
    }
    if (everything_ && object.shape.chunked && !object.shape.texts && random.one_in(6)) {
        return write_chunk(*handle, object, path, random);
    }
    if constexpr (H5MOTE_PARTIAL_IO != 0) {
        const World::Shape& shape = object.shape;
        const Dims& dims = object.dims();
        const std::size_t rank = dims.size();
        // The selected elements, in the order of the data.
        std::vector<Dims> elements;
        Selection selection = Selection::all();
        Dims start(rank), count(rank), stride(rank), block(rank), points;
        const std::size_t way = rank == 0 ? 0 : random.below(4);
        if (way == 0) {
            for_each_element(dims, [&](const Dims& at) { elements.push_back(at); });
        } else if (way == 1) {
            for (std::size_t n = 1 + random.below(5); n > 0; --n) {
                Dims at;
                for (const std::uint64_t dim : dims) {
                    at.push_back(random.below(static_cast<std::size_t>(dim)));
                }
                elements.push_back(at);
                points.insert(points.end(), at.begin(), at.end());
            }
            selection = Selection::points(static_cast<unsigned>(rank), {points.data(), points.size()});
        } else {
            Dims size(rank);
            for (std::size_t d = 0; d < rank; ++d) {
                start[d] = random.below(static_cast<std::size_t>(dims[d]));
                const std::uint64_t left = dims[d] - start[d];
                block[d] = way == 2 ? 1 : 1 + random.below(static_cast<std::size_t>(std::min<std::uint64_t>(left, 3)));
                stride[d] = way == 2 ? 1 : block[d] + random.below(3);
                count[d] = 1 + random.below(static_cast<std::size_t>((left - block[d]) / stride[d]) + 1);
                size[d] = count[d] * block[d];
            }
            for_each_element(size, [&](const Dims& at) {
                Dims element(rank);
                for (std::size_t d = 0; d < rank; ++d) {
                    element[d] = start[d] + at[d] / block[d] * stride[d] + at[d] % block[d];
                }
                elements.push_back(element);
            });
            selection = Selection::hyperslab({start.data(), rank}, {count.data(), rank}, {stride.data(), rank},
                                             {block.data(), rank});
        }
        if (in_sectors) {
            if (!lie_in_sectors(*handle, object, elements)) {
                return;
            }
            points.clear();
            for (const Dims& at : elements) {
                points.insert(points.end(), at.begin(), at.end());
            }
            selection = rank == 0 ? Selection::all()
                                  : Selection::points(static_cast<unsigned>(rank), {points.data(), points.size()});
        }
        // Whole elements are written, or only some members of a compound.
        std::vector<bool> chosen(shape.members.size(), true);
        if (!chosen.empty() && random.one_in(2)) {
            for (std::size_t m = 0; m < chosen.size(); ++m) {
                chosen[m] = random.one_in(2);
            }
            chosen[random.below(chosen.size())] = true;
        }
        const Blob type = chosen.empty() ? shape.type : encode_compound(shape.members, chosen, shape.mark);
        std::size_t bytes = 0;
        for (std::size_t m = 0; m < chosen.size(); ++m) {
            bytes += chosen[m] ? shape.members[m] : 0;
        }
        bytes = chosen.empty() ? shape.element : bytes;
        const Texts texts(shape.texts ? elements.size() : 0, random);
        const Blob data = shape.texts ? texts.padded : draw_bytes(elements.size() * bytes, random);
        const Span<const char* const> pointers(texts.pointers.data(), texts.pointers.size());
        const Status status = handle->write(selection, DatatypeView({type.data(), type.size()}),
                                            shape.texts ? as_bytes(pointers) : ConstBytes(data.data(), data.size()));
        unclear_ = !done(status,
                         "write " + std::to_string(elements.size()) + (way == 1 ? " points of " : " elements of ") +
                             path + (bytes != shape.element ? ", some members" : ""),
                         {Status::over_budget});
        const std::byte* from = data.data();
        for (const Dims& at : elements) {
            const std::size_t place = object.place(at);
            if (chosen.empty()) {
                object.set(place, from);
                from += bytes;
                continue;
            }
            std::size_t offset = 0;
            for (std::size_t m = 0; m < chosen.size(); ++m) {
                if (chosen[m]) {
                    object.set_bytes(place, offset, shape.members[m], from);
                    from += shape.members[m];
                }
                offset += shape.members[m];
            }
        }
    } else {
        (void)random;
    }
}

void Player::leave_object(unsigned number) {
    const auto open = session_->datasets.find(number);
    if (open != session_->datasets.end()) {
        done(open->second.close(), "close dataset " + std::to_string(number));
        session_->datasets.erase(open);
    }
}

}  // namespace h5mote_test
