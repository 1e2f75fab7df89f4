"""The sidecar FILE.h5.expect says what FILE.h5 should contain. A test writes it beside the file from the values that it
meant to store, never by reading the file back. Every verifier here compares the two in both directions: nothing may be
missing in the file, and nothing may be in the file that the sidecar does not have.

Format: text, one statement a line, words separated by one space, lines that begin with '#' and empty lines ignored.

    h5mote-expect 1                                   first line
    file superblock=2                                 optional: version of the superblock (0 to 3)
    group PATH [track_order=1] [attr_order=1]
    dataset PATH type=TYPE shape=SHAPE [max=SHAPE] [layout=L] [chunk=DIMS] [index=I] [filters=F] [fill=HEX|undefined]
                 [alloc=A] [fill_time=W] [attr_order=1]
    datatype PATH type=TYPE                           a committed datatype
    attr PATH NAME type=TYPE shape=SHAPE              an attribute of the object at PATH
    data HEX                                          of the dataset or attribute above; several lines join up
    data-crc32 BYTES HEX8                             in place of data: length and CRC-32 (zlib's) of all bytes
    data-sha256 BYTES HEX64                           likewise
    data-skip                                         likewise: the values are not compared
    softlink PATH -> TARGET
    hardlink PATH = OTHER                             another name of the object that stands at OTHER
    externallink PATH -> FILE TARGET

Every group, dataset and committed datatype stands once, the root group `/` too, under the first name it has. PATH is
absolute. In PATH, NAME, TARGET, FILE and in names inside TYPE the characters `% = ; : @ , ( )`, blanks and control
characters are written %XX (upper-case hexadecimal of the byte); UTF-8 bytes may stand as they are.

SHAPE   `scalar`, `null`, or sizes joined by x: `3x4`, `0`; in max also `inf`: `infx4`. max left out: equal to shape.
TYPE    i1le i2le i4le i8le (signed), u1le ... (unsigned), f4le f8le (IEEE float), bits1le ... (bitfield); be in place
        of le; size in bytes. `:PRECISION@OFFSET` in bits follows when not all bits count: i4le:12@4
        strSIZE:nullterm|nullpad|spacepad:ascii|utf8
        opaqueSIZE:TAG
        enum(BASE;NAME=VALUE;NAME=VALUE)              in the order of the file, values in decimal
        array(DIMS;BASE)
        compound(SIZE;NAME@OFFSET:TYPE;...)           SIZE and OFFSET in bytes, in the order of the file
        vlen(BASE) vlstr:PAD:CSET ref:object ref:region    values of these take data-skip
L       compact, contiguous, chunked; left out: chunked if chunk= is given, else compact or contiguous
I       btree1 single implicit fixed_array extensible_array btree2; left out: not compared
F       filter numbers in the order of the pipeline, joined by commas, each with its client data if these matter:
        2:4,1:6 or 2,1 or 32000:1/2; left out: no filter
fill    bytes of one element; left out: the default (none defined by the user)
A       early late incremental; W  ifset alloc never; left out: not compared
track_order, attr_order: creation order of links, of attributes is kept. The order of the statements is then the
        creation order, and it is compared; left out: order must not be kept.
HEX     the bytes as the file's datatype has them, row-major, lower or upper case, no blanks. Bytes between the members
        of a compound are not compared; for the checksums they count as zero.
"""

import binascii
import hashlib
import re
import struct
import zlib

MAGIC = "h5mote-expect 1"


class ExpectError(Exception):
    """Raised when the sidecar itself is wrong."""


def quote(text):
    """A name in the form that sidecars use."""
    return "".join("%%%02X" % ord(c) if c in "%=;:@,() " or ord(c) < 32 or ord(c) == 127 else c for c in text)


def unquote(text):
    out = bytearray()
    data = text.encode("utf-8", "surrogateescape")
    i = 0
    while i < len(data):
        if data[i] == 0x25:
            out.append(int(data[i + 1:i + 3], 16))
            i += 3
        else:
            out.append(data[i])
            i += 1
    return out.decode("utf-8", "surrogateescape")


# --- datatypes ------------------------------------------------------------------------------------------------------


class Type:
    """Base class of all datatypes: `size` in bytes; text() gives the canonical text, leaves() the single values in an
    element."""

    size = 0
    comparable = True

    def text(self):
        raise NotImplementedError

    def leaves(self, data, at=0):
        """Yields (type, bytes) for every single value in the element that starts at `at`."""
        yield self, bytes(data[at:at + self.size])

    def used(self):
        """A mask of an element: 1 for each byte that belongs to a value, 0 for padding."""
        return b"\1" * self.size

    def __eq__(self, other):
        return isinstance(other, Type) and self.text() == other.text()

    def __hash__(self):
        return hash(self.text())


class Number(Type):
    """A number; `kind`: "i" (signed), "u" (unsigned), "f" (IEEE float) or "bits" (bit field)."""

    def __init__(self, kind, size, order, precision=None, offset=0):
        self.kind, self.size, self.order = kind, size, order
        self.precision = 8 * size if precision is None else precision
        self.offset = offset

    def text(self):
        bits = "" if (self.precision, self.offset) == (8 * self.size, 0) else ":%d@%d" % (self.precision, self.offset)
        return "%s%d%s%s" % (self.kind, self.size, self.order, bits)

    def value(self, data):
        if self.kind == "f":
            return struct.unpack(("<" if self.order == "le" else ">") + {2: "e", 4: "f", 8: "d"}[self.size], data)[0]
        raw = int.from_bytes(data, "little" if self.order == "le" else "big")
        raw = raw >> self.offset & ((1 << self.precision) - 1)
        return raw - (1 << self.precision) if self.kind == "i" and raw >> (self.precision - 1) else raw


class String(Type):
    def __init__(self, size, pad, cset):
        self.size, self.pad, self.cset = size, pad, cset

    def text(self):
        return "str%d:%s:%s" % (self.size, self.pad, self.cset)


class Opaque(Type):
    def __init__(self, size, tag):
        self.size, self.tag = size, tag

    def text(self):
        return "opaque%d:%s" % (self.size, quote(self.tag))


class Enum(Type):
    def __init__(self, base, members):
        self.base, self.members, self.size = base, members, base.size

    def text(self):
        return "enum(%s)" % ";".join([self.base.text()] + ["%s=%d" % (quote(n), v) for n, v in self.members])


class Array(Type):
    def __init__(self, dims, base):
        self.dims, self.base = dims, base
        self.count = 1
        for d in dims:
            self.count *= d
        self.size = self.count * base.size

    def text(self):
        return "array(%s;%s)" % ("x".join(map(str, self.dims)), self.base.text())

    def leaves(self, data, at=0):
        for i in range(self.count):
            yield from self.base.leaves(data, at + i * self.base.size)

    def used(self):
        return self.base.used() * self.count


class Compound(Type):
    def __init__(self, size, members):
        self.size, self.members = size, members

    def text(self):
        parts = ["%s@%d:%s" % (quote(n), o, t.text()) for n, o, t in self.members]
        return "compound(%s)" % ";".join([str(self.size)] + parts)

    def leaves(self, data, at=0):
        for _, offset, member in self.members:
            yield from member.leaves(data, at + offset)

    def used(self):
        mask = bytearray(self.size)
        for _, offset, member in self.members:
            mask[offset:offset + member.size] = member.used()
        return bytes(mask)


class Other(Type):
    """A datatype whose values are not compared: variable length, references."""

    comparable = False

    def __init__(self, text_, size=0):
        self.text_, self.size = text_, size

    def text(self):
        return self.text_


def split_top(text):
    """Splits at the semicolons outside parentheses."""
    parts, depth, start = [], 0, 0
    for i, c in enumerate(text):
        depth += (c == "(") - (c == ")")
        if c == ";" and depth == 0:
            parts.append(text[start:i])
            start = i + 1
    return parts + [text[start:]]


def parse_type(text):
    match = re.fullmatch(r"(i|u|f|bits)(\d+)(le|be)(?::(\d+)@(\d+))?", text)
    if match:
        kind, size, order, precision, offset = match.groups()
        return Number(kind, int(size), order, precision and int(precision), int(offset or 0))
    match = re.fullmatch(r"str(\d+):(nullterm|nullpad|spacepad):(ascii|utf8)", text)
    if match:
        return String(int(match[1]), match[2], match[3])
    match = re.fullmatch(r"opaque(\d+):(.*)", text)
    if match:
        return Opaque(int(match[1]), unquote(match[2]))
    match = re.fullmatch(r"(enum|array|compound)\((.*)\)", text)
    if match:
        head, *rest = split_top(match[2])
        if match[1] == "enum":
            pairs = [m.split("=") for m in rest]
            return Enum(parse_type(head), [(unquote(n), int(v)) for n, v in pairs])
        if match[1] == "array":
            return Array([int(d) for d in head.split("x")], parse_type(rest[0]))
        members = [re.fullmatch(r"([^@]*)@(\d+):(.*)", m).groups() for m in rest]
        return Compound(int(head), [(unquote(n), int(o), parse_type(t)) for n, o, t in members])
    if re.match(r"vlen\(|vlstr:|ref:", text):
        return Other(text)
    raise ExpectError("no datatype: %r" % text)


# --- the sidecar ----------------------------------------------------------------------------------------------------


class Entry:
    """One group, dataset, datatype, link or attribute with its fields; `data` is None, bytes, or a checksum."""

    def __init__(self, kind, path, fields=None, name=None, target=None):
        self.kind, self.path, self.name, self.target = kind, path, name, target
        self.fields = fields or {}
        self.hex = None
        self.digest = None  # (algorithm, bytes, hex)
        self.skip = False
        self.attrs = []

    @property
    def type(self):
        return parse_type(self.fields["type"])

    @property
    def shape(self):
        """The shape: 'scalar', 'null' or a tuple of sizes."""
        return parse_shape(self.fields["shape"])

    @property
    def max_shape(self):
        return parse_shape(self.fields.get("max", self.fields["shape"]))

    @property
    def count(self):
        if self.shape == "null":
            return 0
        count = 1
        for d in () if self.shape == "scalar" else self.shape:
            count *= d
        return count

    @property
    def data(self):
        """The data as bytes, or None if the sidecar does not have them in full."""
        return None if self.hex is None else binascii.unhexlify(self.hex)

    def compare_data(self, actual):
        """Compares bytes read from the file with the sidecar. Returns a text that says what is wrong, or None."""
        type_, count = self.type, self.count
        if self.skip or not type_.comparable or count == 0:
            return None
        if len(actual) != count * type_.size:
            return "has %d bytes, expected %d" % (len(actual), count * type_.size)
        used = type_.used()
        if 0 in used:
            # Clear the padding by one operation on a huge integer, which is faster than a loop over bytes.
            mask = int.from_bytes(used.replace(b"\1", b"\xff") * count, "little")
            clear = lambda b: (int.from_bytes(b, "little") & mask).to_bytes(len(b), "little")
        else:
            clear = bytes
        actual = clear(actual)
        if self.digest:
            algorithm, length, wanted = self.digest
            found = hashlib.sha256(actual).hexdigest() if algorithm == "sha256" else "%08x" % zlib.crc32(actual)
            if length != len(actual) or found != wanted.lower():
                return "%s is %s, expected %s of %d bytes" % (algorithm, found, wanted, length)
            return None
        if self.hex is None:
            return "the sidecar gives no data"
        wanted = clear(self.data)
        if wanted == actual:
            return None
        if len(wanted) != len(actual):
            return "the sidecar gives %d bytes for %d" % (len(wanted), len(actual))
        first = next(i for i in range(len(wanted)) if wanted[i] != actual[i]) // type_.size
        piece = slice(first * type_.size, (first + 1) * type_.size)
        return "element %d is %s, expected %s" % (first, actual[piece].hex(), wanted[piece].hex())


def parse_shape(text):
    if text in ("scalar", "null"):
        return text
    return tuple(None if d == "inf" else int(d) for d in text.split("x"))


def shape_text(shape):
    if isinstance(shape, str):
        return shape
    return "scalar" if len(shape) == 0 else "x".join("inf" if d is None else str(d) for d in shape)


def parent_of(path):
    return path.rsplit("/", 1)[0] or "/"


def leaf_of(path):
    return path.rsplit("/", 1)[1]


class Expect:
    """A parsed sidecar: entries by path in the order of the statements."""

    ALLOWED = {
        "file": {"superblock"},
        "group": {"track_order", "attr_order"},
        "dataset": {"type", "shape", "max", "layout", "chunk", "index", "filters", "fill", "alloc", "fill_time",
                    "attr_order"},
        "datatype": {"type"},
        "attr": {"type", "shape"},
    }

    def __init__(self, text):
        self.file = {}
        self.entries = {}
        lines = text.splitlines()
        if not lines or lines[0].strip() != MAGIC:
            raise ExpectError("first line is not %r" % MAGIC)
        last = None
        for number, line in enumerate(lines[1:], 2):
            if not line.strip() or line.startswith("#"):
                continue
            try:
                last = self.statement(line.split(" "), last)
            except (ExpectError, ValueError, IndexError, KeyError, AttributeError) as error:
                raise ExpectError("line %d: %s: %s" % (number, line[:120], error)) from error
        for entry in self.entries.values():
            parent = self.entries.get(parent_of(entry.path))
            if entry.path != "/" and (parent is None or parent.kind != "group"):
                raise ExpectError("%s stands in no group" % entry.path)
        if "/" not in self.entries:
            raise ExpectError("no statement for the root group")

    def fields(self, kind, words):
        fields = dict(word.split("=", 1) for word in words)
        unknown = set(fields) - self.ALLOWED[kind]
        if unknown:
            raise ExpectError("unknown field " + ", ".join(sorted(unknown)))
        return fields

    def statement(self, words, last):
        kind = words[0]
        if kind == "data":
            last.hex = (last.hex or "") + "".join(words[1:])
            return last
        if kind in ("data-crc32", "data-sha256"):
            last.digest = (kind[5:], int(words[1]), words[2])
            return last
        if kind == "data-skip":
            last.skip = True
            return last
        if kind == "file":
            self.file = self.fields(kind, words[1:])
            return None
        path = unquote(words[1])
        if kind == "attr":
            entry = Entry(kind, path, self.fields(kind, words[3:]), name=unquote(words[2]))
            entry.type, entry.shape
            self.entries[path].attrs.append(entry)
            return entry
        if kind in ("group", "dataset", "datatype"):
            entry = Entry(kind, path, self.fields(kind, words[2:]))
            if kind != "group":
                entry.type
            if kind == "dataset":
                entry.shape
        elif kind in ("softlink", "externallink") and words[2] == "->":
            entry = Entry(kind, path, target=tuple(map(unquote, words[3:])))
        elif kind == "hardlink" and words[2] == "=":
            entry = Entry(kind, path, target=unquote(words[3]))
            self.entries[entry.target]
        else:
            raise ExpectError("no such statement")
        if path in self.entries:
            raise ExpectError("named twice")
        self.entries[path] = entry
        return entry

    def children(self, path):
        """The entries directly in a group, in the order of the statements."""
        return [e for p, e in self.entries.items() if p != "/" and parent_of(p) == path]

    def link_count(self, path):
        """The number of hard links to the object at `path`."""
        return 1 + sum(e.kind == "hardlink" and e.target == path for e in self.entries.values())


def load(h5_path):
    with open(h5_path + ".expect", encoding="utf-8", errors="surrogateescape") as file:
        return Expect(file.read())


class Report:
    """Collects the differences found in one file."""

    SHOWN = 20

    def __init__(self):
        self.differences = []
        self.checks = 0

    def check(self, what, actual, wanted):
        self.checks += 1
        if actual != wanted:
            self.differences.append("%s: %s, expected %s" % (what, actual, wanted))

    def problem(self, what):
        self.checks += 1
        if what:
            self.differences.append(what)


def run(program, files, verify):
    """Verifies each file, prints a line for each and a total. Returns the exit code."""
    if not files:
        print("usage: %s FILE..." % program)
        return 2
    failed = checks = 0
    for path in files:
        report = Report()
        try:
            verify(path, load(path), report)
        except Exception as error:  # any exception of a reader counts as a difference of this file
            report.differences.append("%s: %s" % (type(error).__name__, error))
        checks += report.checks
        failed += bool(report.differences)
        print("%s %s: %s %d checks" % (program, path, "FAILED," if report.differences else "ok,", report.checks))
        for line in report.differences[:Report.SHOWN]:
            print("    " + line)
        if len(report.differences) > Report.SHOWN:
            print("    ... %d more" % (len(report.differences) - Report.SHOWN))
    print("%s: %d files, %d checks, %d failed" % (program, len(files), checks, failed))
    return 1 if failed else 0
