#!/usr/bin/env python3
"""refusals_test.py PROJECT COMPILER...: what cannot be a file does not compile, and the compiler says why in a sentence."""

import concurrent.futures
import pathlib
import subprocess
import sys
import tempfile
import unittest

PROJECT = pathlib.Path()
COMPILERS = []
PROGRAM = """#include <h5mote/recorder.hpp>
namespace bp = h5mote::blueprint;
struct Plain {{ int a; }};
{}
static h5mote::Recorder<kB> recorder;
h5mote::Status f(h5mote::Driver& driver) {{ return recorder.open(driver); }}
"""


def of_rank(rank):
    return rank * "std::array<" + "std::uint8_t" + rank * ",1>" + "{}"


NAME = "a name in the blueprint is empty, '.', or contains a '/'"
TWICE = "two objects of a group, or two attributes of an object, of the blueprint have one name"
LARGE = "an object of the blueprint has attributes or links of 64 KiB or more in all"
NO_ITEM = "a group of the blueprint has an item that is no attribute, setting, group, dataset or constant"
NO_ATTRIBUTE = "a dataset of the blueprint has an item that is no attribute, setting, scale, label or filter"
NO_CONSTANT = "a constant of the blueprint has an item that is no attribute, setting, scale or label"
NO_SCALE = "the path of a scale of the blueprint leads to no dataset of it"
NO_DIMENSION = "a scale or label of the blueprint is for a dimension that its object does not have"
SAME_SCALE = "a dimension of a dataset of the blueprint has the same scale twice, or two labels"
NOT_ONE_DIMENSION = "a scale of the blueprint has not exactly one dimension"
RING_SCALE = "a scale of the blueprint is a ring, and the dataset that has it is in no ring of as many datasets"
SECTOR = "a setting of the blueprint is too large to be changed by one write of a sector of 512 bytes"
# The items of a file, and what the compiler must say of them.
REFUSED = [
    ('bp::group("")', NAME),
    ('bp::group(".")', NAME),
    ('bp::dataset<int>("a/b", 3)', NAME),
    ('bp::group("a", bp::constant("/", 3))', NAME),
    ('bp::attribute("", 1)', NAME),
    ('bp::group("a"), bp::dataset<int>("a", 3)', TWICE),
    ('bp::group("g", bp::attribute("a", 1), bp::setting<int>("a"))', TWICE),
    ('bp::dataset<int>("a", 0)', "a dataset of the blueprint has chunks of no rows"),
    ('bp::dataset<int>("a", 0x40000000)', "a dataset of the blueprint has chunks of 4 GiB or more"),
    ('bp::setting<std::array<char, 509>>("a")', SECTOR),
    ('bp::dataset<int>("a", 1, bp::setting<std::array<double, 64>>("b"))', SECTOR),
    ('bp::attribute("a", std::array<std::array<std::uint8_t, 256>, 256>{})',
     "an attribute or a name of the blueprint has 64 KiB or more"),
    ('bp::FileOptions{2, false}, bp::group("a")', "addresses of the blueprint's file have 4 or 8 bytes"),
    ('bp::attribute("a", std::array<double, 4090>{}), bp::attribute("b", std::array<double, 4090>{})', LARGE),
    ('bp::constant("c", 1, bp::attribute("a", std::array<double, 4090>{}), '
     'bp::attribute("b", std::array<double, 4090>{}))', LARGE),
    ('bp::dataset<int>("a", 3, bp::group("b"))', NO_ATTRIBUTE),
    ('bp::constant("a", 3, bp::dataset<int>("b", 3))', NO_CONSTANT),
    ("3", NO_ITEM),
    ('bp::group("a", "b")', NO_ITEM),
    ('bp::attribute("a", std::array<int, 0>{})', "a value of the blueprint has no elements"),
    ('bp::constant("a", std::array<std::array<int, 0>, 3>{})', "a value of the blueprint has no elements"),
    (f'bp::attribute("a", {of_rank(33)})', "a value of the blueprint has more than 32 dimensions"),
    (f'bp::constant("a", {of_rank(33)})', "a value of the blueprint has more than 32 dimensions"),
    ('bp::group("a", bp::label("x"))', NO_ITEM),
    ('bp::scale("b"), bp::dataset<int>("b", 1)', NO_ITEM),
    ('bp::dataset<int>("a", 1, bp::scale("b"))', NO_SCALE),
    ('bp::dataset<int>("a", 1, bp::scale("/t")), bp::group("g", bp::dataset<int>("t", 1))', NO_SCALE),
    ('bp::dataset<int>("a", 1, bp::scale("g")), bp::group("g")', NO_SCALE),
    ('bp::dataset<int>("a", 1, bp::scale(""))', NO_SCALE),
    ('bp::dataset<int>("a", 1, bp::scale("a"))', "a dataset of the blueprint is its own scale"),
    ('bp::dataset<int>("a", 1, bp::scale("b")), bp::dataset<int>("b", 1, bp::scale("c")), bp::dataset<int>("c", 1)',
     "a dataset of the blueprint is a scale and has a scale itself"),
    ('bp::dataset<int>("a", 1, bp::scale("b")), bp::constant("b", 1)', NOT_ONE_DIMENSION),
    ('bp::dataset<int>("a", 1, bp::scale("b")), bp::constant("b", std::array<std::array<int, 2>, 2>{})',
     NOT_ONE_DIMENSION),
    ('bp::dataset<int>("a", 1, bp::scale("b", 1)), bp::dataset<int>("b", 1)', NO_DIMENSION),
    ('bp::constant("a", 1, bp::scale("b")), bp::dataset<int>("b", 1)', NO_DIMENSION),
    ('bp::dataset<int>("a", 1, bp::label("x", 1))', NO_DIMENSION),
    ('bp::dataset<int>("a", 1, bp::label(""))', NAME),
    ('bp::dataset<int>("a", 1, bp::scale("b"), bp::scale("/b")), bp::dataset<int>("b", 1)', SAME_SCALE),
    ('bp::dataset<int>("a", 1, bp::label("x"), bp::label("y"))', SAME_SCALE),
    ('bp::dataset<int>("a", 1, bp::scale("b")), bp::dataset<int>("b", 1, bp::attribute("CLASS", "x"))', TWICE),
    ('bp::dataset<int>("a", 1, bp::shuffle(), bp::shuffle(), bp::shuffle(), bp::shuffle(), bp::deflate())',
     "a dataset of the blueprint has more than four filters"),
    ('bp::dataset<int>("a", 1, bp::deflate(10))', "the level of a deflate filter of the blueprint is larger than 9"),
    ('bp::constant("a", 1, bp::deflate())', NO_CONSTANT),
    ('bp::group("a", bp::shuffle())', NO_ITEM),
    ('bp::ring<int, 1>("a", 1)', "a ring of the blueprint has fewer than 2 or more than 255 datasets"),
    ('bp::dataset<int>("a", 1, bp::scale("t")), bp::ring<int, 2>("t", 1)', RING_SCALE),
    ('bp::ring<int, 3>("a", 1, bp::scale("t")), bp::ring<int, 2>("t", 1)', RING_SCALE),
    ('bp::dataset<Plain>("a", 3)', "describe this struct with H5MOTE_COMPOUND in its own namespace"),
    ('bp::attribute("a", \'x\')', "no datatype for this type"),
    ('bp::setting<const int*>("a")', "no datatype for this type"),
]
# What comes close to these, and compiles.
ACCEPTED = [
    'bp::setting<std::array<char, 508>>("a")',
    f'bp::attribute("a", {of_rank(32)})',
    'bp::attribute("a", std::array<std::array<std::uint8_t, 255>, 255>{})',
    'bp::attribute("a", 1), bp::group("a", bp::group("a"))',
    'bp::dataset<int>("a", 0x3fffff)',
    'bp::dataset<int>("a", 1, bp::attribute("a", std::array<double, 4090>{}), '
    'bp::attribute("b", std::array<double, 4090>{}))',
    'bp::group("a"), bp::dataset<int>("b", 1), bp::attribute("a/b", 1)',
    'bp::dataset<int>("a", 1, bp::scale("b"), bp::scale("c"), bp::label("x")), bp::dataset<int>("b", 1), '
    'bp::dataset<int>("c", 1)',
    'bp::dataset<int>("a", 1, bp::scale("g/b"), bp::label("x")), '
    'bp::group("g", bp::dataset<int>("b", 1, bp::attribute("NAME", "time")))',
    'bp::constant("a", std::array<std::array<int, 2>, 2>{}, bp::scale("b"), bp::scale("b", 1)), '
    'bp::dataset<int>("b", 1, bp::label("x"))',
    'bp::ring<int, 3>("a", 1, bp::scale("t")), bp::ring<int, 3>("t", 1)',
    'bp::dataset<int>("a", 9, bp::shuffle(), bp::deflate(9), bp::label("x"), bp::attribute("u", "mg"))',
    'bp::FileOptions{4, true}, bp::dataset<int>("a", 1), bp::attribute("e", 1), bp::empty<float>("n")',
]
NUMBERS = [
    ('bp::dataset_number<kB>("b")', "the_blueprint_has_no_dataset_at_this_path"),
    ('bp::dataset_number<kB>("g")', "the_blueprint_has_no_dataset_at_this_path"),
    ('bp::dataset_number<kB>("a/b")', "the_blueprint_has_no_dataset_at_this_path"),
    ('bp::setting_number<kB>("", "t")', "the_blueprint_has_no_setting_of_this_name_there"),
    ('bp::setting_number<kB>("a", "s")', "the_blueprint_has_no_setting_of_this_name_there"),
]


def command(compiler):
    return [compiler, *(["-fconstexpr-steps=100000000"] if "clang" in compiler else []), "-std=c++17", "-O1", "-Wall",
            "-Wextra", "-Werror", f"-I{PROJECT / 'core/include'}"]


def precompile(compiler, folder):
    """Compiles the header alone, so that the many small programs need not do it; returns the options that use that."""
    header = pathlib.Path(folder) / "header.hpp"
    header.parent.mkdir()
    header.write_text("#include <h5mote/recorder.hpp>\n")
    ending = ".pch" if "clang" in compiler else ".gch"
    subprocess.run([*command(compiler), "-x", "c++-header", header, "-o", f"{header}{ending}"], check=True)
    return ["-include", header]


def said(compiler, options, code):
    """What the compiler says of a program; None if it compiles."""
    with tempfile.TemporaryDirectory() as folder:
        source = pathlib.Path(folder) / "program.cpp"
        source.write_text(PROGRAM.format(code))
        result = subprocess.run([*command(compiler), *options, "-c", source, "-o", source.with_suffix(".o")],
                                capture_output=True, text=True, check=False)
    return result.stderr if result.returncode != 0 else None


class Refusals(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.options = {compiler: precompile(compiler, f"{folder.name}/{number}")
                       for number, compiler in enumerate(COMPILERS)}

    def each(self, programs):
        programs = list(programs)
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            tasks = [(compiler, code, sentence, pool.submit(said, compiler, self.options[compiler], code))
                     for compiler in COMPILERS for code, sentence in programs]
            for compiler, code, sentence, task in tasks:
                with self.subTest(compiler=compiler, code=code):
                    text = task.result()
                    if sentence is None:
                        self.assertIsNone(text)
                        continue
                    self.assertIsNotNone(text, "it compiles")
                    # The first error is the sentence, as far as the compiler gets.
                    self.assertIn(sentence, text.replace("\\'", "'"))

    def test_refused(self):
        self.each((f"constexpr auto kB = bp::file({items});", "h5mote: " + sentence) for items, sentence in REFUSED)

    def test_accepted(self):
        self.each((f"constexpr auto kB = bp::file({items});", None) for items in ACCEPTED)

    def test_numbers(self):
        self.each(('constexpr auto kB = bp::file(bp::dataset<int>("a", 3), bp::group("g"), bp::setting<int>("s"), '
                   f'bp::attribute("t", 1)); constexpr auto kN = {number};', name) for number, name in NUMBERS)


if __name__ == "__main__":
    PROJECT = pathlib.Path(sys.argv[1])
    COMPILERS = sys.argv[2:]
    unittest.main(argv=sys.argv[:1])
