"""Runs searches with a reward model that has several heads per level.

ESPALIER_PROGRAM names the program (ctest sets it)."""

import json
import os
import random
import signal
import sqlite3
import struct
import subprocess
import time
import unittest

from espalier_generate_program_test import content
from espalier_program_test import PROGRAM, STORIES, STORY, ZOO, ProgramTest, run
from espalier_reward_program_test import read_tensors, write_tensors

HEADS = 3


def floats(bf16):
    """bf16 bytes as numbers."""
    return [struct.unpack("<f", b"\0\0" + bf16[i:i + 2])[0]
            for i in range(0, len(bf16), 2)]


class EnsembleTest(ProgramTest):

    def ensemble(self):
        """The shipped model with three noisy copies of its heads."""
        model = self.copy_of_model()
        path = os.path.join(model, "model.safetensors")
        tensors = read_tensors(path)
        draw = random.Random(5)
        for name, noise in (("weight", 0.05), ("bias", 0.5)):
            name = "reward_head." + name
            _, shape, data = tensors[name]
            rows = [value + draw.gauss(0, noise) for _ in range(HEADS)
                    for value in floats(data)]
            tensors[name] = ("F32", [HEADS * shape[0], *shape[1:]],
                             struct.pack(f"<{len(rows)}f", *rows))
        write_tensors(path, tensors)
        config_path = os.path.join(model, "config.json")
        with open(config_path, encoding="utf-8") as handle:
            config = json.load(handle)
        config["espalier_heads"]["ensemble"] = HEADS
        with open(config_path, "w", encoding="utf-8") as handle:
            json.dump(config, handle)
        return model

    def solve(self, model, b, *more):
        result = run("solve", STORY, "--task", "stories", "--model", STORIES,
                     "--reward-model", model, "--search",
                     f"best_of_n:n=4:lower_confidence={b}", "--budget-tokens",
                     "400", "--json", *more)
        self.assertEqual(result.returncode, 0, result.stderr)
        return json.loads(result.stdout)

    def test_scores_fall_with_the_spread_and_curves_come_first(self):
        model = self.ensemble()
        told = run("doctor", "--model", model).stdout
        self.assertIn("ensemble of 3 heads", told)
        self.assertNotIn("calibration", told)
        # Steps that are in the response for every b.
        scores = {}
        for b in ("0", "0.5", "1"):
            got = self.solve(model, b)
            for step in got["steps"]:
                scores.setdefault(step["text"], {})[b] = step["path_score"]
        shared = [by for by in scores.values() if len(by) == 3]
        self.assertGreater(len(shared), 0)
        for by in shared:
            spread = 2 * (by["0"] - by["0.5"])
            self.assertGreater(spread, 1e-4)
            self.assertAlmostEqual(by["1"], max(0, by["0"] - spread),
                                   delta=1e-4)
        # A curve of slope 1/2 in the middle halves the spread, too.
        with open(os.path.join(model, "calibration.textproto"), "w",
                  encoding="utf-8") as handle:
            handle.write('level { name: "path" score: [0, 1] '
                         'probability: [0.25, 0.75] }\n')
        told = run("doctor", "--model", model).stdout
        self.assertIn("calibration.textproto beside the weights: path", told)
        for step in self.solve(model, "1")["steps"]:
            by = scores.get(step["text"], {})
            if "0" not in by or "0.5" not in by:
                continue
            mean, spread = by["0"], 2 * (by["0"] - by["0.5"])
            low, high = max(0, mean - spread), min(1, mean + spread)
            self.assertAlmostEqual(step["path_score"],
                                   0.25 + mean / 2 - (high - low) / 4,
                                   delta=1e-3)

    def test_runs_replay_and_resume(self):
        model = self.ensemble()
        command = ["generate", "--out", "", "--set", "stories:middle",
                   "--limit", "12", "--budget-tokens", "300", "--model",
                   STORIES, "--reward-model", model, "--search"]
        method = "beam:lower_confidence=1"

        def generate(out, method, *more):
            command[2] = out
            return run(*command, method, *more)

        whole, out = self.path("whole.db"), self.path("out.db")
        start = time.monotonic()
        result = generate(whole, method)
        self.assertEqual(result.returncode, 0, result.stderr)
        seconds = time.monotonic() - start
        command[2] = out
        for share in (0.5, 0.8):
            with subprocess.Popen(
                    [PROGRAM, *command, method] +
                    (["--resume"] if os.path.exists(out) else []),
                    stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                    env=dict(os.environ, ESPALIER_ZOO=ZOO)) as program:
                time.sleep(share * seconds)
                program.send_signal(signal.SIGKILL)
                program.wait()
        resume = ["--resume"] if os.path.exists(out) else []
        result = generate(out, method, *resume)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(content(out), content(whole))
        replayed = run("replay", whole)
        self.assertEqual(replayed.returncode, 0, replayed.stderr)
        # Another b is another search.
        plain = self.path("plain.db")
        self.assertEqual(generate(plain, "beam").returncode, 0)
        self.assertNotEqual(content(plain)["trees"], content(whole)["trees"])
        result = generate(plain, method, "--resume")
        self.assertNotEqual(result.returncode, 0)
        self.assertIn("lower_confidence", result.stderr)
        self.assertEqual(run("replay", plain).returncode, 0)
        # Lowered scores are no model's, and two models have no common curve.
        curve = self.path("curve.textproto")
        self.refused(run("calibrate", "--runs", whole, "--out", curve),
                     "whole.db: run 1", "lower_confidence=1")
        other = self.path("other.db")
        self.assertEqual(generate(other, "beam").returncode, 0)
        with sqlite3.connect(other) as db:
            db.execute("UPDATE runs SET reward_model_hash = 'another'")
        self.refused(run("calibrate", "--runs", plain, other, "--out", curve),
                     "other.db: run 1", "plain.db: run 1", "another")
        self.refused(run("calibrate", "--runs", plain, "--measure-on", other,
                         "--out", curve), "other.db: run 1", "another")
        self.assertFalse(os.path.exists(curve))

    def test_a_model_without_a_spread_is_refused(self):
        for method in ("beam", "puct", "weighted", "tot_dfs"):
            self.refused(run("solve", STORY, "--model", STORIES, "--search",
                             method + ":lower_confidence=0.5"),
                         "lower_confidence", "--ensemble")
        result = run("solve", STORY, "--model", STORIES, "--search",
                     "beam:lower_confidence=-1")
        self.refused(result, "lower_confidence")


if __name__ == "__main__":
    unittest.main()
