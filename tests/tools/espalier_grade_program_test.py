#!/usr/bin/env python3
"""espalier grade: results in input order, bad lines by name, policies."""

import json
import os
import subprocess
import tempfile
import unittest

PROGRAM = os.environ.get("ESPALIER_PROGRAM", "espalier")


def grade(text, *flags):
    done = subprocess.run([PROGRAM, "grade", "--pairs", "-", *flags],
                          input=text, capture_output=True, timeout=120,
                          check=False)
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    return done.returncode, lines, done.stderr.decode()


def pair(gold, answer):
    return json.dumps({"gold": gold, "answer": answer}).encode() + b"\n"


class GradeTest(unittest.TestCase):

    def test_one_result_a_line_in_order(self):
        code, out, _ = grade(pair("1/2", "so $\\boxed{0.5}$.") +
                             pair("3", "4") + pair("(1,2)", "(1, 2)"))
        self.assertEqual(code, 0)
        self.assertEqual([line["equal"] for line in out], [True, False, True])
        self.assertEqual(out[1]["reason"], "gold is 3, the answer 4")
        for line in out:
            self.assertEqual(list(line), ["equal", "reason", "us"])
            self.assertGreater(line["us"], 0)

    def test_options_make_a_multiple_choice(self):
        def row(gold, answer, options=("12", "15", "18")):
            return json.dumps({"gold": gold, "answer": answer,
                               "options": options}).encode() + b"\n"
        code, out, err = grade(
            row("B", "So the answer is (B).") + row("B", "\\boxed{15}") +
            row("B", "\\boxed{18}") + row("B", "It is 15 or 18.") +
            row("D", "D") + row("15", "15") + row("B", "B", "12, 15"))
        self.assertEqual(code, 0, err)
        self.assertEqual([line["equal"] for line in out],
                         [True, True, False, False, False, False, False])
        self.assertIn("2 of 4 pairs equal, 3 bad", err)
        self.assertIn('found ["12","15","18"] and D', err)

    def test_what_cannot_be_read_is_an_error(self):
        folder = os.open(tempfile.gettempdir(), os.O_RDONLY)
        self.addCleanup(os.close, folder)
        for command in (("grade", "--pairs", "-"),
                        ("solve",),
                        ("tokenize", "--model", os.path.join(
                            os.path.dirname(os.path.dirname(os.path.dirname(
                                os.path.abspath(__file__)))), "models", "zoo",
                            "stories"))):
            done = subprocess.run([PROGRAM, *command], stdin=folder,
                                  capture_output=True, timeout=60, check=False)
            self.assertEqual(done.returncode, 1, done.stderr)
            self.assertIn(b"Is a directory", done.stderr)

    def test_a_line_too_long_is_a_bad_line(self):
        code, out, err = grade(pair("1", "1") + b"x" * (65 << 20) + b"\n" +
                               pair("2", "2"))
        self.assertEqual(code, 0, err)
        self.assertEqual([line["equal"] for line in out], [True, False, True])
        self.assertIn(":2: the line has more than 64 MB", err)
        self.assertIn("2 of 2 pairs equal, 1 bad lines", err)

    def test_bad_lines_are_named_and_counted(self):
        text = (b"\xef\xbb\xbf" + pair("1", "1").replace(b"\n", b"\r\n") +
                b"nonsense\n" + b'{"gold": "3"}\n' +
                b'{"gold": "\xff", "answer": "1"}\n' + pair("2", "2"))
        code, out, err = grade(text)
        self.assertEqual(code, 0)
        self.assertEqual(len(out), 5)
        self.assertEqual([line["equal"] for line in out],
                         [True, False, False, False, True])
        self.assertIn("standard input:2: expected a JSON object", err)
        self.assertIn('standard input:3: expected the key "answer"', err)
        self.assertIn("3 bad lines", err)
        code, out, err = grade(text, "--strict")
        self.assertNotEqual(code, 0)
        self.assertEqual(len(out), 1)
        self.assertIn("standard input:2", err)

    def test_hostile_json_is_a_bad_line(self):
        number = "123456789012345678901234567890"
        text = ('{"golds": ' + "[" * 60000 + "]" * 60000 +
                ', "answer": "1"}\n'
                '{"gold": "1", "gold": "2", "answer": "2"}\n'
                f'{{"gold": {number}, "answer": "{number}"}}\n')
        code, out, err = grade(text.encode())
        self.assertEqual(code, 0, err)
        self.assertEqual([line["equal"] for line in out],
                         [False, False, True])
        self.assertIn("standard input:1: expected a JSON object", err)
        self.assertIn("standard input:2: expected a JSON object", err)
        self.assertIn('"gold"', err)

    def test_one_gold_and_others_beside_it(self):
        lines = [{"gold": "1", "golds": ["2", "3"], "answer": answer}
                 for answer in ("1", "2", "4")]
        lines.append({"golds": ["2"], "answer": "2"})
        code, out, _ = grade("".join(
            json.dumps(line) + "\n" for line in lines).encode())
        self.assertEqual(code, 0)
        self.assertEqual([line["equal"] for line in out],
                         [True, True, False, True])

    def test_what_is_no_gold_answer_is_a_bad_line(self):
        code, out, err = grade("".join(json.dumps(line) + "\n" for line in (
            {"gold": ["3", "4"], "answer": "3"},
            {"golds": ["3", None], "answer": "3"},
            {"golds": [" ", "3"], "answer": "3"},
            {"gold": "3", "answer": "3"})).encode())
        self.assertEqual(code, 0, err)
        self.assertEqual([line["equal"] for line in out],
                         [False, False, False, True])
        self.assertIn('input:1: expected one gold answer under "gold", found '
                      'the list ["3","4"]; put a list of accepted answers '
                      'under "golds"', err)
        self.assertIn('input:2: gold answer 2 of the list under "golds" is '
                      'null', err)
        self.assertIn('input:3: gold answer 1 of the list under "golds" is '
                      'blank', err)
        self.assertIn("1 of 1 pairs equal, 3 bad", err)

    def test_policies(self):
        text = pair("28%", "28")
        self.assertTrue(grade(text)[1][0]["equal"])
        self.assertFalse(grade(text, "--percent", "value")[1][0]["equal"])
        self.assertNotEqual(grade(text, "--percent", "often")[0], 0)
        text = pair("(1,2,3)", "(3,2,1)")
        self.assertFalse(grade(text)[1][0]["equal"])
        self.assertTrue(grade(text, "--any-tuple-order")[1][0]["equal"])

    def test_files_and_their_absence(self):
        with tempfile.NamedTemporaryFile(suffix=".jsonl") as file:
            file.write(pair("1", "1") + b"[]\n")
            file.flush()
            done = subprocess.run([PROGRAM, "grade", "--pairs", file.name],
                                  capture_output=True, timeout=120, check=False)
            self.assertEqual(done.returncode, 0)
            self.assertIn(file.name + ":2: ", done.stderr.decode())
        done = subprocess.run([PROGRAM, "grade", "--pairs", "/nope.jsonl"],
                              capture_output=True, timeout=120, check=False)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("/nope.jsonl", done.stderr.decode())

    def test_a_line_of_ten_megabytes(self):
        _, out, _ = grade(pair("5", "\\(" * 2500000) +
                          pair("5", "x" * 10000000) +
                          pair("5", "word " * 2000000 + "\\boxed{5}"))
        self.assertEqual([line["equal"] for line in out],
                         [False, False, True])


if __name__ == "__main__":
    unittest.main()
