#!/usr/bin/env node
// versions_h5wasm.mjs MODULES PROGRAM TOOL FOLDER: makes files by the same calls with libhdf5 2.0, in the package
// h5wasm-2.0 of the folder MODULES, and with h5mote, in PROGRAM (interop_versions), under all pairs of version bounds, and
// compares which kinds and versions of structures both have, as TOOL (h5mote check --census) lists them, and the
// selections in their global heaps. Exit code 1 on any difference; 77 without the package.
//
// The package h5wasm-1.14 cannot set bounds. h5wasm has no calls for arrays, enumerations, committed datatypes, fill
// values, external and virtual data: tests/unit/versions_host_test.cpp compares these with the libhdf5 that it is linked
// with.

import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import v8 from "node:v8";

// See verify_h5wasm.mjs.
v8.setFlagsFromString("--no-liftoff");

const [modules, program, tool, folder] = process.argv.slice(2);
const bounds = ["earliest", "v18", "v110", "v112", "v114", "v200"];
const classes = { integer: 0, compound: 6, reference: 7 };
const shuffle = 2;

const number = { type: classes.integer, size: 4, signed: true, vlen: false };
const compound = (size, members) => ({
    type: classes.compound, size, signed: false, vlen: false, compound_type: { nmembers: members.length, members },
});
const pair = compound(8, [{ name: "a", offset: 0, ...number }, { name: "b", offset: 4, ...number }]);
const nested = compound(12, [{ name: "in", offset: 0, ...pair }, { name: "reference", offset: 8, ...number }]);
const region = { type: classes.reference, size: 12, signed: false, vlen: false };

class Maker {
    constructor(Module, file) {
        this.Module = Module;
        this.file = file;
        this.zeros = Module._calloc(4096, 1);
    }
    done(status, what) {
        if (Number(status) < 0) throw new Error("cannot make " + what);
    }
    // h5wasm's own unlimited dimension is the largest number that has 64 bits.
    dataset(name, type, shape, { maxshape = null, chunks = null, filtered = false, at = this.zeros } = {}) {
        const big = (dims) => dims?.map((d) => (d === Infinity ? 2n ** 64n - 1n : BigInt(d))) ?? null;
        const metadata = { ...type, shape: big(shape), maxshape: big(maxshape), chunks: big(chunks), track_order: false };
        if (filtered) Object.assign(metadata, { compression: shuffle, compression_opts: [] });
        this.done(this.Module.create_dataset(this.file, name, BigInt(at), metadata), name);
    }
    attribute(object, name, type, shape) {
        const metadata = { ...type, shape: shape.map(BigInt), maxshape: null, chunks: null };
        this.done(this.Module.create_attribute(this.file, object, name, BigInt(this.zeros), metadata), name);
    }
    group(name) {
        this.done(this.Module.create_group(this.file, name, false), name);
    }
    run() {
        this.group("/group");
        this.done(this.Module.create_soft_link(this.file, "/group", "/group/soft"), "soft");
        this.done(this.Module.create_hard_link(this.file, "/group", "/hard"), "hard");
        this.group("/other");
        this.done(this.Module.create_external_link(this.file, "nowhere.h5", "/x", "/elsewhere"), "elsewhere");
        this.dataset("/contiguous", number, [6, 6]);
        for (const [end, filtered] of [["", false], [" filtered", true]]) {
            this.dataset("/fixed" + end, number, [6, 6], { maxshape: [12, 12], chunks: [4, 4], filtered });
            this.dataset("/two" + end, number, [6, 6], { maxshape: [Infinity, Infinity], chunks: [4, 4], filtered });
            this.dataset("/single" + end, number, [6, 6], { chunks: [6, 6], filtered });
            this.dataset("/one" + end, number, [6], { maxshape: [Infinity], chunks: [4], filtered });
        }
        this.dataset("/pair", pair, [4]);
        this.dataset("/nested", nested, [4]);
        this.attribute("/", "pair", pair, [4]);
        this.attribute("/", "number", number, [4]);
        this.references();
        this.group("/crowd");
        for (let i = 0; i < 20; ++i) {
            this.group("/crowd/n" + i);
            this.attribute("/crowd", "n" + i, number, [1]);
        }
    }
    references() {
        const strides = [[1, 1], [2, 1], [2, 2], [2, 2]];
        const counts = [[2, 3], [2, 3], [2, 2], [2, 3]];
        const made = strides.map((stride, i) => Array.from(this.Module.create_region_reference(
            this.file, "/contiguous", counts[i].map(BigInt), [1n, 0n], stride.map(BigInt)))).flat();
        const at = this.Module._malloc(made.length);
        this.Module.HEAPU8.set(made, at);
        this.dataset("/regions", region, [4], { at });
    }
}

function census(path) {
    const { status, stdout, stderr } = spawnSync(tool, ["check", "--census", path], { encoding: "utf8" });
    if (status !== 0) throw new Error(`${path}: check failed: ${stdout}${stderr}`);
    const kinds = stdout.split("\n").filter((line) => line.startsWith(path + ": ") && / \d+$|: \d+$/.test(line))
        .map((line) => line.slice(path.length + 2).replace(/: \d+$/, ""));
    return new Set(kinds);
}

// What the global heap has, but for the address of an object with which each region begins.
function heapObjects(path) {
    const bytes = readFileSync(path);
    const found = new Set();
    for (let at = bytes.indexOf("GCOL"); at >= 0; at = bytes.indexOf("GCOL", at + 1)) {
        const end = at + Number(bytes.readBigUInt64LE(at + 8));
        for (let object = at + 16; object + 16 <= end && bytes.readUInt16LE(object) !== 0;) {
            const size = Number(bytes.readBigUInt64LE(object + 8));
            found.add("selection " + bytes.subarray(object + 16 + 8, object + 16 + size).toString("hex"));
            object += 16 + Math.ceil(size / 8) * 8;
        }
    }
    return found;
}

// libhdf5 2.0 gives datasets without chunks layout version 3 also with the bounds v110 to v114, with which releases
// before it, and h5mote, give them version 4. Both have version 4 for chunks then, so that libhdf5's file has one more.
function known(low, kind) {
    return ["v110", "v112", "v114"].includes(low) && /version 3/.test(kind) && /layout/.test(kind) &&
        !/index/.test(kind);
}

function compare(low, high, theirs, ours) {
    const kinds = (path) => new Set([...census(path), ...heapObjects(path)]);
    const [a, b] = [kinds(theirs), kinds(ours)];
    const expected = [...a].filter((kind) => known(low, kind));
    const differences = [
        ...[...a].filter((kind) => !b.has(kind) && !known(low, kind)).map((kind) => "only libhdf5: " + kind),
        ...[...b].filter((kind) => !a.has(kind)).map((kind) => "only h5mote: " + kind),
    ];
    const regions = [...a].filter((kind) => kind.startsWith("selection")).length;
    if (a.size < 15 || regions !== 4) differences.push(`libhdf5's file has only ${a.size} kinds, ${regions} regions`);
    console.log(`${low} to ${high}: ${differences.length > 0 ? "FAILED" : "ok"}, ${a.size} kinds and versions` +
                (expected.length > 0 ? `, but for ${expected.join(" and ")}` : ""));
    for (const line of differences) console.log("    " + line);
    return differences.length === 0;
}

async function main() {
    if (folder === undefined) {
        console.log("usage: versions_h5wasm.mjs MODULES PROGRAM TOOL FOLDER");
        return 2;
    }
    mkdirSync(folder, { recursive: true });
    const entry = join(modules, "h5wasm-2.0/dist/node/hdf5_hl.js");
    if (!existsSync(entry)) {
        console.log("no " + entry);
        return 77;
    }
    const h5wasm = await import(pathToFileURL(entry).href);
    const Module = await h5wasm.ready;
    Module.activate_throwing_error_handler();
    let failed = 0, compared = 0;
    for (const [low, high] of bounds.flatMap((low, i) => bounds.slice(Math.max(i, 1)).map((high) => [low, high]))) {
        const theirs = resolve(folder, `${low}_${high}_theirs.h5`);
        const ours = resolve(folder, `${low}_${high}_ours.h5`);
        rmSync(theirs, { force: true });
        const file = Module.open(theirs, Module.H5F_ACC_TRUNC, false, bounds.indexOf(low), bounds.indexOf(high));
        new Maker(Module, file).run();
        Module.close_file(file);
        const { status, stderr } = spawnSync(program, [low, high, ours], { encoding: "utf8" });
        if (status === 77) return 77;
        if (status !== 0) throw new Error(`interop_versions ${low} ${high}: ${stderr}`);
        failed += compare(low, high, theirs, ours) ? 0 : 1;
        ++compared;
    }
    console.log(`${compared} pairs of bounds, ${failed} failed`);
    return failed > 0 || compared !== 20 ? 1 : 0;
}

process.exit(await main());
