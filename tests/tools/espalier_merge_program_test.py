"""Runs shards of a set as launchers start them and joins their databases with
espalier db merge.

ESPALIER_PROGRAM names the program (ctest sets it)."""

import json
import os
import shutil
import signal
import sqlite3
import subprocess
import time
import unittest

from espalier_generate_program_test import content
from espalier_program_test import PROGRAM, ROOT, ZOO, ProgramTest, run

LAUNCHERS = ("RANK", "WORLD_SIZE", "OMPI_COMM_WORLD_RANK",
             "OMPI_COMM_WORLD_SIZE", "PMI_RANK", "PMI_SIZE", "SLURM_PROCID",
             "SLURM_NTASKS", "SLURM_STEP_NUM_TASKS", "SLURM_ARRAY_TASK_ID",
             "SLURM_ARRAY_TASK_MIN", "SLURM_ARRAY_TASK_STEP", "SLURM_ARRAY_TASK_COUNT",
             "JOB_COMPLETION_INDEX")


def environment(variables):
    env = {k: v for k, v in os.environ.items() if k not in LAUNCHERS}
    return dict(env, ESPALIER_ZOO=ZOO, **variables)


def command(out, *more):
    return [PROGRAM, "generate", "--out", out, "--set", "stories:middle",
            "--limit", "7", "--search", "beam", "--budget-tokens", "300",
            "--searches", "2", *more]


class MergeTest(ProgramTest):

    def generate(self, out, *more, **variables):
        return subprocess.run(command(out, *more), env=environment(variables),
                              capture_output=True, text=True, check=False)

    def shards(self, count=3):
        names = []
        for i in range(count):
            done = self.generate(self.path("run.db"), "--shard", "auto",
                                 SLURM_PROCID=str(i), SLURM_NTASKS=str(count),
                                 SLURM_STEP_NUM_TASKS=str(count))
            self.assertEqual(done.returncode, 0, done.stderr)
            names.append(self.path(f"run.{i}-of-{count}.db"))
        return names

    def whole(self):
        name = self.path("whole.db")
        self.assertEqual(self.generate(name).returncode, 0)
        return name

    def merge(self, *inputs, out="merged.db"):
        return run("db", "merge", *inputs, "--out", self.path(out), "--json")

    def test_shards_join_to_what_one_program_records(self):
        names = self.shards()
        merged = self.merge(*reversed(names))
        self.assertEqual(merged.returncode, 0, merged.stderr)
        counts = json.loads(merged.stdout)
        self.assertEqual(
            [counts[k] for k in ("runs", "problems", "searches", "continued",
                                 "same", "conflicts")], [1, 7, 14, 0, 0, []])
        expected = content(self.whole())
        self.assertEqual(content(self.path("merged.db")), expected)
        self.assertEqual(run("replay", self.path("merged.db")).returncode, 0)
        # Again, and one by one: nothing changes.
        again = json.loads(self.merge(*names).stdout)
        self.assertEqual((again["runs"], again["searches"], again["same"]),
                         (0, 0, 14))
        self.assertEqual(content(self.path("merged.db")), expected)
        for name in names:
            self.assertEqual(self.merge(name, out="slow.db").returncode, 0)
        slow, fast = content(self.path("slow.db")), expected
        self.assertEqual(sorted(p[1:] for p in slow["problems"]),
                         sorted(p[1:] for p in fast["problems"]))
        self.assertEqual(len(slow["searches"]), 14)
        # Nobody has said yet that all shards are there; a resume finds out.
        self.assertEqual(slow["finished"][0][2], 0)
        resumed = self.generate(self.path("slow.db"), "--resume")
        self.assertEqual(resumed.returncode, 0, resumed.stderr)
        self.assertEqual(content(self.path("slow.db"))["finished"][0][2], 1)

    def test_killed_shards_are_continued_inside(self):
        names = self.shards()
        os.remove(names[1])
        process = subprocess.Popen(
            command(names[1], "--shard", "1/3"), env=environment({}),
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for _ in range(2000):
            time.sleep(0.002)
            try:
                with sqlite3.connect(f"file:{names[1]}?mode=ro",
                                     uri=True) as db:
                    if db.execute("SELECT count(*) FROM responses"
                                  ).fetchone()[0] > 0:
                        break
            except sqlite3.Error:
                pass
        process.send_signal(signal.SIGKILL)
        process.wait()
        early = self.merge(*names)
        self.assertEqual(early.returncode, 0, early.stderr)
        whole = content(self.whole())
        later = self.path("later.db")
        shutil.copy(self.path("merged.db"), later)
        # The joined run goes on where the worker was killed ...
        self.assertEqual(self.generate(later, "--resume").returncode, 0)
        for part in ("searches", "trees", "solutions"):
            self.assertEqual(len(content(later)[part]), len(whole[part]))
        # ... or the worker does, and is joined again.
        self.assertEqual(
            self.generate(names[1], "--shard", "1/3", "--resume").returncode, 0)
        self.assertEqual(self.merge(*names).returncode, 0)
        for name in (later, self.path("merged.db")):
            self.assertEqual(
                self.named(name), self.named(self.path("whole.db")))

    def named(self, path):
        """Searches by name, with their trees."""
        with sqlite3.connect(f"file:{path}?mode=ro", uri=True) as db:
            return db.execute(
                "SELECT p.name, s.seed, s.answer, s.tokens, t.tree, t.log "
                "FROM searches s JOIN problems p USING(problem_id) "
                "JOIN trees t USING(search_id) ORDER BY 1, 2").fetchall()

    def test_differences_are_reported_and_kept_out(self):
        names = self.shards(2)
        self.assertEqual(self.merge(*names).returncode, 0)
        before = content(self.path("merged.db"))
        with sqlite3.connect(names[0]) as db:
            db.execute("UPDATE searches SET answer = '0', tokens = 1 "
                       "WHERE search_id = 1")
        merged = self.merge(*names)
        self.assertEqual(merged.returncode, 1)
        self.assertIn("1 searches are recorded differently", merged.stderr)
        self.assertIn("stories:middle/1/0, seed 0", merged.stderr)
        self.assertEqual(len(json.loads(merged.stdout)["conflicts"]), 1)
        self.assertEqual(content(self.path("merged.db")), before)
        # So is one whose score alone differs.
        with sqlite3.connect(names[1]) as db:
            db.execute("UPDATE searches SET score = score + 1e-9 "
                       "WHERE search_id = 1")
        merged = self.merge(names[1])
        self.assertEqual(merged.returncode, 1)
        self.assertEqual(len(json.loads(merged.stdout)["conflicts"]), 1)
        self.assertEqual(content(self.path("merged.db")), before)
        # Another reference answer or question of the same name stops the merge.
        with sqlite3.connect(names[0]) as db:
            kept = db.execute("SELECT answer FROM problems").fetchone()[0]
            db.execute("UPDATE problems SET answer = '17.5'")
        merged = self.merge(*names)
        self.assertNotEqual(merged.returncode, 0)
        self.assertIn(f'(reference answer "{kept}", not "17.5")', merged.stderr)
        self.assertEqual(content(self.path("merged.db")), before)
        with sqlite3.connect(names[0]) as db:
            db.execute("UPDATE problems SET question = 'Why?'")
        merged = self.merge(*names)
        self.assertNotEqual(merged.returncode, 0)
        self.assertIn("different problem named", merged.stderr)
        self.assertEqual(content(self.path("merged.db")), before)

    def test_other_settings_stay_another_run(self):
        names = self.shards(2)
        other = self.path("other.db")
        self.assertEqual(self.generate(other, "--seed", "7").returncode, 0)
        merged = self.merge(*names, other)
        self.assertEqual(json.loads(merged.stdout)["runs"], 2)

    def test_wrong_inputs(self):
        missing = self.path("missing.db")
        old = self.path("old.db")
        shutil.copy(os.path.join(ROOT, "tests", "tools", "runs", "0.1.0.db"),
                    old)
        for name, words in ((missing, "missing.db"), (old, "db upgrade"),
                            (__file__, "not a run database")):
            done = self.merge(name)
            self.assertEqual(done.returncode, 1)
            self.assertIn(words, done.stderr)
            self.assertFalse(os.path.exists(self.path("merged.db")))
        there, link = self.path("there.db"), self.path("link.db")
        self.assertEqual(self.generate(there).returncode, 0)
        os.symlink(there, link)
        for name, code, words in ((there, 2, "is also an input"),
                                  (link, 2, "is also an input")):
            done = self.merge(name, out="there.db")
            self.assertEqual(done.returncode, code)
            self.assertIn(words, done.stderr)


class LauncherTest(ProgramTest):

    def shard(self, text="auto", **variables):
        out = self.path("run.db")
        done = subprocess.run(
            [PROGRAM, "generate", "--out", out, "--set", "stories:easy",
             "--limit", "1", "--search", "greedy", "--budget-tokens", "20",
             "--shard", text], env=environment(variables), capture_output=True,
            text=True, check=False)
        names = [n for n in os.listdir(self.folder) if n.endswith(".db")]
        for name in names:
            os.remove(self.path(name))
        return done, names

    def test_each_launcher(self):
        for variables, name in (
                ({"RANK": "2", "WORLD_SIZE": "4"}, "run.2-of-4.db"),
                ({"OMPI_COMM_WORLD_RANK": "1", "OMPI_COMM_WORLD_SIZE": "2"},
                 "run.1-of-2.db"),
                ({"PMI_RANK": "0", "PMI_SIZE": "2"}, "run.0-of-2.db"),
                ({"SLURM_PROCID": "3", "SLURM_NTASKS": "5",
                  "SLURM_STEP_NUM_TASKS": "5"}, "run.3-of-5.db"),
                ({"SLURM_PROCID": "0", "SLURM_NTASKS": "4",
                  "SLURM_ARRAY_TASK_ID": "14", "SLURM_ARRAY_TASK_MIN": "10",
                  "SLURM_ARRAY_TASK_STEP": "2", "SLURM_ARRAY_TASK_COUNT": "6"},
                 "run.2-of-6.db"),
                # Each of an array's tasks starts two by srun.
                ({"SLURM_PROCID": "1", "SLURM_STEP_NUM_TASKS": "2",
                  "SLURM_ARRAY_TASK_ID": "2", "SLURM_ARRAY_TASK_MIN": "0",
                  "SLURM_ARRAY_TASK_COUNT": "3"}, "run.5-of-6.db"),
                ({"SLURM_PROCID": "0", "SLURM_STEP_NUM_TASKS": "1",
                  "SLURM_ARRAY_TASK_ID": "1", "SLURM_ARRAY_TASK_MIN": "1",
                  "SLURM_ARRAY_TASK_COUNT": "3"}, "run.0-of-3.db"),
                ({"RANK": "", "PMI_RANK": "1", "PMI_SIZE": "2"},
                 "run.1-of-2.db"),
                ({"SLURM_PROCID": "0", "SLURM_NTASKS": "1"}, "run.db"),
                ({"RANK": "1", "WORLD_SIZE": "3", "SLURM_PROCID": "0",
                  "SLURM_NTASKS": "2"}, "run.1-of-3.db")):
            done, names = self.shard(**variables)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(names, [name], variables)
        done, names = self.shard("auto/3", JOB_COMPLETION_INDEX="2")
        self.assertEqual((done.returncode, names), (0, ["run.2-of-3.db"]))

    def test_what_launchers_leave_open(self):
        for text, variables, words in (
                ("auto", {}, "no launcher found"),
                ("auto", {"JOB_COMPLETION_INDEX": "2"}, "auto/N"),
                ("auto/2", {"JOB_COMPLETION_INDEX": "2"}, "2 workers"),
                ("auto/0", {"JOB_COMPLETION_INDEX": "0"}, "auto/N"),
                ("auto/x", {}, "auto/N"),
                ("automatic", {}, "auto/N"),
                # What sbatch -n 4 gives its script, which runs once.
                ("auto", {"SLURM_PROCID": "0", "SLURM_NTASKS": "4"}, "srun"),
                ("auto", {"RANK": "4", "WORLD_SIZE": "4"}, "4 workers"),
                ("auto", {"RANK": "-1", "WORLD_SIZE": "4"}, "RANK"),
                ("auto", {"RANK": "a", "WORLD_SIZE": "4"}, "RANK")):
            done, names = self.shard(text, **variables)
            self.assertEqual((done.returncode, names), (2, []), done.stderr)
            self.assertIn(words, done.stderr)


if __name__ == "__main__":
    unittest.main()
