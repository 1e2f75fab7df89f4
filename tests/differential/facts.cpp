#include "facts.hpp"

#include <set>

namespace differential {
namespace {

class Facts {
public:
    Facts(hid_t ours, hid_t theirs, ComparedFacts compared) : ours_(ours), theirs_(theirs), compared_(compared) {}

    void object(const std::string& path) {
        const Id mine = DIFFERENTIAL_ID(H5Oopen(ours_, path.c_str(), H5P_DEFAULT));
        const Id other = DIFFERENTIAL_ID(H5Oopen(theirs_, path.c_str(), H5P_DEFAULT));
        H5O_info_t info[2];
        DIFFERENTIAL_OK(H5Oget_info2(mine, &info[0], H5O_INFO_BASIC | H5O_INFO_NUM_ATTRS));
        DIFFERENTIAL_OK(H5Oget_info2(other, &info[1], H5O_INFO_BASIC | H5O_INFO_NUM_ATTRS));
        if (!seen_.insert(info[1].addr).second) {
            return;
        }
        if (compared_.counts) {
            same(path, "reference count", info[0].rc, info[1].rc);
        }
        attributes(path, mine, other, info[1].num_attrs);
        if (info[1].type == H5O_TYPE_GROUP) {
            group(path, mine, other);
        } else if (info[1].type == H5O_TYPE_DATASET) {
            dataset(path, mine, other);
        }
    }

private:
    template <typename Number>
    static void same(const std::string& path, const char* what, Number mine, Number other) {
        if (mine != other) {
            differ("facts: " + path + ": " + what + " " + std::to_string(mine) + " instead of " +
                   std::to_string(other));
        }
    }

    static bool tracks(hid_t object) {
        unsigned flags = 0;
        DIFFERENTIAL_OK(H5Pget_attr_creation_order(create_list(object), &flags));
        return (flags & H5P_CRT_ORDER_TRACKED) != 0;
    }

    // Objects that do not track creation orders have numbers that say nothing.
    void attributes(const std::string& path, hid_t mine, hid_t other, hsize_t count) {
        for (hsize_t i = 0; i < count && compared_.attributes && tracks(mine) && tracks(other); ++i) {
            H5A_info_t info[2];
            DIFFERENTIAL_OK(H5Aget_info_by_idx(mine, ".", H5_INDEX_NAME, H5_ITER_INC, i, &info[0], H5P_DEFAULT));
            DIFFERENTIAL_OK(H5Aget_info_by_idx(other, ".", H5_INDEX_NAME, H5_ITER_INC, i, &info[1], H5P_DEFAULT));
            same(path, "creation order of an attribute", info[0].corder, info[1].corder);
        }
    }

    void group(const std::string& path, hid_t mine, hid_t other) {
        H5G_info_t info[2];
        DIFFERENTIAL_OK(H5Gget_info(mine, &info[0]));
        DIFFERENTIAL_OK(H5Gget_info(other, &info[1]));
        same(path, "number of links", info[0].nlinks, info[1].nlinks);
        // libhdf5 copies a link together with its number, also to a group that does not track them.
        unsigned flags = 0;
        DIFFERENTIAL_OK(H5Pget_link_creation_order(create_list(other), &flags));
        const bool numbers = compared_.links && (flags & H5P_CRT_ORDER_TRACKED) != 0;
        if (numbers) {
            same(path, "next creation order", info[0].max_corder, info[1].max_corder);
        }
        for (hsize_t i = 0; i < info[1].nlinks; ++i) {
            H5L_info_t link[2];
            DIFFERENTIAL_OK(H5Lget_info_by_idx(mine, ".", H5_INDEX_NAME, H5_ITER_INC, i, &link[0], H5P_DEFAULT));
            DIFFERENTIAL_OK(H5Lget_info_by_idx(other, ".", H5_INDEX_NAME, H5_ITER_INC, i, &link[1], H5P_DEFAULT));
            char name[512];
            DIFFERENTIAL_OK(
                H5Lget_name_by_idx(other, ".", H5_INDEX_NAME, H5_ITER_INC, i, name, sizeof name, H5P_DEFAULT));
            const std::string to = path == "/" ? path + name : path + "/" + name;
            same(to, "type of the link", static_cast<int>(link[0].type), static_cast<int>(link[1].type));
            if (numbers) {
                same(to, "creation order of the link", link[0].corder, link[1].corder);
            }
            if (link[1].type == H5L_TYPE_HARD) {
                object(to);
            }
        }
    }

    // What a creation property list says, as text. (H5Pequal() would also compare whether times are tracked, which is
    // another default of h5mote.)
    static std::string properties(hid_t dataset) {
        const Id list = DIFFERENTIAL_ID(H5Dget_create_plist(dataset));
        unsigned numbers[2] = {};
        std::string text;
        const auto say = [&](const char* what, unsigned long long number) {
            text += std::string(what) + " " + std::to_string(number) + ", ";
        };
        const H5D_layout_t layout = H5Pget_layout(list);
        say("layout", static_cast<unsigned>(layout));
        if (layout == H5D_CHUNKED) {
            hsize_t dims[H5S_MAX_RANK] = {};
            const int rank = H5Pget_chunk(list, H5S_MAX_RANK, dims);
            for (int i = 0; i < rank; ++i) {
                say("chunk", dims[i]);
            }
            DIFFERENTIAL_OK(H5Pget_chunk_opts(list, &numbers[0]));
            say("options", numbers[0]);
        }
        H5D_alloc_time_t allocation = H5D_ALLOC_TIME_ERROR;
        H5D_fill_time_t fill = H5D_FILL_TIME_ERROR;
        H5D_fill_value_t defined = H5D_FILL_VALUE_ERROR;
        DIFFERENTIAL_OK(H5Pget_alloc_time(list, &allocation));
        DIFFERENTIAL_OK(H5Pget_fill_time(list, &fill));
        DIFFERENTIAL_OK(H5Pfill_value_defined(list, &defined));
        say("allocation time", static_cast<unsigned>(allocation));
        say("fill time", static_cast<unsigned>(fill));
        say("fill value", static_cast<unsigned>(defined));
        say("external files", static_cast<unsigned>(H5Pget_external_count(list)));
        for (int i = 0; i < H5Pget_nfilters(list); ++i) {
            std::size_t count = 20;
            unsigned values[20] = {};
            say("filter", static_cast<unsigned>(H5Pget_filter2(list, static_cast<unsigned>(i), &numbers[0], &count,
                                                               values, 0, nullptr, nullptr)));
            say("flags", numbers[0]);
            for (std::size_t k = 0; k < count && k < 20; ++k) {
                say("value", values[k]);
            }
        }
        return text;
    }

    void dataset(const std::string& path, hid_t mine, hid_t other) const {
        const std::string list[2] = {properties(mine), properties(other)};
        if (list[0] != list[1]) {
            differ("facts: " + path + ": created with " + list[0] + "instead of " + list[1]);
        }
        // The sizes of filtered chunks, and of what leads to the global heap, are not those of the other file.
        const Id type = DIFFERENTIAL_ID(H5Dget_type(other));
        if (!compared_.space || list[1].find("filter") != std::string::npos || is_variable(type)) {
            return;
        }
        H5D_space_status_t status[2];
        DIFFERENTIAL_OK(H5Dget_space_status(mine, &status[0]));
        DIFFERENTIAL_OK(H5Dget_space_status(other, &status[1]));
        same(path, "space status", static_cast<int>(status[0]), static_cast<int>(status[1]));
        same(path, "storage size", H5Dget_storage_size(mine), H5Dget_storage_size(other));
    }

    hid_t ours_;
    hid_t theirs_;
    ComparedFacts compared_;
    std::set<haddr_t> seen_;
};

}  // namespace

void compare_facts(hid_t ours, hid_t theirs, ComparedFacts compared) { Facts(ours, theirs, compared).object("/"); }

}  // namespace differential
