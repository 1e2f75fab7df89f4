// Elements: written to the model and to the file of libhdf5, and appended by h5mote.
#include "writing_run.hpp"

#include <algorithm>

namespace differential {

// Enlarges a dataset of the model: elements keep their coordinates, new ones get the fill value.
void Writing::grow(ObjectValue& value, const Sizes& dims) {
    const auto object = static_cast<std::size_t>(&value - model_.objects.data());
    const auto& [fill, known] = fills_[object];
    const std::size_t size = value.type.size();
    const Sizes before = value.extent.dims;
    Blob values;
    const std::uint64_t count = volume(dims);
    values.reserve(count * size);
    for (std::uint64_t i = 0; i < count; ++i) {
        values.insert(values.end(), fill.begin(), fill.end());
    }
    Blob mask(values.size(), known);
    for (std::uint64_t i = 0; i < volume(before); ++i) {
        std::uint64_t rest = i;
        std::uint64_t to = 0;
        std::uint64_t scale = 1;
        bool stays = true;
        for (std::size_t d = dims.size(); d-- > 0;) {
            stays = stays && rest % before[d] < dims[d];
            to += rest % before[d] * scale;
            rest /= before[d];
            scale *= dims[d];
        }
        if (!stays) {
            continue;
        }
        std::copy_n(value.values.begin() + static_cast<std::ptrdiff_t>(i * size), size,
                    values.begin() + static_cast<std::ptrdiff_t>(to * size));
        std::copy_n(value.known.begin() + static_cast<std::ptrdiff_t>(i * size), size,
                    mask.begin() + static_cast<std::ptrdiff_t>(to * size));
    }
    value.values = std::move(values);
    value.known = std::move(mask);
    value.extent.dims = dims;
}

// Writes elements to the model. libhdf5 converts them; the bytes that conversion writes become known.
void Writing::put(ObjectValue& value, const Sizes& elements, hid_t memory_type, const Blob& data) {
    const std::size_t size = value.type.size();
    const Id type = value.type.id();
    Blob before(elements.size() * size);
    for (std::size_t i = 0; i < elements.size(); ++i) {
        std::copy_n(value.values.begin() + static_cast<std::ptrdiff_t>(elements[i] * size), size,
                    before.begin() + static_cast<std::ptrdiff_t>(i * size));
    }
    const Blob after = convert(memory_type, type, data, elements.size(), before);
    // Convert one element over a background of zeros and over one of ones: bytes that are equal in both were written.
    const std::size_t memory_size = H5Tget_size(memory_type);
    Blob written(size, std::byte{0xff});
    if (!elements.empty()) {
        const Blob one(data.begin(), data.begin() + static_cast<std::ptrdiff_t>(memory_size));
        const Blob zeros = convert(memory_type, type, one, 1, Blob(size));
        const Blob ones = convert(memory_type, type, one, 1, Blob(size, std::byte{0xff}));
        for (std::size_t i = 0; i < size; ++i) {
            written[i] = zeros[i] == ones[i] ? std::byte{0xff} : std::byte{0};
        }
    }
    for (std::size_t i = 0; i < elements.size(); ++i) {
        for (std::size_t b = 0; b < size; ++b) {
            value.values[elements[i] * size + b] = after[i * size + b];
            value.known[elements[i] * size + b] |= written[b];
        }
    }
}

void Writing::put_libhdf5(std::size_t object, const Sizes& elements, hid_t memory_type, const Blob& data) {
    // When all elements of a chunk are written with a memory type as large as the file's, libhdf5 1.10 takes the chunk
    // as overwritten even if the memory type lacks members (libhdf5_faults.cpp). Write the model's whole elements then.
    const ObjectValue& value = model_.objects[object];
    const Id file_type = value.type.id();
    const bool whole = H5Tget_size(memory_type) == value.type.size() && H5Tequal(memory_type, file_type) <= 0;
    const hid_t type = whole ? hid_t{file_type} : memory_type;
    Blob held;
    for (std::size_t i = 0; whole && i < elements.size(); ++i) {
        const auto at = value.values.begin() + static_cast<std::ptrdiff_t>(elements[i] * value.type.size());
        held.insert(held.end(), at, at + static_cast<std::ptrdiff_t>(value.type.size()));
    }
    const Blob* const from = whole ? &held : &data;
    const Id dataset = other(object, file_);
    const Id space = select_elements(model_.objects[object].extent.dims, elements);
    const hsize_t count = elements.size();
    const Id memory = DIFFERENTIAL_ID(H5Screate_simple(1, &count, nullptr));
    if (count == 0) {
        return;
    }
    // With late allocation, libhdf5 1.10 loses the fill value if the first write covers the whole extent
    // (libhdf5_faults.cpp): write one element first.
    if (elements.size() == model_.objects[object].extent.count()) {
        if (elements.size() == 1 && H5Dget_storage_size(dataset) == 0) {
            throw Spoiled{};
        }
        const hsize_t one = 1;
        DIFFERENTIAL_OK(H5Dwrite(dataset, type, DIFFERENTIAL_ID(H5Screate_simple(1, &one, nullptr)),
                                 select_elements(model_.objects[object].extent.dims, {elements[0]}), H5P_DEFAULT,
                                 from->data()));
    }
    const std::vector<Sizes> before = raw_sized_chunks(dataset, H5Z_FILTER_DEFLATE);
    DIFFERENTIAL_OK(H5Dwrite(dataset, type, memory, space, H5P_DEFAULT, from->data()));
    for (const Sizes& chunk : raw_sized_chunks(dataset, H5Z_FILTER_DEFLATE)) {
        if (std::find(before.begin(), before.end(), chunk) != before.end()) {
            throw Spoiled{};
        }
    }
}

namespace {

bool is_log(const ObjectValue& value) {
    return has_elements(value) && value.extent.dims.size() == 1 && value.extent.max_dims[0] > value.extent.dims[0];
}

}  // namespace

void Writing::append(Random& random) {
    bool found = false;
    const std::size_t object = any_object(random, is_log, found);
    if (!found) {
        return;
    }
    ObjectValue& value = model_.objects[object];
    const std::uint64_t before = value.extent.dims[0];
    const std::uint64_t room =
        std::min(value.extent.max_dims[0] - before,
                 (kMostBytes - std::min(kMostBytes, before * value.type.size())) / value.type.size());
    std::uint64_t count = std::min<std::uint64_t>(random.small(300), room);
    const Type memory = H5MOTE_CONVERSION != 0 ? Type(random_memory_type(random, value.type.id(), true)) : value.type;
    const Id memory_type = memory.id();
    const Blob data = random_values(random, memory_type, count);
    tell("append %s %llu as %s\n", model_.path_of(object).c_str(), static_cast<unsigned long long>(count),
         type_text(memory.view()).c_str());
    Dataset* const to = dataset(object);
    if (to == nullptr || !done(to->set_memory_type(memory.view()), "set_memory_type", {Status::type_mismatch})) {
        return;
    }
    const Status status = to->append_records(data.data(), count);
    const std::uint64_t now = to->size();
    if (now < before || now > before + count || (status == Status::ok && now != before + count)) {
        differ("append: the size is " + std::to_string(now) + " after " + say(library(), status));
    }
    (void)done(status, "append");
    count = now - before;
    const hsize_t dims[] = {now};
    DIFFERENTIAL_OK(H5Dset_extent(other(object, file_), dims));
    grow(value, {now});
    Sizes elements(count);
    for (std::uint64_t i = 0; i < count; ++i) {
        elements[i] = before + i;
    }
    put(value, elements, memory_type, data);
    put_libhdf5(object, elements, memory_type, data);
}

}  // namespace differential
