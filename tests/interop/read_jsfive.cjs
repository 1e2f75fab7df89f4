// read_jsfive.cjs MODULES FILE: prints what jsfive, a reader that is not libhdf5, finds in a file, as JSON: of each object
// its attributes, of each dataset also its shape and its values.
const fs = require("fs");
const path = require("path");

const hdf5 = require(path.join(process.argv[2], "jsfive"));
const bytes = fs.readFileSync(process.argv[3]);
const file = new hdf5.File(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length), "file");

// jsfive leaves the padding of strings where it is.
function plain(value) {
  if (typeof value === "string") {
    return value.replace(/\0+$/, "");
  }
  if (typeof value === "bigint") {
    return Number(value);
  }
  return value !== null && typeof value === "object" ? Array.from(value, plain) : value;
}

function describe(object) {
  const attributes = {};
  for (const [name, value] of Object.entries(object.attrs)) {
    attributes[name] = plain(value);
  }
  if (!(object instanceof hdf5.Group)) {
    return { attributes, shape: plain(object.shape), values: plain(object.value) };
  }
  const members = {};
  for (const name of object.keys) {
    members[name] = describe(object.get(name));
  }
  return { attributes, members };
}

console.log(JSON.stringify(describe(file)));
