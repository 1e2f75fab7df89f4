"""toolchains/count-tests adds up what test programs say, and never loses a failure."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

SCRIPT = pathlib.Path(__file__).resolve().parents[2] / "toolchains/count-tests"
GOOD = "[==========] Running 3 tests\n[  PASSED  ] 3 tests.\n"
BAD = "[==========] 3 tests ran.\n[  PASSED  ] 2 tests.\n[  FAILED  ] 1 test, listed below:\n[  FAILED  ] A.B\n"


def count(code, *cases):
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "junit.xml"
        body = "".join(
            f'<testcase name="t" status="{status}"><system-out>{output}</system-out></testcase>'
            for status, output in cases
        )
        path.write_text(f"<testsuite>{body}</testsuite>")
        result = subprocess.run([sys.executable, str(SCRIPT), str(path), str(code)], capture_output=True, text=True)
        return result.stdout.strip()


class CountTests(unittest.TestCase):
    def test_passed(self):
        self.assertEqual(count(0, ("run", GOOD), ("run", "5 passed, 0 failed\n"), ("run", "")), "9 0")
        self.assertEqual(count(0, ("run", "....\nRan 4 tests in 0.1s\n\nOK\n")), "4 0")

    def test_failed(self):
        self.assertEqual(count(8, ("fail", BAD), ("fail", "5 passed, 2 failed\n"), ("fail", "")), "7 4")

    def test_a_crash_after_passing_is_a_failure(self):
        self.assertEqual(count(8, ("fail", GOOD)), "3 1")
        self.assertEqual(count(8, ("fail", "[==========] Running 3 tests\n")), "0 1")

    def test_an_error_of_ctest_itself_is_a_failure(self):
        self.assertEqual(count(8), "0 1")
        result = subprocess.run([sys.executable, str(SCRIPT), "/nonexistent.xml", "1"], capture_output=True, text=True)
        self.assertEqual(result.stdout.strip(), "0 1")


if __name__ == "__main__":
    unittest.main()
