"""Wrong usage of the espalier program: refused with exit code 2 and a line that
names the option and its values; and the output on a terminal."""

import json
import os
import re
import pty
import shutil
import subprocess
import time
import unittest

from espalier_program_test import PROGRAM, ProgramTest, STORIES, STORY, ZOO

ENVIRONMENT = dict(os.environ, ESPALIER_ZOO=ZOO)
POINTER = ("version https://git-lfs.github.com/spec/v1\n"
           "oid sha256:00\nsize 12345\n")


def run(*arguments, stdin="", **options):
    return subprocess.run([PROGRAM, *arguments], capture_output=True,
                          input=stdin.encode(), timeout=300, check=False,
                          env=ENVIRONMENT, **options)


def on_a_terminal(*arguments):
    """Everything that the program writes to a terminal, as bytes."""
    master, slave = pty.openpty()
    with subprocess.Popen([os.fsencode(PROGRAM),
                           *[os.fsencode(a) for a in arguments]],
                          stdin=subprocess.DEVNULL, stdout=slave, stderr=slave,
                          env=ENVIRONMENT) as process:
        os.close(slave)
        said = b""
        while True:
            try:
                piece = os.read(master, 1 << 16)
            except OSError:
                break
            if not piece:
                break
            said += piece
        process.wait(timeout=300)
    os.close(master)
    return said


class UsageTest(ProgramTest):

    def path(self, name, text=None):
        path = os.path.join(self.folder, name)
        if text is not None:
            with open(path, "wb") as handle:
                handle.write(text.encode() if isinstance(text, str) else text)
        return path

    def refused(self, code, arguments, *words, **options):
        result = run(*arguments, **options)
        said = result.stderr.decode()
        self.assertEqual(result.returncode, code, (arguments, said))
        self.assertEqual(result.stdout, b"", arguments)
        for word in words:
            self.assertIn(word, said, arguments)
        self.assertLess(len(said.splitlines()), 6, said)
        self.assertLess(max(map(len, said.splitlines())), 1000, said)


class NumberTest(UsageTest):

    def test_budgets_have_ranges(self):
        made = self.path("made.db")
        commands = (("solve", STORY), ("eval", "--set", "stories:easy"),
                    ("generate", "--set", "stories:easy", "--out", made,
                     "--search", "greedy"))
        for command in commands:
            for name in ("--budget-tokens", "--budget-model-calls",
                         "--budget-simulations", "--budget-nodes",
                         "--budget-bytes", "--response-tokens", "--top-k"):
                for value in ("-1", "1e6x", "100000000000000000000", ""):
                    self.refused(2, (*command, name, value), name)
            for name in ("--top-p", "--min-p"):
                for value in ("-1", "1.5", "nan", "", "x"):
                    self.refused(2, (*command, name, value), name, "expected")
        self.refused(2, ("solve", STORY, "--budget-tokens", "0"), "budget")
        self.refused(2, ("eval", "--set", "stories:easy", "--budget-tokens",
                         "100,-5"), "--budget-tokens",
                     "-5: expected a whole number of 1 or more")
        self.refused(2, ("solve", STORY, "--top-k", "4294967296"), "--top-k",
                     "from 0 to 2147483647")
        self.refused(2, ("solve", STORY, "--seconds", ""), "--seconds",
                     '"": expected a number of 0 or more')
        self.assertFalse(os.path.exists(made))

    def test_errors_name_the_command_and_what_was_expected(self):
        self.refused(2, (), "espalier: a subcommand is missing", "solve, serve, eval")
        self.refused(2, ("--kind",), "espalier: unknown option --kind")
        self.refused(2, ("db", "nope"), "espalier db:", "info, sql")
        self.refused(2, ("complete", "--text", "a"),
                     "espalier complete: --model is required")
        self.refused(2, ("complete", "--modle", "a"),
                     "unknown option --modle; did you mean --model?")
        self.refused(2, ("solve", STORY, "--weights", "fp64"),
                     "expected one of auto, fp32, bf16, int8, int4, found fp64")
        self.refused(2, ("solve", STORY, "--budget-bytes", "1X"),
                     "1X: expected bytes such as 500000, 64KiB or 2GiB")
        missing = self.path("missing")
        self.refused(1, ("solve", "--file", missing), "--file", missing,
                     "one question per line")

    def test_numbers_of_other_commands(self):
        for arguments in (
                ("complete", "--model", STORIES, "--temperature", "-1"),
                ("complete", "--model", STORIES, "--temperature", ""),
                ("complete", "--model", STORIES, "--repetition-penalty", "nan"),
                ("grade", "--pairs", "-", "--tolerance", "nan"),
                ("grade", "--set", "mbpp", "--timeout", "nan"),
                ("eval", "--set", "stories:easy", "--pass-at", "-1"),
                ("eval", "--set", "stories:easy", "--pass-at", "8", "--samples",
                 "4"),
                ("eval", "--set", "stories:easy", "--shard", "5/2"),
                ("problems", "--limit", "-1"), ("problems", "--first", "-1"),
                ("steps", "--set", "stories:easy", "--temperature", "nan"),
                ("steps", "--set", "stories:easy", "--examples", "-1")):
            self.refused(2, arguments, arguments[-2])
        for name in ("--margin", "--threshold", "--min-perplexity",
                     "--max-perplexity"):
            self.refused(2, ("export", "x.db", "--kind", "sft", "--out", "o",
                             name, "nan"), name, "nan: expected a number")
        for value in ("5", "-0.1", "inf", "-1e400"):
            self.refused(2, ("export", "x.db", "--kind", "steps", "--out", "o",
                             "--threshold", value), "--threshold",
                         "a number from 0 to 1")
        for name in ("--min-edit-distance", "--min-outcomes", "--top",
                     "--per-problem", "--eval-limit"):
            self.refused(2, ("export", "x.db", "--kind", "sft", "--out", "o",
                             name, "-1"), name, "-1: expected a whole number")


    def test_figures_are_decimal(self):
        for value, count in (("010", 10), ("+3", 3), ("0008", 8)):
            result = run("problems", "--limit", value, "--json")
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertEqual(len(result.stdout.splitlines()), count, value)
        for value in ("0x10", " 5", "5 ", "1e3x", "0b11"):
            self.refused(2, ("solve", STORY, "--seconds", value), "--seconds",
                         "expected a number")
        for name in ("--limit", "--seed"):
            self.refused(2, ("solve", STORY, name, "0x10"), name,
                         "0x10: expected a whole number")
        self.refused(2, ("eval", "--set", "stories:easy", "--pass-at", "nan"),
                     "--pass-at", "from 1 to 1000000")
        for command in (("export", "x.db", "--kind", "sft", "--out", "o"),
                        ("replay", "x.db"), ("db", "prune", "x.db")):
            for value in ("0", "-1"):
                self.refused(2, (*command, "--run", value), "--run",
                             value + ": expected a whole number of 1 or more")

    def test_every_number_is_refused_by_name_and_range(self):
        for command in ("solve", "eval", "generate", "serve", "grade", "steps",
                        "problems", "score", "complete", "calibrate",
                        "bench-reward", "export"):
            text = run(command, "--help").stdout.decode()
            options = re.findall(r"^  (?:-\w,)?(--[\w-]+)[, ]?\S*? (U?INT|FLOAT)",
                                 text, re.M)
            self.assertGreater(len(options), 2, text)
            for name, kind in options:
                if name == "--seconds":  # an old name, with a note
                    continue
                for value in ("abc", "nan" if kind == "FLOAT" else "1.5"):
                    result = run(command, f"{name}={value}")
                    said = result.stderr.decode().splitlines()[0]
                    self.assertEqual(result.returncode, 2, (command, said))
                    self.assertRegex(
                        said, rf"^espalier {command}: {name}: {value}: "
                        "expected (a number|a whole number|bytes)")

    def test_whole_numbers_may_have_an_exponent(self):
        for value, count in (("1e1", 10), ("0.2e1", 2), ("30e-1", 3)):
            result = run("problems", "--limit", value, "--json")
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertEqual(len(result.stdout.splitlines()), count, value)
        for value in ("1e", "e3", "1e-1", "1.", "1e21", "1e999999999999"):
            self.refused(2, ("problems", "--limit", value), "--limit",
                         value + ": expected a whole number of 0 or more")
        self.refused(2, ("eval", "--set", "stories:easy", "--budget-tokens",
                         "1e2,1e-3"), "--budget-tokens: 1e-3: expected a whole "
                     "number of 1 or more")

    def test_no_two_searches_have_one_seed(self):
        last = "18446744073709551615"
        self.refused(2, ("eval", "--set", "stories:easy", "--methods",
                         "majority", "--seed", last, "--seeds", "2"), last,
                     "2^64 - 1")
        self.refused(2, ("generate", "--set", "stories:easy", "--out",
                         self.path("x.db"), "--seed", last, "--searches", "2"),
                     last, "2^64 - 1")

    def test_an_estimate_of_any_number_of_problems_comes_at_once(self):
        result = run("generate", "--set", "stories:easy", "--limit",
                     "1000000000000", "--search", "greedy",
                     "--budget-tokens", "100", "--dry-run")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertTrue(result.stdout.startswith(b"1000000000000 "),
                        result.stdout)


class FlagTest(UsageTest):

    def test_an_option_without_its_value_takes_no_other(self):
        database = self.path("x.db", "")
        for arguments, name in (
                (("export", database, "--kind", "sft", "--out=", "--force"),
                 "--out"),
                (("solve", "--model=", STORY), "--model"),
                (("solve", "--model", "", STORY), "--model"),
                (("eval", "--set", ""), "--set"),
                (("generate", "--set", "stories:easy", "--out", ""), "--out"),
                (("grade", "--pairs", ""), "--pairs"),
                (("solve", STORY, "--search="), "--search")):
            self.refused(2, arguments, name, "is empty")
        self.refused(2, ("problems", "--limit=", "2"), "--limit")
        self.assertFalse(os.path.exists("--force"))

    def test_wrong_names_are_usage(self):
        easy = ("eval", "--set", "stories:easy")
        for arguments, word in (
                (("solve", STORY, "--search", "beam:branch=-1"), "branch"),
                (("solve", STORY, "--search", "bem"), '"beam"'),
                ((*easy, "--methods", "bem"), '"beam"'),
                (("eval", "--set", "stories:hrad"), "stories:hard"),
                (("problems", "--set", "nonsense"), "nonsense"),
                ((*easy, "--task", "storys"), '"stories"'),
                (("solve", "hi", "--task", "nope"), 'unknown task "nope"'),
                (("solve", "hi", "--prompt", "instrct"), '"instruct"'),
                (("solve", "hi", "--prompt", "nope"), 'unknown prompt "nope"'),
                ((*easy, "--prompt", "instruct", "--template", "chatlm"),
                 "chatml"),
                (("problems", "--kind", "gsm9k"), '"gsm8k"'),
                (("problems", "--set", "stories:easy", "--ids", "5"),
                 '"5" is not an id'),
                (("methods", "bem"), '"beam"'),
                (("grade",), "--pairs"),
                (("grade", "--set", "humaneva", "--data", "x", "--samples",
                  "y"), '"humaneval"'),
                (("grade", "--set", "humaneval"), "--data"),
                (("generate", "--set", "stories:easy"), "--out"),
                (("db", "prune", "x.db"), "nothing to prune"),
                (("solve", ""), "question is empty"),
                (("problems", "--columns", "quetsion=text"), '"question"'),
                (("problems", "--columns", "foo=question"), "known: question")):
            self.refused(2, arguments, word)
        path = self.path("two.jsonl", '{"id": "a", "question": "1+1?"}\n')
        self.refused(2, ("problems", "--set", path, "--ids", "b"), "b")
        # Missing or broken files are not wrong usage.
        self.refused(1, ("problems", "--set", "/no/such.jsonl"), "/no/such")
        self.refused(1, ("solve", STORY, "--search", "/no/such.textproto"),
                     "/no/such.textproto")
        self.refused(1, ("solve", STORY, "--prompt", "/no/such.textproto"),
                     "/no/such.textproto")
        self.refused(1, ("db", "info", "/no/such.db"), "/no/such.db")

    def test_contradictions_are_refused(self):
        pairs = self.path("p.jsonl", '{"gold": "1", "answer": "1"}\n')
        out = self.path("out")
        for arguments, word in (
                (("solve", "--set", "stories:easy", STORY), "--set"),
                (("solve", "--set", "stories:easy", "--file", "no.txt"),
                 "--set"),
                (("solve", STORY, "--file", "no.txt"), "--file"),
                (("grade", "--pairs", pairs, "--samples", pairs), "--samples"),
                (("grade", "--pairs", pairs, "--out", out), "--out"),
                (("grade", "--set", "mbpp", "--tolerance", "0.1"),
                 "--tolerance")):
            self.refused(2, arguments, word, "excludes")
        self.assertFalse(os.path.exists(out))

    def test_full_standard_output_names_the_version(self):
        with open("/dev/full", "wb") as full:
            result = subprocess.run([PROGRAM, "--version"], stdout=full,
                                    stderr=subprocess.PIPE, check=False)
        self.assertEqual(result.returncode, 1)
        self.assertIn(b"espalier --version", result.stderr)


class FileTest(UsageTest):

    def copy_of_model(self):
        model = self.path("model")
        shutil.copytree(STORIES, model)
        return model

    def test_models_that_are_something_else(self):
        pointer = self.path("x.gguf", POINTER)
        self.refused(1, ("solve", STORY, "--model", pointer), "git lfs pull")
        self.refused(1, ("tokenize", "--model", pointer), "git lfs pull")
        for name in ("config.json", "tokenizer.json"):
            model = self.copy_of_model()
            self.path("model/" + name, POINTER)
            self.refused(1, ("solve", STORY, "--model", model), name,
                         "git lfs pull")
            shutil.rmtree(model)
        os.mkdir(self.path("none"))
        self.refused(1, ("solve", STORY, "--model", self.path("none")),
                     "config.json", "empty folder")
        self.path("none/a.parquet", "PAR1")
        self.refused(1, ("solve", STORY, "--model", self.path("none")),
                     "config.json", "data set")
        result = run("solve", STORY, "--model", self.path("none/a.parquet"))
        self.assertIn(b"not a model", result.stderr)
        self.assertNotIn(b"to_json", result.stderr)
        self.path("none/b.gguf", POINTER)
        self.refused(1, ("solve", STORY, "--model", self.path("none")),
                     "b.gguf")

    def test_models_that_are_names_of_a_hub(self):
        for name in ("Qwen/Qwen2.5-1.5B", "gpt2"):
            self.refused(1, ("solve", STORY, "--model", name), "hf download",
                         "--local-dir " + name.split("/")[-1])
        self.refused(1, ("tokenize", "--model", "Qwen/Qwen2.5-1.5B"),
                     "hf download Qwen/Qwen2.5-1.5B")
        weights = os.path.join(STORIES, "model.safetensors")
        self.refused(1, ("solve", STORY, "--model", weights),
                     "part of a model; name its folder, " + STORIES)

    def test_nobody_is_waited_for_at_a_pipe_in_a_model(self):
        for name in ("config.json", "model.safetensors", "tokenizer.json"):
            model = self.copy_of_model()
            os.remove(os.path.join(model, name))
            os.mkfifo(os.path.join(model, name))
            result = run("solve", STORY, "--model", model)  # has a time limit
            self.assertEqual(result.returncode, 1, result.stderr)
            shutil.rmtree(model)

    def test_models_with_an_unknown_form_of_url(self):
        for url in (",http://localhost:8000", "ftp://a.org/m", "http:/a",
                    "https:a.org", "s3://a/b"):
            for flag in ("--model", "--reward-model"):
                self.refused(2, ("solve", STORY, flag, url), flag, url,
                             "form of URL is not understood", "http://HOST")
        self.refused(2, ("bench-reward", "--processbench", "x",
                         "--reward-model", "ftp://a"), "form of URL")
        self.refused(1, ("solve", STORY, "--model", "hf://a/b"), "hf download")
        # A folder of such a name is a folder.
        os.makedirs(self.path("http:"))
        model = os.path.join(self.path("http:"), "m")
        shutil.copytree(STORIES, model)
        result = subprocess.run([PROGRAM, "solve", STORY, "--model", "http:/m"],
                                cwd=self.folder, capture_output=True,
                                check=False)
        self.assertEqual(result.returncode, 0, result.stderr)

    def test_sets_that_are_names_of_a_hub(self):
        for name in ("openai/gsm8k",
                     "https://huggingface.co/datasets/openai/gsm8k"):
            self.refused(1, ("problems", "--set", name),
                         "hf download --repo-type dataset openai/gsm8k")
        self.refused(1, ("problems", "--set", "https://a.org/x/y.jsonl"),
                     "URLs are not supported")

    @unittest.skipUnless(os.getuid() == 0, "needs to give up its rights")
    def test_unreadable_folders_are_named_as_that(self):
        os.chmod(self.folder, 0o755)
        os.mkdir(self.path("closed"))
        self.path("closed/a.jsonl", '{"question": "1+1?"}\n')
        os.chmod(self.path("closed"), 0o700)

        def nobody():
            os.setgid(65534)
            os.setuid(65534)
        inside = self.path("closed/a.jsonl")
        program = shutil.copy(PROGRAM, self.path("espalier"))
        for arguments in (("problems", "--set", inside),
                          ("problems", "--set", self.path("closed")),
                          ("solve", STORY, "--model", inside),
                          ("db", "info", inside),
                          ("report", inside)):
            result = subprocess.run(
                [program, *arguments], capture_output=True, text=True,
                preexec_fn=nobody, check=False, env=ENVIRONMENT,
                stdin=subprocess.DEVNULL, cwd="/")
            self.assertEqual(result.returncode, 1, result.stderr)
            self.assertIn("ermission denied", result.stderr, arguments)

    def test_marks_and_line_ends_of_editors_are_no_question(self):
        text = "\ufeff" + STORY + "\r\n"
        by_file = run("solve", "--file", self.path("q.txt", text))
        by_pipe = run("solve", stdin=text)
        for result in (by_file, by_pipe):
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertTrue(result.stdout.startswith(STORY.encode() + b"\n"))
        for arguments in (("--file", self.path("q.txt")), ()):
            prompt = run("solve", "--show-prompt", *arguments, stdin=text)
            plain = run("solve", "--show-prompt", stdin=STORY)
            self.assertEqual(prompt.stdout, plain.stdout)

    def test_pairs_that_there_are_not(self):
        for text in ("", "\n  \n\n"):
            self.refused(1, ("grade", "--pairs", self.path("p", text)),
                         "no pairs in it")
        self.refused(1, ("grade", "--pairs", self.folder), "is a folder")

    def test_a_beginning_behind_the_end_of_a_set(self):
        path = self.path("two.jsonl", '{"question": "1+1?", "answer": "2"}\n'
                         '{"question": "1+2?", "answer": "3"}\n')
        for command in (("eval",), ("problems",), ("solve",),
                        ("generate", "--out", self.path("made.db"))):
            self.refused(2, (*command, "--set", path, "--first", "10"),
                         "--first 10", "has 2 problems")

    def test_more_problems_than_a_run_takes(self):
        for command in (("eval",), ("problems",), ("solve",),
                        ("generate", "--out", self.path("made.db"))):
            for limit in ("1000001", str(2 ** 63 - 1)):
                self.refused(2, (*command, "--set", "countdown:3", "--limit",
                                 limit), f"--limit {limit}", "1000000")

    def test_a_database_that_is_removed_leaves_nothing_behind(self):
        out = self.path("r.db")
        with subprocess.Popen(
                [PROGRAM, "generate", "--set", "stories:hard", "--limit", "200",
                 "--budget-tokens", "200", "--search", "beam", "--out", out],
                stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                env=ENVIRONMENT) as process:
            for _ in range(600):
                time.sleep(0.1)
                if os.path.exists(out + "-wal"):
                    break
            os.remove(out)
            process.communicate(timeout=300)
        self.assertEqual([name for name in os.listdir(self.folder)
                          if name.startswith("r.db")], [])

    def test_help_of_programs_that_are_not_there(self):
        alone = shutil.copy(PROGRAM, self.path("espalier"))
        for arguments in (("train", "--help"), ("train", "policy", "--help"),
                          ("train", "reward", "-h"), ("self-train", "--help")):
            result = subprocess.run([alone, *arguments], capture_output=True,
                                    text=True, check=False)
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertIn("Usage: espalier " + arguments[0], result.stdout)
            self.assertIn("--out", result.stdout + "--out" * (
                arguments[1] == "--help" and arguments[0] == "train"))
            self.assertIn("tools/dev build espalier-learn", result.stdout)


class TerminalTest(UsageTest):

    def test_no_byte_of_others_moves_the_cursor(self):
        foreign = b"a\x9b31m \xc2\x9b \xe2\x80\xae \xe2\x81\xa6 \xe2\x80\x8f \x1b[31m"
        said = on_a_terminal("solve", foreign)
        for raw in (b"\x9b31m", b"\xc2\x9b", b"\xe2\x80\xae", b"\xe2\x81\xa6",
                    b"\xe2\x80\x8f", b"\x1b[31m"):
            self.assertNotIn(raw, said)
        for shown in (b"\\x9b31m", b"\\u202e", b"\\u2066", b"\\u200f",
                      b"\\x1b[31m"):
            self.assertIn(shown, said)
        # Other characters are kept.
        self.assertIn("\u00e9\u4e2d\U0001f600".encode(),
                      on_a_terminal("solve", "\u00e9\u4e2d\U0001f600?"))

    def test_names_are_shown_without_control_bytes(self):
        esc = "\x1b[31mred"
        model = self.path("m" + esc)
        shutil.copytree(STORIES, model)
        database = self.path("r" + esc + ".db")
        path = self.path("s" + esc + ".jsonl", json.dumps(
            {"question": STORY, "answer": "54"}) + "\n")
        few = ("--limit", "1", "--budget-tokens", "60")
        for arguments in (
                ("eval", "--set", path, *few, "--task", "stories", "--model",
                 model, "--methods", "greedy"),
                ("generate", "--set", "stories:easy", *few, "--model", model,
                 "--search", "greedy", "--out", database),
                ("db", "info", database), ("solve", "--fo" + esc, STORY),
                ("no" + esc,)):
            said = on_a_terminal(*arguments)
            self.assertNotIn(b"\x1b[31m", said, arguments)
            self.assertIn(b"\\x1b[31mred", said.replace(b"\\033", b"\\x1b"),
                          arguments)


if __name__ == "__main__":
    unittest.main()
