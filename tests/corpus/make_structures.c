/* Files, superblocks, groups, links, attributes, shared messages, drivers. */
#include "make_files.h"

#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static hid_t creation(void) { return CHECK(H5Pcreate(H5P_FILE_CREATE)); }

/* A few objects of every kind, so that each kind of file has something in it. */
static void fill_file(hid_t file) {
    const hsize_t sizes[2] = {4, 5};
    const hsize_t chunk[2] = {2, 2};
    int values[20];
    for (int i = 0; i < 20; ++i) {
        values[i] = i * i - 7;
    }
    put(file, "numbers", H5T_STD_I16LE, simple_space(2, sizes, NULL), H5P_DEFAULT, H5T_NATIVE_INT, values);
    const hid_t dcpl = CHECK(H5Pcreate(H5P_DATASET_CREATE));
    CHECK(H5Pset_chunk(dcpl, 2, chunk));
    put(file, "chunks", H5T_STD_I32BE, simple_space(2, sizes, NULL), dcpl, H5T_NATIVE_INT, values);
    put_group(file, "group");
    put_group(file, "group/inner");
    put_number(file, "answer", 42);
    const hid_t text = CHECK(H5Tcopy(H5T_C_S1));
    CHECK(H5Tset_size(text, H5T_VARIABLE));
    const char* words[2] = {"one", "twenty-two"};
    const hsize_t two[1] = {2};
    put(file, "group/words", text, simple_space(1, two, NULL), H5P_DEFAULT, text, words);
    CHECK(H5Tclose(text));
    CHECK(H5Lcreate_soft("/numbers", file, "group/soft", H5P_DEFAULT, H5P_DEFAULT));
}

static void make_kinds(const Form* form) {
    const hid_t fcpl = creation();
    CHECK(H5Pset_link_creation_order(fcpl, H5P_CRT_ORDER_TRACKED | H5P_CRT_ORDER_INDEXED));
    CHECK(H5Pset_attr_creation_order(fcpl, H5P_CRT_ORDER_TRACKED | H5P_CRT_ORDER_INDEXED));
    const hid_t file = make_file(form, "kinds", fcpl, 0);
    fill_file(file);
    put_number(file, "a second one", -1);
    CHECK(H5Fclose(file));
}

static void make_superblocks(const Form* form) {
    static const hsize_t kUserBlocks[] = {512, 1024, 4096};
    static const size_t kSizes[][2] = {{4, 4}, {8, 4}, {4, 8}, {2, 2}, {2, 8}};
    char name[64];
    for (size_t i = 0; i < sizeof kUserBlocks / sizeof kUserBlocks[0]; ++i) {
        const hid_t fcpl = creation();
        CHECK(H5Pset_userblock(fcpl, kUserBlocks[i]));
        snprintf(name, sizeof name, "userblock%d", (int)kUserBlocks[i]);
        const hid_t file = make_file(form, name, fcpl, 0);
        fill_file(file);
        CHECK(H5Fclose(file));
    }
    for (size_t i = 0; i < sizeof kSizes / sizeof kSizes[0]; ++i) {
        const hid_t fcpl = creation();
        CHECK(H5Pset_sizes(fcpl, kSizes[i][0], kSizes[i][1]));
        snprintf(name, sizeof name, "sizes%d%d", (int)kSizes[i][0], (int)kSizes[i][1]);
        const hid_t file = make_file(form, name, fcpl, 0);
        fill_file(file);
        CHECK(H5Fclose(file));
    }
    const hid_t fcpl = creation();
    CHECK(H5Pset_istore_k(fcpl, 3));
    CHECK(H5Pset_sym_k(fcpl, 2, 1));
    const hid_t file = make_file(form, "treesizes", fcpl, 0);
    fill_file(file);
    CHECK(H5Fclose(file));
}

static void make_spaces(const Form* form) {
    static const struct {
        const char* name;
        H5F_fspace_strategy_t strategy;
        hbool_t persist;
    } kWays[] = {{"space-paged", H5F_FSPACE_STRATEGY_PAGE, 1},
                 {"space-pagedlost", H5F_FSPACE_STRATEGY_PAGE, 0},
                 {"space-aggregate", H5F_FSPACE_STRATEGY_FSM_AGGR, 1},
                 {"space-none", H5F_FSPACE_STRATEGY_NONE, 0}};
    for (size_t i = 0; i < sizeof kWays / sizeof kWays[0]; ++i) {
        const hid_t fcpl = creation();
        if (strcmp(form->name, "v18") == 0) {
            CHECK(H5Pclose(fcpl));
            return;
        }
        CHECK(H5Pset_file_space_strategy(fcpl, kWays[i].strategy, kWays[i].persist, 1));
        CHECK(H5Pset_file_space_page_size(fcpl, 512));
        const hid_t file = make_file(form, kWays[i].name, fcpl, 0);
        fill_file(file);
        put_group(file, "gone");
        CHECK(H5Ldelete(file, "gone", H5P_DEFAULT));
        CHECK(H5Ldelete(file, "chunks", H5P_DEFAULT));
        CHECK(H5Fclose(file));
    }
}

/* The caches of a closed file as an image in it; a file that its writer left open. */
static void make_states(const Form* form) {
    if (!is_new(form)) {
        return;
    }
    const hid_t fapl = access_of(form);
    H5AC_cache_image_config_t image = {H5AC__CURR_CACHE_IMAGE_CONFIG_VERSION, 1, 0,
                                       H5AC__CACHE_IMAGE__ENTRY_AGEOUT__NONE};
    CHECK(H5Pset_mdc_image_config(fapl, &image));
    hid_t file = make_file(form, "cacheimage", H5P_DEFAULT, fapl);
    fill_file(file);
    CHECK(H5Fclose(file));
    const pid_t child = fork();
    if (child == 0) {
        file = make_file(form, "leftopen", H5P_DEFAULT, 0);
        fill_file(file);
        CHECK(H5Fstart_swmr_write(file));
        CHECK(H5Fflush(file, H5F_SCOPE_GLOBAL));
        _exit(0);
    }
    int status = 0;
    if (waitpid(child, &status, 0) != child || status != 0) {
        exit(1);
    }
}

static void make_groups(const Form* form) {
    hid_t fcpl = creation();
    CHECK(H5Pset_sym_k(fcpl, 2, 1));
    hid_t file = make_file(form, "groups", fcpl, 0);
    char name[64];
    for (int i = 0; i < 200; ++i) {
        snprintf(name, sizeof name, "name %d of many", i * 7919 % 200);
        put_group(file, name);
    }
    CHECK(H5Fclose(file));

    file = make_file(form, "grouporder", H5P_DEFAULT, 0);
    for (unsigned order = 0; order < 4; ++order) {
        for (int links = 3; links <= 30; links += 27) {
            const hid_t gcpl = CHECK(H5Pcreate(H5P_GROUP_CREATE));
            if (order > 0) {
                CHECK(H5Pset_link_creation_order(
                    gcpl, H5P_CRT_ORDER_TRACKED | (order > 1 ? (unsigned)H5P_CRT_ORDER_INDEXED : 0U)));
            }
            if (order == 3) {
                CHECK(H5Pset_link_phase_change(gcpl, 2, 1));
            }
            snprintf(name, sizeof name, "order%u with %d", order, links);
            const hid_t group = CHECK(H5Gcreate2(file, name, H5P_DEFAULT, gcpl, H5P_DEFAULT));
            for (int i = 0; i < links; ++i) {
                snprintf(name, sizeof name, "link %d", (i * 17 + 5) % 31);
                CHECK(H5Lcreate_soft("/nowhere", group, name, H5P_DEFAULT, H5P_DEFAULT));
            }
            CHECK(H5Ldelete(group, "link 5", H5P_DEFAULT));
            CHECK(H5Gclose(group));
            CHECK(H5Pclose(gcpl));
        }
    }
    CHECK(H5Fclose(file));
}

/* Links in fractal heaps: direct and indirect blocks, objects too large for them, filters. */
static void make_dense(const Form* form) {
    const hid_t file = make_file(form, "dense", H5P_DEFAULT, 0);
    static char name[6000];
    for (int filtered = 0; filtered < 2; ++filtered) {
        const hid_t gcpl = CHECK(H5Pcreate(H5P_GROUP_CREATE));
        CHECK(H5Pset_link_phase_change(gcpl, 0, 0));
        if (filtered) {
            CHECK(H5Pset_deflate(gcpl, 6));
        }
        const hid_t group = CHECK(H5Gcreate2(file, filtered ? "filtered" : "plain", H5P_DEFAULT, gcpl, H5P_DEFAULT));
        for (int i = 0; i < 400; ++i) {
            snprintf(name, sizeof name, "a link with a name of some length, number %d", i);
            CHECK(H5Lcreate_soft("numbers", group, name, H5P_DEFAULT, H5P_DEFAULT));
        }
        for (int i = 0; i < 3; ++i) {
            memset(name, 'a' + i, 5000);
            name[5000 + i] = '\0';
            CHECK(H5Lcreate_soft(i == 2 ? name : "/", group, i == 2 ? "x" : name, H5P_DEFAULT, H5P_DEFAULT));
            memset(name, 0, sizeof name);
        }
        CHECK(H5Gclose(group));
        CHECK(H5Pclose(gcpl));
    }
    put_group(file, "last");
    CHECK(H5Fclose(file));
}

static hid_t follow_nothing(const char* name, hid_t group, const void* data, size_t size, hid_t lapl, hid_t dxpl) {
    (void)name, (void)group, (void)data, (void)size, (void)lapl, (void)dxpl;
    return -1;
}

static void make_links(const Form* form) {
    hid_t file = make_file(form, "linktarget", H5P_DEFAULT, 0);
    fill_file(file);
    CHECK(H5Lcreate_external(file_name(form, "links"), "/group", file, "back", H5P_DEFAULT, H5P_DEFAULT));
    CHECK(H5Fclose(file));

    file = make_file(form, "links", H5P_DEFAULT, 0);
    fill_file(file);
    const hid_t group = CHECK(H5Gcreate2(file, "more", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    char target[64];
    snprintf(target, sizeof target, "%s", file_name(form, "linktarget"));
    CHECK(H5Lcreate_soft("nowhere", group, "dangling", H5P_DEFAULT, H5P_DEFAULT));
    CHECK(H5Lcreate_soft("loop", group, "loop", H5P_DEFAULT, H5P_DEFAULT));
    CHECK(H5Lcreate_soft("/group/./inner", group, "relative", H5P_DEFAULT, H5P_DEFAULT));
    CHECK(H5Lcreate_external(target, "/numbers", group, "external dataset", H5P_DEFAULT, H5P_DEFAULT));
    CHECK(H5Lcreate_external(target, "/group", group, "external group", H5P_DEFAULT, H5P_DEFAULT));
    CHECK(H5Lcreate_external(target, "/back/words", group, "there and back", H5P_DEFAULT, H5P_DEFAULT));
    CHECK(H5Lcreate_external(target, "/nothing", group, "external nothing", H5P_DEFAULT, H5P_DEFAULT));
    CHECK(H5Lcreate_external("nofile.h5", "/", group, "no such file", H5P_DEFAULT, H5P_DEFAULT));
    CHECK(H5Lcreate_hard(file, "/numbers", group, "numbers again", H5P_DEFAULT, H5P_DEFAULT));
    CHECK(H5Lcreate_hard(file, "/group", group, "group again", H5P_DEFAULT, H5P_DEFAULT));
    CHECK(H5Lcreate_hard(file, "/", group, "cycle", H5P_DEFAULT, H5P_DEFAULT));
    CHECK(H5Lcreate_hard(file, "/more", group, "itself", H5P_DEFAULT, H5P_DEFAULT));
    const H5L_class_t class = {
        H5L_LINK_CLASS_T_VERS, (H5L_type_t)187, "test", NULL, NULL, NULL, follow_nothing, NULL, NULL};
    CHECK(H5Lregister(&class));
    CHECK(H5Lcreate_ud(group, "user-defined", (H5L_type_t)187, "some data", 9, H5P_DEFAULT, H5P_DEFAULT));
    CHECK(H5Lunregister((H5L_type_t)187));
    CHECK(H5Oset_comment(group, "A comment,\nin two lines."));
    CHECK(H5Oset_comment_by_name(file, "numbers", "of a dataset", H5P_DEFAULT));
    CHECK(H5Gclose(group));
    CHECK(H5Fclose(file));
}

/* Names that need escapes, many and long ones. */
static void make_names(const Form* form) {
    const hid_t file = make_file(form, "names", H5P_DEFAULT, 0);
    static const char* const kNames[] = {"with \"quotes\"",
                                         "back\\slash",
                                         "tab\tand\nline",
                                         "\xc3\xa4\xc3\xb6\xc3\xbc",
                                         "\xff\xfe",
                                         " blanks ",
                                         "(paren)",
                                         "[1,2]",
                                         "%s",
                                         "a.b",
                                         "..."};
    const hid_t lcpl = CHECK(H5Pcreate(H5P_LINK_CREATE));
    for (size_t i = 0; i < sizeof kNames / sizeof kNames[0]; ++i) {
        CHECK(H5Pset_char_encoding(lcpl, i == 3 ? H5T_CSET_UTF8 : H5T_CSET_ASCII));
        const hid_t group = CHECK(H5Gcreate2(file, kNames[i], lcpl, H5P_DEFAULT, H5P_DEFAULT));
        put_number(group, kNames[i], (int)i);
        put_number(group, "with/slash", (int)i);
        CHECK(H5Gclose(group));
    }
    CHECK(H5Pclose(lcpl));
    static char deep[4000];
    deep[0] = '\0';
    for (int i = 0; i < 40; ++i) {
        strcat(deep, i == 0 ? "deep" : "/deep");
        put_group(file, deep);
    }
    CHECK(H5Fclose(file));
}

static void make_attributes(const Form* form) {
    const hid_t file = make_file(form, "attributes", H5P_DEFAULT, 0);
    static int large[15000];
    char name[64];
    for (int i = 0; i < 15000; ++i) {
        large[i] = i;
    }
    for (int way = 0; way < 4; ++way) {
        const hid_t gcpl = CHECK(H5Pcreate(H5P_GROUP_CREATE));
        if (way == 1) {
            CHECK(H5Pset_attr_phase_change(gcpl, 0, 0));
        } else if (way > 1) {
            CHECK(H5Pset_attr_creation_order(gcpl,
                                             H5P_CRT_ORDER_TRACKED | (way > 2 ? (unsigned)H5P_CRT_ORDER_INDEXED : 0U)));
        }
        snprintf(name, sizeof name, "way%d", way);
        const hid_t group = CHECK(H5Gcreate2(file, name, H5P_DEFAULT, gcpl, H5P_DEFAULT));
        for (int i = 0; i < 40; ++i) {
            snprintf(name, sizeof name, "attribute %d", i * 13 % 40);
            if (i == 12) {
                put_group(group, "between");
            }
            put_number(group, name, i);
        }
        CHECK(H5Adelete(group, "attribute 7"));
        put_attribute(group, "null", H5T_IEEE_F32LE, CHECK(H5Screate(H5S_NULL)), 0, NULL);
        const hsize_t some[2] = {3, 7};
        put_attribute(group, "table", H5T_STD_I64BE, simple_space(2, some, NULL), H5T_NATIVE_INT, large);
        if (way == 1 && !is_old(form)) {
            /* Beyond what a header may hold, and beyond what a heap block does. */
            const hsize_t huge[1] = {15000};
            put_attribute(group, "huge", H5T_STD_I32LE, simple_space(1, huge, NULL), H5T_NATIVE_INT, large);
        }
        CHECK(H5Gclose(group));
        CHECK(H5Pclose(gcpl));
    }
    const hsize_t most[1] = {15000};
    const hid_t group = CHECK(H5Gcreate2(file, "large", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    put_attribute(group, "60000 bytes", H5T_STD_I32LE, simple_space(1, most, NULL), H5T_NATIVE_INT, large);
    CHECK(H5Gclose(group));
    CHECK(H5Fclose(file));
}

static void fill_shared(hid_t file) {
    const hid_t type = CHECK(H5Tcreate(H5T_COMPOUND, 24));
    CHECK(H5Tinsert(type, "a member", 0, H5T_STD_I32LE));
    CHECK(H5Tinsert(type, "another one", 8, H5T_IEEE_F64LE));
    CHECK(H5Tinsert(type, "a third", 16, H5T_STD_U16BE));
    const hsize_t sizes[3] = {2, 2, 3};
    const hsize_t chunk[3] = {1, 2, 2};
    char name[64];
    for (int i = 0; i < 12; ++i) {
        const hid_t dcpl = CHECK(H5Pcreate(H5P_DATASET_CREATE));
        CHECK(H5Pset_chunk(dcpl, 3, chunk));
        CHECK(H5Pset_shuffle(dcpl));
        CHECK(H5Pset_deflate(dcpl, (unsigned)(1 + i % 2)));
        if (i % 3 == 0) {
            CHECK(H5Pset_fill_time(dcpl, H5D_FILL_TIME_NEVER));
        }
        snprintf(name, sizeof name, "dataset %d", i);
        put(file, name, type, simple_space(3, sizes, NULL), dcpl, 0, NULL);
        const hid_t dataset = CHECK(H5Dopen2(file, name, H5P_DEFAULT));
        put_attribute(dataset, "the same everywhere", type, CHECK(H5Screate(H5S_SCALAR)), 0, NULL);
        put_number(dataset, "a number", i % 4);
        CHECK(H5Dclose(dataset));
    }
    CHECK(H5Tclose(type));
}

static void make_shared(const Form* form) {
    static const struct {
        const char* name;
        unsigned list;
        unsigned tree;
    } kWays[] = {{"sharedlist", 50, 40}, {"sharedtree", 0, 0}, {"sharedboth", 5, 3}};
    for (int way = 0; way < 3; ++way) {
        const hid_t fcpl = creation();
        CHECK(H5Pset_shared_mesg_nindexes(fcpl, 3));
        CHECK(H5Pset_shared_mesg_index(fcpl, 0, H5O_SHMESG_DTYPE_FLAG | H5O_SHMESG_SDSPACE_FLAG, 10));
        CHECK(H5Pset_shared_mesg_index(fcpl, 1, H5O_SHMESG_FILL_FLAG | H5O_SHMESG_PLINE_FLAG, 1));
        CHECK(H5Pset_shared_mesg_index(fcpl, 2, H5O_SHMESG_ATTR_FLAG, 20));
        CHECK(H5Pset_shared_mesg_phase_change(fcpl, kWays[way].list, kWays[way].tree));
        const hid_t file = make_file(form, kWays[way].name, fcpl, 0);
        fill_shared(file);
        CHECK(H5Fclose(file));
    }
}

/* Families, split and multi files. */
static void make_drivers(const Form* form) {
    hid_t fapl = access_of(form);
    CHECK(H5Pset_fapl_family(fapl, 700, H5P_DEFAULT));
    char name[64];
    snprintf(name, sizeof name, "family-%s-%%05d.h5", form->name);
    hid_t file = CHECK(H5Fcreate(name, H5F_ACC_TRUNC, H5P_DEFAULT, fapl));
    fill_file(file);
    CHECK(H5Fclose(file));
    CHECK(H5Pclose(fapl));

    fapl = access_of(form);
    CHECK(H5Pset_fapl_split(fapl, "-m.h5", H5P_DEFAULT, "-r.h5", H5P_DEFAULT));
    snprintf(name, sizeof name, "split-%s", form->name);
    file = CHECK(H5Fcreate(name, H5F_ACC_TRUNC, H5P_DEFAULT, fapl));
    fill_file(file);
    CHECK(H5Fclose(file));
    CHECK(H5Pclose(fapl));

    if (!is_old(form)) {
        return; /* libhdf5 does not open what it writes then */
    }
    fapl = access_of(form);
    static const char* const kNames[] = {"%s-s.h5", "%s-s.h5", "%s-b.h5", "%s-r.h5", "%s-g.h5", "%s-l.h5", "%s-o.h5"};
    H5FD_mem_t map[H5FD_MEM_NTYPES];
    hid_t members[H5FD_MEM_NTYPES];
    haddr_t starts[H5FD_MEM_NTYPES];
    for (int i = 0; i < H5FD_MEM_NTYPES; ++i) {
        map[i] = (H5FD_mem_t)i;
        members[i] = H5P_DEFAULT;
        starts[i] = (haddr_t)(i > 0 ? i - 1 : 0) << 40;
    }
    CHECK(H5Pset_fapl_multi(fapl, map, members, kNames, starts, 0));
    snprintf(name, sizeof name, "multi-%s", form->name);
    file = CHECK(H5Fcreate(name, H5F_ACC_TRUNC, H5P_DEFAULT, fapl));
    fill_file(file);
    CHECK(H5Fclose(file));
    CHECK(H5Pclose(fapl));
}

/* Headers in many pieces, objects with many names. */
static void make_headers(const Form* form) {
    const hid_t file = make_file(form, "headers", H5P_DEFAULT, 0);
    char name[64];
    put_group(file, "one");
    put_group(file, "two");
    for (int i = 0; i < 30; ++i) {
        for (int which = 0; which < 2; ++which) {
            const hid_t group = CHECK(H5Gopen2(file, which == 0 ? "one" : "two", H5P_DEFAULT));
            const hsize_t sizes[1] = {(hsize_t)(i + 1)};
            static const int kNumbers[30] = {1, 2, 3};
            snprintf(name, sizeof name, "%0*d", 1 + i, i);
            if (i < 7 || is_old(form)) {
                put_attribute(group, name, H5T_STD_I32LE, simple_space(1, sizes, NULL), H5T_NATIVE_INT, kNumbers);
            }
            CHECK(H5Gclose(group));
        }
        snprintf(name, sizeof name, "another name %d", i);
        CHECK(H5Lcreate_hard(file, "one", file, name, H5P_DEFAULT, H5P_DEFAULT));
        if (i == 20) {
            CHECK(H5Fflush(file, H5F_SCOPE_GLOBAL));
        }
    }
    const hid_t dcpl = CHECK(H5Pcreate(H5P_DATASET_CREATE));
    CHECK(H5Pset_obj_track_times(dcpl, 1));
    put(file, "timed", H5T_STD_I8LE, CHECK(H5Screate(H5S_SCALAR)), dcpl, 0, NULL);
    CHECK(H5Fclose(file));
}

const Listed kStructureMakers[] = {
    {"kinds", make_kinds},
    {"superblocks", make_superblocks},
    {"spaces", make_spaces},
    {"states", make_states},
    {"groups", make_groups},
    {"dense", make_dense},
    {"links", make_links},
    {"names", make_names},
    {"attributes", make_attributes},
    {"shared", make_shared},
    {"drivers", make_drivers},
    {"headers", make_headers},
    {NULL, NULL},
};
