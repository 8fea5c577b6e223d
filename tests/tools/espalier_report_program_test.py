"""Runs espalier report end to end: on the files of trainings, whole, cut off
and damaged.

ESPALIER_PROGRAM names the program (ctest sets it). It only reads files, so none
of this needs LibTorch."""

import fcntl
import json
import math
import os
import pty
import random
import struct
import subprocess
import termios
import unittest
import xml.etree.ElementTree as ElementTree

from espalier_program_test import PROGRAM, ProgramTest, run

ROUND = {
    "round": 1, "searches": 5000, "solved": 2091, "tokens": 2000000,
    "examples": 4011, "reward_examples": 0, "n": 500, "right_before": 157,
    "right_after": 196, "gained": 64, "lost": 25, "p_value": 2.16e-05,
    "promote": True, "reason": "promoted: 39.2 % right, before 31.4 %",
    "generate_seconds": 133.9, "reward_seconds": 0.0, "policy_seconds": 49.4,
    "gate_seconds": 4.6}


def step(i, **more):
    return {"step": i, "loss": 2 * math.exp(-i / 50) + 0.1,
            "entropy": 1.5 - i / 200, "kl": 0.0, "clip_rate": 0.0,
            "right": 0.0, "grad_norm": 1 + i % 3, "learning_rate": 1e-3,
            "tokens": 8000, "tokens_per_second": 30000.0 + i, **more}


def lines(rows):
    return "".join(json.dumps(row) + "\n" for row in rows)


class ReportTest(ProgramTest):

    def work(self, name, text):
        os.makedirs(self.path(name), exist_ok=True)
        self.path(os.path.join(name, "metrics.jsonl"), text)
        return self.path(name)

    def report(self, *arguments):
        result = run("report", *arguments)
        self.assertEqual(result.returncode, 0, result.stderr)
        return result.stdout

    def series(self, *arguments):
        """The series of the first training, by name."""
        report = json.loads(self.report("--json", *arguments))["reports"][0]
        return {s["name"]: s for s in report["trainings"][0]["series"]}


class WholeTest(ReportTest):

    def test_a_training_is_drawn(self):
        work = self.work("a.work", lines(step(i) for i in range(1, 141)))
        text = self.report(work)
        for name in ("loss  first 2.06", "entropy", "grad_norm",
                     "tokens_per_second"):
            self.assertIn("\n" + name, text)
        for name in ("kl", "clip_rate", "right", "learning_rate", "tokens "):
            self.assertNotIn("\n" + name, text)
        self.assertEqual(max(len(line) for line in text.splitlines()
                             if "+--" in line), 80)
        self.assertEqual(text, self.report(work + "/metrics.jsonl")
                         .replace("/metrics.jsonl", "", 1))
        # A constant series is plotted if requested.
        text = self.report(work, "--metric", "kl", "--metric", "loss")
        self.assertIn("\nkl  first 0, last 0", text)
        self.assertNotIn("entropy", text)
        self.assertIn("\nkl", self.report("--metric", "kl", work))

    def test_figures_for_machines(self):
        work = self.work("a.work", lines(step(i) for i in range(1, 141)))
        series = self.series(work)
        self.assertEqual(list(series), ["loss", "entropy", "grad_norm",
                                        "tokens_per_second"])
        self.assertEqual(series["loss"]["values"],
                         [step(i)["loss"] for i in range(1, 141)])
        self.assertEqual(series["entropy"]["min_step"], 140)
        self.assertEqual(series["grad_norm"]["max"], 3)
        self.assertEqual(list(self.series(work, "--metric", "tokens")),
                         ["tokens"])

    def test_a_terminal_decides_the_width(self):
        work = self.work("a.work", lines(step(i) for i in range(1, 141)))
        for columns, widest in ((60, 60), (250, 100)):
            master, slave = pty.openpty()
            fcntl.ioctl(slave, termios.TIOCSWINSZ,
                        struct.pack("HHHH", 24, columns, 0, 0))
            process = subprocess.Popen(
                [PROGRAM, "report", work, "--metric", "loss"], stdout=slave,
                stdin=subprocess.DEVNULL)
            os.close(slave)
            text = b""
            while True:
                try:
                    part = os.read(master, 65536)
                except OSError:  # the other end is closed
                    break
                if not part:
                    break
                text += part
            os.close(master)
            self.assertEqual(process.wait(), 0)
            plot = [line for line in text.decode().splitlines() if "|" in line
                    or "+" in line]
            self.assertEqual(max(map(len, plot)), widest)

    def test_a_page_needs_nothing_beside_it(self):
        a = self.work("a <1>.work", lines(step(i) for i in range(1, 2000)))
        b = self.work("b.work", lines(step(i) for i in range(1, 50)))
        page = self.path("runs.html")
        self.assertIn("runs.html", self.report(a, b, "--html", page))
        with open(page, encoding="utf-8") as handle:
            text = handle.read()
        self.assertNotRegex(text, r"(?i)<script|https?:|src=|@import|url\(")
        root = ElementTree.fromstring(text.split("\n", 1)[1])
        pictures = [svg for svg in root.iter("svg") if svg.get("role")]
        self.assertEqual(len(pictures), 4)
        for picture in pictures:
            names = [path.find("title").text for path in picture.iter("path")
                     if path.find("title") is not None]
            self.assertEqual(names, [a, b])
        self.assertLess(len(text), 200000)

    def test_a_self_training_has_a_table(self):
        os.makedirs(self.path("best.work"))
        self.path("best.work/round1.json", json.dumps(ROUND))
        lost = dict(ROUND, round=2, promote=False, reward_examples=70,
                    reason="kept the old model: 28.0 % right")
        self.path("best.work/round2.json", json.dumps(lost))
        for name in ("round1-policy", "round2-reward", "round2-policy"):
            self.work(f"best.work/{name}.work",
                      lines(step(i) for i in range(1, 20)))
        self.work("best.work/round3-policy.work", "")
        text = self.report(self.path("best.work"))
        self.assertRegex(text, r"1 +5000 +41\.8 % +4011 +0 +31\.4 % -> 39\.2 %"
                               r" +2\.2e-05 +yes +134 +0\.0 +49 +4\.6\n")
        self.assertIn("round 2: kept the old model: 28.0 % right\n", text)
        self.assertIn("round 3 has not ended yet", text)
        self.assertEqual(text.count("+---"), 3)  # losses
        text = self.report(self.path("best.work"), "--metric", "entropy")
        self.assertEqual(text.count("+---"), 3)
        page = self.path("page.html")
        self.report(self.path("best.work"), "--html", page)
        with open(page, encoding="utf-8") as handle:
            self.assertIn("round2 reward", handle.read())
        report = json.loads(self.report(self.path("best.work"), "--json"))
        self.assertEqual(report["reports"][0]["rounds"], [ROUND, lost])
        self.assertEqual(report["reports"][0]["kind"], "self-training")
        # The checkpoint instead of its work folder.
        os.makedirs(self.path("best"))
        self.refused(run("report", self.path("best")), "best.work")

    def test_a_line_cut_off_is_left_out_with_a_note(self):
        whole = lines(step(i) for i in range(1, 31))
        work = self.work("a.work", whole + lines([step(31)])[:40])
        text = self.report(work)
        self.assertIn("metrics.jsonl:31: incomplete", text)
        self.assertEqual(self.series(work)["loss"]["steps"],
                         list(range(1, 31)))


class WrongInputTest(ReportTest):

    def test_wrong_words(self):
        work = self.work("a.work", lines(step(i) for i in range(1, 9)))
        self.refused(run("report"), "path")
        self.refused(run("report", work, "--metric", "los"),
                     'did you mean "loss"?')
        self.refused(run("report", work, "--metric", "nothing-like-it"),
                     "known: loss")
        self.refused(run("report", work, "--html", "/no/such/folder/a.html"),
                     "/no/such/folder")
        self.refused(run("report", work, "--html", work), "a.work")
        self.refused(run("reprot"), '"report"')

    def test_nothing_to_read(self):
        self.refused(run("report", "/no/such/path"), "/no/such/path",
                     "work folder of a training")
        self.refused(run("report", self.folder), "no metrics", "--work")
        self.refused(run("report", self.work("a.work", "")),
                     "metrics.jsonl: is empty", "try again")
        self.refused(run("report", self.work("a.work", '{"step":1')),
                     "no complete line")
        # One good path does not hide a bad one.
        good = self.work("good.work", lines([step(1), step(2)]))
        self.refused(run("report", good, "/no/such/path"), "/no/such/path")

    def test_bad_lines_are_named(self):
        rows = [lines([step(i)]) for i in range(1, 10)]
        for line, words in (
                ("{", ["is not JSON"]), ("", None),
                ('{"step":5,"loss":' + "[" * 60000 + "]" * 60000 + "}",
                 ["is not JSON"]),
                ('{"step":7,"loss":NaN}', ["null"]),
                ('{"step":7,"loss":"low"}', ['"low"', "a number"]),
                ('{"step":"seven","loss":1}', ['"seven"', "whole number"]),
                ('{"loss":1}', ["expected", "metrics.jsonl"]),
                ("\0\xff" * 9, ["is not JSON"]), ("[" * 100000, ["JSON"])):
            work = self.work("a.work",
                             "".join(rows[:6]) + line + "\n" + "".join(rows[6:]))
            if words is None:
                self.report(work)
            else:
                self.refused(run("report", work), "metrics.jsonl:7:", *words)
        with open(self.path("a.work/metrics.jsonl"), "wb") as handle:
            handle.write(os.urandom(5000) + b"\n")
        self.refused(run("report", self.path("a.work")), "metrics.jsonl:1:")

    def test_null_is_a_gap_with_a_note(self):
        work = self.work("a.work", lines(
            step(i, loss=None if i in (7, 8) else 1 / i) for i in range(1, 20)))
        text = self.report(work)
        self.assertIn('metrics.jsonl:7: "loss" is null', text)
        self.assertIsNone(self.series(work)["loss"]["values"][6])
        work = self.work("a.work", lines([step(1, loss=None)]))
        self.assertIn("no value is a number",
                      self.report(work, "--metric", "loss"))

    def test_damaged_rounds_are_named(self):
        os.makedirs(self.path("best.work"))
        for text in ("", "{", "[]", "{}", json.dumps(dict(ROUND, n="many"))):
            self.path("best.work/round1.json", text)
            self.refused(run("report", self.path("best.work")), "round1.json",
                         "restore")

    def test_any_damage_is_refused_or_read(self):
        random.seed(5)
        whole = bytearray(lines(step(i) for i in range(1, 9)), "ascii")
        path = self.path("metrics.jsonl")
        for _ in range(200):
            text = bytearray(whole)
            for _ in range(random.randrange(1, 4)):
                text[random.randrange(len(text))] = random.choice(
                    b'{}[]",:0123456789.-eE\n \xff\x00ntfalsu')
            with open(path, "wb") as handle:
                handle.write(text[:random.randrange(1, len(text))])
            result = run("report", path, "--json")
            if result.returncode == 0:
                json.loads(result.stdout)
            else:
                self.refused(result, "metrics.jsonl")


if __name__ == "__main__":
    unittest.main()
