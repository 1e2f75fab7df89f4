#!/usr/bin/python3
"""verify_h5dump.py FILE...: runs h5dump, h5ls -r and h5stat on each file and compares the names, links, datatypes,
shapes and values that h5dump prints with FILE.expect. Exit code 1 on any difference or when a tool fails. The sidecar's
format is described in expect.py. Properties that h5dump prints with -p are not compared here; verify_h5py.py does
that."""

import math
import os
import re
import struct
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import expect

# h5dump escapes neither quotes nor backslashes: a quote ends a string if it is followed by what can follow a string.
TOKEN = re.compile(r'"(?P<text>.*?)"(?=,|;|\s*\n|\s+-?\d+;| \{| \]|$| H5T_)'
                   r'|\((?:\d+,?)+\):|[{}]|\[\d+\]|[\[\]]|[^\s,;{}\[\]"]+', re.S)
NAMED = ("GROUP", "DATASET", "ATTRIBUTE", "SOFTLINK", "EXTERNAL_LINK", "DATATYPE")


def tool(report, *command):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=300, check=False)
    what = " ".join(command[:-1])
    report.check(what + " exit code", done.returncode, 0)
    if done.returncode != 0 and done.stderr:
        report.problem("%s: %s" % (what, done.stderr.decode("utf-8", "replace").splitlines()[0]))
    return done.stdout.decode("utf-8", "surrogateescape")


def tokens_of(text):
    """Splits h5dump's output into words, braces, and strings (which get a quote in front)."""
    tokens = []
    for match in TOKEN.finditer(text):
        token = match.group()
        if match.group("text") is not None:
            tokens.append('"' + match.group("text"))
        elif not token.startswith("(") or not token.endswith("):"):
            tokens.append(token)
    return tokens


class Node:
    def __init__(self, kind):
        self.kind, self.children, self.attributes, self.fields = kind, {}, {}, {}


class Ddl:
    """h5dump's output as a tree."""

    def __init__(self, text):
        self.tokens = tokens_of(text)
        self.at = 0
        assert self.take() == "HDF5"
        self.take()  # the file name
        self.root = self.block(Node("FILE")).children[b"/"]

    def take(self):
        self.at += 1
        return self.tokens[self.at - 1]

    def peek(self, ahead=0):
        return self.tokens[self.at + ahead]

    def balanced(self):
        """Takes the tokens between the brace that comes next and the brace that closes it."""
        start = self.at + 1
        depth = 0
        while True:
            token = self.take()
            depth += (token == "{") - (token == "}")
            if depth == 0:
                return self.tokens[start:self.at - 1]

    def block(self, node):
        assert self.take() == "{", self.tokens[self.at - 4:self.at + 4]
        while self.peek() != "}":
            key = self.take()
            if key in NAMED and self.peek().startswith('"'):
                name = self.take()[1:].encode("utf-8", "surrogateescape")
                if key == "DATATYPE" and self.peek() != "{" and not self.peek().startswith("H5T_"):
                    node.fields["DATATYPE"] = ['"' + name.decode("utf-8", "surrogateescape")]
                elif key == "DATATYPE":
                    child = node.children[name] = Node(key)
                    child.fields["DATATYPE"] = self.type_tokens()
                else:
                    child = self.block(Node(key))
                    (node.attributes if key == "ATTRIBUTE" else node.children)[name] = child
            elif key == "DATATYPE":
                node.fields[key] = self.type_tokens()
            elif key == "DATASPACE":
                node.fields[key] = [self.take()] + (self.balanced() if self.peek() == "{" else [])
            elif key == "DATA":
                node.fields[key] = self.balanced()
            elif self.peek() == "{":
                self.balanced()
            else:
                node.fields[key] = [self.take()]
        self.take()
        return node

    def type_tokens(self):
        tokens = [self.take()]
        while not tokens[0].startswith("H5T_") and self.peek() not in ("DATASPACE", "}"):
            tokens.append(self.take())  # a type in words: "32-bit little-endian integer 12-bit precision"
        if self.peek() == "{":
            tokens += ["{"] + self.balanced() + ["}"]
        return tokens

    def find(self, path):
        """The node at a path. If h5dump printed the object under another path, the node there."""
        node = self.root
        for part in path.split("/")[1:]:
            if part:
                node = self.object(node.children.get(part.encode("utf-8", "surrogateescape")))
            if node is None:
                return None
        return node

    def object(self, node):
        if node is not None and "HARDLINK" in node.fields:
            return self.find(node.fields["HARDLINK"][0][1:])
        return node


PADS = {"nullterm": "NULLTERM", "nullpad": "NULLPAD", "spacepad": "SPACEPAD"}


def ddl_type(type_):
    """The datatype as h5dump names it, or None if h5dump describes it in words."""
    if isinstance(type_, expect.Number):
        if type_.precision != 8 * type_.size:
            return None
        prefix = {"i": "STD_I", "u": "STD_U", "bits": "STD_B", "f": "IEEE_F"}[type_.kind]
        return "H5T_%s%d%s" % (prefix, 8 * type_.size, type_.order.upper())
    if isinstance(type_, expect.String):
        return "H5T_STRING { STRSIZE %d; STRPAD H5T_STR_%s; CSET H5T_CSET_%s; CTYPE H5T_C_S1; }" % (
            type_.size, PADS[type_.pad], {"ascii": "ASCII", "utf8": "UTF8"}[type_.cset])
    if isinstance(type_, expect.Opaque):
        return 'H5T_OPAQUE { OPAQUE_TAG "%s"; }' % type_.tag
    if isinstance(type_, expect.Enum):
        base = ddl_type(type_.base)
        return base and "H5T_ENUM { %s; %s }" % (base, " ".join('"%s"; %d;' % m for m in type_.members))
    if isinstance(type_, expect.Array):
        base = ddl_type(type_.base)
        return base and "H5T_ARRAY { %s %s }" % ("".join("[%d]" % d for d in type_.dims), base)
    if isinstance(type_, expect.Compound):
        members = [(ddl_type(t), n) for n, _, t in type_.members]
        return None if None in [t for t, _ in members] else \
            "H5T_COMPOUND { %s }" % " ".join('%s "%s";' % m for m in members)
    return None


def printed_string(type_, data):
    """A fixed-length string as h5dump prints it: bytes beyond ASCII are octal numbers of a sign-extended char."""
    data = data.split(b"\0")[0] if type_.pad == "nullterm" else data
    escapes = {7: "\\a", 8: "\\b", 9: "\\t", 10: "\\n", 12: "\\f", 13: "\\r"}
    return '"' + "".join(chr(b) if 32 <= b < 127 else escapes.get(b) or
                         "\\%03o" % (b if b < 128 else b | 0xffffff00) for b in data)


def same_value(type_, data, token):
    if isinstance(type_, expect.Number) and type_.kind == "f":
        wanted, found = type_.value(data), float(token)
        if math.isnan(wanted) or math.isnan(found):
            return math.isnan(wanted) and math.isnan(found)
        code = "<f" if type_.size == 4 else "<d"  # 17 digits determine a double exactly
        return struct.pack(code, found) == struct.pack(code, wanted)
    if isinstance(type_, expect.Number) and type_.kind in "iu":
        return token == str(type_.value(data))
    if isinstance(type_, expect.String):
        return token == printed_string(type_, data)
    if isinstance(type_, expect.Enum):
        value = type_.base.value(data)
        return token == next((n for n, v in type_.members if v == value), str(value))
    found = bytes.fromhex(token.replace("0x", "").replace(":", ""))  # h5dump prints bit fields in either byte order
    return found == data or (isinstance(type_, expect.Number) and found == data[::-1])


def beyond_h5dump(entry):
    """Whether h5dump 1.10.8 cannot print the values: it divides by zero for chunked datasets of rank 32, and has no LZF
    filter."""
    filters = [f.split(":")[0] for f in entry.fields.get("filters", "").split(",")]
    return entry.kind == "dataset" and ("chunk" in entry.fields and len(entry.shape) == 32 or "32000" in filters)


class Verifier:
    def __init__(self, path, wanted, report):
        self.report = report
        values = not any(beyond_h5dump(e) for e in wanted.entries.values())
        tool(report, "h5dump", "-H", "-A", "-p", path)
        tool(report, "h5ls", "-r", path)
        tool(report, "h5stat", path)
        if values:
            tool(report, "h5dump", path)
        # Print all digits of floating-point numbers, and lines so long that no string is broken.
        options = ["-m", "%.17g", "-w", "0"] + ([] if values else ["-H"])
        self.ddl = Ddl(tool(report, "h5dump", *options, path))
        self.values = values
        for entry in wanted.entries.values():
            if entry.kind == "group":
                self.children(entry.path, wanted)
            if entry.kind in ("group", "dataset", "datatype"):
                self.object(entry)
            elif entry.kind == "softlink":
                node = self.ddl.find(expect.parent_of(entry.path))
                link = node and node.children.get(expect.leaf_of(entry.path).encode("utf-8", "surrogateescape"))
                report.check(entry.path + " target", link and link.fields.get("LINKTARGET"), ['"' + entry.target[0]])

    def children(self, path, wanted):
        node = self.ddl.find(path)
        if node is not None:
            found = sorted(n.decode("utf-8", "surrogateescape") for n in node.children)
            self.report.check(path + " links", found, sorted(expect.leaf_of(e.path) for e in wanted.children(path)))

    def object(self, entry):
        node = self.ddl.find(entry.path)
        self.report.check(entry.path + " kind", node and node.kind, entry.kind.upper())
        if node is None:
            return
        if entry.kind != "group":
            self.typed(entry, entry.path, node)
        found = sorted(n.decode("utf-8", "surrogateescape") for n in node.attributes)
        self.report.check(entry.path + " attributes", found, sorted(a.name for a in entry.attrs))
        for a in entry.attrs:
            child = node.attributes.get(a.name.encode("utf-8", "surrogateescape"))
            if child is not None:
                self.typed(a, "%s attribute %s" % (entry.path, a.name), child)

    def typed(self, entry, what, node):
        found, wanted = node.fields["DATATYPE"], ddl_type(entry.type)
        if wanted is not None and not found[0].startswith('"'):
            self.report.check(what + " type", found, tokens_of(wanted))
        if entry.kind == "datatype":
            return
        self.report.check(what + " shape", node.fields["DATASPACE"], self.dataspace(entry))
        if self.values and entry.count and entry.type.comparable and not entry.skip and entry.hex is not None:
            self.compare(entry, what, node.fields.get("DATA", []))

    @staticmethod
    def dataspace(entry):
        if isinstance(entry.shape, str):
            return [entry.shape.upper()]
        unlimited = lambda d: "H5S_UNLIMITED" if d is None else str(d)
        return ["SIMPLE", "("] + [str(d) for d in entry.shape] + [")", "/", "("] \
            + [unlimited(d) for d in entry.max_shape] + [")"]

    def compare(self, entry, what, found):
        found = [t for t in found if t not in ("{", "}", "[", "]")]
        type_, data = entry.type, entry.data
        wanted = [leaf for i in range(entry.count) for leaf in type_.leaves(data, i * type_.size)]
        self.report.check(what + " number of values", len(found), len(wanted))
        self.report.checks += 1
        for i, ((leaf, piece), token) in enumerate(zip(wanted, found)):
            if not same_value(leaf, piece, token):
                self.report.problem("%s: value %d is %s, expected %s of %s" % (what, i, token, piece.hex(),
                                                                              leaf.text()))
                return


if __name__ == "__main__":
    sys.exit(expect.run("h5dump", sys.argv[1:], Verifier))
