"""Signals under load: no thread that computes may take one.

oneDNN's AVX-512 products do not survive a signal frame on their stack, so
signals are blocked in every thread except the one that waits for them; and
every command that computes ends in order however many signals it gets.
ESPALIER_PROGRAM names the program (ctest sets it)."""

import glob
import os
import random
import signal
import subprocess
import time
import unittest

from espalier_program_test import PROGRAM, SLOW, STORIES, ZOO, ProgramTest, run

LEARN = os.path.join(os.path.dirname(PROGRAM), "espalier-learn")
BASE = os.path.join(ZOO, "countdown-base")
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def blocked(pid):
    """For each thread, whether all of SIGNALS are blocked in it."""
    result = []
    for path in glob.glob(f"/proc/{pid}/task/*/status"):
        try:
            with open(path, encoding="ascii") as lines:
                fields = dict(line.split(":", 1) for line in lines)
        except FileNotFoundError:
            continue  # the thread has ended
        mask = int(fields["SigBlk"], 16)
        result.append(all(mask >> (number - 1) & 1 for number in SIGNALS))
    return result


class SignalsTest(ProgramTest):

    def start(self, *arguments):
        return subprocess.Popen(
            [PROGRAM, *arguments], stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE, text=True,
            env=dict(os.environ, ESPALIER_ZOO=ZOO, TMPDIR=self.folder))

    def storm(self, *arguments, warm_up):
        """Sends a signal every millisecond while the program works."""
        process = self.start(*arguments)
        time.sleep(warm_up)
        end = time.monotonic() + 0.2
        while process.poll() is None and time.monotonic() < end:
            process.send_signal(random.choice(SIGNALS))
            time.sleep(0.001)
        _, errors = process.communicate(timeout=120)
        # 130 if it was stopped, 0 if it had finished; a signal's default action
        # while there is nothing to save yet; never SIGABRT (heap checks) or
        # SIGSEGV.
        allowed = (0, 130, *(-number for number in SIGNALS))
        self.assertIn(process.returncode, allowed, errors)
        self.assertNotIn("corrupt", errors)
        self.assertNotIn("Sanitizer", errors)

    def commands(self):
        """Every command that computes, with work for many seconds."""
        text = self.path("book.txt", STORIES * 20000)
        pairs = self.path("pairs.jsonl", '{"gold": "\\\\frac{1}{2}", '
                          '"answer": "0.5"}\n' * 200000)
        number = len(os.listdir(self.folder))
        return [
            ("solve", "--set", "stories:hard", "--index", "3",
             "--budget-tokens", "3000000", "--search", "puct"),
            ("eval", "--set", "stories:hard", "--limit", "3000", "--methods",
             "beam,puct", "--budget-tokens", "700"),
            ("generate", "--set", "stories:hard", "--limit", "3000",
             "--search", "puct", "--out", self.path(f"run{number}.db")),
            ("complete", "--model", STORIES, "--text", "Ann has", "-n", "64",
             "--max-tokens", "1500"),
            ("score", "--model", STORIES, "--file", text),
            ("steps", "--set", "stories:hard", "--limit", "3000"),
            ("grade", "--pairs", pairs),
        ]

    def test_no_thread_that_computes_takes_a_signal(self):
        process = self.start("eval", "--set", "stories:hard", "--limit",
                             "3000", "--methods", "beam", "--budget-tokens",
                             "700", "--threads", "2")
        self.addCleanup(process.kill)
        for _ in range(600):
            time.sleep(0.05)
            threads = blocked(process.pid)
            if len(threads) >= 3:
                break
        self.assertGreaterEqual(len(threads), 3)
        # Only the thread that reads signals has them unblocked, while it waits.
        self.assertLessEqual(threads.count(False), 1, threads)
        process.kill()
        process.communicate()

    def test_a_storm_of_signals(self):
        random.seed(5)
        for _ in range(1 if SLOW else 2):
            for command in self.commands():
                with self.subTest(command=command[0]):
                    self.storm(*command, warm_up=random.uniform(0, 1.5))

    def test_nothing_to_keep_ends_by_the_signal(self):
        process = self.start("problems", "--set", "stories:hard", "--limit",
                             "1000000")
        time.sleep(0.3)
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=60)
        self.assertEqual(process.returncode, -signal.SIGTERM)


@unittest.skipUnless(os.path.exists(LEARN), "built without LibTorch")
class TrainingSignalsTest(SignalsTest):

    def commands(self):
        data = self.path("data.db")
        if not os.path.exists(data):
            made = run("generate", "--out", data, "--set", "countdown:3",
                       "--search", "majority", "--budget-tokens", "300",
                       "--model", BASE, "--limit", "80")
            self.assertEqual(made.returncode, 0, made.stderr)
        number = len(os.listdir(self.folder))
        recipe = os.path.join(os.path.dirname(os.path.dirname(ZOO)), "tools",
                              "recipes", "expert_iteration.textproto")
        train = ("train", "policy", "--model", BASE, "--data", data,
                 "--epochs", "1000", "--batch-tokens", "1500")
        return [
            (*train, "--out", self.path(f"one{number}")),
            (*train, "--threads", "1", "--out", self.path(f"two{number}")),
            (*train, "--lora-rank", "4", "--out", self.path(f"three{number}")),
            ("self-train", "--config", recipe, "--model", BASE, "--out",
             self.path(f"self{number}")),
        ]

    def test_no_thread_that_computes_takes_a_signal(self):
        process = self.start(*self.commands()[0])
        self.addCleanup(process.kill)
        threads = []
        for _ in range(600):
            time.sleep(0.05)
            threads = blocked(process.pid)
            if len(threads) >= 3:
                break
        self.assertLessEqual(threads.count(False), 1, threads)
        process.kill()
        process.communicate()

    def test_a_storm_of_signals(self):
        random.seed(6)
        for _ in range(3):
            for command in self.commands():
                with self.subTest(command=command[0]):
                    self.storm(*command, warm_up=random.uniform(1, 3))

    def test_nothing_to_keep_ends_by_the_signal(self):
        process = subprocess.Popen(
            [LEARN, "zoo", "--family", "stories", "--out", self.path("zoo")],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(2)
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=60)
        self.assertEqual(process.returncode, -signal.SIGTERM)


if __name__ == "__main__":
    unittest.main()
