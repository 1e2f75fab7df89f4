#!/usr/bin/env python3
"""faults_test.py PROJECT COMPILER...: what cannot be a file does not compile, and the compiler says why."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

PROJECT = pathlib.Path()
COMPILERS = []
NAME = "a name in the blueprint is empty, '.', or contains a '/'"
TWICE = "two objects of a group, or two attributes of an object, of the blueprint have one name"
NO_SCALE = "the path of a scale of the blueprint leads to no dataset of it"
NO_DIMENSION = "a scale or label of the blueprint is for a dimension that its object does not have"
SAME_SCALE = "a dimension of a dataset of the blueprint has the same scale twice, or two labels"
# What is described, and what the compiler says.
FAULTS = {
    'group("", attribute("a", 1))': NAME,
    'attribute("", 1)': NAME,
    'group("a/b")': NAME,
    'group("a"), dataset<int>("a", 1)': TWICE,
    'attribute("a", 1), setting<int>("a")': TWICE,
    'dataset<int>("a", 0)': "a dataset of the blueprint has chunks of no rows",
    'dataset<int>("a", 0x40000000)': "a dataset of the blueprint has chunks of 4 GiB or more",
    'setting<std::array<std::byte, 509>>("a")': "too large to be changed by one write of a sector of 512 bytes",
    'attribute("a", std::array<std::byte, 65536>{})': "an attribute of the blueprint has 64 KiB or more",
    'FileOptions{2, false}, group("a")': "addresses of the blueprint's file have 4 or 8 bytes",
    'dataset<int>("a", 1, scale("b"))': NO_SCALE,
    'dataset<int>("a", 1, scale("/t")), group("g", dataset<int>("t", 1))': NO_SCALE,
    'dataset<int>("a", 1, scale("g")), group("g")': NO_SCALE,
    'dataset<int>("a", 1, scale(""))': NO_SCALE,
    'dataset<int>("a", 1, scale("a"))': "a dataset of the blueprint is its own scale",
    'dataset<int>("a", 1, scale("b")), dataset<int>("b", 1, scale("c")), dataset<int>("c", 1)':
        "a dataset of the blueprint is a scale and has a scale itself",
    'dataset<int>("a", 1, scale("b")), constant("b", 1)': "a scale of the blueprint has not exactly one dimension",
    'dataset<int>("a", 1, scale("b")), constant("b", std::array<std::array<int, 2>, 2>{})':
        "a scale of the blueprint has not exactly one dimension",
    'dataset<int>("a", 1, scale("b", 1)), dataset<int>("b", 1)': NO_DIMENSION,
    'constant("a", 1, scale("b")), dataset<int>("b", 1)': NO_DIMENSION,
    'group("a", label("x"))': NO_DIMENSION,
    'scale("b"), dataset<int>("b", 1)': NO_DIMENSION,
    'dataset<int>("a", 1, label("x", 1))': NO_DIMENSION,
    'dataset<int>("a", 1, label(""))': NAME,
    'dataset<int>("a", 1, scale("b"), scale("/b")), dataset<int>("b", 1)': SAME_SCALE,
    'dataset<int>("a", 1, label("x"), label("y"))': SAME_SCALE,
    'dataset<int>("a", 1, scale("b")), dataset<int>("b", 1, attribute("CLASS", "x"))': TWICE,
}
SOUND = [
    'group("a"), dataset<int>("b", 1), attribute("a/b", 1)',
    'dataset<int>("a", 1, scale("b"), scale("c"), label("x")), dataset<int>("b", 1), dataset<int>("c", 1)',
    'dataset<int>("a", 1, scale("g/b"), label("x")), group("g", dataset<int>("b", 1, attribute("NAME", "time")))',
    'constant("a", std::array<std::array<int, 2>, 2>{}, scale("b"), scale("b", 1)), dataset<int>("b", 1, label("x"))',
    'FileOptions{4, true}, dataset<int>("a", 1)',
]


def refusal(compiler, description):
    """What the compiler says; None if it compiles."""
    text = f"""#include <h5mote/recorder.hpp>
using namespace h5mote::blueprint;
constexpr auto kFile = file({description});
static_assert(Image<kFile>::kSize > 0);
"""
    with tempfile.TemporaryDirectory() as folder:
        source = pathlib.Path(folder) / "program.cpp"
        source.write_text(text)
        result = subprocess.run([compiler, "-std=c++17", "-Wall", "-Wextra", "-Werror", "-fsyntax-only",
                                 f"-I{PROJECT / 'core/include'}", source], capture_output=True, text=True, check=False)
    return result.stderr if result.returncode != 0 else None


class Faults(unittest.TestCase):
    def test_faults(self):
        for compiler in COMPILERS:
            for description, sentence in FAULTS.items():
                with self.subTest(compiler=compiler, description=description):
                    self.assertIn(sentence, " ".join((refusal(compiler, description) or "").split()))

    def test_what_is_sound(self):
        for compiler in COMPILERS:
            for description in SOUND:
                with self.subTest(compiler=compiler, description=description):
                    self.assertIsNone(refusal(compiler, description))


if __name__ == "__main__":
    PROJECT = pathlib.Path(sys.argv[1])
    COMPILERS = sys.argv[2:]
    unittest.main(argv=sys.argv[:1], verbosity=2)
