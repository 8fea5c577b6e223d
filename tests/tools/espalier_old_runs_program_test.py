"""A database that version 0.1.0 wrote (tests/tools/runs/) is still read,
replayed, exported and resumed."""

import json
import os
import shutil
import sqlite3
import unittest

from espalier_program_test import ROOT, ProgramTest, run

OLD = os.path.join(ROOT, "tests/tools/runs/0.1.0.db")
# How 0.1.0 was called; the second run was killed and then given --append.
FINISHED = ["--set", "stories:easy", "--search", "puct:width=3",
            "--budget-tokens", "300", "--limit", "3"]
KILLED = ["--set", "stories:easy", "--search", "puct:width=3",
          "--budget-tokens", "300", "--limit", "12", "--seed", "5"]


class OldRunsTest(ProgramTest):

    def setUp(self):
        super().setUp()
        self.db = self.path("old.db")
        shutil.copyfile(OLD, self.db)

    def rows(self, query):
        with sqlite3.connect(f"file:{self.db}?mode=ro", uri=True) as db:
            return db.execute(query).fetchall()

    def well(self, *command):
        result = run(*command)
        self.assertEqual(result.returncode, 0, result.stderr)
        return result.stdout

    def test_it_is_described(self):
        text = self.well("db", "info", self.db)
        self.assertIn("puct", text)
        self.assertIn("stories:easy", text)

    def test_its_trees_come_out_of_its_logs_again(self):
        done = self.rows("SELECT count(*) FROM searches "
                         "WHERE state = 'done'")[0][0]
        self.assertGreater(done, 3)
        self.assertIn(f": {done} identical", self.well("replay", self.db))

    def test_what_it_teaches_is_exported(self):
        for kind in ("sft", "steps", "pairs"):
            out = self.path(f"{kind}.jsonl")
            result = run("export", self.db, "--kind", kind, "--out", out)
            self.assertEqual(result.returncode, 0,
                             f"{kind}: {result.stderr}")
            with open(out, encoding="utf-8") as lines:
                examples = [json.loads(line) for line in lines]
            self.assertTrue(examples, kind)

    def test_the_killed_run_goes_on(self):
        done = "SELECT count(*) FROM searches WHERE run_id = 2 AND state = "
        finished = self.rows(done + "'done'")[0][0]
        self.assertLess(finished, 12)
        before = self.rows("SELECT search_id, answer, tokens FROM searches "
                           "WHERE state = 'done' ORDER BY 1")
        # Recorded with the plain kernels in AVX-512: others round otherwise,
        # and may search on from another place.
        plain = dict(os.environ, ESPALIER_KERNELS="plain")
        resumed = run("generate", "--out", self.db, *KILLED, "--resume",
                      env=plain)
        if (resumed.returncode != 0 and
                "plain, AVX3" not in run("doctor", env=plain).stdout):
            self.assertIn("the record holds another request", resumed.stderr)
            return
        self.assertEqual(resumed.returncode, 0, resumed.stderr)
        self.assertEqual(self.rows(done + "'done'")[0][0], 12)
        after = self.rows("SELECT search_id, answer, tokens FROM searches "
                          "WHERE state = 'done' ORDER BY 1")
        self.assertEqual([row for row in after if row in before], before)
        self.well("replay", self.db)

    def test_the_finished_run_is_left_as_it_is(self):
        before = self.rows("SELECT * FROM searches WHERE run_id = 1")
        self.well("generate", "--out", self.db, *FINISHED, "--resume")
        after = self.rows("SELECT * FROM searches WHERE run_id = 1")
        # The upgrade adds columns, of which an old run knows nothing.
        columns = len(before[0])
        self.assertEqual([row[:columns] for row in after], before)
        for row in after:
            self.assertEqual(set(row[columns:]), {None})

    def test_other_settings_are_refused_by_name(self):
        other = [("301" if value == "300" else value) for value in FINISHED]
        result = run("generate", "--out", self.db, *other, "--resume")
        self.refused(result, "budget_tokens is 301, recorded 300")


if __name__ == "__main__":
    unittest.main()
