"""toolchains/figures fails when it should, and only then."""

import contextlib
import importlib.machinery
import importlib.util
import io
import pathlib
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True  # the script has no suffix, so that its compiled form would lie beside it

SCRIPT = pathlib.Path(__file__).resolve().parents[2] / "toolchains/figures"
loader = importlib.machinery.SourceFileLoader("figures", str(SCRIPT))
figures = importlib.util.module_from_spec(importlib.util.spec_from_loader("figures", loader))
loader.exec_module(figures)


class Figures(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.report = pathlib.Path(folder.name)
        (self.report / "figures.d").mkdir()
        self.baseline = self.report / "baseline.tsv"

    def measured(self, text, file="a.tsv"):
        (self.report / "figures.d" / file).write_text(text)

    def run_script(self, *options):
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            code = figures.main(["--report", str(self.report), "--baseline", str(self.baseline), *options])
        self.out, self.err = out.getvalue(), err.getvalue()
        return code

    def test_passes_up_to_two_percent(self):
        self.baseline.write_text("code.logger.cortex-m4\t10000\tbytes\t16384\n")
        self.measured("code.logger.cortex-m4\t10200\tbytes\t16384\n")
        self.assertEqual(self.run_script(), 0)
        self.assertIn("within", self.out)

    def test_fails_on_growth(self):
        for kind in ("code", "data", "bss", "ram", "stack", "insns", "filesize"):
            with self.subTest(kind):
                self.baseline.write_text(f"{kind}.x\t10000\tbytes\t\n")
                self.measured(f"{kind}.x\t10201\tbytes\t\n")
                self.assertEqual(self.run_script(), 1)
                self.assertIn(f"{kind}.x: 10201 bytes, baseline 10000 (+2.0 %)", self.err)

    def test_builds_that_were_not_measured_may_be_left_out(self):
        self.baseline.write_text("code.x.cortex-m0\t10\tbytes\t\ncode.x.cortex-m4\t10\tbytes\t\n")
        self.measured("code.x.cortex-m4\t10\tbytes\t\n")
        self.assertEqual(self.run_script(), 1)
        self.assertEqual(self.run_script("--partly"), 0)
        self.assertIn("nothing was measured of cortex-m0", self.out)
        self.measured("code.y.cortex-m4\t10\tbytes\t\n")
        self.assertEqual(self.run_script("--partly"), 1)
        self.assertIn("code.x.cortex-m4: in the baseline, but not measured", self.err)

    def test_figures_may_be_negative(self):
        self.baseline.write_text("code.x\t-1000\tbytes\t\n")
        self.measured("code.x\t-980\tbytes\t\n")
        self.assertEqual(self.run_script(), 0)
        self.measured("code.x\t-979\tbytes\t\n")
        self.assertEqual(self.run_script(), 1)
        self.assertIn("code.x: -979 bytes, baseline -1000 (+2.1 %)", self.err)

    def test_fails_on_growth_from_nothing(self):
        self.baseline.write_text("bss.x\t0\tbytes\t\n")
        self.measured("bss.x\t4\tbytes\t\n")
        self.assertEqual(self.run_script(), 1)

    def test_shrinking_is_welcome(self):
        self.baseline.write_text("code.x\t10000\tbytes\t\n")
        self.measured("code.x\t1\tbytes\t\n")
        self.assertEqual(self.run_script(), 0)

    def test_ratios_are_not_compared(self):
        self.baseline.write_text("ratio.append1.host\t0.1\tratio\t1\n")
        self.measured("ratio.append1.host\t0.9\tratio\t1\n")
        self.assertEqual(self.run_script(), 0)

    def test_fails_on_a_missing_figure(self):
        self.baseline.write_text("code.x\t1\tbytes\t\ncode.y\t1\tbytes\t\n")
        self.measured("code.x\t1\tbytes\t\n")
        self.assertEqual(self.run_script(), 1)
        self.assertIn("code.y: in the baseline, but not measured", self.err)

    def test_over_budget_is_marked_but_no_error(self):
        self.measured("code.x\t11\tbytes\t10\n")
        self.assertEqual(self.run_script(), 0)
        self.assertRegex(self.out, r"code\.x +11 +bytes +10 +over")
        self.assertIn("1 figures, 1 over budget", self.out)

    def test_update_makes_it_pass_and_keeps_what_is_compared(self):
        self.baseline.write_text("code.x\t10\tbytes\t\n")
        self.measured("code.x\t20\tbytes\t\nratio.y\t0.5\tratio\t1\n")
        self.assertEqual(self.run_script(), 1)
        self.assertEqual(self.run_script("--update-baseline"), 0)
        self.assertEqual(self.run_script(), 0)
        self.assertNotIn("ratio.y", self.baseline.read_text())

    def test_a_new_figure_is_noted(self):
        self.measured("insns.new\t20\tinstructions\t\n")
        self.assertEqual(self.run_script(), 0)
        self.assertIn("insns.new: not in the baseline yet", self.out)

    def test_writes_all_sorted(self):
        self.measured("b.y\t2\tbytes\t3\n", "1.tsv")
        self.measured("a.x\t1\tbytes\n", "2.tsv")
        self.assertEqual(self.run_script(), 0)
        self.assertEqual(
            (self.report / "figures.tsv").read_text(), "# name\tvalue\tunit\tbudget\na.x\t1\tbytes\t\nb.y\t2\tbytes\t3\n"
        )

    def test_fails_on_bad_input(self):
        for text in ("code.x 1 bytes\n", "code.x\tmany\tbytes\t\n", "code.x\tnan\tbytes\t\n", "\t1\tbytes\t\n", "",
                     "code.x\t1\tbytes\t\ncode.x\t1\tbytes\t\n", "code.x\t1\tbytes\t<=3\n"):
            with self.subTest(text):
                self.measured(text)
                self.assertEqual(self.run_script(), 1)

    def test_fails_when_two_programs_measure_one_figure(self):
        self.measured("code.x\t1\tbytes\t\n", "1.tsv")
        self.measured("code.x\t1\tbytes\t\n", "2.tsv")
        self.assertEqual(self.run_script(), 1)


if __name__ == "__main__":
    unittest.main()
