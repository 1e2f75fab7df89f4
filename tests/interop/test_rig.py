#!/usr/bin/python3
"""test_rig.py: tests the verifiers themselves. Each verifier must accept the reference files as they are, and must
reject each of a list of deliberate changes to a sidecar. Without node or the h5wasm packages, the verifier h5wasm is
left out, and the last line says so; H5MOTE_REQUIRE_H5WASM=1 makes that a failure."""

import os
import re
import shutil
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)

import expect

ALL = {"h5py", "h5dump", "h5wasm"}
H5PY = {"h5py"}


def flip_data(text):
    """Changes the last byte of the first long data statement."""
    return re.sub(r"(?m)^(data [0-9a-f]{6,})([0-9a-f]{2})$", lambda m: m[1] + "%02x" % (int(m[2], 16) ^ 1), text,
                  count=1)


def line(old, new):
    return lambda text: text.replace(old, new, 1)


def drop(pattern):
    return lambda text: re.sub("(?m)^%s\n(data.*\n)*" % pattern, "", text, count=1)


# (description, file, change of the sidecar, verifiers that must notice the change)
CHANGES = [
    ("value of a dataset", "links.h5", flip_data, ALL),
    ("value of an attribute", "attribute_order.h5", flip_data, ALL),
    ("value in the last chunk", "chunked_nd.h5", flip_data, ALL),
    ("value of a filtered dataset", "filters.h5", flip_data, ALL),
    ("checksum", "chunked_1d.h5", line("data-sha256 320000 ", "data-sha256 320000 0"), {"h5py", "h5wasm"}),
    ("missing dataset", "links.h5", lambda t: t + "dataset /none type=i4le shape=1\ndata 00000000\n", ALL),
    ("missing group", "links.h5", lambda t: t + "group /none\n", ALL),
    ("missing attribute", "times.h5", lambda t: t + "attr /g none type=i4le shape=scalar\ndata 00000000\n", ALL),
    ("unexpected dataset", "times.h5", drop("dataset /scalar .*"), ALL),
    ("unexpected attribute", "times.h5", drop("attr /g a .*"), ALL),
    ("unexpected link", "links.h5", drop("softlink /dangling .*"), ALL),
    ("unexpected hard link", "links.h5", drop("hardlink /hard .*"), ALL),
    ("target of a soft link", "links.h5", line("/nowhere", "/elsewhere"), ALL),
    ("object of a hard link", "links.h5", line("hardlink /hard = /a/b/data", "hardlink /hard = /a/b"),
     {"h5py", "h5wasm"}),
    ("kind of a link", "links.h5", line("hardlink /hard = /a/b/data", "softlink /hard -> /a/b/data"), ALL),
    ("shape", "chunked_nd.h5", line("shape=10x7", "shape=7x10"), ALL),
    ("maximum shape", "chunked_nd.h5", line("max=infx7", "max=10x7"), ALL),
    ("shape of an attribute", "attribute_order.h5", line("type=u2le shape=2", "type=u2le shape=1x2"), ALL),
    ("scalar, not one element", "times.h5", line("type=f8le shape=scalar", "type=f8le shape=1"), ALL),
    ("byte order", "times.h5", line("type=i4le shape=3", "type=i4be shape=3"), ALL),
    ("sign", "times.h5", line("type=i4le shape=3", "type=u4le shape=3"), ALL),
    ("name of a member", "superblock2.h5", line("t_ms@0", "t_us@0"), ALL),
    ("padding of a string", "types.h5", line(":spacepad:", ":nullpad:"), ALL),
    ("character set", "types.h5", line("str12:nullterm:utf8", "str12:nullterm:ascii"), ALL),
    ("member of an enumeration", "types.h5", line("LOW=0;", "LEAST=0;"), ALL),
    ("value of an enumeration", "types.h5", line("LARGE=2000000000", "LARGE=2000000001"), ALL),
    ("tag", "types.h5", line("opaque8:eight%20bytes", "opaque8:other%20bytes"), {"h5py", "h5dump"}),
    ("array dimensions", "types.h5", line("array(3x2;f4le)", "array(2x3;f4le)"), ALL),
    ("precision", "types.h5", line("i4le:12@4", "i4le:12@3"), H5PY),
    ("chunk", "chunked_nd.h5", line("chunk=3x2", "chunk=2x3"), {"h5py", "h5wasm"}),
    ("chunk index", "chunked_nd.h5", line("index=extensible_array", "index=btree2"), H5PY),
    ("layout", "superblock2.h5", line("layout=compact", "layout=contiguous"), H5PY),
    ("filters", "filters.h5", line("filters=2,1", "filters=1,2"), {"h5py", "h5wasm"}),
    ("no filters", "filters.h5", line(" filters=3", ""), {"h5py", "h5wasm"}),
    ("client data", "filters.h5", line("filters=2,1", "filters=2:4,1:9"), H5PY),
    ("fill value", "fill.h5", line("fill=ffffffff", "fill=fffffffe"), H5PY),
    ("no fill value", "fill.h5", line(" fill=ffffffff", ""), H5PY),
    ("allocation time", "fill.h5", line("alloc=early", "alloc=late"), H5PY),
    ("fill time", "fill.h5", line("fill_time=never", "fill_time=ifset"), H5PY),
    ("creation order of links", "link_order.h5",
     lambda t: re.sub(r"(?m)^(softlink /mike/a.*\n)(hardlink /mike/m.*\n)", r"\2\1", t), {"h5py", "h5wasm"}),
    ("creation order of unindexed links", "link_order.h5",
     lambda t: re.sub(r"(?m)^(group /unindexed/q\n)(group /unindexed/b\n)", r"\2\1", t), H5PY),
    ("creation order of attributes", "attribute_order.h5",
     lambda t: re.sub(r"(?m)^(attr / zulu.*\ndata.*\n)(attr / alpha.*\ndata.*\n)", r"\2\1", t), {"h5py", "h5wasm"}),
    ("tracking of links", "link_order.h5", line("group /mike track_order=1", "group /mike"), H5PY),
    ("tracking of attributes", "attribute_order.h5", line("group /tracked attr_order=1", "group /tracked"), H5PY),
    ("superblock", "superblock2.h5", line("superblock=2", "superblock=3"), H5PY),
    ("nothing at all", "times.h5", lambda t: "", ALL),
]


def verifiers():
    found = {"h5py": [sys.executable, os.path.join(HERE, "verify_h5py.py")],
             "h5dump": [sys.executable, os.path.join(HERE, "verify_h5dump.py")]}
    modules = os.environ.get("H5MOTE_NODE_MODULES") or os.path.join(HERE, "../../build/node/node_modules")
    if shutil.which("node") and os.path.isdir(os.path.join(modules, "h5wasm-2.0")):
        found["h5wasm"] = ["node", os.path.join(HERE, "verify_h5wasm.mjs")]
    return found


def run(command, *files):
    return subprocess.run(command + list(files), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)


def check_checksums():
    """The three ways to give data must agree, and padding must not count."""
    text = expect.MAGIC + "\ngroup /\ndataset /d type=compound(4;a@0:u1le;b@2:u2le) shape=2\n%s\n"
    data = bytes([1, 0xee, 2, 3, 4, 0xee, 5, 6])
    clear = bytes([1, 0, 2, 3, 4, 0, 5, 6])
    sha = expect.hashlib.sha256(clear).hexdigest()
    wrong = 0
    for statement, right in (("data " + data.hex(), True), ("data " + clear.hex(), True),
                             ("data 0100\ndata 0203040005 06".replace(" 06", "06"), True),
                             ("data-crc32 8 %08x" % expect.zlib.crc32(clear), True),
                             ("data-crc32 8 00000000", False), ("data-sha256 8 " + sha, True),
                             ("data-sha256 7 " + sha, False), ("data " + clear[:-1].hex(), False), ("", False)):
        difference = expect.Expect(text % statement).entries["/d"].compare_data(data)
        wrong += (difference is None) != right
    return wrong


def check_bad_sidecars():
    """An empty or senseless sidecar must be an error."""
    wrong = 0
    for body in ("", "group /a\n", "group /\ngroup /a/b\n", "group /\nnonsense /x\n", "group /\ngroup /\n",
                 "group /\ndataset /d type=i4 shape=1\n", "group /\ndataset /d shape=1\n",
                 "group /\ndataset /d type=i4le shape=1 colour=red\n", "group /\nattr /b a type=i4le shape=1\n",
                 "group /\nhardlink /x = /y\n"):
        try:
            expect.Expect(expect.MAGIC + "\n" + body)
            wrong += 1
        except expect.ExpectError:
            pass
    return wrong


def make_changes(directory):
    """Makes a copy of the file with a changed sidecar for each change. Returns (description, path, verifiers that must
    notice the change) for each."""
    made = []
    for number, (what, file, change, notice) in enumerate(CHANGES):
        with open(os.path.join(directory, file + ".expect"), encoding="utf-8") as sidecar:
            original = sidecar.read()
        changed = change(original)
        if changed == original:
            print("test_rig: %s: the change does not apply to %s" % (what, file))
            continue
        folder = os.path.join(directory, "change%02d" % number)
        os.mkdir(folder)
        path = os.path.join(folder, file)
        shutil.copyfile(os.path.join(directory, file), path)
        with open(path + ".expect", "w", encoding="utf-8") as sidecar:
            sidecar.write(changed)
        made.append((what, path, notice))
    return made


def check_refusals(name, command, sound, changed):
    """Runs a verifier on all changed files at once, because starting it takes longer than checking a file: it must
    refuse each of them. Then runs it on one changed file alone, and on one after sound files: the exit code must be
    that of the worst file."""
    wrong = 0
    mine = [(what, path) for what, path, notice in changed if name in notice]
    done = run(command, *[path for _, path in mine])
    said = done.stdout.decode("utf-8", "replace")
    if done.returncode != 1:
        wrong += 1
        print("test_rig: %s ends with %d" % (name, done.returncode))
    for what, path in mine:
        if not re.search(r"(?m)^%s\S* %s: FAILED," % (name, re.escape(path)), said):
            wrong += 1
            print("test_rig: %s does not notice: %s (%s)" % (name, what, os.path.basename(path)))
    for files in ([mine[0][1]], sound + [mine[-1][1]]):
        done = run(command, *files)
        if done.returncode != 1 or b"FAILED" not in done.stdout:
            wrong += 1
            print("test_rig: %s ends with %d: %s" % (name, done.returncode, files[-1]))
    return wrong


def main():
    failed = check_checksums() + check_bad_sidecars()
    points = 0
    commands = verifiers()
    with tempfile.TemporaryDirectory() as directory:
        made = run([sys.executable, os.path.join(HERE, "make_reference.py")], directory)
        if made.returncode != 0:
            print(made.stdout.decode())
            return 1
        with open(os.path.join(directory, "supported.list"), encoding="utf-8") as names:
            files = [os.path.join(directory, name.strip()) for name in names]
        for name, command in commands.items():
            done = run(command, *files)
            for _ in range(5 if name == "h5wasm" else 0):  # h5wasm can fail at random, see the script verify
                if done.returncode == 0:
                    break
                done = run(command, *files)
            if done.returncode != 0:
                failed += 1
                print(done.stdout.decode("utf-8", "replace"))
        changed = make_changes(directory)
        failed += len(CHANGES) - len(changed)
        for name, command in commands.items():
            failed += check_refusals(name, command, files, changed)
            points += sum(name in notice for _, _, notice in changed)
    missing = ALL - set(commands)
    if missing and os.environ.get("H5MOTE_REQUIRE_H5WASM") == "1":
        failed += 1
    print("test_rig: %d changes, %d refusals asked for, %d failed%s"
          % (len(CHANGES), points, failed, "; not tested: " + ", ".join(sorted(missing)) if missing else ""))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
