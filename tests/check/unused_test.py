"""unused_test.py TOOL: the bytes that `h5mote check --unused` takes for unused in files of libhdf5 are overwritten, and
h5dump and h5stat print the same as before: the files of other tests, and those of the corpus if there is one and
H5MOTE_CORPUS_MADE_ONLY is not set."""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import sound_test

HERE = pathlib.Path(__file__).resolve().parent
UNUSED = re.compile(r"address 0x([0-9a-f]+): unused: (\d+) bytes$", re.M)
SIGNATURE = b"\x89HDF\r\n\x1a\n"
TIMEOUT = 10


def dump(path):
    """What h5dump says of the contents, and h5stat of the free-space managers, which h5dump does not read."""
    try:
        results = [subprocess.run([tool, path.name], cwd=path.parent, capture_output=True, timeout=TIMEOUT)
                   for tool in ("h5dump", "h5stat")]
    except subprocess.TimeoutExpired:
        return -1, []
    return results[0].returncode, [result.stdout for result in results]


def base_of(data):
    """Where the superblock begins: addresses count from there."""
    at = 0
    while data[at : at + 8] != SIGNATURE:
        at = 512 if at == 0 else 2 * at
        if at >= len(data):
            return None
    return at


def compare(tool, path):
    """The bytes that were overwritten, or None for a file that cannot be judged by itself."""
    check = subprocess.run([tool, "check", "--unused", path], capture_output=True, text=True, timeout=300)
    data = bytearray(path.read_bytes())
    base = base_of(data)
    if check.returncode != 0 or base is None:
        return None
    before = dump(path)
    # Of some files with shared messages h5dump 1.10 prints bytes of memory that it never set.
    if before[0] != 0 or dump(path) != before:
        return None
    count = 0
    for address, size in UNUSED.findall(check.stdout):
        begin = base + int(address, 16)
        end = min(begin + int(size), len(data))
        data[begin:end] = b"\xee" * max(end - begin, 0)
        count += max(end - begin, 0)
    kept = path.read_bytes()
    try:
        path.write_bytes(data)
        after = dump(path)
    finally:
        path.write_bytes(kept)
    if after != before:
        raise SystemExit(f"{path}: h5dump reads some of the bytes that should be unused:\n{check.stdout}")
    return count


def compare_all(tool, paths, what):
    results = [compare(tool, path) for path in paths]
    judged = [count for count in results if count is not None]
    changed = sum(count != 0 for count in judged)
    print(f"{what}: {len(paths)} files, {len(judged)} judged, {changed} with unused bytes, {sum(judged)} bytes")
    if 2 * len(judged) < len(paths) or 4 * changed < len(judged):
        raise SystemExit("too few")


def main():
    tool = os.path.abspath(sys.argv[1])
    corpus = os.environ.get("H5MOTE_CORPUS") or HERE.parents[2] / "shared" / "corpus"
    with tempfile.TemporaryDirectory() as folder:
        made = pathlib.Path(folder) / "made"
        subprocess.run([sys.executable, HERE.parent / "corpus" / "make_all.py", made], check=True)
        compare_all(tool, sound_test.files_of(made), "made here")
        if os.path.isdir(corpus) and not os.environ.get("H5MOTE_CORPUS_MADE_ONLY"):
            copies = pathlib.Path(folder) / "corpus"
            shutil.copytree(corpus, copies)
            compare_all(tool, [path for path in sound_test.files_of(copies) if path.parent.name != "cve"], "corpus")


if __name__ == "__main__":
    main()
