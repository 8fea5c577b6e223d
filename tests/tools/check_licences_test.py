"""Gives the licence check copyright files and expects its verdict on each."""

import os
import subprocess
import sys
import tempfile
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(
    os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "tools"))
import check_licences  # noqa: E402

FORMAT = "Format: https://www.debian.org/doc/packaging-manuals/x/1.0/\n"


class CheckLicencesTest(unittest.TestCase):

    def judge(self, copyright_text, package="libx1"):
        with tempfile.TemporaryDirectory() as doc:
            os.makedirs(os.path.join(doc, package))
            with open(os.path.join(doc, package, "copyright"), "w",
                      encoding="utf-8") as handle:
                handle.write(copyright_text)
            return check_licences.judge(package, doc)

    def test_main_stanza_counts_and_build_scripts_do_not(self):
        text = (FORMAT + "\nFiles: *\nCopyright: A\nLicense: Apache-2.0\n"
                "\nFiles: debian/*\nCopyright: B\nLicense: GPL-2+\n")
        self.assertEqual(self.judge(text), ("Apache-2.0", ""))

    def test_gpl_alone_is_refused(self):
        for licence in ("GPL-2", "GPL-2+", "GPL-3+", "AGPL-3",
                        "GPL-2+ and BSD-3-clause", "GPL-2 or GPL-3"):
            text = FORMAT + f"\nFiles: *\nCopyright: A\nLicense: {licence}\n"
            found, verdict = self.judge(text)
            self.assertEqual(found, licence)
            self.assertIn("GPL only", verdict)

    def test_other_choice_lesser_gpl_and_exception_are_fine(self):
        for licence in ("LGPL-2.1+", "GPL-2+ or LGPL-3+", "MPL-1.1 or GPL-2+",
                        "GPL-3+ with GCC exception", "BSD-3-clause", "Expat"):
            text = FORMAT + f"\nFiles: *\nCopyright: A\nLicense: {licence}\n"
            self.assertEqual(self.judge(text), (licence, ""))

    def test_licence_that_cannot_be_told_is_refused(self):
        self.assertIn("KNOWN", self.judge("Some free text about a GPL.\n")[1])
        self.assertIn("KNOWN", check_licences.judge("no-such-package")[1])
        self.assertIn("no Debian package", check_licences.judge(None)[1])

    def test_what_a_program_links_counts_not_the_program(self):
        # true itself is under the GPL, but the libraries it links are not.
        self.assertEqual(check_licences.check("/bin/true"), [])

    def test_missing_library_is_reported(self):
        with tempfile.TemporaryDirectory() as folder:
            source = os.path.join(folder, "a.cc")
            with open(source, "w", encoding="utf-8") as handle:
                handle.write("int f(void) { return 1; }\n")
            library = os.path.join(folder, "libgone.so")
            subprocess.run(["c++", "-shared", "-fPIC", "-Wl,-soname,libgone.so",
                            "-o", library, source], check=True)
            with open(source, "w", encoding="utf-8") as handle:
                handle.write("int f(void); int main(void) { return f(); }\n")
            program = os.path.join(folder, "a")
            subprocess.run(["c++", "-o", program, source, library,
                            f"-Wl,-rpath,{folder}"], check=True)
            self.assertIn("belongs to no Debian package",
                          "".join(check_licences.check(program)))
            os.remove(library)
            self.assertIn("not installed",
                          "".join(check_licences.check(program)))


if __name__ == "__main__":
    unittest.main()
