"""Runs espalier calibrate, and searches with what it writes.

ESPALIER_PROGRAM names the program (ctest sets it)."""

import json
import math
import os
import unittest

from espalier_program_test import STORIES, STORY, ProgramTest, run

CURVES = """level { name: "step" slope: 0.5 intercept: -0.25 }
level { name: "path" score: [0.2, 0.6, 0.95] probability: [0.1, 0.3, 0.9] }
"""


def logistic(score):
    odds = (score / (1 - score)) ** 0.5 * math.exp(-0.25)
    return odds / (1 + odds)


def by_points(score):
    points = [(0, .1), (.2, .1), (.6, .3), (.95, .9), (1, .9)]
    for (x, y), (x1, y1) in zip(points, points[1:]):
        if score <= x1:
            return y + (score - x) / (x1 - x) * (y1 - y)
    return None


class CalibrateTest(ProgramTest):

    def solve(self, *arguments):
        result = run("solve", STORY, "--task", "stories", "--search",
                     "best_of_n:n=4", "--budget-tokens", "400", "--json",
                     *arguments)
        self.assertEqual(result.returncode, 0, result.stderr)
        return json.loads(result.stdout)

    def generate(self, out, *more):
        return run("generate", "--out", out, "--set", "stories:middle",
                   "--limit", "12", "--search", "weighted:n=6",
                   "--budget-tokens", "2000", *more)

    def test_searches_read_calibrated_scores(self):
        curves = self.path("curves.textproto", CURVES)
        raw = self.solve()
        got = self.solve("--calibration", curves)
        # The curves rise, so the same response is the best.
        self.assertEqual(got["response"], raw["response"])
        self.assertGreater(len(raw["steps"]), 1)
        for before, after in zip(raw["steps"], got["steps"]):
            self.assertAlmostEqual(after["step_score"],
                                   logistic(before["step_score"]), delta=1e-4)
            self.assertAlmostEqual(after["path_score"],
                                   by_points(before["path_score"]), delta=1e-4)
        # Found beside the weights, and left out where that is asked.
        model = self.copy_of_model()
        with open(os.path.join(model, "calibration.textproto"), "w",
                  encoding="utf-8") as handle:
            handle.write(CURVES)
        beside = self.solve("--model", model)
        self.assertEqual(beside["steps"], got["steps"])
        without = self.solve("--model", model, "--calibration", "none")
        self.assertEqual(without["steps"], raw["steps"])

    def test_runs_resume_with_the_same_curves_only(self):
        curves = self.path("curves.textproto", CURVES)
        others = self.path("others.textproto", CURVES.replace("0.5", "0.6"))
        plain, curved = self.path("plain.db"), self.path("curved.db")
        self.assertEqual(self.generate(plain).returncode, 0)
        result = self.generate(curved, "--calibration", curves)
        self.assertEqual(result.returncode, 0, result.stderr)
        same = self.generate(curved, "--resume", "--calibration", curves)
        self.assertEqual(same.returncode, 0, same.stderr)
        for out, flags in ((plain, ["--calibration", curves]), (curved, []),
                           (curved, ["--calibration", others])):
            result = self.generate(out, "--resume", *flags)
            self.assertNotEqual(result.returncode, 0)
            self.assertIn("calibration", result.stderr)
        # Scores that a curve has changed are no model's.
        self.refused(run("calibrate", "--runs", curved, "--out",
                         self.path("out.textproto")), "curved.db",
                     "--calibration none")
        replayed = run("replay", curved)
        self.assertEqual(replayed.returncode, 0, replayed.stderr)

    def test_curves_are_fitted_and_measured_apart(self):
        runs = self.path("run.db")
        self.assertEqual(self.generate(runs).returncode, 0)
        texts = set()
        for kind in ("platt", "temperature", "isotonic"):
            out = self.path(kind + ".textproto")
            result = run("calibrate", "--runs", runs, "--kind", kind, "--out",
                         out, "--json")
            self.assertEqual(result.returncode, 0, result.stderr)
            levels = json.loads(result.stdout)["levels"]
            self.assertEqual(set(levels), {"step", "path"})
            for level in levels.values():
                self.assertGreater(level["held_out"], 0)
                thirds = level["thirds"]
                self.assertEqual(len(thirds), 3)
                self.assertEqual(sum(part["labels"] for part in thirds),
                                 level["held_out"])
                # The Brier score of all is the mean over the thirds' labels.
                for when in ("before", "after"):
                    brier = sum(part["labels"] * part[when]["brier"]
                                for part in thirds) / level["held_out"]
                    self.assertAlmostEqual(brier, level[when]["brier"],
                                           places=9)
                for figure in ("ece", "brier"):
                    self.assertLess(level["after"][figure], 0.5)
            with open(out, encoding="utf-8") as handle:
                texts.add(handle.read())
            self.solve("--calibration", out)
        self.assertEqual(len(texts), 3)
        # Measured on searches of other problems.
        other = self.path("other.db")
        self.assertEqual(self.generate(other, "--first", "12").returncode, 0)
        result = run("calibrate", "--runs", runs, "--measure-on", other,
                     "--out", "-", "--json", self.path("report.json"))
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("on --measure-on:", result.stderr)
        with open(self.path("report.json"), encoding="utf-8") as handle:
            levels = json.load(handle)["levels"]
        # Nothing there is fitted on, so all of its labels count.
        every = run("calibrate", "--runs", other, "--out", "-", "--held-out",
                    "0", "--json", self.path("every.json"))
        self.assertEqual(every.returncode, 0, every.stderr)
        with open(self.path("every.json"), encoding="utf-8") as handle:
            fitted = json.load(handle)["levels"]
        for level in ("step", "path"):
            self.assertEqual(levels[level]["measured_on"]["labels"],
                             fitted[level]["fitted_on"])
        # A smaller part is fitted, on the same problems each time.
        again = run("calibrate", "--runs", runs, "--out", "-", "--levels",
                    "path")
        self.assertEqual(again.returncode, 0, again.stderr)
        self.assertIn('name: "path"', again.stdout)
        self.assertNotIn('name: "step"', again.stdout)
        self.assertIn(again.stdout.splitlines()[1], "".join(texts))

    def test_labelled_steps_are_scored_first(self):
        rows = [{"id": f"gsm8k-{k}", "problem": f"What is {k} + 3?",
                 "steps": [f"{k}+3={k + 3}" if k % 3 else f"{k}+3={k + 4}",
                           f"= {k + 3}"], "label": -1 if k % 3 else 0}
                for k in range(60)]
        path = self.path("gsm8k.jsonl", "".join(
            json.dumps(row) + "\n" for row in rows))
        out = self.path("out.textproto")
        result = run("calibrate", "--steps", path, "--reward-model", STORIES,
                     "--out", out, "--json", "--kind", "isotonic")
        self.assertEqual(result.returncode, 0, result.stderr)
        levels = json.loads(result.stdout)["levels"]
        # A step's label is known up to the first error, a path's everywhere.
        counts = [sum(level[part] for part in ("fitted_on", "held_out"))
                  for level in (levels["step"], levels["path"])]
        self.assertEqual(counts, [2 * 40 + 20, 2 * 60])
        # Of two steps the second is in the middle third, of three the last
        # two are in the middle and the last.
        longer = self.path("longer.jsonl", "".join(
            json.dumps({**row, "problem": "Now: " + row["problem"], "steps": [
                *row["steps"], "So."] if k < 20 else row["steps"]}) + "\n"
            for k, row in enumerate(rows)))
        result = run("calibrate", "--steps", path, "--measure-on", longer,
                     "--kind", "isotonic", "--reward-model", STORIES, "--out",
                     "-", "--json",
                     self.path("thirds.json"))
        self.assertEqual(result.returncode, 0, result.stderr)
        with open(self.path("thirds.json"), encoding="utf-8") as handle:
            other = json.load(handle)["levels"]["path"]["measured_on"]
        self.assertEqual([part["labels"] for part in other["thirds"]],
                         [60, 60, 20])
        self.assertIn(" middle", result.stderr)
        # bench-reward reads the curve, too.
        raw, curved = self.path("raw.jsonl"), self.path("curved.jsonl")
        self.assertEqual(run("bench-reward", "--processbench", path,
                             "--reward-model", STORIES, "--out",
                             raw).returncode, 0)
        curves = self.path("curves.textproto", CURVES)
        self.assertEqual(run("bench-reward", "--processbench", path,
                             "--reward-model", STORIES, "--out", curved,
                             "--calibration", curves).returncode, 0)
        with open(raw, encoding="utf-8") as a, open(curved,
                                                    encoding="utf-8") as b:
            for before, after in zip(a, b):
                for x, y in zip(json.loads(before)["scores"],
                                json.loads(after)["scores"]):
                    self.assertAlmostEqual(y, logistic(x), delta=1e-4)

    def test_bad_input_is_refused(self):
        bad = self.path("bad.textproto", 'level {\n  name: "step"\n}\n')
        self.refused(run("solve", STORY, "--calibration", bad),
                     "bad.textproto:1", "slope")
        self.refused(run("solve", STORY, "--calibration", "/no/such/file"),
                     "--calibration", "/no/such/file")
        out = self.path("out.textproto")
        self.refused(run("calibrate", "--out", out), "--steps", "--runs")
        self.refused(run("calibrate", "--steps", bad, "--out", out),
                     "--reward-model")
        empty = self.path("empty.jsonl", "")
        self.refused(run("calibrate", "--steps", empty, "--reward-model",
                         STORIES, "--out", out), "empty.jsonl")
        few = self.path("few.jsonl", json.dumps(
            {"id": "x", "problem": "P", "steps": ["a"], "label": 0}) + "\n")
        self.refused(run("calibrate", "--steps", few, "--reward-model", STORIES,
                         "--held-out", "0", "--out", out), "level step",
                     "at least 20")
        self.assertFalse(os.path.exists(out))


if __name__ == "__main__":
    unittest.main()
