/*
 * Counts the guest instructions that the emulator executes, exactly: in all, or between two marker functions.
 *
 * Arguments (-plugin insn_count.so,outfile=FILE[,start=0xADDR,stop=0xADDR[,pause=0xADDR,resume=0xADDR][,each=FILE]]):
 *   outfile  gets four lines when the guest ends: `total N`, `instructions N`, `intervals N`, `most N`, the longest one
 *   start    address of h5mote_count_begin, stop: of h5mote_count_end; without them the whole run is the interval
 *   pause    address of h5mote_count_pause, resume: of h5mote_count_resume: what runs between them, calls included, is
 *            left out of an interval
 *   each     gets a line for each interval
 * Counted is what runs after the begin marker's first instruction until before the end marker's, minus the call of the
 * end marker: markers that are a mere `bx lr` count nothing for an empty interval.
 *
 * The emulator's plugin header is not packaged; these are the declarations that we use of its interface, version 1.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef uint64_t qemu_plugin_id_t;
struct qemu_plugin_tb;
struct qemu_plugin_insn;
struct qemu_info;
enum { QEMU_PLUGIN_CB_NO_REGS = 0, QEMU_PLUGIN_INLINE_ADD_U64 = 0 };

void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t, void (*)(qemu_plugin_id_t, struct qemu_plugin_tb*));
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb*);
struct qemu_plugin_insn* qemu_plugin_tb_get_insn(const struct qemu_plugin_tb*, size_t);
uint64_t qemu_plugin_insn_vaddr(const struct qemu_plugin_insn*);
void qemu_plugin_register_vcpu_insn_exec_cb(struct qemu_plugin_insn*, void (*)(unsigned, void*), int flags, void*);
void qemu_plugin_register_vcpu_insn_exec_inline(struct qemu_plugin_insn*, int operation, void*, uint64_t);
void qemu_plugin_register_atexit_cb(qemu_plugin_id_t, void (*)(qemu_plugin_id_t, void*), void*);

__attribute__((visibility("default"))) int qemu_plugin_version = 1;

static uint64_t executed; /* instructions since the start of the machine */
static uint64_t began, counted, intervals, most;
static uint64_t paused, left_out; /* since the interval began */
static bool running, whole = true;
static uint64_t start_address, stop_address, pause_address, resume_address;
static const char* outfile;
static FILE* each;

static void at_start(unsigned cpu, void* data) {
    (void)cpu, (void)data;
    began = executed;
    left_out = 0;
    running = true;
}

static void at_stop(unsigned cpu, void* data) {
    (void)cpu, (void)data;
    if (running) {
        /* The end marker's first instruction and the call to it are counted already and not meant. */
        const uint64_t interval = executed - began - 2 - left_out;
        counted += interval;
        most = interval > most ? interval : most;
        ++intervals;
        running = false;
        if (each != NULL) {
            fprintf(each, "%" PRIu64 "\n", interval);
        }
    }
}

static void at_pause(unsigned cpu, void* data) {
    (void)cpu, (void)data;
    paused = executed;
}

static void at_resume(unsigned cpu, void* data) {
    (void)cpu, (void)data;
    /* The call of the first marker, its return, and this one's. */
    left_out += executed - paused + 2;
}

static void translated(qemu_plugin_id_t id, struct qemu_plugin_tb* block) {
    (void)id;
    const size_t count = qemu_plugin_tb_n_insns(block);
    for (size_t i = 0; i < count; ++i) {
        struct qemu_plugin_insn* const instruction = qemu_plugin_tb_get_insn(block, i);
        qemu_plugin_register_vcpu_insn_exec_inline(instruction, QEMU_PLUGIN_INLINE_ADD_U64, &executed, 1);
        if (!whole) {
            const uint64_t address = qemu_plugin_insn_vaddr(instruction);
            if (address == start_address) {
                qemu_plugin_register_vcpu_insn_exec_cb(instruction, at_start, QEMU_PLUGIN_CB_NO_REGS, NULL);
            } else if (address == stop_address) {
                qemu_plugin_register_vcpu_insn_exec_cb(instruction, at_stop, QEMU_PLUGIN_CB_NO_REGS, NULL);
            } else if (address == pause_address && pause_address != 0) {
                qemu_plugin_register_vcpu_insn_exec_cb(instruction, at_pause, QEMU_PLUGIN_CB_NO_REGS, NULL);
            } else if (address == resume_address && resume_address != 0) {
                qemu_plugin_register_vcpu_insn_exec_cb(instruction, at_resume, QEMU_PLUGIN_CB_NO_REGS, NULL);
            }
        }
    }
}

static void finished(qemu_plugin_id_t id, void* data) {
    (void)id, (void)data;
    FILE* const out = fopen(outfile, "w");
    if (out == NULL) {
        perror(outfile);
        return;
    }
    fprintf(out, "total %" PRIu64 "\ninstructions %" PRIu64 "\nintervals %" PRIu64 "\nmost %" PRIu64 "\n", executed,
            whole ? executed : counted, whole ? 1 : intervals, whole ? executed : most);
    fclose(out);
    if (each != NULL) {
        fclose(each);
    }
}

__attribute__((visibility("default"))) int qemu_plugin_install(qemu_plugin_id_t id, const struct qemu_info* info,
                                                               int argc, char** argv) {
    (void)info;
    for (int i = 0; i < argc; ++i) {
        if (strncmp(argv[i], "outfile=", 8) == 0) {
            outfile = strdup(argv[i] + 8);
        } else if (strncmp(argv[i], "start=", 6) == 0) {
            start_address = strtoull(argv[i] + 6, NULL, 0) & ~UINT64_C(1);
            whole = false;
        } else if (strncmp(argv[i], "stop=", 5) == 0) {
            stop_address = strtoull(argv[i] + 5, NULL, 0) & ~UINT64_C(1);
        } else if (strncmp(argv[i], "pause=", 6) == 0) {
            pause_address = strtoull(argv[i] + 6, NULL, 0) & ~UINT64_C(1);
        } else if (strncmp(argv[i], "resume=", 7) == 0) {
            resume_address = strtoull(argv[i] + 7, NULL, 0) & ~UINT64_C(1);
        } else if (strncmp(argv[i], "each=", 5) == 0) {
            each = fopen(argv[i] + 5, "w");
            if (each == NULL) {
                perror(argv[i] + 5);
                return -1;
            }
        } else {
            fprintf(stderr, "insn_count: unknown argument '%s'\n", argv[i]);
            return -1;
        }
    }
    if (outfile == NULL) {
        fprintf(stderr, "insn_count: outfile= is missing\n");
        return -1;
    }
    qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
    qemu_plugin_register_atexit_cb(id, finished, NULL);
    return 0;
}
