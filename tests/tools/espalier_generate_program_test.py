"""Runs espalier generate, replay and db end to end: kills, stops, full disks,
foreign files.

ESPALIER_PROGRAM names the program (ctest sets it)."""

import json
import os
import random
import re
import resource
import signal
import sqlite3
import subprocess
import time
import unittest

from espalier_program_test import (PROGRAM, ROOT, STORIES, ZOO, ProgramTest,
                                   run)

SLOW = bool(os.environ.get("ESPALIER_SLOW"))
PROBLEMS = "6" if SLOW else "30"


def generate(out, *more, search="beam", problems=PROBLEMS, **options):
    return run("generate", "--out", out, "--set", "stories:middle", "--limit",
               problems, "--search", search, "--budget-tokens", "300", *more,
               **options)


def content(path):
    """All that must not depend on how often the run was interrupted."""
    with sqlite3.connect(f"file:{path}?mode=ro", uri=True) as db:
        return {
            "searches": db.execute(
                "SELECT search_id, run_id, problem_id, seed, state, cached, "
                "answer, correct, score, stop_reason, error, tokens, "
                "prompt_tokens, reward_tokens, model_calls, simulations, nodes "
                "FROM searches ORDER BY search_id").fetchall(),
            "problems": db.execute(
                "SELECT * FROM problems ORDER BY problem_id").fetchall(),
            "trees": db.execute(
                "SELECT * FROM trees ORDER BY search_id").fetchall(),
            "solutions": db.execute(
                "SELECT * FROM solutions ORDER BY 1, 2").fetchall(),
            "responses": db.execute("SELECT * FROM responses").fetchall(),
            "finished": db.execute(
                "SELECT run_id, config, finished_at IS NOT NULL FROM runs"
            ).fetchall(),
        }


class KillTest(ProgramTest):

    def kills(self, times, share, searches):
        """Sends `times` kill -9, each at random within this share of a whole
        run's time, then completes the run."""
        whole = self.path("whole.db")
        start = time.monotonic()
        self.assertEqual(generate(whole, "--searches", searches).returncode, 0)
        seconds = share * (time.monotonic() - start)
        broken = self.path("broken.db")
        random.seed(7)
        killed = 0
        for _ in range(times):
            process = subprocess.Popen(
                [PROGRAM, "generate", "--out", broken, "--set",
                 "stories:middle", "--limit", PROBLEMS, "--search", "beam",
                 "--budget-tokens", "300", "--searches", searches] +
                (["--resume"] if os.path.exists(broken) else []),
                env=dict(os.environ, ESPALIER_ZOO=ZOO),
                stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
            time.sleep(random.uniform(0, seconds))
            process.send_signal(signal.SIGKILL)
            _, said = process.communicate()
            self.assertIn(process.returncode, (0, -signal.SIGKILL), said)
            killed += process.returncode != 0
        last = generate(broken, "--searches", searches, "--resume")
        self.assertEqual(last.returncode, 0, last.stderr)
        self.assertEqual(content(broken), content(whole))
        self.assertEqual(run("replay", broken).returncode, 0)
        return killed


class GenerateTest(KillTest):

    def test_three_kills_change_nothing(self):
        self.assertGreater(self.kills(3, 0.8, "2"), 0)

    def test_interrupt_keeps_what_was_done_and_resume_goes_on(self):
        out = self.path("run.db")
        arguments = ["generate", "--out", out, "--set", "stories:middle",
                     "--limit", "400", "--search", "beam:branch=8",
                     "--budget-tokens", "2000"]
        process = subprocess.Popen(
            [PROGRAM, *arguments], env=dict(os.environ, ESPALIER_ZOO=ZOO),
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        # Waits until something is recorded.
        for _ in range(600):
            time.sleep(0.1)
            if os.path.exists(out) and os.path.getsize(out) > 0:
                try:
                    if content(out)["responses"]:
                        break
                except sqlite3.OperationalError:
                    pass
        process.send_signal(signal.SIGINT)
        said, errors = process.communicate(timeout=120)
        self.assertEqual(process.returncode, 130, errors)
        self.assertIn("searches recorded", said)
        self.assertIn("--resume", errors)
        kept = content(out)
        self.assertEqual(len(kept["searches"]), 400)
        self.assertFalse(kept["finished"][0][2])

    def test_a_run_killed_before_it_wrote_anything_is_begun_anew(self):
        whole, broken = self.path("whole.db"), self.path("broken.db")
        self.assertEqual(generate(whole, problems="3").returncode, 0)
        with open(broken, "wb"):
            pass
        again = generate(broken, "--resume", problems="3")
        self.assertEqual(again.returncode, 0, again.stderr)
        self.assertEqual(content(whole), content(broken))

    def test_a_stop_while_lengths_are_measured_changes_nothing(self):
        """Response lengths are measured before anything is recorded."""
        random.seed(3)
        settings = ("--live", "1", "--threads", "1")
        whole = self.path("whole.db")
        start = time.monotonic()
        self.assertEqual(
            generate(whole, *settings, problems="24").returncode, 0)
        seconds = time.monotonic() - start
        expected = content(whole)
        broken = self.path("broken.db")
        stopped = 0
        for _ in range(8):
            process = subprocess.Popen(
                [PROGRAM, "generate", "--out", broken, "--set",
                 "stories:middle", "--limit", "24", "--search", "beam",
                 "--budget-tokens", "300", *settings],
                env=dict(os.environ, ESPALIER_ZOO=ZOO),
                stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
            time.sleep(random.uniform(0.05, 0.4) * seconds)
            process.send_signal(signal.SIGTERM)
            errors = process.communicate(timeout=300)[1]
            stopped += process.returncode == 130
            if process.returncode != 0 and not os.path.exists(broken):
                continue
            again = generate(broken, "--resume", *settings, problems="24")
            self.assertEqual(again.returncode, 0, errors + again.stderr)
            self.assertEqual(content(broken), expected)
            for end in ("", "-wal", "-shm"):
                if os.path.exists(broken + end):
                    os.remove(broken + end)
        self.assertGreater(stopped, 0)

    def test_a_database_removed_while_it_is_written_is_an_error(self):
        out = self.path("run.db")
        process = subprocess.Popen(
            [PROGRAM, "generate", "--out", out, "--set", "stories:middle",
             "--limit", "400", "--search", "beam:branch=8",
             "--budget-tokens", "2000"],
            env=dict(os.environ, ESPALIER_ZOO=ZOO),
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for _ in range(600):
            time.sleep(0.1)
            if os.path.exists(out) and os.path.getsize(out) > 0:
                break
        os.remove(out)
        said, errors = process.communicate(timeout=300)
        self.assertEqual(process.returncode, 1, said + errors)
        self.assertIn("removed or replaced", errors)
        self.assertNotIn("400 of 400", said)

    def test_a_database_moved_while_it_is_written_can_be_moved_back(self):
        out = self.path("run.db")
        moved = self.path("moved.db")
        arguments = ["generate", "--out", out, "--set", "stories:middle",
                     "--limit", "60", "--search", "beam:branch=8",
                     "--budget-tokens", "2000"]
        process = subprocess.Popen(
            [PROGRAM, *arguments], env=dict(os.environ, ESPALIER_ZOO=ZOO),
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for _ in range(600):
            time.sleep(0.1)
            if (os.path.exists(out + "-wal")
                    and os.path.getsize(out + "-wal") > 300000):
                break
        os.rename(out, moved)
        said, errors = process.communicate(timeout=300)
        self.assertEqual(process.returncode, 1, said + errors)
        self.assertIn("moved, removed or replaced", errors)
        self.assertIn("move it back", errors)
        os.rename(moved, out)
        again = run(*arguments, "--resume")
        self.assertEqual(again.returncode, 0, again.stderr)
        self.assertIn("60 of 60 searches recorded", again.stdout)

    def test_a_database_in_a_read_only_folder_is_read(self):
        folder = self.path("kept")
        os.mkdir(folder)
        out = os.path.join(folder, "run 1%.db")
        self.assertEqual(generate(out, problems="3").returncode, 0)
        script = ('mount --bind "$1" "$1" && mount -o remount,ro,bind "$1" && '
                  'exec "$2" export "$3" --kind sft --out "$4" '
                  "--no-contamination-check")
        if subprocess.run(["unshare", "-rm", "true"], check=False,
                          capture_output=True).returncode != 0:
            self.skipTest("this machine lends no mount namespace")
        lines = self.path("lines.jsonl")
        result = subprocess.run(
            ["unshare", "-rm", "sh", "-c", script, "sh", folder, PROGRAM, out,
             lines], check=False, capture_output=True, text=True,
            env=dict(os.environ, ESPALIER_ZOO=ZOO))
        if "mount:" in result.stderr:
            self.skipTest("this machine lets nobody mount")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertGreater(os.path.getsize(lines), 0)

    def test_several_databases_are_exported_as_one(self):
        first, second = self.path("first.db"), self.path("second.db")
        self.assertEqual(generate(first, "--seed", "0",
                                  problems="16").returncode, 0)
        self.assertEqual(generate(second, "--seed", "5",
                                  problems="16").returncode, 0)
        counts = []
        for databases in ([first], [second], [first, second]):
            lines = self.path("lines.jsonl")
            result = run("export", *databases, "--kind", "sft", "--out", lines,
                         "--per-problem", "0", "--no-contamination-check",
                         "--json", "--force")
            self.assertEqual(result.returncode, 0, result.stderr)
            with open(lines, encoding="utf-8") as handle:
                counts.append({line for line in handle})
        self.assertEqual(counts[2], counts[0] | counts[1])
        self.assertGreater(len(counts[2]), len(counts[0]))

    def test_dry_run_estimates_and_writes_nothing(self):
        out = self.path("run.db")
        result = generate(out, "--dry-run")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertFalse(os.path.exists(out))
        estimate = float(re.search(r"tokens +(\S+)", result.stdout).group(1))
        totals = self.path("totals.json")
        self.assertEqual(generate(out, "--json", totals).returncode, 0)
        with open(totals, encoding="utf-8") as handle:
            tokens = json.load(handle)["tokens"]
        self.assertLess(abs(estimate - tokens), 0.3 * tokens)

    def test_first_errors_are_searched_for_and_labelled(self):
        out, lines = self.path("run.db"), self.path("steps.jsonl")
        arguments = ["generate", "--out", out, "--set", "countdown:3",
                     "--limit", "20", "--search", "omega_prm:k=8",
                     "--budget-tokens", "4000"]
        result = run(*arguments)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(run("replay", out).returncode, 0)
        result = run("export", out, "--kind", "steps", "--format", "openrlhf",
                     "--min-outcomes", "8", "--out", lines)
        self.assertEqual(result.returncode, 0, result.stderr)
        labels = set()
        with open(lines, encoding="utf-8") as handle:
            for line in handle:
                labels.update(json.loads(line)["label"])
        self.assertIn(0, labels)
        self.assertGreater(len(labels), 2)
        # No other command may use the gold answers while searching.
        for command in (["solve", "--set", "countdown:3"],
                        ["eval", "--set", "countdown:3", "--methods"]):
            extra = ["--search"] if command[0] == "solve" else []
            self.refused(run(*command, *extra, "omega_prm"), "reference",
                         "generate")
        unanswered = self.path("q.jsonl", '{"question": "1+1?", "answer": ""}\n')
        search = ["generate", "--out", self.path("q.db"), "--set", unanswered,
                  "--search", "omega_prm", "--model", STORIES]
        self.refused(run(*search), "no record has a gold answer")
        result = run(*search, "--ungraded")
        self.assertEqual(result.returncode, 1)
        self.assertIn("1 of 1 searches failed", result.stderr)

    def test_shards_cover_the_set_once(self):
        whole = self.path("whole.db")
        self.assertEqual(generate(whole).returncode, 0)
        names = []
        for i in range(3):
            out = self.path(f"shard{i}.db")
            self.assertEqual(generate(out, "--shard", f"{i}/3").returncode, 0)
            with sqlite3.connect(out) as db:
                names += [row[0] for row in db.execute(
                    "SELECT p.name || s.answer || s.tokens FROM searches s "
                    "JOIN problems p USING(problem_id)")]
        with sqlite3.connect(whole) as db:
            expected = [row[0] for row in db.execute(
                "SELECT p.name || s.answer || s.tokens FROM searches s "
                "JOIN problems p USING(problem_id)")]
        self.assertEqual(sorted(names), sorted(expected))

    def test_solutions_are_reused_only_where_asked_and_marked(self):
        out = self.path("run.db")
        self.assertEqual(generate(out).returncode, 0)
        solved = {row[0] for row in content(out)["solutions"]}
        self.assertTrue(solved)
        again = generate(out, "--append", "--seed", "9", "--reuse-solutions")
        self.assertEqual(again.returncode, 0, again.stderr)
        self.assertIn("from solutions found before", again.stdout)
        rows = [row for row in content(out)["searches"] if row[1] == 2]
        for row in rows:
            self.assertEqual(row[5], 1 if row[2] in solved else 0)
        # Only over what was searched.
        with sqlite3.connect(out) as db:
            accuracy = db.execute("SELECT searches FROM accuracy").fetchall()
        self.assertEqual(accuracy[1][0], len(rows) - len(solved))

    def test_documented_queries_run(self):
        out = self.path("run.db")
        # Enough for every query to find something.
        self.assertEqual(generate(out, search="majority",
                                  problems="30").returncode, 0)
        with open(os.path.join(ROOT, "docs", "run-database.md"),
                  encoding="utf-8") as handle:
            queries = re.findall(r"```sql\n(.*?)```", handle.read(), re.S)
        self.assertGreater(len(queries), 6)
        for query in queries:
            result = run("db", "sql", out, query)
            self.assertEqual(result.returncode, 0, query + result.stderr)
            self.assertGreater(len(result.stdout.splitlines()), 1, query)
            if "tree_nodes" not in query:
                with sqlite3.connect(out) as db:
                    rows = db.execute(query).fetchall()
                self.assertEqual(len(rows),
                                 len(result.stdout.splitlines()) - 1)
            lines = run("db", "sql", out, query, "--json").stdout.splitlines()
            for line in lines:
                json.loads(line)

    def test_pruned_logs_cannot_be_replayed(self):
        out = self.path("run.db")
        self.assertEqual(generate(out).returncode, 0)
        self.assertEqual(run("replay", out).returncode, 0)
        before = os.path.getsize(out)
        self.assertEqual(run("db", "prune", out, "--logs").returncode, 0)
        self.assertLess(os.path.getsize(out), before)
        self.refused(run("replay", out), "pruned")
        self.assertEqual(run("db", "info", out).returncode, 0)


class ExportTest(ProgramTest):

    def setUp(self):
        super().setUp()
        self.database = self.path("run.db")
        result = generate(self.database, search="weighted")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.out = self.path("out.jsonl")

    def export(self, *arguments):
        return run("export", self.database, "--out", self.out, "--force",
                   *arguments)

    def lines(self):
        with open(self.out, encoding="utf-8") as handle:
            return [json.loads(line) for line in handle]

    def test_every_kind_has_the_columns_that_trainers_read(self):
        cases = {
            ("sft",): {"prompt", "completion"},
            ("sft", "--format", "messages"): {"messages"},
            ("pairs",): {"prompt", "chosen", "rejected"},
            ("steps",): {"prompt", "completions", "labels"},
            ("steps", "--format", "openrlhf"): {"input", "label"},
            ("steps", "--value", "quality"): {"prompt", "values"},
        }
        for arguments, columns in cases.items():
            result = self.export("--kind", *arguments)
            self.assertEqual(result.returncode, 0, result.stderr)
            lines = self.lines()
            self.assertIn(f"{len(lines)} examples", result.stdout)
            for line in lines:
                self.assertLessEqual(columns, set(line))
            self.assertIn(" in, ", result.stdout)

    def test_imitated_responses_are_correct(self):
        self.assertEqual(self.export("--kind", "sft").returncode, 0)
        with sqlite3.connect(self.database) as db:
            solutions = {row[0] for row in db.execute(
                "SELECT response FROM solutions")}
        for line in self.lines():
            self.assertIn(line["completion"], solutions)

    def test_what_the_evaluation_holds_is_left_out(self):
        with sqlite3.connect(self.database) as db:
            questions = [row[0] for row in db.execute(
                "SELECT DISTINCT p.question FROM problems p JOIN solutions "
                "USING(problem_id) ORDER BY 1")]
        held = self.path("eval.jsonl", json.dumps(
            {"question": questions[0], "answer": "1"}) + "\n")
        self.assertEqual(self.export("--kind", "sft", "--eval-set", held,
                                     "--ngram", "1000").returncode, 0)
        few = len(self.lines())
        self.assertEqual(self.export("--kind", "sft",
                                     "--no-contamination-check").returncode, 0)
        self.assertLess(few, len(self.lines()))
        # On by default, against the test problems of the same set.
        result = self.export("--kind", "sft")
        self.assertIn("stories:middle (2000 questions)", result.stdout)

    def test_nothing_left_is_an_error_that_says_which_filter_did_it(self):
        result = self.export("--kind", "sft", "--min-perplexity", "1e9")
        self.assertEqual(result.returncode, 1)
        self.assertRegex(result.stderr, r"perplexity window: \d+ in, 0 out")
        self.assertFalse(os.path.exists(self.out))
        self.refused(self.export("--kind", "sft", "--run", "9"), "no run 9")

    def test_wrong_words(self):
        self.refused(self.export("--kind", "sfd"), "sfd")
        self.refused(self.export("--kind", "sft", "--format", "openrlhf"),
                     "steps")
        self.refused(self.export("--kind", "steps", "--value", "q"), "pairs")
        self.refused(run("export", self.path("none.db"), "--kind", "sft",
                         "--out", self.out), "no such file")
        self.refused(self.export("--kind", "sft", "--eval-set", "/no/file"),
                     "/no/file")


class WrongInputTest(ProgramTest):

    def test_an_existing_file_needs_a_word(self):
        out = self.path("run.db", "anything")
        self.refused(generate(out), "run.db", "--resume", "--append")
        self.refused(generate(out, "--resume"), "not a run database")
        with open(out, encoding="utf-8") as handle:
            self.assertEqual(handle.read(), "anything")

    def test_other_settings_are_not_resumed(self):
        out = self.path("run.db")
        self.assertEqual(generate(out).returncode, 0)
        before = content(out)
        result = generate(out, "--resume", "--seed", "5")
        self.refused(result, "seed is 5, recorded 0")
        self.assertEqual(content(out), before)

    def test_two_writers(self):
        out = self.path("run.db")
        self.assertEqual(generate(out).returncode, 0)
        first = subprocess.Popen(
            [PROGRAM, "generate", "--out", out, "--append", "--set",
             "stories:hard", "--limit", "2000", "--search", "beam"],
            env=dict(os.environ, ESPALIER_ZOO=ZOO), stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL)
        self.addCleanup(first.wait)
        self.addCleanup(first.kill)
        for _ in range(600):  # until the first one records
            time.sleep(0.1)
            if content(out)["responses"]:
                break
        self.refused(generate(out, "--resume"), "another program")
        self.refused(generate(out, "--force"), "another program")
        self.assertTrue(content(out)["responses"])
        self.assertEqual(run("db", "info", out).returncode, 0)
        self.assertIsNone(first.poll())

    def test_full_disk(self):
        out = self.path("run.db")

        def small_files():
            # Writing more is an error, as on a full disk.
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))

        self.refused(generate(out, preexec_fn=small_files), "run.db",
                     "--resume")
        result = generate(out, "--resume")
        self.assertEqual(result.returncode, 0, result.stderr)
        whole = self.path("whole.db")
        self.assertEqual(generate(whole).returncode, 0)
        self.assertEqual(content(out), content(whole))

    def test_read_only_file(self):
        out = self.path("run.db")
        self.assertEqual(generate(out).returncode, 0)
        os.chmod(out, 0o444)
        os.chmod(self.folder, 0o755)
        os.chmod(os.path.dirname(self.folder), 0o1777)
        options = {}
        if os.geteuid() == 0:  # who ignores permissions
            options["preexec_fn"] = lambda: os.setuid(65534)
        try:
            result = generate(out, "--resume", **options)
        except PermissionError:
            self.skipTest("the program cannot be run by another user here")
        self.refused(result, "run.db")
        os.chmod(out, 0o644)

    def test_wrong_words(self):
        out = self.path("run.db")
        self.refused(generate(out, "--shard", "3/3"), "--shard 3/3")
        self.refused(run("generate", "--set", "stories:hrad", "--out", out),
                     "stories:hard")
        self.refused(run("generate", "--set", "stories:hard"), "--out")
        self.refused(run("generate", "--set", "stories:hard", "--out", out,
                         "--search", "bem"), '"beam"')
        self.refused(run("generate", "--set", "stories:hard", "--out", out,
                         "--search", "auto"), "by name")
        self.refused(run("generate", "--set", "stories:hard", "--out",
                         "/no/such/folder/run.db"), "/no/such/folder")
        # What the models cannot serve is refused before the file exists.
        self.refused(generate(out, "--budget-verdict-tokens", "10"),
                     "verdict tokens")
        self.refused(generate(out, search="beam:level=outcome"), "outcome")
        self.assertFalse(os.path.exists(out))
        self.refused(run("replay", out), "no such file")
        self.refused(run("db", "info", out), "no such file")
        self.refused(run("db", "prune", out), "nothing to prune")

    def test_wrong_sql(self):
        out = self.path("run.db")
        self.assertEqual(generate(out).returncode, 0)
        self.refused(run("db", "sql", out, "SELEC 1"), "syntax error")
        self.refused(run("db", "sql", out, "SELECT nothing FROM runs"),
                     "nothing")
        for write in ("DELETE FROM runs", "CREATE TABLE t(x)", "VACUUM",
                      "PRAGMA journal_mode=DELETE", "ATTACH 'b.db' AS b"):
            result = run("db", "sql", out, write)
            self.refused(result, "db sql only reads", write)
            self.assertNotIn("readable", result.stderr)  # file rights
        for two in ("SELECT 1; SELECT 2", "SELECT 1; DELETE FROM runs",
                    "SELECT 1; SELEC 2"):
            result = run("db", "sql", out, two)
            self.refused(result, "one SQL statement", two[len("SELECT 1; "):])
            self.assertEqual(result.stdout, "")
        self.refused(run("db", "sql", out, " -- nothing"), "found none")
        one = run("db", "sql", out, "SELECT 1 AS a; -- one ;\n;")
        self.assertEqual(one.stdout, "a\n1\n", one.stderr)
        self.refused(run("replay", out, "--problem", "x"), "no finished search")

    def test_foreign_and_newer_database(self):
        foreign = self.path("foreign.db")
        with sqlite3.connect(foreign) as db:
            db.execute("CREATE TABLE t(x)")
        db.close()
        newer = self.path("newer.db")
        self.assertEqual(generate(newer).returncode, 0)
        with sqlite3.connect(newer) as db:
            db.execute("PRAGMA user_version=1000")
        db.close()
        for arguments in (("replay",), ("db", "info"), ("db", "upgrade")):
            self.refused(run(*arguments, foreign), "another program's")
            self.refused(run(*arguments, newer), "newer Espalier")
        self.refused(generate(foreign, "--append"), "another program's")
        self.refused(generate(newer, "--resume"), "newer Espalier")


@unittest.skipUnless(os.environ.get("ESPALIER_LONG"), "takes minutes")
class LongTest(KillTest):

    def test_thirty_kills_change_nothing(self):
        killed = self.kills(30, 0.07, "25")
        print(f"figure: generate killed {killed} times, same content")
        self.assertGreater(killed, 20)


if __name__ == "__main__":
    unittest.main()
