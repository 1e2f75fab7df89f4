#!/usr/bin/env python3
"""Tests `h5mote blueprint`: the printed text compiles without warnings, and its file has the objects, datatypes, values
and attributes of the original, without rows.

blueprint_test.py H5MOTE PROJECT COMPILER [--h5dump H5DUMP] [--emulator COMMAND] [--keep FOLDER]
"""

import argparse
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

import h5py
import numpy as np

ARGUMENTS = argparse.Namespace()
PROGRAM = """#include "design.hpp"
#include <h5mote/recorder.hpp>
#include <cstdio>
int main(int, char** arguments) {
    const auto bytes = h5mote::blueprint::Image<design::kBlueprint>::bytes();
    std::FILE* const file = std::fopen(arguments[1], "wb");
    const bool written = file != nullptr && std::fwrite(bytes.data(), 1, bytes.size(), file) == bytes.size();
    return written && std::fclose(file) == 0 ? 0 : 1;
}
"""


def fixed(length, padding=h5py.h5t.STR_NULLPAD, characters=h5py.h5t.CSET_ASCII):
    string = h5py.h5t.C_S1.copy()
    string.set_size(length)
    string.set_strpad(padding)
    string.set_cset(characters)
    return string


def write_attribute(item, name, datatype, shape, values):
    space = h5py.h5s.create(h5py.h5s.SCALAR) if shape == () else h5py.h5s.create_simple(shape)
    attribute = h5py.h5a.create(item.id, name.encode(), datatype, space)
    attribute.write(np.asarray(values), mtype=datatype)


def rows(group, name, datatype, chunk, count=0, **options):
    dataset = group.create_dataset(name, (0,), datatype, maxshape=(None,), chunks=(chunk,), **options)
    dataset.resize((count,))
    return dataset


def flight(path, version="v110", ordered=False, width=8):
    properties = h5py.h5p.create(h5py.h5p.FILE_CREATE)
    properties.set_sizes(width, 8)
    access = h5py.h5p.create(h5py.h5p.FILE_ACCESS)
    if version == "v110":
        access.set_libver_bounds(h5py.h5f.LIBVER_V110, h5py.h5f.LIBVER_V110)
    if ordered:
        properties.set_link_creation_order(h5py.h5p.CRT_ORDER_TRACKED | h5py.h5p.CRT_ORDER_INDEXED)
        properties.set_attr_creation_order(h5py.h5p.CRT_ORDER_TRACKED | h5py.h5p.CRT_ORDER_INDEXED)
    file = h5py.File(h5py.h5f.create(os.fsencode(path), h5py.h5f.ACC_TRUNC, properties, access))
    file.attrs["zeta"] = np.int32(-5)
    file.attrs["firmware"] = np.bytes_("2.1")
    file.attrs["serial"] = np.uint32(0)
    file.attrs["großer Name"] = np.float64(0.1)
    group = file.create_group("flight", track_order=ordered)
    time = rows(group, "t_us", "<u8", 64, 100)
    time.attrs["unit"] = np.bytes_("us")
    sample = np.dtype([("accel", "<i2", (3,)), ("temperature", "<f4"), ("valid", "?"), ("name", "S5")])
    imu = rows(group, "imu", sample, 32, 100)
    imu.attrs["gain"] = np.array([[1.5, -0.0, np.inf], [np.nan, 1e-40, 3.4028235e38]], "<f4")
    rows(group, "pressure", "<f4", 128, 3)
    time.make_scale("t_us")
    imu.dims[0].attach_scale(time)
    imu.dims[0].label = "time"
    group["pressure"].dims[0].attach_scale(time)
    file["calibration/matrix"] = np.arange(12, dtype="<f8").reshape(3, 4) / 7
    file["calibration/large"] = np.arange(1000, dtype="<i4") * 1000003
    file["calibration/scalar"] = np.int8(-128)
    file["calibration/axis"] = np.array([0, 1, 2, 3], "<i2")
    file["calibration/axis"].make_scale("the axis")
    file["calibration/matrix"].dims[1].attach_scale(file["calibration/axis"])
    file.create_group("empty")
    file.close()


def types(path):
    with h5py.File(path, "w", libver="v110") as file:
        for name in ("i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8"):
            bounds = np.iinfo(name)
            file.attrs[name] = np.array([bounds.min, bounds.max, 0, 1], "<" + name)
            file.attrs[name + " scalar"] = np.dtype("<" + name).type(bounds.min)
            file["largest " + name] = np.array(bounds.max, "<" + name)
        for name in ("f4", "f8"):
            bounds = np.finfo(name)
            file.attrs[name] = np.array([bounds.min, bounds.max, bounds.tiny, bounds.smallest_subnormal, 0.1, 1 / 3,
                                         100, 1e10, np.nan, -np.inf, -0.0], "<" + name)
        file.create_dataset("pressed", (0,), "<f8", maxshape=(None,), chunks=(100,), compression=4, shuffle=True)
        file.create_dataset("deflated", (0,), "<u2", maxshape=(None,), chunks=(64,), compression="gzip")
        file.attrs["payload"] = np.array([0x7ff8000000000123, 0xfff8000000000000], "<u8").view("<f8")
        file.attrs["payload 32"] = np.array([0x7fc00123, 0xffc00000], "<u4").view("<f4")
        file.attrs["truth"] = np.bool_(True)
        file.attrs["truths"] = np.array([[True, False], [False, True]])
        mode = h5py.enum_dtype({"idle": 0, "armed": 1, "in flight": 7, "class": -1}, basetype="<i2")
        file.attrs.create("mode", 7, dtype=mode)
        file.attrs.create("modes", np.array([0, 1, 5, -1]), dtype=mode)
        rows(file, "mode", mode, 16)
        file.attrs["empty"] = h5py.Empty("<f4")
        file.attrs["empty text"] = h5py.Empty("S3")
        file.attrs["empty mode"] = h5py.Empty(h5py.enum_dtype({"off": 0, "on": 1}))
        file.attrs["opaque"] = np.void(b"\0\1\2\xff")
        file.attrs["opaques"] = np.array([b"abc", b"\0\0\1"], "V3")
        file.attrs["texts"] = np.array([b"a", b"abc", b""], "S3")
        file.attrs["wide"] = np.arange(60).reshape(1, 2, 5, 6).astype("<u1")
        for name, padding in (("terminated", h5py.h5t.STR_NULLTERM), ("padded", h5py.h5t.STR_NULLPAD),
                              ("spaces", h5py.h5t.STR_SPACEPAD)):
            for characters in (h5py.h5t.CSET_ASCII, h5py.h5t.CSET_UTF8):
                datatype = fixed(6, padding, characters)
                for text in (b"a\"\\\n?", b"\xc3\xa4bc'\xff" if characters else b"abc'12", b"", b"ab    "):
                    write_attribute(file, f"{name} {characters} {text!r}", datatype, (), np.array(text, "S6"))
                write_attribute(file, f"{name} {characters}s", datatype, (2,), np.array([b"x", b"abcdef"], "S6"))
        write_attribute(file, "exact", fixed(7, h5py.h5t.STR_NULLPAD, h5py.h5t.CSET_UTF8), (),
                        np.array("grün".encode() + b"??", "S7"))
        inner = np.dtype([("re", "<f4"), ("im", "<f4")])
        aligned = np.dtype({"names": ["t", "value", "pair", "flag", "m", "raw", "class", "two words", "0"],
                            "formats": ["<u4", "<f8", inner, "?", (mode, (2,)), "V3", "<u2", "S4", ("<i4", (2, 3))],
                            "offsets": [0, 8, 16, 25, 26, 32, 36, 40, 44], "itemsize": 72})
        record = np.zeros((2,), aligned)
        record["t"] = [1, 2]
        record["value"] = [0.25, 1e300]
        record["pair"]["im"] = [1, 2]
        record["flag"] = [True, False]
        record["m"] = [[0, 7], [1, 5]]
        record["raw"] = [np.void(b"abc"), np.void(b"\xff\0\1")]
        record["two words"] = [b"abcd", b"a"]
        record["0"][1] = [[1, 2, 3], [-4, -5, -6]]
        file["records"] = record
        file.attrs["record"] = record[1]
        packed = np.dtype([("a", "u1"), ("b", "<f8"), ("inner", aligned), ("c", "<u2")])
        file["packed"] = np.array((1, 2.5, record[0], 3), packed)
        rows(file, "packed rows", packed, 10)
        backwards = np.dtype({"names": ["late", "early"], "formats": ["<u2", "<u4"], "offsets": [4, 0], "itemsize": 6})
        rows(file, "backwards", backwards, 10)
        rows(file, "complex", "<c16", 10)
        rows(file, "texts", "S7", 10)
        rows(file, "arrays", np.dtype(("<f4", (2, 3))), 10)
        rows(file, "large chunks", "<f8", 1000000)


def refused(path):
    with h5py.File(path, "w", userblock_size=512) as file:
        file["target"] = np.int32(1)
        file["soft"] = h5py.SoftLink("/target")
        file["external"] = h5py.ExternalLink("other.h5", "/target")
        file["twice"] = file["target"]
        file["group/loop"] = file["/"]
        file["type"] = np.dtype("<f8")
        file["big endian"] = np.arange(3, dtype=">i4")
        file["texts"] = np.array(["a", "b"], h5py.string_dtype())
        file["half"] = np.float16(1)
        file["references"] = np.array([file["target"].ref], h5py.ref_dtype)
        file.create_dataset("sequences", (1,), h5py.vlen_dtype("<i4"))
        file.create_dataset("plane", (0, 3), "<f4", maxshape=(None, 3))
        file.create_dataset("two", (0, 0), "<f4", maxshape=(None, None))
        file.create_dataset("bounded", (0,), "<f4", maxshape=(100,), chunks=(10,))
        file.create_dataset("packed", (0,), "<f4", maxshape=(None,), chunks=(10,), fletcher32=True)
        file.create_dataset("filled", (0,), "<f4", maxshape=(None,), chunks=(10,), fillvalue=-1)
        file.create_dataset("huge", (100000,), "<f4")
        file.create_dataset("none", data=h5py.Empty("<f4"))
        file.create_dataset("zero", (0, 2), "<f4")
        file.attrs["text"] = "of any length"
        file.attrs["texts"] = ["a", "b"]
        file.attrs["empty"] = np.zeros((0, 2), "<f4")
        file.attrs["half"] = np.float16(1)
        file.attrs["kept"] = np.int32(4)
        scale = file.create_dataset("scale", (2, 2), "<f4")
        scale.make_scale("scale")
        file.create_dataset("scaled", (2,), "<f4").dims[0].attach_scale(scale)


REFUSED = {
    "/": "its user block is left out",
    "/soft": "soft link",
    "/external": "external link",
    "/twice": "further hard link",
    "/group/loop": "further hard link",
    "/type": "committed datatype",
    "/big endian": "not little-endian",
    "/texts": "strings of variable length",
    "/sequences": "of variable length",
    "/half": "no IEEE numbers",
    "/references": "references",
    "/plane": "2 dimensions and grows",
    "/two": "2 dimensions and grows",
    "/bounded": "it grows without limit in a blueprint, here to 100 rows",
    "/packed": "its filter 3 is left out",
    "/filled": "fill value is left out",
    "/huge": "too many for constants",
    "/none": "no elements",
    "/zero": "no elements",
    "/@text": "strings of variable length (see --fixed-text)",
    "/@texts": "strings of variable length",
    "/@empty": "a dimension of no elements",
    "/@half": "no IEEE numbers",
    "/scaled": "a scale or label of dimension 0 is left out: it has 2 dimensions",
}


def normal(type_id):
    """A datatype as a value that can be compared; libhdf5 1.10 writes the member of REFERENCE_LIST signed."""
    kind = type_id.get_class()
    if kind == h5py.h5t.COMPOUND:
        members = [(type_id.get_member_name(i), type_id.get_member_offset(i), normal(type_id.get_member_type(i)))
                   for i in range(type_id.get_nmembers())]
        if [name for name, _, _ in members] == [b"dataset", b"dimension"]:
            return "REFERENCE_LIST"
        return kind, type_id.get_size(), members
    if kind == h5py.h5t.ENUM:
        members = [(type_id.get_member_name(i), type_id.get_member_value(i)) for i in range(type_id.get_nmembers())]
        return kind, normal(type_id.get_super()), members
    if kind == h5py.h5t.VLEN:
        return kind, normal(type_id.get_super())
    return type_id.encode() if kind != h5py.h5t.ARRAY else (kind, type_id.get_array_dims(), normal(type_id.get_super()))


class Blueprints(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        folder = ARGUMENTS.keep or self.enterContext(tempfile.TemporaryDirectory())
        self.folder = pathlib.Path(folder) / self._testMethodName
        self.folder.mkdir(parents=True, exist_ok=True)

    def blueprint(self, path, *options):
        done = subprocess.run([*ARGUMENTS.emulator, ARGUMENTS.h5mote, "blueprint", *options, path],
                              capture_output=True, text=True, check=False)
        return done.returncode, done.stdout, done.stderr

    def compiled(self, text):
        """The path of the file that the text describes."""
        (self.folder / "design.hpp").write_text(text)
        (self.folder / "design.cpp").write_text(PROGRAM)
        program = self.folder / "design"
        warnings = ["-Wall", "-Wextra", "-Wconversion", "-Wshadow", "-Wpedantic", "-Werror"]
        done = subprocess.run([ARGUMENTS.compiler, "-std=c++17", *warnings, "-fno-exceptions", "-fno-rtti",
                               f"-I{ARGUMENTS.project}/core/include", self.folder / "design.cpp", *ARGUMENTS.link, "-o", program],
                              capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr[:4000])
        made = self.folder / "made.h5"
        subprocess.run([*ARGUMENTS.emulator, program, made], check=True)
        return made

    def same_attributes(self, before, after):
        expected = sorted(before.attrs)
        self.assertEqual(expected, sorted(after.attrs), before.name)
        for name in expected:
            one, other = before.attrs.get_id(name), after.attrs.get_id(name)
            where = f"{before.name}@{name}"
            self.assertEqual(one.shape, other.shape, where)
            self.assertEqual(normal(one.get_type()), normal(other.get_type()), where)
            classes = [attribute.get_space().get_simple_extent_type() for attribute in (one, other)]
            self.assertEqual(*classes, where)
            if one.shape is None or name in ("DIMENSION_LIST", "REFERENCE_LIST", "DIMENSION_LABELS"):
                continue  # same_scales() compares what scales lead to
            self.assertEqual(self.stored(one), self.stored(other), where)

    def stored(self, attribute):
        """The bytes of the value, without those between the members of compounds."""
        array = np.zeros(attribute.shape, attribute.dtype)
        attribute.read(array, mtype=attribute.get_type())
        return self.values(array)

    def values(self, array):
        if array.dtype.names:
            return [self.values(np.ascontiguousarray(array[name])) for name in array.dtype.names]
        return np.ascontiguousarray(array).tobytes()

    def same_scales(self, before, after):
        for i in range(before.ndim):
            if h5py.h5ds.is_scale(before.id):
                continue
            self.assertEqual(before.dims[i].label, after.dims[i].label)
            self.assertEqual([scale.name for scale in before.dims[i].values()],
                             [scale.name for scale in after.dims[i].values()])
        if "REFERENCE_LIST" in before.attrs:
            lists = [sorted((item.file[reference].name, dimension)
                            for reference, dimension in item.attrs["REFERENCE_LIST"]) for item in (before, after)]
            self.assertEqual(*lists)

    def same(self, before, after):
        self.same_attributes(before, after)
        if isinstance(before, h5py.Group):
            # In the order of creation, where that is kept.
            self.assertEqual(list(before), list(after))
            for name in before:
                self.same(before[name], after[name])
            return
        self.assertEqual(normal(before.id.get_type()), normal(after.id.get_type()), before.name)
        self.assertEqual(before.maxshape, after.maxshape, before.name)
        self.assertEqual((before.compression, before.compression_opts, before.shuffle),
                         (after.compression, after.compression_opts, after.shuffle))
        if before.maxshape == (None,):
            self.assertEqual(after.shape, (0,))
            self.assertEqual(before.chunks, after.chunks)
        else:
            self.assertEqual(self.stored_values(before), self.stored_values(after), before.name)
        self.same_scales(before, after)

    def stored_values(self, dataset):
        array = np.zeros(dataset.shape, dataset.dtype)
        dataset.id.read(h5py.h5s.ALL, h5py.h5s.ALL, array, mtype=dataset.id.get_type())
        return self.values(array)

    def compare(self, original, made):
        with h5py.File(original, "r") as before, h5py.File(made, "r") as after:
            self.same(before, after)
        done = subprocess.run([*ARGUMENTS.emulator, ARGUMENTS.h5mote, "check", "-v", made], check=False,
                              capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def same_dump(self, original, made):
        """What h5dump prints, but for addresses, and for the sign of the member of REFERENCE_LIST."""
        if ARGUMENTS.h5dump is None:
            return
        texts = []
        for path in (original, made):
            text = subprocess.run([ARGUMENTS.h5dump, path], capture_output=True, text=True, check=True).stdout
            text = re.sub(r"DATASET \d+ ", "DATASET ", text[text.index("\n"):])
            texts.append(text.replace('H5T_STD_I32LE "dimension"', 'H5T_STD_U32LE "dimension"'))
        self.assertEqual(*texts)

    def test_flight(self):
        for version, ordered, width in (("v110", False, 8), ("v110", True, 8), ("earliest", False, 8),
                                        ("earliest", False, 4)):
            with self.subTest(version=version, ordered=ordered, width=width):
                original = self.folder / "design.h5"
                flight(original, version, ordered, width)
                code, text, messages = self.blueprint(original, "--setting", "@serial", "--setting", "/flight/imu@gain")
                self.assertEqual((code, messages), (0, ""))
                self.assertIn(f"FileOptions{{{width}, {str(ordered).lower()}}}", text)
                self.assertIn('blueprint::setting("serial", std::uint32_t{0})', text)
                self.assertIn('blueprint::setting("gain", std::array<', text)
                self.assertIn('blueprint::scale("t_us")', text)
                made = self.compiled(text)
                self.compare(original, made)
                with h5py.File(original, "a") as file:
                    for name in ("t_us", "imu", "pressure"):
                        file["flight"][name].resize((0,))
                self.same_dump(original, made)

    def test_types(self):
        original = self.folder / "design.h5"
        types(original)
        code, text, messages = self.blueprint(original)
        renamed = {"in flight": "in_flight", "class": "class_value", "two words": "two_words", "0": "x0"}
        self.assertEqual(code, 1)
        for name, in_cpp in renamed.items():
            self.assertIn(f'the name "{name}" is no name in C++: {in_cpp}\n', messages)
        self.assertEqual(len(messages.splitlines()), 5, messages)  # "class" is a member and an enumerator
        made = self.compiled(text)
        # The names of members and enumerators differ, nothing else does.
        with h5py.File(made, "r") as after:
            self.assertEqual(set(h5py.check_enum_dtype(after.attrs.get_id("mode").dtype)),
                             {"idle", "armed", "in_flight", "class_value"})
        global normal
        exact = normal

        def renaming(type_id):
            def rename(value):
                if isinstance(value, (list, tuple)):
                    return type(value)(rename(part) for part in value)
                return renamed.get(value.decode(), value.decode()) if isinstance(value, bytes) and len(value) < 12 and \
                    value.isascii() and value.decode().isprintable() else value
            return rename(exact(type_id))

        normal = renaming
        try:
            self.compare(original, made)
        finally:
            normal = exact

    def test_what_a_blueprint_cannot_have(self):
        original = self.folder / "design.h5"
        refused(original)
        code, text, messages = self.blueprint(original)
        self.assertEqual(code, 1)
        lines = messages.splitlines()
        for path, why in REFUSED.items():
            with self.subTest(path=path):
                found = [line for line in lines if line.startswith(f"h5mote blueprint error: {path}: ")]
                self.assertEqual(len(found), 1, messages)
                self.assertIn(why, found[0])
                self.assertIn("// " + found[0].removeprefix("h5mote blueprint error: "), text)
        made = self.compiled(text)
        with h5py.File(made, "r") as file:
            self.assertEqual(set(file), {"target", "group", "bounded", "packed", "filled", "scale", "scaled"})
            self.assertEqual(list(file.attrs), ["kept"])
        code, text, _ = self.blueprint(original, "--fixed-text")
        self.assertIn('blueprint::attribute("text", "of any length")', text)

    def test_options(self):
        original = self.folder / "design.h5"
        with h5py.File(original, "w") as file:
            file.attrs["large"] = np.zeros(509, "<u1")
        code, text, messages = self.blueprint(original, "--setting", "@none", "--namespace", "other")
        self.assertEqual(code, 1)
        self.assertIn("--setting /@none: the blueprint has no such attribute", messages)
        self.assertIn("namespace other {", text)
        self.assertEqual(self.blueprint(original, "--namespace", "class")[0], 1)
        code, text, messages = self.blueprint(original, "--setting", "@large")
        self.assertEqual(code, 1)
        self.assertIn("/@large: cannot be set at run time: it has more than 508 bytes", messages)
        self.assertEqual(self.blueprint(self.folder / "none.h5")[0], 2)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("h5mote")
    parser.add_argument("project")
    parser.add_argument("compiler")
    parser.add_argument("--h5dump")
    parser.add_argument("--emulator", default="", type=lambda text: text.replace(";", " ").split())
    parser.add_argument("--keep")
    parser.add_argument("--link", action="append", default=[], help="archives of the filters")
    ARGUMENTS, rest = parser.parse_known_args()
    unittest.main(argv=[sys.argv[0], *rest], verbosity=2)
