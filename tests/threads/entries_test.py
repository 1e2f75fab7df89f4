#!/usr/bin/env python3
"""entries_test PROJECT: no public function of a handle is missing in tests/unit/library_lock*_test.cpp.

These tests show for each call that they make that the call takes the Library's lock. This script reads the
public headers, and fails when a class there has a public function that the test does not call, unless EXCUSED names it.
"""

import pathlib
import re
import sys

HEADERS = {
    "file.hpp": ["File"],
    "object.hpp": ["Object"],
    "group.hpp": ["Group", "LinkIterator"],
    "dataset.hpp": ["Dataset", "ChunkIterator", "TypedDataset"],
    "attribute.hpp": ["Attribute", "AttributeIterator"],
    "link.hpp": ["Link"],
    "named_datatype.hpp": ["NamedDatatype"],
    "selection_set.hpp": ["SelectionSet"],
    "context.hpp": ["Context"],
}
# Functions that need no lock: those that look only at the handle's own memory, which no other thread changes (see
# h5mote/library.hpp), and those that a Context offers to the layers below, which hold the lock already.
EXCUSED = {
    "Object": {"address", "same_file"},
    "Attribute": {
        "name", "character_set", "has_order", "creation_order", "type", "type_object", "dataspace", "element_count",
        "data_size", "object_address",
    },
    "Link": {
        "type", "user_defined", "name", "character_set", "has_order", "order", "address", "data", "target", "file_name",
        "assign",
    },
    "NamedDatatype": {"type"},
    "SelectionSet": {"view", "type", "rank", "is_regular", "unlimited_dimension"},
    "Context": {
        "allocate", "allocate_spare", "release", "create", "destroy", "add_reclaimer", "remove_reclaimer", "find_filter",
        "conversions", "fail", "unsupported", "trail", "port", "allocator", "open_files", "formats",
    },
}


def class_body(text, name):
    start = re.search(rf"^class {name}\b[^;{{]*{{", text, re.M)
    if not start:
        sys.exit(f"entries_test: no class {name}")
    return text[start.end() : text.index("\n};", start.end())]


def public_functions(body, name):
    text = re.sub(r"//.*", "", body)
    public = ""
    for part in re.split(r"^(?=public:|protected:|private:)", text, flags=re.M):
        if part.startswith("public:"):
            public += part
    # Remove everything in braces, so that calls in function bodies and default arguments are not taken for
    # declarations.
    previous = None
    while previous != public:
        previous = public
        public = re.sub(r"\{[^{}]*\}", ";", public)
    found = set(re.findall(r"([A-Za-z_]\w*)\s*\((?=[^;]*;)", public))
    # A name with a capital is a constructor; a name that ends with an underscore is a member that a constructor
    # initialises.
    keywords = {"noexcept", "sizeof", "decltype", "alignof", "static_cast", "operator", "gnu"}
    return {each for each in found if each not in keywords and each[0].islower() and not each.endswith("_")}


def main():
    project = pathlib.Path(sys.argv[1])
    test = "".join(each.read_text() for each in sorted((project / "tests/unit").glob("library_lock*_test.cpp")))
    called = set(re.findall(r"[.>:]([a-z_]\w*)(?:<[^<>]*>)?\(", test))
    missing = []
    seen = 0
    for header, classes in HEADERS.items():
        text = (project / "core/include/h5mote" / header).read_text()
        for name in classes:
            for function in sorted(public_functions(class_body(text, name), name)):
                seen += 1
                if function not in called and function not in EXCUSED.get(name, ()):
                    missing.append(f"{name}::{function}")
    print(f"{seen} public functions, {len(missing)} not in library_lock*_test.cpp: {' '.join(missing)}")
    sys.exit(1 if missing or seen < 100 else 0)


if __name__ == "__main__":
    main()
