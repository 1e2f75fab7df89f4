#!/usr/bin/env node
// verify_h5wasm.mjs FILE...: compares each file, as libhdf5 1.14.6 and 2.0.0 read it through h5wasm, with FILE.expect:
// names, links, datatypes, shapes, chunks, filters and every byte of the values. Fill values, allocation times, tags of
// opaque types and orders of unindexed links are not in h5wasm's reach, nor are files with filters that it does not have
// or cannot list (szip, nbit, scaleoffset, lzf): those are left out by name. Exit code 1 on any difference.
// H5MOTE_NODE_MODULES names the folder that holds the packages h5wasm-1.14 and h5wasm-2.0 (default: build/node/
// node_modules of the checkout). The sidecar's format stands in expect.py.

import { createHash } from "node:crypto";
import fs, { existsSync, readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import v8 from "node:v8";

// With both of V8's WebAssembly compilers at work on a busy machine, calls into libhdf5 return zeros or fail now and then,
// also for files that libhdf5 wrote itself (node 20). With the optimising one alone they do so less.
v8.setFlagsFromString("--no-liftoff");

const here = dirname(fileURLToPath(import.meta.url));
const modules = process.env.H5MOTE_NODE_MODULES ?? resolve(here, "../../build/node/node_modules");
const versions = (process.env.H5MOTE_H5WASM ?? "h5wasm-1.14,h5wasm-2.0").split(",");
const kinds = { group: 0, dataset: 1, datatype: 2 };
const unlimited = -1;
const filtersOfH5wasm = [1, 2, 3]; // deflate, shuffle, fletcher32

// --- the sidecar ---------------------------------------------------------------------------------------------------

function unquote(text) {
    return decodeURIComponent(text);
}

function splitTop(text) {
    const parts = [];
    let depth = 0, start = 0;
    for (let i = 0; i < text.length; ++i) {
        if (text[i] === "(") ++depth;
        if (text[i] === ")") --depth;
        if (text[i] === ";" && depth === 0) {
            parts.push(text.slice(start, i));
            start = i + 1;
        }
    }
    return [...parts, text.slice(start)];
}

// A datatype as { kind, size, ... }; kind "other" for those whose values are not compared.
function parseType(text) {
    let m;
    if ((m = /^(i|u|f|bits)(\d+)(le|be)(:\d+@\d+)?$/.exec(text))) {
        return { kind: m[1], size: Number(m[2]), order: m[3] };
    }
    if ((m = /^str(\d+):(nullterm|nullpad|spacepad):(ascii|utf8)$/.exec(text))) {
        return { kind: "str", size: Number(m[1]), pad: m[2], cset: m[3] };
    }
    if ((m = /^opaque(\d+):/.exec(text))) {
        return { kind: "opaque", size: Number(m[1]) };
    }
    if ((m = /^(enum|array|compound)\((.*)\)$/.exec(text))) {
        const [head, ...rest] = splitTop(m[2]);
        if (m[1] === "enum") {
            const base = parseType(head);
            return { kind: "enum", size: base.size, order: base.order, base, members: rest.map((r) => r.split("=")) };
        }
        if (m[1] === "array") {
            const dims = head.split("x").map(Number), base = parseType(rest[0]);
            return { kind: "array", dims, base, order: base.order, size: dims.reduce((a, b) => a * b, base.size) };
        }
        const members = rest.map((r) => /^([^@]*)@(\d+):(.*)$/.exec(r))
            .map((r) => ({ name: unquote(r[1]), offset: Number(r[2]), type: parseType(r[3]) }));
        return { kind: "compound", size: Number(head), members };
    }
    if (/^(vlen\(|vlstr:|ref:)/.test(text)) {
        return { kind: "other" };
    }
    throw new Error("no datatype: " + text);
}

// [offset, size, order] of every single value in an element.
function leaves(type, at = 0) {
    if (type.kind === "array") {
        const count = type.size / type.base.size;
        return Array.from({ length: count }, (_, i) => leaves(type.base, at + i * type.base.size)).flat();
    }
    if (type.kind === "compound") {
        return type.members.flatMap((m) => leaves(m.type, at + m.offset));
    }
    return [[at, type.size, type.order]];
}

function parseShape(text) {
    if (text === "null") return null;
    return text === "scalar" ? [] : text.split("x").map((d) => (d === "inf" ? unlimited : Number(d)));
}

function parseSidecar(text) {
    const entries = new Map();
    let last = null;
    const lines = text.split("\n");
    if (lines[0] !== "h5mote-expect 1") throw new Error("no sidecar");
    for (const line of lines.slice(1)) {
        if (line === "" || line.startsWith("#")) continue;
        const words = line.split(" ");
        const fields = () => Object.fromEntries(words.filter((w) => w.includes("=")).map((w) => {
            const i = w.indexOf("=");
            return [w.slice(0, i), w.slice(i + 1)];
        }));
        switch (words[0]) {
            case "file": break;
            case "data": last.hex = (last.hex ?? "") + (words[1] ?? ""); break;
            case "data-crc32":
            case "data-sha256": last.digest = { algorithm: words[0].slice(5), length: Number(words[1]), hex: words[2] };
                break;
            case "data-skip": last.skip = true; break;
            case "attr":
                last = { kind: "attr", name: unquote(words[2]), fields: fields() };
                entries.get(unquote(words[1])).attrs.push(last);
                break;
            default: {
                const path = unquote(words[1]);
                last = { kind: words[0], path, fields: fields(), attrs: [], target: words.slice(3).map(unquote) };
                entries.set(path, last);
            }
        }
        if (last?.fields?.type !== undefined && last.type === undefined) {
            last.type = parseType(last.fields.type);
            if (last.fields.shape !== undefined) {
                last.shape = parseShape(last.fields.shape);
                last.max = parseShape(last.fields.max ?? last.fields.shape);
                last.count = last.shape === null ? 0 : last.shape.reduce((a, b) => a * b, 1);
            }
        }
    }
    return entries;
}

const filterIds = (entry) => (entry.fields.filters ?? "").split(",").filter((f) => f !== "").map((f) => parseInt(f, 10));

function inReach(entries) {
    return [...entries.values()].every((entry) => filterIds(entry).every((id) => filtersOfH5wasm.includes(id)));
}

const parentOf = (path) => path.slice(0, path.lastIndexOf("/")) || "/";
const leafOf = (path) => path.slice(path.lastIndexOf("/") + 1);

// --- one file with one version -------------------------------------------------------------------------------------

const crcTable = Array.from({ length: 256 }, (_, n) => {
    for (let k = 0; k < 8; ++k) n = n & 1 ? 0xedb88320 ^ (n >>> 1) : n >>> 1;
    return n >>> 0;
});

function digest(algorithm, bytes) {
    if (algorithm === "sha256") return createHash("sha256").update(bytes).digest("hex");
    let crc = 0xffffffff;
    for (const b of bytes) crc = crcTable[(crc ^ b) & 255] ^ (crc >>> 8);
    return ((crc ^ 0xffffffff) >>> 0).toString(16).padStart(8, "0");
}

class Verifier {
    constructor(Module, file, entries) {
        this.Module = Module;
        this.file = file;
        this.entries = entries;
        this.checks = 0;
        this.differences = [];
    }

    check(what, actual, wanted) {
        ++this.checks;
        const [a, w] = [JSON.stringify(actual), JSON.stringify(wanted)];
        if (a !== w) this.differences.push(`${what}: ${a}, expected ${w}`);
    }

    run() {
        for (const entry of this.entries.values()) {
            if (entry.kind === "softlink") {
                this.check(entry.path + " target", this.Module.get_symbolic_link(this.file, entry.path),
                           entry.target[0]);
            } else if (entry.kind === "externallink") {
                const link = this.Module.get_external_link(this.file, entry.path);
                this.check(entry.path + " target", [link.filename, link.obj_path], entry.target);
            } else if (entry.kind === "hardlink") {
                const reference = (path) => Array.from(this.Module.create_object_reference(this.file, path));
                this.check(entry.path + " object", reference(entry.path), reference(entry.target[0]));
            } else {
                this.object(entry);
            }
        }
    }

    object(entry) {
        this.check(entry.path + " kind", this.Module.get_type(this.file, entry.path), kinds[entry.kind]);
        const names = Array.from(this.Module.get_attribute_names(this.file, entry.path));
        this.names(entry.path + " attributes", names, entry.attrs.map((a) => a.name), entry.fields.attr_order);
        for (const a of entry.attrs) {
            this.attribute(`${entry.path} attribute ${a.name}`, entry.path, a);
        }
        if (entry.kind === "group") {
            const links = Array.from(this.Module.get_names(this.file, entry.path, false));
            const wanted = [...this.entries.values()]
                .filter((e) => e.path !== "/" && parentOf(e.path) === entry.path).map((e) => leafOf(e.path));
            this.names(entry.path + " links", links, wanted, entry.fields.track_order);
        } else if (entry.kind === "dataset") {
            this.dataset(entry);
        } else if (entry.kind === "datatype") {
            this.type(entry.path, this.Module.get_datatype_metadata(this.file, entry.path), entry.type);
        }
    }

    // h5wasm sorts by name where the order of creation is not indexed: either order is right then.
    names(what, actual, wanted, ordered) {
        const byName = (list) => list.map((n) => Buffer.from(n)).sort(Buffer.compare).map(String);
        this.check(what, byName(actual), byName(wanted));
        if (ordered && JSON.stringify(actual) !== JSON.stringify(byName(actual))) {
            this.check(what + " in creation order", actual, wanted);
        }
    }

    type(what, found, wanted) {
        const classes = { i: 0, u: 0, f: 1, str: 3, bits: 4, opaque: 5, compound: 6, enum: 8, array: 10 };
        if (wanted.kind === "other") return;
        this.check(what + " class", found.type, classes[wanted.kind]);
        // An array's base is described without the size of the whole where types nest.
        this.check(what + " size", Number(found.size), wanted.size);
        switch (wanted.kind) {
            case "i":
            case "u": this.check(what + " signed", found.signed, wanted.kind === "i"); // falls through
            case "f":
            case "bits": this.check(what + " little-endian", found.littleEndian, wanted.order === "le"); break;
            case "str":
                this.check(what + " padding", found.strpad, ["nullterm", "nullpad", "spacepad"].indexOf(wanted.pad));
                this.check(what + " character set", found.cset, ["ascii", "utf8"].indexOf(wanted.cset));
                this.check(what + " variable", found.vlen, false);
                break;
            case "enum":
                this.check(what + " members", Object.keys(found.enum_type.members).sort(),
                           wanted.members.map((m) => unquote(m[0])).sort());
                // h5wasm converts values to 32-bit integers.
                for (const [name, value] of wanted.members) {
                    if (Math.abs(Number(value)) < 2 ** 31) {
                        this.check(`${what} ${name}`, found.enum_type.members[unquote(name)], Number(value));
                    }
                }
                break;
            case "array":
                this.check(what + " dims", found.array_type.shape, wanted.dims);
                this.type(what + " base", found.array_type, wanted.base);
                break;
            case "compound":
                this.check(what + " members", found.compound_type.members.map((m) => [m.name, m.offset]),
                           wanted.members.map((m) => [m.name, m.offset]));
                wanted.members.forEach((m, i) => {
                    const member = found.compound_type.members[i];
                    if (member !== undefined) this.type(`${what}.${m.name}`, member, m.type);
                });
        }
    }

    shape(what, found, wanted) {
        const size = (d) => (d === null || Number(d) >= 2 ** 63 ? unlimited : Number(d));
        const plain = (dims) => (dims == null ? null : Array.from(dims, size));
        this.check(what, plain(found), wanted);
    }

    attribute(what, path, a) {
        const found = this.Module.get_attribute_metadata(this.file, path, a.name);
        this.type(what + " type", found, a.type);
        this.shape(what + " shape", found.shape, a.shape);
        this.values(what, a, (to) => this.Module.get_attribute_data(this.file, path, a.name, BigInt(to)));
    }

    dataset(entry) {
        const { path: what, fields } = entry;
        const found = this.Module.get_dataset_metadata(this.file, what);
        this.type(what + " type", found, entry.type);
        this.shape(what + " shape", found.shape, entry.shape);
        this.shape(what + " max", found.maxshape, entry.max);
        this.shape(what + " chunk", found.chunks, fields.chunk === undefined ? null : parseShape(fields.chunk));
        const filters = Array.from(this.Module.get_dataset_filters(this.file, what), (f) => f.id);
        this.check(what + " filters", filters, filterIds(entry));
        this.values(what, entry,
                    (to) => this.Module.get_dataset_data(this.file, what, null, null, null, BigInt(to)));
    }

    // Reads all bytes as the file has them; h5wasm turns big-endian numbers round where the whole type is big-endian.
    values(what, entry, read) {
        if (entry.skip || entry.type.kind === "other" || entry.count === 0) return;
        const size = entry.count * entry.type.size;
        const at = this.Module._malloc(size);
        let bytes;
        // h5wasm tries to change the byte order of enumerations, which fails and does no harm: no throwing here.
        this.Module.deactivate_throwing_error_handler();
        const write = fs.writeSync;
        fs.writeSync = (fd, bytes, ...rest) => (fd === 2 ? rest[1] ?? bytes.length : write(fd, bytes, ...rest));
        try {
            if (read(at) < 0) throw new Error("cannot read " + what);
            bytes = Buffer.from(this.Module.HEAPU8.slice(at, at + size));
        } finally {
            fs.writeSync = write;
            this.Module.activate_throwing_error_handler();
            this.Module._free(at);
        }
        ++this.checks;
        const pieces = leaves(entry.type);
        const [asFile, swapped] = [false, true].map((swap) => this.normal(bytes, entry, pieces, swap));
        let wanted;
        if (entry.digest) {
            const { algorithm, length, hex } = entry.digest;
            const fits = length === size && [asFile, swapped].some((b) => digest(algorithm, b) === hex.toLowerCase());
            if (!fits) this.differences.push(`${what}: ${algorithm} differs`);
            return;
        }
        wanted = Buffer.from(entry.hex ?? "", "hex");
        wanted = wanted.length === size ? this.normal(wanted, entry, pieces, false) : wanted;
        if (wanted.equals(asFile) || wanted.equals(swapped)) return;
        let first = 0;
        while (first < size && asFile[first] === wanted[first]) ++first;
        first = Math.floor(first / entry.type.size);
        const piece = (b) => b.subarray(first * entry.type.size, (first + 1) * entry.type.size).toString("hex");
        this.differences.push(`${what}: element ${first} is ${piece(asFile)}, expected ${piece(wanted)}`);
    }

    // Only the bytes that belong to values, big-endian ones reversed if asked to.
    normal(bytes, entry, pieces, swap) {
        const out = Buffer.alloc(bytes.length);
        for (let base = 0; base < bytes.length; base += entry.type.size) {
            for (const [offset, size, order] of pieces) {
                const at = base + offset;
                bytes.copy(out, at, at, at + size);
                if (swap && order === "be") out.subarray(at, at + size).reverse();
            }
        }
        return out;
    }
}

// --- all files with all versions -----------------------------------------------------------------------------------

async function main(files) {
    if (files.length === 0) {
        console.log("usage: verify_h5wasm.mjs FILE...");
        return 2;
    }
    let failed = 0, checks = 0, leftOut = 0;
    for (const version of versions) {
        const entry = join(modules, version, "dist/node/hdf5_hl.js");
        if (!existsSync(entry)) throw new Error("no " + entry + ": set H5MOTE_NODE_MODULES");
        const h5wasm = await import(pathToFileURL(entry).href);
        const Module = await h5wasm.ready;
        Module.activate_throwing_error_handler();
        for (const path of files) {
            let verifier = null, differences = [], count = 0, handle = null;
            try {
                const entries = parseSidecar(readFileSync(path + ".expect", "utf8"));
                if (!inReach(entries)) {
                    console.log(`${version} ${path}: left out, has filters that h5wasm has not`);
                    ++leftOut;
                    continue;
                }
                // A name of its own for each: h5wasm leaves identifiers open, and libhdf5 knows an open file again.
                const name = `/file${files.indexOf(path)}.h5`;
                Module.FS.writeFile(name, new Uint8Array(readFileSync(path)));  // a copy: it is kept
                handle = new h5wasm.File(name, "r");
                verifier = new Verifier(Module, handle.file_id, entries);
                verifier.run();
            } catch (error) {
                differences.push(String(error?.message ?? error).split("\n").slice(0, 3).join(" | "));
            }
            try {
                handle?.close();
            } catch (error) {
                differences.push("cannot close: " + error);
            }
            differences = [...(verifier?.differences ?? []), ...differences];
            count = verifier?.checks ?? 0;
            checks += count;
            failed += differences.length > 0 ? 1 : 0;
            console.log(`${version} ${path}: ${differences.length > 0 ? "FAILED," : "ok,"} ${count} checks`);
            for (const line of differences.slice(0, 20)) console.log("    " + line);
            if (differences.length > 20) console.log(`    ... ${differences.length - 20} more`);
        }
    }
    console.log(`h5wasm: ${files.length} files, ${versions.length} versions, ${checks} checks, ${leftOut} left out, ` +
                `${failed} failed`);
    return failed > 0 || checks === 0 ? 1 : 0;
}

process.exit(await main(process.argv.slice(2)));
