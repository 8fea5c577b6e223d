"""Runs `espalier tokenize` end to end.

ESPALIER_PROGRAM names the program (ctest sets it)."""

import json
import os
import pty
import shutil
import subprocess
import tempfile
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(
    os.path.abspath(__file__))))
PROGRAM = os.environ.get("ESPALIER_PROGRAM",
                         os.path.join(ROOT, "build", "espalier"))
STORIES = os.path.join(ROOT, "models", "zoo", "stories")


def byte_name(byte):
    """The spelling of a byte in byte-level vocabularies."""
    plain = (list(range(33, 127)) + list(range(161, 173)) +
             list(range(174, 256)))
    if byte in plain:
        return chr(byte)
    return chr(256 + sum(b not in plain for b in range(byte)))


def small_tokenizer():
    """Bytes are tokens 0-255; then "ab", and "<end>", a special token."""
    vocab = {byte_name(b): b for b in range(256)}
    vocab["ab"] = 256
    byte_level = {"type": "ByteLevel", "add_prefix_space": False,
                  "use_regex": True}
    return {"added_tokens": [{"id": 257, "content": "<end>",
                              "special": True}],
            "normalizer": None, "pre_tokenizer": byte_level,
            "decoder": byte_level,
            "post_processor": {
                "type": "TemplateProcessing",
                "single": [{"SpecialToken": {"id": "<end>", "type_id": 0}},
                           {"Sequence": {"id": "A", "type_id": 0}}]},
            "model": {"type": "BPE", "vocab": vocab, "merges": ["a b"]}}


def tokenize(model, data, *arguments):
    return subprocess.run([PROGRAM, "tokenize", "--model", model, *arguments],
                          input=data, capture_output=True, timeout=120,
                          check=False)


class TokenizeTest(unittest.TestCase):

    def setUp(self):
        self.folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.folder)
        self.write("tokenizer.json", json.dumps(small_tokenizer()))

    def write(self, name, text):
        path = os.path.join(self.folder, name)
        with open(path, "w", encoding="utf-8") as handle:
            handle.write(text)
        return path

    def ids(self, data, *arguments):
        result = tokenize(self.folder, data, *arguments)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(result.stderr, b"")
        self.assertTrue(result.stdout.endswith(b"\n"))
        return [int(word) for word in result.stdout.split()]

    def refused(self, result, *words):
        self.assertEqual(result.returncode, 1, result)
        self.assertEqual(result.stdout, b"")
        for word in words:
            self.assertIn(word, result.stderr.decode())
        self.assertEqual(len(result.stderr.splitlines()), 1, result.stderr)


class EncodeTest(TokenizeTest):

    def test_text_becomes_one_line_of_ids(self):
        self.assertEqual(self.ids(b"xab\n"), [120, 256, 10])
        self.assertEqual(self.ids(b""), [])
        self.assertEqual(self.ids(b"\x00\xff\xc3"), [0, 255, 195])

    def test_special_tokens_are_text_unless_asked_for(self):
        self.assertEqual(self.ids(b"<end>"), list(b"<end>"))
        self.assertEqual(self.ids(b"a<end>", "--special"), [97, 257])
        self.assertEqual(self.ids(b"a", "--bos"), [257, 97])

    def test_json_shows_pieces(self):
        result = tokenize(self.folder, b"ab\xc3\xa9", "--json")
        self.assertEqual(json.loads(result.stdout),
                         {"ids": [256, 195, 169],
                          "pieces": ["ab", "\ufffd", "\ufffd"]})

    def test_a_file_serves_as_well_as_a_folder(self):
        path = os.path.join(self.folder, "tokenizer.json")
        self.assertEqual(tokenize(path, b"ab").stdout, b"256\n")

    def test_a_vocabulary_and_merges_serve_as_well(self):
        model = small_tokenizer()["model"]
        os.remove(os.path.join(self.folder, "tokenizer.json"))
        self.write("vocab.json", json.dumps(model["vocab"]))
        self.write("merges.txt", "#version: 0.2\na b\n")
        self.assertEqual(self.ids(b"ab"), [256])


class DecodeTest(TokenizeTest):

    def test_ids_become_bytes(self):
        result = tokenize(self.folder, b"120 256,10\n[257]\n", "--decode")
        self.assertEqual((result.returncode, result.stdout),
                         (0, b"xab\n"), result.stderr)

    def test_any_bytes_come_back(self):
        data = bytes(range(256)) * 3 + "naïve 🚀".encode()
        for model in (self.folder, STORIES):
            ids = tokenize(model, data).stdout
            self.assertEqual(tokenize(model, ids, "--decode").stdout, data)

    def test_a_terminal_gets_no_control_bytes(self):
        leader, follower = pty.openpty()
        self.addCleanup(os.close, leader)
        data = b"27 93 48 59 97 7 98"
        result = subprocess.run(
            [PROGRAM, "tokenize", "--model", self.folder, "--decode"],
            input=data, stdout=follower, stderr=subprocess.PIPE, timeout=120,
            check=False)
        os.close(follower)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(os.read(leader, 1000), b"\\x1b]0;a\\x07b")
        piped = tokenize(self.folder, data, "--decode")
        self.assertEqual(piped.stdout, b"\x1b]0;a\x07b")

    def test_wrong_ids_are_named(self):
        self.refused(tokenize(self.folder, b"1 2 258", "--decode"),
                     "id 3", "0 to 257", '"258"')
        self.refused(tokenize(self.folder, b"-1", "--decode"), '"-1"')
        self.refused(tokenize(self.folder, b"1 \xff", "--decode"), "\\xff")


class WrongUseTest(TokenizeTest):

    def test_missing_and_broken_files_are_named(self):
        self.refused(tokenize(os.path.join(self.folder, "no"), b"a"), "no")
        empty = os.path.join(self.folder, "empty")
        os.mkdir(empty)
        self.refused(tokenize(empty, b"a"), "tokenizer.json",
                     "tokenizer.model")
        broken = self.write("broken.json", '{"model": ')
        self.refused(tokenize(broken, b"a"), "broken.json", "malformed")
        model = self.write("tokenizer.model", "not one")
        self.refused(tokenize(model, b"a"), "tokenizer.model",
                     "SentencePiece")

    def test_a_hostile_pattern_ends_the_request_and_names_the_file(self):
        value = small_tokenizer()
        value["pre_tokenizer"] = {"type": "Sequence", "pretokenizers": [
            {"type": "Split", "pattern": {"Regex": "(a+a+)+$"},
             "behavior": "Isolated"},
            {"type": "ByteLevel", "add_prefix_space": False,
             "use_regex": False}]}
        self.write("tokenizer.json", json.dumps(value))
        self.refused(tokenize(self.folder, b"a" * 40 + b"b"),
                     "tokenizer.json", "(a+a+)+$", "stopped")

    def test_options_that_exclude_each_other(self):
        result = tokenize(self.folder, b"1", "--decode", "--special")
        self.assertGreater(result.returncode, 0)
        self.assertIn(b"--special", result.stderr)
        result = subprocess.run([PROGRAM, "tokenize"], capture_output=True,
                                input=b"", timeout=60, check=False)
        self.assertGreater(result.returncode, 0)
        self.assertIn(b"--model", result.stderr)

    def test_help_tells_how_to_use_it(self):
        result = subprocess.run([PROGRAM, "tokenize", "--help"],
                                capture_output=True, timeout=60, check=False)
        for word in (b"--decode", b"--special", b"printf", b"tokenizer.model"):
            self.assertIn(word, result.stdout)


if __name__ == "__main__":
    unittest.main()
