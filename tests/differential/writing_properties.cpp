// Creation properties of files and objects: drawn once, given to both libraries.
#include "writing_run.hpp"

#include <algorithm>

namespace differential {

NewAttributes::NewAttributes(Random& random, bool everything) {
    if (!everything || random.one_in(2)) {
        return;
    }
    track_order = random.one_in(2);
    if (random.one_in(2)) {
        min_dense = static_cast<std::uint16_t>(random.below(4));
        max_compact = static_cast<std::uint16_t>(min_dense + random.below(3));
    }
}

std::string NewAttributes::text() const {
    return std::string(", attributes") + (track_order ? " ordered," : "") + " compact " + std::to_string(min_dense) +
           " to " + std::to_string(max_compact);
}

void NewAttributes::set_list(hid_t list) const {
    if (track_order) {
        DIFFERENTIAL_OK(H5Pset_attr_creation_order(list, H5P_CRT_ORDER_TRACKED | H5P_CRT_ORDER_INDEXED));
    }
    DIFFERENTIAL_OK(H5Pset_attr_phase_change(list, max_compact, min_dense));
}

NewFile::NewFile(Random& random, bool everything) : attributes_(random, everything) {
    create_.sizeof_addr = random.pick<std::uint8_t>({4, 8, 8});
    create_.superblock_version = random.pick<std::uint8_t>({2, 2, 3});
    attributes_.set(create_);
#if H5MOTE_ALL_FORMATS
    if (!everything || random.one_in(3)) {
        return;
    }
    create_.track_link_order = random.one_in(3);
    create_.user_block = random.pick<std::uint64_t>({0, 0, 512, 4096});
    if (random.one_in(2)) {
        create_.file_space = random.pick(
            {SpaceStrategy::managers, SpaceStrategy::pages, SpaceStrategy::aggregation, SpaceStrategy::none});
        create_.persist_free_space = create_.file_space <= SpaceStrategy::pages && random.one_in(2);
        create_.free_space_threshold = random.pick<std::uint64_t>({1, 1, 64});
        create_.page_size = random.pick<std::uint64_t>({512, 1024, 4096});
        // libhdf5 wants at least a page before the superblock, or nothing.
        create_.user_block = create_.file_space == SpaceStrategy::pages && create_.user_block != 0
                                 ? std::max<std::uint64_t>(create_.user_block, create_.page_size)
                                 : create_.user_block;
    }
    if (random.one_in(2)) {
        constexpr std::uint16_t kKinds[] = {SharedKinds::dataspace, SharedKinds::datatype, SharedKinds::fill_value,
                                            SharedKinds::filter_pipeline, SharedKinds::attribute};
        const std::uint64_t count = random.between(1, kMostIndexes);
        for (std::uint64_t i = 0; i < count; ++i) {
            indexes_[i].least_size = random.pick({0U, 0U, 40U, 250U});
        }
        for (const std::uint16_t kind : kKinds) {
            const std::uint64_t at = random.below(count + 1);
            if (at < count) {
                indexes_[at].kinds = static_cast<std::uint16_t>(indexes_[at].kinds | kind);
            }
        }
        // An index needs a kind of message.
        const auto end = std::remove_if(indexes_, indexes_ + count, [](const auto& each) { return each.kinds == 0; });
        create_.shared_messages.indexes = {indexes_, static_cast<std::size_t>(end - indexes_)};
        create_.shared_messages.list_max = random.pick<std::uint16_t>({0, 2, 5, 50});
        create_.shared_messages.btree_min =
            static_cast<std::uint16_t>(random.below(std::min<std::uint64_t>(create_.shared_messages.list_max, 40) + 1));
    }
    if (random.one_in(2)) {
        create_.btree_k.group_leaf = random.pick<std::uint16_t>({1, 2, 5, 20});
        create_.btree_k.group_internal = random.pick<std::uint16_t>({1, 2, 7, 40});
        create_.btree_k.chunk = random.pick<std::uint16_t>({2, 3, 31, 32, 50});
    }
#endif
}

std::string NewFile::text() const {
    std::string text = "addresses of " + std::to_string(create_.sizeof_addr) + " bytes, superblock " +
                       std::to_string(create_.superblock_version) + attributes_.text();
#if H5MOTE_ALL_FORMATS
    text += (create_.track_link_order ? ", ordered" : "") + (", user block " + std::to_string(create_.user_block)) +
            ", strategy " + std::to_string(static_cast<int>(create_.file_space)) +
            (create_.persist_free_space ? " persistent" : "") + " threshold " +
            std::to_string(create_.free_space_threshold) + " page " + std::to_string(create_.page_size);
    for (const SharedIndexCreate& index : create_.shared_messages.indexes) {
        text += ", shared " + std::to_string(index.kinds) + " from " + std::to_string(index.least_size);
    }
    text += ", list up to " + std::to_string(create_.shared_messages.list_max) + " from " +
            std::to_string(create_.shared_messages.btree_min) + ", nodes of " +
            std::to_string(create_.btree_k.group_leaf) + " " + std::to_string(create_.btree_k.group_internal) + " " +
            std::to_string(create_.btree_k.chunk);
#endif
    return text;
}

bool NewFile::shares_attributes() const noexcept {
#if H5MOTE_ALL_FORMATS
    for (const SharedIndexCreate& index : create_.shared_messages.indexes) {
        if ((index.kinds & SharedKinds::attribute) != 0) {
            return true;
        }
    }
#endif
    return false;
}

Id NewFile::list() const {
    Id list = DIFFERENTIAL_ID(H5Pcreate(H5P_FILE_CREATE));
    attributes_.set_list(list);
#if H5MOTE_ALL_FORMATS
    if (create_.track_link_order) {
        DIFFERENTIAL_OK(H5Pset_link_creation_order(list, H5P_CRT_ORDER_TRACKED | H5P_CRT_ORDER_INDEXED));
    }
    DIFFERENTIAL_OK(H5Pset_userblock(list, create_.user_block));
    constexpr H5F_fspace_strategy_t kStrategies[] = {H5F_FSPACE_STRATEGY_FSM_AGGR, H5F_FSPACE_STRATEGY_PAGE,
                                                     H5F_FSPACE_STRATEGY_AGGR, H5F_FSPACE_STRATEGY_NONE};
    if (create_.file_space != SpaceStrategy::managers || create_.persist_free_space) {
        DIFFERENTIAL_OK(H5Pset_file_space_strategy(list, kStrategies[static_cast<int>(create_.file_space)],
                                                   create_.persist_free_space, create_.free_space_threshold));
        DIFFERENTIAL_OK(H5Pset_file_space_page_size(list, create_.page_size));
    }
    const SharedMessageCreate& shared = create_.shared_messages;
    if (!shared.empty()) {
        DIFFERENTIAL_OK(H5Pset_shared_mesg_nindexes(list, static_cast<unsigned>(shared.indexes.size())));
        for (unsigned i = 0; i < shared.indexes.size(); ++i) {
            DIFFERENTIAL_OK(H5Pset_shared_mesg_index(list, i, shared.indexes[i].kinds, shared.indexes[i].least_size));
        }
        DIFFERENTIAL_OK(H5Pset_shared_mesg_phase_change(list, shared.list_max, shared.btree_min));
    }
    DIFFERENTIAL_OK(H5Pset_sym_k(list, create_.btree_k.group_internal, create_.btree_k.group_leaf));
    DIFFERENTIAL_OK(H5Pset_istore_k(list, create_.btree_k.chunk));
#endif
    return list;
}

}  // namespace differential
