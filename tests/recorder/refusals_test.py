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
NO_ATTRIBUTE = "a dataset or constant of the blueprint has an item that is no attribute or setting"
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
    ('bp::constant("a", 3, bp::dataset<int>("b", 3))', NO_ATTRIBUTE),
    ("3", NO_ITEM),
    ('bp::group("a", "b")', NO_ITEM),
    ('bp::attribute("a", std::array<int, 0>{})', "a value of the blueprint has no elements"),
    ('bp::constant("a", std::array<std::array<int, 0>, 3>{})', "a value of the blueprint has no elements"),
    (f'bp::attribute("a", {of_rank(33)})', "a value of the blueprint has more than 32 dimensions"),
    (f'bp::constant("a", {of_rank(33)})', "a value of the blueprint has more than 32 dimensions"),
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
]
NUMBERS = [
    ('bp::dataset_number<kB>("b")', "the_blueprint_has_no_dataset_at_this_path"),
    ('bp::dataset_number<kB>("g")', "the_blueprint_has_no_dataset_at_this_path"),
    ('bp::dataset_number<kB>("a/b")', "the_blueprint_has_no_dataset_at_this_path"),
    ('bp::setting_number<kB>("", "t")', "the_blueprint_has_no_setting_of_this_name_there"),
    ('bp::setting_number<kB>("a", "s")', "the_blueprint_has_no_setting_of_this_name_there"),
]


def said(compiler, code):
    """What the compiler says of a program; None if it compiles."""
    with tempfile.TemporaryDirectory() as folder:
        source = pathlib.Path(folder) / "program.cpp"
        source.write_text(PROGRAM.format(code))
        result = subprocess.run(
            [compiler, *(["-fconstexpr-steps=100000000"] if "clang" in compiler else []), "-std=c++17", "-O1", "-Wall", "-Wextra", "-Werror", f"-I{PROJECT / 'core/include'}", "-c",
             source, "-o", source.with_suffix(".o")], capture_output=True, text=True, check=False)
    return result.stderr if result.returncode != 0 else None


class Refusals(unittest.TestCase):
    def each(self, programs):
        programs = list(programs)
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            tasks = [(compiler, code, sentence, pool.submit(said, compiler, code)) for compiler in COMPILERS
                     for code, sentence in programs]
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
