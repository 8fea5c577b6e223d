"""A PostgreSQL server of a test's own, in a temporary folder.

    class MyTest(PostgresTest): self.url, self.sql("SELECT 1"), self.server

Tests are skipped where there is no server program (package postgresql)."""

import glob
import os
import pwd
import shutil
import socket
import subprocess
import tempfile
import time
import unittest

from espalier_program_test import ProgramTest

BINARIES = sorted(glob.glob("/usr/lib/postgresql/*/bin"))
BIN = os.environ.get("ESPALIER_POSTGRES", BINARIES[-1] if BINARIES else "")


def server_user():
    """PostgreSQL refuses to run as root."""
    if os.geteuid() != 0:
        return None
    for name in ("postgres", "nobody"):
        try:
            return pwd.getpwnam(name)
        except KeyError:
            continue
    return None


class Server:
    """Listens on 127.0.0.1, or on `hosts`, at a port of its own."""

    def __init__(self, hosts="127.0.0.1"):
        self.user = server_user()
        self.hosts = hosts
        self.folder = tempfile.mkdtemp(prefix="espalier_pg_")
        if self.user:
            os.chown(self.folder, self.user.pw_uid, self.user.pw_gid)
        self.data = os.path.join(self.folder, "data")
        self.call("initdb", "-D", self.data, "-A", "trust", "-U", "tester",
                  "--no-sync", "-E", "UTF8", "--locale", "C")
        with open(os.path.join(self.data, "pg_hba.conf"), "a",
                  encoding="utf-8") as handle:
            handle.write("host all all samenet trust\n")
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        self.process = None
        self.start()

    def options(self):
        return {"user": self.user.pw_uid, "group": self.user.pw_gid,
                "extra_groups": []} if self.user else {}

    def call(self, program, *arguments):
        subprocess.run([os.path.join(BIN, program), *arguments], check=True,
                       capture_output=True, cwd=self.folder, **self.options())

    def start(self):
        for _ in range(100):  # those of a killed one end a moment later
            with open(os.path.join(self.folder, "log"), "a",
                      encoding="utf-8") as log:
                self.process = subprocess.Popen(
                    [os.path.join(BIN, "postgres"), "-D", self.data, "-p",
                     str(self.port), "-k", self.folder, "-c",
                     f"listen_addresses={self.hosts}", "-c",
                     "max_connections=60"],
                    stdout=log, stderr=log, cwd=self.folder, **self.options())
            while self.process.poll() is None:
                ready = subprocess.run(
                    [os.path.join(BIN, "pg_isready"), "-q", "-h", "127.0.0.1",
                     "-p", str(self.port)], check=False)
                if ready.returncode == 0:
                    return
                time.sleep(0.02)
            time.sleep(0.1)
        raise RuntimeError("PostgreSQL does not start: " + self.folder)

    def kill(self):
        self.process.kill()
        self.process.wait()

    def stop(self):
        self.process.send_signal(2)  # SIGINT: clients are not waited for
        self.process.wait(timeout=60)

    def close(self):
        if self.process.poll() is None:
            self.process.send_signal(3)  # SIGQUIT: at once
            self.process.wait(timeout=60)
        shutil.rmtree(self.folder, ignore_errors=True)


@unittest.skipUnless(BIN, "no PostgreSQL server (package postgresql)")
class PostgresTest(ProgramTest):
    server = None
    databases = 0

    @classmethod
    def setUpClass(cls):
        cls.server = Server()

    @classmethod
    def tearDownClass(cls):
        cls.server.close()

    def setUp(self):
        super().setUp()
        type(self).databases += 1
        self.database = f"work{self.databases}"
        self.sql(f"CREATE DATABASE {self.database}", database="postgres")
        self.url = self.url_of("127.0.0.1")

    def url_of(self, host):
        return (f"postgres://tester@{host}:{self.server.port}/"
                f"{self.database}")

    def sql(self, text, database=None):
        """Rows as lists of text."""
        done = subprocess.run(
            [os.path.join(BIN, "psql"), "-qXAt", "-v", "ON_ERROR_STOP=1", "-h",
             "127.0.0.1", "-p", str(self.server.port), "-U", "tester", "-d",
             database or self.database, "-c", text],
            capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        return [line.split("|") for line in done.stdout.splitlines()]
