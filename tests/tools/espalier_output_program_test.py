"""Where the espalier program's output goes: files, pipes, descriptors, and what
it reports when output is lost or cut short.

ESPALIER_PROGRAM names the program (ctest sets it)."""

import contextlib
import json
import os
import re
import resource
import select
import shlex
import shutil
import signal
import socket
import sqlite3
import stat
import subprocess
import time
import unittest

from espalier_program_test import (
    PROGRAM, ZOO, STORIES, STORY, run, ProgramTest)

EVAL = ("eval", "--set", "stories:easy", "--limit", "2", "--methods", "greedy",
        "--budget-tokens", "200")


class OutputTest(ProgramTest):

    def test_a_kill_leaves_the_old_file_of_json_lines(self):
        out = self.path("rows.json", "old\n")
        with subprocess.Popen(
                [PROGRAM, "solve", "--set", "stories:hard", "--limit", "500",
                 "--budget-tokens", "5000", "--json", out, "--force"],
                env=dict(os.environ, ESPALIER_ZOO=ZOO), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as solve:
            time.sleep(1)
            self.assertIsNone(solve.poll())
            solve.kill()
        with open(out, encoding="utf-8") as handle:
            self.assertEqual(handle.read(), "old\n")
        done = run("problems", "--set", "stories:hard", "--limit", "3",
                   "--json", out, "--force")
        self.assertEqual(done.returncode, 0, done.stderr)
        with open(out, encoding="utf-8") as handle:
            self.assertEqual(len(handle.readlines()), 3)

    def test_devices_and_pipes_are_written_and_never_replaced(self):
        self.refused_late(run(*EVAL, "--json", "/dev/full"), "/dev/full",
                          "No space left")
        self.assertTrue(stat.S_ISCHR(os.stat("/dev/full").st_mode))
        line = " ".join([PROGRAM, *EVAL, "--json", ">(cat >&2)"])
        piped = subprocess.run(["bash", "-c", line], check=False, text=True,
                               env=dict(os.environ, ESPALIER_ZOO=ZOO),
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.assertEqual(piped.returncode, 0, piped.stderr)
        self.assertIn('"results"', piped.stderr)
        # A device, a pipe and a path are no questions.
        solve = ["solve", "--search", "greedy", STORY, "--json"]
        self.refused_late(run(*solve, "/dev/full"), "/dev/full",
                          "No space left")
        line = " ".join([PROGRAM, "solve --json >(cat >&2) --search greedy",
                         shlex.quote(STORY)])
        piped = subprocess.run(["bash", "-c", line], check=False, text=True,
                               env=dict(os.environ, ESPALIER_ZOO=ZOO),
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.assertEqual(piped.returncode, 0, piped.stderr)
        self.assertIn('"answer"', piped.stderr)

    def refused_late(self, result, *words):
        self.assertEqual(result.returncode, 1, result.stderr)
        for word in words:
            self.assertIn(word, result.stderr)

    def test_output_that_is_lost_is_an_error(self):
        for arguments in (EVAL, ("problems", "--set", "stories:easy"),
                          ("methods",), ("doctor",), ("eval", "--help"),
                          ("methods", "--json")):
            with open("/dev/full", "w", encoding="utf-8") as full:
                result = subprocess.run(
                    [PROGRAM, *arguments], check=False, text=True, stdout=full,
                    env=dict(os.environ, ESPALIER_ZOO=ZOO),
                    stderr=subprocess.PIPE)
            self.refused_late(result, "standard output")

    def test_a_full_disk_is_said_once(self):
        few = '{"gold": "1", "answer": "1"}\n'
        for text in (few, few * 3000):
            with open("/dev/full", "w", encoding="utf-8") as full:
                result = subprocess.run(
                    [PROGRAM, "grade", "--pairs", self.path("p.jsonl", text)],
                    check=False, text=True, stdout=full,
                    stderr=subprocess.PIPE)
            self.refused_late(result, "No space left on device")
            self.assertEqual(result.stderr.count("espalier grade:"), 1,
                             result.stderr)
        sample = self.path("s.jsonl", json.dumps({
            "task_id": "p", "completion": "    return 1\n"}) + "\n")
        problem = self.path("p.jsonl", json.dumps({
            "task_id": "p", "entry_point": "f", "prompt": "def f():\n",
            "test": "def check(f):\n    assert f() == 1\n"}) + "\n")
        with open("/dev/full", "w", encoding="utf-8") as full:
            result = subprocess.run(
                [PROGRAM, "grade", "--set", "humaneval", "--data", problem,
                 "--samples", sample], check=False, text=True, stdout=full,
                stderr=subprocess.PIPE)
        self.refused_late(result, "No space left on device")
        self.assertEqual(result.stderr.count("espalier grade:"), 1,
                         result.stderr)

    def test_json_goes_to_standard_output_or_a_file_of_its_own(self):
        for where in (("--json", "-"), ("--json",)):
            result = run(*EVAL, *where)
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertEqual(json.loads(result.stdout)["results"][0]["n"], 2)
            self.assertIn("greedy", result.stderr)
        there = self.path("there.json", "mine")
        self.refused(run(*EVAL, "--json", there), there, "--force")
        with open(there, encoding="utf-8") as handle:
            self.assertEqual(handle.read(), "mine")
        result = run(*EVAL, "--json", there, "--force")
        self.assertEqual(result.returncode, 0, result.stderr)
        with open(there, encoding="utf-8") as handle:
            self.assertIn("results", json.load(handle))

    # Also for commands with positional arguments.
    def test_what_is_called_json_is_the_file_and_not_the_question(self):
        question = ("Ann has 23 shells. She finds 48 more. "
                    "How many shells does Ann have?")
        for i, arguments in enumerate((("methods", "--json", "{}"),
                                       ("solve", question, "--json", "{}"),
                                       ("solve", "--json", "{}", question))):
            where = self.path(f"{i}.json")
            result = run(*(a.format(where) for a in arguments))
            self.assertEqual(result.returncode, 0, result.stderr)
            with open(where, encoding="utf-8") as handle:
                self.assertIn("methods" if i == 0 else "answer",
                              json.load(handle))
        result = run("solve", "--json", question)
        self.assertEqual(json.loads(result.stdout)["question"], question)

    def test_an_output_is_no_input_and_no_other_output(self):
        db = self.path("run.db")
        made = run("generate", "--set", "stories:easy", "--limit", "2",
                   "--out", db)
        self.assertEqual(made.returncode, 0, made.stderr)
        questions = self.path("q.jsonl", json.dumps(
            {"question": STORY, "answer": "54"}) + "\n")
        link = self.path("link")
        os.symlink(db, link)
        for arguments in (
                ("generate", "--set", "stories:easy", "--out",
                 self.path("a.db"), "--json", self.path("a.db")),
                ("export", db, "--kind", "sft", "--out", db, "--force"),
                ("export", db, "--kind", "sft", "--out", link, "--force"),
                ("export", db, "--kind", "sft", "--out", self.path("x"),
                 "--json", self.path("x")),
                ("export", db, "--kind", "sft", "--out", self.path("x"),
                 "--json", db, "--force"),
                ("eval", "--set", questions, "--json", questions, "--force"),
                ("problems", "--set", questions, "--json", questions,
                 "--force"),
                ("grade", "--set", "humaneval", "--data", questions,
                 "--samples", questions, "--out", questions, "--force")):
            with self.subTest(arguments=arguments):
                self.refused(run(*arguments), "name another")
        self.assertEqual(run("db", "info", db).returncode, 0)
        with open(questions, encoding="utf-8") as handle:
            self.assertIn("shells", handle.read())

    def test_output_goes_where_a_link_leads(self):
        os.makedirs(self.path("there"))
        target = self.path(os.path.join("there", "out.json"))
        link = self.path("link.json")
        os.symlink(os.path.join("there", "out.json"), link)
        problems = ("problems", "--set", "stories:easy", "--limit", "1")
        # What it leads to need not exist; if it does, it is kept.
        self.assertEqual(run(*problems, "--json", link).returncode, 0)
        self.assertEqual(run(*EVAL, "--json", link, "--force").returncode, 0)
        self.assertTrue(os.path.islink(link))
        self.assertFalse(os.path.islink(target))
        with open(target, encoding="utf-8") as handle:
            self.assertIn("results", json.load(handle))
        self.refused(run(*EVAL, "--json", link), "already exists")
        os.remove(target)
        self.assertEqual(run(*EVAL, "--json", link).returncode, 0)
        self.assertTrue(os.path.islink(link))
        os.remove(target)
        self.refused(run("export", self.made_database(), "--kind", "sft",
                         "--out", link, "--json", target),
                     "is also the file of", "name another")
        self.assertFalse(os.path.exists(target))
        lost = self.path("lost.json")
        os.symlink("nowhere/out.json", lost)
        self.refused(run(*EVAL, "--json", lost), "lost.json links to ",
                     "nowhere/out.json", "does not exist")

    def made_database(self):
        db = self.path("run.db")
        made = run("generate", "--set", "stories:easy", "--limit", "2",
                   "--budget-tokens", "100", "--search", "greedy", "--out", db)
        self.assertEqual(made.returncode, 0, made.stderr)
        return db

    def test_an_input_is_not_written_under_another_name(self):
        db = self.made_database()
        with open(db, "rb") as handle:
            before = handle.read()
        os.link(db, self.path("hard"))
        model = self.path("model")
        shutil.copytree(STORIES, model)
        method = self.path("beam.textproto", 'algorithm: "beam"\n')
        sets = self.path("sets")
        os.mkdir(sets)
        asked = self.path("sets/a.jsonl", json.dumps(
            {"question": STORY, "answer": "54"}) + "\n")
        export = ("export", db, "--kind", "sft", "--force", "--out")
        for arguments in (
                (*export, self.path("hard")), (*export, db + "-wal"),
                (*export, db + "-shm"), (*export, db + "-journal"),
                (*EVAL, "--model", model, "--force", "--json",
                 model + "/config.json"),
                (*EVAL[:-4], "--methods", "greedy," + method, "--force",
                 "--json", method),
                ("problems", "--set", sets, "--force", "--json", asked)):
            with self.subTest(arguments=arguments):
                self.refused(run(*arguments), "name another")
        with open(db, "r+b") as handle:
            number = handle.fileno()
            for name in (f"/dev/fd/{number}", f"/proc/self/fd/{number}"):
                self.refused(run(*export, name, pass_fds=[number]),
                             "name another")
            printed = subprocess.run(
                [PROGRAM, "db", "info", db], check=False, stdout=handle,
                stderr=subprocess.PIPE, text=True)
            self.assertEqual(printed.returncode, 2, printed.stderr)
            self.assertIn("standard output", printed.stderr)
        with open(db, "rb") as handle:
            self.assertEqual(handle.read(), before)
        # A device may be given twice, and a folder may hold results.
        for arguments in ((*export, "/dev/null", "--json", "/dev/null"),
                          (*EVAL, "--model", model, "--json",
                           model + "/mine.json")):
            result = run(*arguments)
            self.assertEqual(result.returncode, 0, result.stderr)

    def test_a_page_is_overwritten_by_force_only(self):
        work = self.path("a.work")
        os.mkdir(work)
        self.path("a.work/metrics.jsonl", "".join(
            json.dumps({"step": i, "loss": 1 / i}) + "\n"
            for i in range(1, 5)))
        page = self.path("page.html", "mine")
        self.refused(run("report", work, "--html", page), page, "--force")
        with open(page, encoding="utf-8") as handle:
            self.assertEqual(handle.read(), "mine")
        self.assertEqual(
            run("report", work, "--html", page, "--force").returncode, 0)
        shown = run("report", work, "--html", "-")
        self.assertTrue(shown.stdout.startswith("<!DOCTYPE html>"))
        self.assertTrue(shown.stdout.rstrip().endswith("</html>"))

    def test_a_file_that_may_not_grow_is_an_error(self):
        def limited():
            resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))
        db = self.made_database()
        path = self.path("r.json")
        for arguments in (("problems", "--limit", "200", "--json=" + path),
                          ("methods", "--json=" + self.path("m.json")),
                          ("generate", "--set", "stories:easy", "--limit", "9",
                           "--budget-tokens", "100", "--out",
                           self.path("small.db")),
                          ("db", "prune", db, "--logs")):
            with self.subTest(command=arguments[0]):
                result = subprocess.run(
                    [PROGRAM, *arguments], check=False, text=True,
                    env=dict(os.environ, ESPALIER_ZOO=ZOO),
                    stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                    stderr=subprocess.PIPE, preexec_fn=limited)
                self.assertEqual(result.returncode, 1, result.stderr)
                self.assertTrue(result.stderr.startswith("espalier ") or
                                "\nespalier " in result.stderr)
        self.assertEqual(run("db", "info", db).returncode, 0)

    def test_a_database_put_in_place_of_one_that_is_written_stays_whole(self):
        other = self.made_database()
        with open(other, "rb") as handle:
            before = handle.read()
        out = self.path("out.db")
        with subprocess.Popen(
                [PROGRAM, "generate", "--set", "stories:hard", "--limit",
                 "2000", "--budget-tokens", "300", "--out", out],
                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                env=dict(os.environ, ESPALIER_ZOO=ZOO)) as process:
            for _ in range(600):
                time.sleep(0.1)
                if os.path.exists(out + "-wal"):
                    break
            os.rename(other, out)
            _, err = process.communicate(timeout=300)
            self.assertEqual(process.returncode, 1, err)
            self.assertIn("removed or replaced", err)
        self.assertFalse(os.path.exists(out + "-wal"))
        with open(out, "rb") as handle:
            self.assertEqual(handle.read(), before)
        self.assertIn("2 problems", run("db", "info", out).stdout)

    def test_descriptors_are_written_where_they_stand(self):
        path = self.path("f")
        with open(path, "w", encoding="utf-8") as handle:
            handle.write("before\n")
            handle.flush()
            result = run("eval", "--set", "stories:easy", "--limit", "2",
                         "--methods", "greedy", "--budget-tokens", "100",
                         "--json", f"/dev/fd/{handle.fileno()}",
                         pass_fds=[handle.fileno()])
            self.assertEqual(result.returncode, 0, result.stderr)
            handle.seek(0, os.SEEK_END)
            handle.write("after\n")
        with open(path, encoding="utf-8") as handle:
            text = handle.read()
        self.assertTrue(text.startswith("before\n{"), text)
        self.assertTrue(text.endswith("}\nafter\n"), text)

    def test_a_file_that_takes_not_all_is_named(self):
        for arguments in (("problems", "--limit", "1"), ("methods",)):
            result = run(*arguments, "--json=/dev/full")
            self.assertEqual(result.returncode, 1)
            self.assertIn("to /dev/full: No space left", result.stderr)

    def test_json_is_one_thing_in_every_command(self):
        for arguments in (
                ("solve", STORY), ("problems", "--limit", "1"), ("methods",),
                ("score", "--model", STORIES, "--text", "a b"),
                ("complete", "--text", "a", "--model", STORIES, "-n", "1"),
                ("eval", "--set", "stories:easy", "--limit", "1", "--methods",
                 "greedy", "--budget-tokens", "60")):
            with self.subTest(command=arguments[0]):
                path = self.path(arguments[0] + ".json")
                for named in ([], ["-"]):
                    shown = run(*arguments, "--json", *named)
                    self.assertEqual(shown.returncode, 0, shown.stderr)
                    json.loads(shown.stdout)
                written = run(*arguments, f"--json={path}")
                self.assertEqual(written.returncode, 0, written.stderr)
                with open(path, encoding="utf-8") as handle:
                    json.load(handle)
                self.refused(run(*arguments, f"--json={path}"),
                             "--force overwrites it")
                again = run(*arguments, f"--json={path}", "--force")
                self.assertEqual(again.returncode, 0, again.stderr)
        asked = run("solve", "--json", STORY)  # and no file of that name
        self.assertEqual(json.loads(asked.stdout)["question"], STORY)

    def test_what_was_stopped_says_so(self):
        for arguments, word in (
                (("solve", "--set", "stories:hard", "--limit", "200",
                  "--budget-tokens", "4000"), "of 200 questions"),
                (("steps", "--set", "stories:hard", "--limit", "2000"),
                 "of 2000 problems")):
            with self.subTest(command=arguments[0]):
                # A signal ends a program that has nothing to keep yet at once;
                # how long that is depends on the build and the machine.
                for seconds in (1, 2, 4, 8, 16, 32, 64):
                    status, err = self.stopped_after(seconds, arguments)
                    if status != -signal.SIGTERM:
                        break
                self.assertEqual(status, 130, err)
                self.assertIn(word, err)

    def test_what_ends_before_an_answer_leaves_no_empty_file(self):
        path = self.path("answers.jsonl")
        # How long a model takes to load depends on the machine.
        for seconds in (0.03, 0.06, 0.1, 0.15, 0.2, 0.3, 0.5):
            self.stopped_after(seconds, (
                "solve", "--set", "stories:hard", "--limit", "200",
                "--budget-tokens", "4000", "--json", path, "--force"))
            if os.path.exists(path):
                self.assertGreater(os.path.getsize(path), 0, seconds)
                os.remove(path)
        self.refused(run("solve", "1+1?", "--model", "no-model", "--task",
                         "qa", "--json", path), "no-model")
        self.assertFalse(os.path.exists(path))

    def stopped_after(self, seconds, arguments):
        """The status and errors of a program that is stopped at its first
        output, or after so many seconds."""
        with subprocess.Popen(
                [PROGRAM, *arguments], stdout=subprocess.PIPE,
                stderr=subprocess.PIPE, text=True,
                env=dict(os.environ, ESPALIER_ZOO=ZOO)) as process:
            select.select([process.stdout, process.stderr], [], [], seconds)
            process.send_signal(signal.SIGTERM)
            _, err = process.communicate(timeout=300)
            return process.returncode, err

    def test_what_cannot_be_written_is_refused_before_the_work(self):
        asked = ("eval", "--set", "stories:easy", "--methods", "greedy",
                 "--budget-tokens", "100", "--json")
        sock = self.path("socket")
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(sock)
            self.refused(run(*asked, sock), "is a socket")
        folder = self.path("closed")
        os.mkdir(folder, mode=0o500)
        path = os.path.join(folder, "r.json")
        if not os.access(folder, os.W_OK):
            self.refused(run(*asked, path), path, "Permission denied")
        pipe = self.path("pipe")
        os.mkfifo(pipe)
        with subprocess.Popen(
                [PROGRAM, *asked, pipe, "--limit", "3"],
                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                env=dict(os.environ, ESPALIER_ZOO=ZOO)) as process:
            for line in process.stderr:  # the last of progress
                if "3 problems in" in line:
                    break
            time.sleep(1)
            process.send_signal(signal.SIGTERM)
            _, err = process.communicate(timeout=60)
            self.assertEqual(process.returncode, 1, err)
            self.assertIn("no process reads this pipe", err)

    def test_a_link_to_what_sqlite_keeps_is_no_output(self):
        db = self.path("run.db")
        self.assertEqual(run("generate", "--set", "stories:easy", "--limit",
                             "2", "--out", db).returncode, 0)
        log = db + "-wal"
        with contextlib.closing(sqlite3.connect(db)) as rows:
            rows.execute("PRAGMA journal_mode=WAL")
            rows.execute("UPDATE runs SET started_at = started_at")
            rows.commit()
            self.assertTrue(os.path.exists(log))
            with open(log, "rb") as handle:
                kept = handle.read()
            symbolic, hard = self.path("symbolic"), self.path("hard")
            os.symlink(log, symbolic)
            os.link(log, hard)
            for out in (symbolic, hard, log):
                self.refused(run("export", db, "--kind", "sft", "--out", out,
                                 "--force"), "is also an input")
            with open(log, "rb") as handle:
                self.assertEqual(handle.read()[:len(kept)], kept)

    def test_files_that_no_command_reads_are_outputs(self):
        # Values of other options are not files.
        asked = ("eval", "--set", "stories:easy", "--limit", "1",
                 "--budget-tokens", "60", "--methods", "greedy", "--json")
        result = run(*asked, "greedy", cwd=self.path(""))
        self.assertEqual(result.returncode, 0, result.stderr)
        # Files in a folder that is read, but that are not part of its data.
        folder = self.path("work")
        os.mkdir(folder)
        with open(os.path.join(folder, "metrics.jsonl"), "w",
                  encoding="utf-8") as handle:
            handle.write('{"step": 1, "loss": 2.5}\n{"step": 2, "loss": 2}\n')
        page = os.path.join(folder, "report.html")
        for force in ([], ["--force"]):
            result = run("report", folder, "--html", page, *force)
            self.assertEqual(result.returncode, 0, result.stderr)
        self.refused(run("report", folder, "--html",
                         os.path.join(folder, "metrics.jsonl"), "--force"),
                     "is also an input")
        problems = self.path("set")
        os.makedirs(os.path.join(problems, "deep"))
        inner = os.path.join(problems, "deep", "a.jsonl")
        with open(inner, "w", encoding="utf-8") as handle:
            handle.write('{"question": "What is 1 + 2?", "answer": "3"}\n')
        asked = ("problems", "--set", problems, "--json")
        other = os.path.join(problems, "listed.txt")
        for force in ([], ["--force"]):
            result = run(*asked, other, *force)
            self.assertEqual(result.returncode, 0, result.stderr)
        self.refused(run(*asked, inner, "--force"), "is also an input")

    def test_force_overwrites_a_run_database(self):
        db = self.path("run.db")
        made = ("generate", "--set", "stories:easy", "--limit", "2", "--out",
                db)
        self.assertEqual(run(*made).returncode, 0)
        self.refused(run(*made), "--force overwrites it")
        again = run("generate", "--set", "stories:easy", "--limit", "3",
                    "--out", db, "--force")
        self.assertEqual(again.returncode, 0, again.stderr)
        self.assertIn("3 of 3", again.stdout)
        self.refused(run(*made[:-1], self.folder, "--force"), "is not a file")

    def test_control_bytes_of_others_are_not_printed(self):
        evil = "Ann has 3 shells.\x1b[2J\x1b]0;title\x07 How many\x7f\u009b1A?"
        asked = self.path("asked.jsonl", json.dumps(
            {"id": "\x1b[1m", "question": evil, "answer": "\x1b[31m3"}))
        for arguments in (("solve", evil), ("solve", evil, "--force"),
                          ("solve", "--file", asked),
                          ("solve", "--file", asked, "--force"),
                          ("problems", "--set", asked, "--answers"),
                          ("solve", "--search", "\x1b[2J", "q")):
            result = run(*arguments)
            for text in (result.stdout, result.stderr):
                self.assertNotRegex(text, "[\x00-\x08\x0b-\x1f\x7f\x80-\x9f]",
                                    arguments)

    def test_json_moves_no_terminal(self):
        said = "Ann\u009b1A \u202e \u2066 \u200f \x7f \u00e9\u4e2d\u0660"
        asked = self.path("q.jsonl", json.dumps(
            {"question": said, "answer": "3"}) + "\n")
        result = run("problems", "--set", asked, "--json")
        self.assertEqual(json.loads(result.stdout)["question"], said)
        for one in "\u009b\u202e\u2066\u200f\x7f":
            self.assertNotIn(one, result.stdout)
        for one in "\u00e9\u4e2d\u0660":
            self.assertIn(one, result.stdout)

    def test_numbers_that_do_not_fit_are_refused(self):
        for name, value in (("--budget-tokens", "18446744073709551616"),
                            ("--budget-tokens", "9223372036854775808"),
                            ("--seed", "-1"), ("--seed", "1.5"),
                            ("--seed", "18446744073709551616"),
                            ("--limit", "100000000000000000000"),
                            ("--budget-bytes", "100000000000000000000")):
            result = run(*EVAL[:3], "--methods", "greedy", name, value)
            self.assertEqual(result.returncode, 2, (name, value))
            self.assertIn(value, result.stderr)
        self.assertEqual(
            run(*EVAL, "--seed", "18446744073709551615").returncode, 0)

    def test_wrong_usage_ends_with_two(self):
        for arguments in (("eval", "--no-such-flag"), ("eval",),
                          ("solve", "--threads", "many", "q"), ("nonsense",),
                          ()):
            self.assertEqual(run(*arguments).returncode, 2, arguments)


if __name__ == "__main__":
    unittest.main()
