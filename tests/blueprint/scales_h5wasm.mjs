// scales_h5wasm.mjs MODULES FILE...: whether libhdf5 1.14 and 2.0, in the packages h5wasm-1.14 and h5wasm-2.0 of the
// folder MODULES, find the scales of the files that record_scales made. Exit code 1 if not.
import { readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { pathToFileURL } from "node:url";
import v8 from "node:v8";

// See tests/interop/verify_h5wasm.mjs.
v8.setFlagsFromString("--no-liftoff");

const [modules, ...files] = process.argv.slice(2);
let failures = 0;

function expect(where, found, expected) {
    if (JSON.stringify(found) !== JSON.stringify(expected)) {
        console.log(`${where}: ${JSON.stringify(found)}, not ${JSON.stringify(expected)}`);
        ++failures;
    }
}

for (const version of ["h5wasm-1.14", "h5wasm-2.0"]) {
    const h5wasm = await import(pathToFileURL(join(modules, version, "dist/node/hdf5_hl.js")));
    const { FS } = await h5wasm.ready;
    for (const path of files) {
        const name = basename(path);
        FS.writeFile(name, readFileSync(path));
        const file = new h5wasm.File(name, "r");
        const where = `${version} ${name}`;
        expect(where, file.get("flight/imu").get_attached_scales(0), ["/flight/t_us"]);
        expect(where, file.get("flight/imu").get_dimension_labels(), ["time"]);
        expect(where, file.get("flight/pressure").get_attached_scales(0), ["/flight/t_us", "/flight/index"]);
        expect(where, file.get("gains").get_attached_scales(0), []);
        expect(where, file.get("gains").get_attached_scales(1), ["/axis"]);
        file.close();
    }
}
process.exitCode = failures === 0 && files.length > 0 ? 0 : 1;
