"""cases.py: the options with which every file is compared, and the objects of a file that are asked for by name."""

import os
import re

# Name: (command of h5mote, options). The output is compared with that of h5dump, h5ls or h5stat with the same options.
SETS = {
    "default": ("dump", []),
    "p": ("dump", ["-p"]),
    "H": ("dump", ["-H"]),
    "A": ("dump", ["-A"]),
    "B": ("dump", ["-B"]),
    "i": ("dump", ["-i"]),
    "r": ("dump", ["-r"]),
    "e": ("dump", ["-e"]),
    "y": ("dump", ["-y"]),
    "n": ("dump", ["-n"]),
    "n1": ("dump", ["-n", "1"]),
    "BHp": ("dump", ["-B", "-H", "-p"]),
    "w40": ("dump", ["-w", "40"]),
    "w0": ("dump", ["-w", "0"]),
    "m": ("dump", ["-m", "%.3f"]),
    "ls": ("ls", []),
    "ls-r": ("ls", ["-r"]),
    "ls-v": ("ls", ["-v"]),
    "ls-rv": ("ls", ["-r", "-v"]),
    "ls-rva": ("ls", ["-r", "-v", "-a"]),
    "ls-rvS": ("ls", ["-r", "-v", "-S"]),
    "ls-fg": ("ls", ["-f", "-g"]),
    "stat": ("stat", []),
    "stat-GDFS": ("stat", ["-G", "-D", "-F", "-S"]),
    "stat-gdA": ("stat", ["-g", "-d", "-A", "-l", "3", "-m", "5", "-a", "2"]),
}
DUMP_SETS = [name for name, (command, _) in SETS.items() if command == "dump"]
LS_SETS = [name for name, (command, _) in SETS.items() if command == "ls"]

# Files with a dataset so large that printing its values never ends: only headers are compared.
ENDLESS = {"hdf5-test/tlayouto.h5", "cve/cve-2018-11202.h5"}
WITHOUT_DATA = {"-H", "-n"}


def endless(file, command, options):
    """Whether this command with these options would print the file's values without end."""
    return file in ENDLESS and command == "dump" and not WITHOUT_DATA & set(options)


# Cases besides those that objects_of() finds by itself: paths spelt in other ways, objects that do not exist, options
# that do not fit, several objects at once. Cases of files that do not exist are left out.
TABLE = [
    ("hdf5-tools/tattr2.h5", ["-a", "/string", "-a", "/g1/array"]),
    ("hdf5-tools/tattr2.h5", ["-a", "/nosuch"]),
    ("hdf5-tools/tattr2.h5", ["-N", "string"]),
    ("hdf5-tools/tslink.h5", ["-l", "/slink2", "-l", "/slink1"]),
    ("hdf5-tools/tslink.h5", ["-l", "/nosuch"]),
    ("hdf5-tools/tdset.h5", ["-H", "-d", "/dset1", "-d", "dset2"]),
    ("hdf5-tools/tdset.h5", ["-d", "/dset1[1,1;;;]"]),
    ("hdf5-tools/tdset.h5", ["-d", "/dset1[1,1;2,2;3,3;1,2]"]),
    ("hdf5-tools/tdset.h5", ["-d", "/dset1", "-d", "/nosuch"]),
    ("hdf5-tools/tdset.h5", ["-d", "//dset1"]),
    ("hdf5-tools/tdset.h5", ["-d", "/./dset1"]),
    ("hdf5-tools/tgrp_comments.h5", ["-g", "/glongcomment"]),
    ("hdf5-tools/tnestedcmpddt.h5", ["-d", "/Compound/dset1"]),
    ("hdf5-tools/tfilters.h5", ["-H", "-p", "-d", "all"]),
    ("hdf5-tools/tfilters.h5", ["-p", "-d", "/deflate", "-w", "60"]),
    ("hdf5-tools/tdatareg.h5", ["-d", "/Dataset1"]),
    ("hdf5-tools/tfpformat.h5", ["-m", "%.7f"]),
    ("hdf5-tools/tfpformat.h5", ["-m", "%20.3e", "-w", "100"]),
    ("hdf5-tools/tfpformat.h5", ["-m", "%g"]),
    ("hdf5-tools/charsets.h5", ["-r", "-d", "/CharSets"]),
    ("hdf5-tools/taindices.h5", ["-y", "-d", "2d", "-s", "1,2", "-S", "3,3", "-c", "3,2", "-k", "2,2"]),
    ("hdf5-tools/taindices.h5", ["-d", "4d", "-s", "0,0,1,2", "-c", "2,2,3,3", "-S", "1,1,3,3", "-k", "1,1,2,2"]),
    ("hdf5-tools/taindices.h5", ["-d", "1d", "-s", "1", "-S", "10", "-c", "2", "-k", "3"]),
    ("hdf5-tools/tfamily%05d.h5", ["-f", "family"]),
    ("hdf5-tools/tfamily%05d.h5", ["-f", "split"]),
    ("hdf5-tools/tsplit_file", ["-f", "split"]),
    ("hdf5-tools/tsplit_file", ["-f", "sec2"]),
    ("hdf5-tools/tmulti", ["-f", "multi"]),
    ("hdf5-tools/textlinksrc.h5", ["-g", "/ext_link1"]),
    ("hdf5-tools/textlinksrc.h5", ["-d", "/ext_link2"]),
    ("hdf5-tools/torderattr.h5", ["-q", "creation_order"]),
    ("made/kinds-new.h5", ["-q", "creation_order", "-z", "descending"]),
    ("hdf5-tools-vds/2_vds.h5", ["--vds-view-first-missing"]),
    ("hdf5-tools-vds/vds-eiger.h5", ["--vds-gap-size=2"]),
    ("made/links-new.h5", ["-g", "/"]),
    ("made/links-new.h5", ["--nosuch"]),
    ("made/links-new.h5", ["-w", "-3"]),
]

OBJECT = re.compile(r"^(/.*?) {2,}(Group|Dataset|Type|Soft Link|External Link)(?: \{([^}]*)\})?")
MOST_OF_A_KIND = 2


def objects_of(file, folder, name, oracle):
    """Lists of options that each ask for one or more objects of a file. Damaged files are compared as a whole only."""
    found = [options for table_file, options in TABLE if table_file == file]
    if file.startswith("cve/") or file in ENDLESS:
        return found
    listing = oracle("h5ls", ["-r"], folder, name)
    if listing.code != 0:
        return found
    counts = {}
    for line in listing.output.decode("utf-8", "surrogateescape").split("\n"):
        match = OBJECT.match(line)
        if not match or "\\" in match[1]:
            continue
        path, kind, extent = match[1], match[2], match[3]
        counts[kind] = counts.get(kind, 0) + 1
        if counts[kind] > MOST_OF_A_KIND:
            continue
        if kind == "Group":
            found.append(["-g", path])
        elif kind == "Type":
            found.append(["-t", path])
        elif kind in ("Soft Link", "External Link"):
            found.append(["-l", path])
        else:
            found.append(["-p", "-d", path])
            found.append(["-N", os.path.basename(path)])
            found += subsets(path, extent)
    contents = oracle("h5dump", ["-n", "1"], folder, name)
    if contents.code == 0:
        attributes = re.findall(r"(?m)^ attribute +(\S+)$", contents.output.decode("utf-8", "surrogateescape"))
        found += [["-a", path] for path in attributes[:MOST_OF_A_KIND]]
        if attributes:
            found.append(["-N", os.path.basename(attributes[0])])
    return found


def subsets(path, extent):
    """Selections of a dataset whose extent h5ls shows as "10, 20/Inf"."""
    if not extent or not re.match(r"^[\d/Inf, ]+$", extent):
        return []
    sizes = [int(part.split("/")[0]) for part in extent.split(", ")]
    if 0 in sizes:
        return []

    def listed(numbers):
        return ",".join(str(number) for number in numbers)

    start = [min(1, size - 1) for size in sizes]
    stride = [3 if size > 6 else 1 for size in sizes]
    count = [max(1, min(2, (size - first) // step)) for size, first, step in zip(sizes, start, stride)]
    block = [2 if step == 3 and size - first >= 5 else 1 for size, first, step in zip(sizes, start, stride)]
    return [
        ["-d", path, "-c", listed([1] * len(sizes))],
        ["-d", path, "-s", listed(start), "-c", listed(count)],
        ["-y", "-d", path, "-s", listed(start), "-S", listed(stride), "-c", listed(count), "-k", listed(block)],
        ["-d", path, "-s", listed(sizes), "-c", listed([1] * len(sizes))],
    ]
