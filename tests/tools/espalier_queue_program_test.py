"""Runs workers of espalier generate --queue on a PostgreSQL server: kills of
workers and of the server, cut networks, wrong input.

ESPALIER_PROGRAM names the program (ctest sets it)."""

import json
import os
import random
import shutil
import signal
import sqlite3
import subprocess
import time
import unittest

import postgres_case
from espalier_generate_program_test import content
from espalier_program_test import PROGRAM, SLOW, ZOO, run

# Searches that last: a worker that is killed has some under way.
LONG = ("--set", "stories:hard", "--search", "puct", "--budget-tokens", "2000",
        "--threads", "1")
SHORT = ("--set", "stories:middle", "--search", "beam", "--budget-tokens",
         "300")


def start(url, *options, before=(), **more):
    return subprocess.Popen(
        [*before, PROGRAM, "generate", "--queue", url, *options],
        env=dict(os.environ, ESPALIER_ZOO=ZOO), stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, text=True, **more)


def wait_for(condition, seconds=120):
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            raise TimeoutError
        time.sleep(0.02)


class QueueCase(postgres_case.PostgresTest):
    recorded = {}

    def single(self, *options):
        """What one program records."""
        if options not in self.recorded:
            out = self.path("single.db")
            done = run("generate", "--out", out, "--force", *options)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.recorded[options] = content(out)
        return self.recorded[options]

    def pulled(self, name="pulled.db", *options):
        out = self.path(name)
        done = run("db", "pull", self.url, "--out", out, *options)
        self.assertEqual(done.returncode, 0, done.stderr)
        return content(out)

    def status(self):
        done = run("db", "status", self.url, "--json", "-")
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)["runs"]

    def ended(self):
        return int(self.sql("SELECT count(*) FROM espalier.searches WHERE "
                            "state IN ('done', 'failed')")[0][0])

    def responses(self):
        return int(self.sql("SELECT count(*) FROM espalier.responses")[0][0])

    def assert_ended(self, worker):
        out, err = worker.communicate(timeout=600)
        self.assertEqual(worker.returncode, 0, err)
        return out


class QueueTest(QueueCase):

    def test_workers_record_what_one_program_records(self):
        options = (*SHORT, "--limit", "12", "--searches", "2")
        workers = [start(self.url, *options) for _ in range(3)]
        for worker in workers:
            self.assertIn("the run is over", self.assert_ended(worker))
        expected = self.single(*options)
        self.assertEqual(self.pulled(), expected)
        # Pulled again into the same file, nothing changes.
        self.assertEqual(self.pulled(), expected)
        again = run("db", "pull", self.url, "--out", self.path("pulled.db"),
                    "--json", "-")
        self.assertEqual(json.loads(again.stdout)["conflicts"], [])
        self.assertEqual(run("replay", self.path("pulled.db")).returncode, 0)
        (status,) = self.status()
        self.assertEqual(
            [status[k] for k in ("searches", "waiting", "running", "done",
                                 "failed", "seconds_left")],
            [24, 0, 0, 24, 0, 0])
        self.assertEqual([w["state"] for w in status["workers"]], 3 * ["left"])
        self.assertEqual(sum(w["done"] for w in status["workers"]), 24)
        # One who comes late has nothing to do.
        late = start(self.url, *options, "--json", "-")
        counts = json.loads(self.assert_ended(late))
        self.assertEqual((counts["done_here"], counts["left"]), (0, 0))

    def test_every_kind_of_search_is_shared(self):
        for search in ("majority", "omega_prm", "ab_mcts_a", "best_first"):
            with self.subTest(search):
                options = ("--set", "stories:middle", "--limit", "4",
                           "--search", search, "--budget-tokens", "600")
                self.assert_ended(start(self.url, *options))
                number = str(len(self.status()))
                self.assertEqual(
                    self.pulled(search + ".db", "--run", number),
                    self.single(*options))

    def test_a_stopped_worker_leaves_its_searches_at_once(self):
        # Long enough to be stopped on any machine.
        longer = (*(x if x != "2000" else "10000" for x in LONG), "--limit",
                  "6")
        options = (*longer, "--lease", "3600")
        worker = start(self.url, *options)
        wait_for(lambda: self.has_tables() and self.responses() > 20)
        worker.send_signal(signal.SIGINT)
        _, err = worker.communicate(timeout=60)
        self.assertEqual(worker.returncode, 130, err)
        self.assertIn("continue from here", err)
        self.assertEqual(
            self.sql("SELECT count(*) FROM espalier.searches WHERE "
                     "state='running'"), [["0"]])
        self.assertGreater(self.responses(), 20)
        # Half a run can be pulled, and resumed by one program.
        self.pulled("half.db")
        self.assert_ended(start(self.url, *options))
        self.assertGreater(self.status()[0]["continued"], 0)
        expected = self.single(*longer)
        self.assertEqual(self.pulled(), expected)
        resumed = run("generate", "--out", self.path("half.db"), "--resume",
                      *longer)
        self.assertEqual(resumed.returncode, 0, resumed.stderr)
        self.assertEqual(content(self.path("half.db")), expected)

    def has_tables(self):
        return self.sql("SELECT count(*) FROM pg_class c JOIN pg_namespace n ON "
                        "relnamespace=n.oid WHERE nspname='espalier' AND "
                        "relname='responses'") != [["0"]]

    def test_a_search_that_ends_its_workers_is_given_up(self):
        options = (*SHORT, "--limit", "3", "--lease", "1")
        worker = start(self.url, *options)
        self.assert_ended(worker)
        # As if eleven workers had died on the second search.
        self.sql("UPDATE espalier.searches SET state='running', stalls=10, "
                 "responses=0, responses_at_claim=0, lease_until=now() - "
                 "interval '1 s', tree=NULL, log=NULL, digest=NULL WHERE "
                 "search_no=1")
        self.assert_ended(start(self.url, *options))
        (status,) = self.status()
        self.assertEqual((status["done"], status["failed"]), (2, 1))
        pulled = self.pulled()
        self.assertIn("11 workers", pulled["searches"][1][10])


class KillTest(QueueCase):

    def test_kills_of_workers_and_of_the_server(self):
        problems, count, kills = ("8", 3, 4) if SLOW else ("200", 8, 24)
        options = (*LONG, "--limit", problems)
        expected = self.single(*options)
        chance = random.Random(7)
        lease = ("--lease", "2")
        workers = [start(self.url, *options, *lease) for _ in range(count)]
        self.addCleanup(lambda: [w.kill() for w in workers])
        wait_for(lambda: any(self.status_or_none()))
        for kill in range(kills):
            time.sleep(chance.uniform(0, 4 if SLOW else 0.4))
            if kill in (kills // 3, 2 * kills // 3):
                self.server.kill()
                time.sleep(chance.uniform(0, 1))
                self.server.start()
                continue
            index = chance.randrange(count)
            workers[index].kill()
            workers[index].communicate()
            workers[index] = start(self.url, *options, *lease)
        for worker in workers:
            self.assert_ended(worker)
        self.assertEqual(self.pulled(), expected)
        (status,) = self.status()
        self.assertEqual(status["done"], int(problems))
        if not SLOW:  # a sanitizer's worker may be killed before it begins
            self.assertGreater(status["continued"], 0)
        # Of claims beyond the first of each search, some continued inside.
        print("claims %s, continued %d" % (
            self.sql("SELECT sum(claims) FROM espalier.searches")[0][0],
            status["continued"]))

    def status_or_none(self):
        done = run("db", "status", self.url, "--json", "-")
        return json.loads(done.stdout)["runs"] if done.returncode == 0 else []

    def stop_within_a_transaction(self, worker):
        """Stops a worker that holds locks."""
        for _ in range(400):
            worker.send_signal(signal.SIGSTOP)
            time.sleep(0.02)
            idle = self.sql("SELECT count(*) FROM pg_stat_activity WHERE "
                            "application_name='espalier' AND state='idle in "
                            "transaction' AND query LIKE 'UPDATE%'")
            if idle != [["0"]]:
                return
            worker.send_signal(signal.SIGCONT)
            time.sleep(0.01)
        self.skipTest("no transaction was met")

    def test_a_worker_stopped_within_a_transaction(self):
        problems = "12" if SLOW else "100"
        options = (*LONG, "--limit", problems, "--lease", "1")
        first = start(self.url, *options)
        self.addCleanup(first.kill)
        wait_for(lambda: any(self.status_or_none()) and self.responses() > 20)
        self.stop_within_a_transaction(first)
        second = start(self.url, *options)
        self.addCleanup(second.kill)
        # Its session ends after ten seconds, and with it the locks.
        self.assert_ended(second)
        self.assertEqual(self.ended(), int(problems))
        first.send_signal(signal.SIGCONT)
        self.assert_ended(first)
        self.assertEqual(self.pulled(),
                         self.single(*LONG, "--limit", problems))

    def test_a_late_worker_cannot_write_to_what_it_lost(self):
        worker = start(self.url, *LONG, "--limit", "6", "--lease", "1")
        self.addCleanup(worker.kill)
        wait_for(lambda: any(self.status_or_none()) and self.responses() > 20)
        worker.send_signal(signal.SIGSTOP)
        self.sql("UPDATE espalier.searches SET state='done', answer='theirs', "
                 "claim=nextval('espalier.claims') WHERE state='running'")
        theirs = "SELECT count(*) FROM espalier.searches WHERE answer='theirs'"
        kept = self.sql(theirs)
        self.assertGreater(int(kept[0][0]), 0)
        worker.send_signal(signal.SIGCONT)
        self.assert_ended(worker)
        self.assertEqual(self.sql(theirs), kept)

    def test_a_server_that_answers_nothing(self):
        """Its processes are stopped: connections stay, answers do not come."""
        worker = start(self.url, *LONG, "--limit", "30")
        self.addCleanup(worker.kill)
        wait_for(lambda: any(self.status_or_none()) and self.responses() > 20)
        stopped = [int(row[0]) for row in self.sql(
            "SELECT pid FROM pg_stat_activity WHERE "
            "application_name='espalier'")] + [self.server.process.pid]
        for pid in stopped:
            os.kill(pid, signal.SIGSTOP)
        try:
            time.sleep(1)
            begin = time.monotonic()
            worker.send_signal(signal.SIGINT)
            _, err = worker.communicate(timeout=60)
            self.assertEqual(worker.returncode, 130, err)
            self.assertIn("does not answer", err)
            self.assertLess(time.monotonic() - begin, 40)
        finally:
            for pid in reversed(stopped):
                os.kill(pid, signal.SIGCONT)

    def test_a_server_away_for_longer_than_the_lease(self):
        options = (*LONG, "--limit", "6", "--lease", "1")
        worker = start(self.url, *options)
        wait_for(lambda: any(self.status_or_none()) and self.responses() > 20)
        self.server.stop()
        time.sleep(3)
        self.server.start()
        _, err = worker.communicate(timeout=600)
        self.assertEqual(worker.returncode, 0, err)
        for said in ("trying again for up to 10 min",
                     "the database is there again"):
            self.assertEqual(err.count(said), 1, err)
        (status,) = self.status()
        # Nobody else was there: the searches stayed its own.
        self.assertEqual((status["done"], status["continued"]), (6, 0))
        self.assertEqual(self.pulled(), self.single(*LONG, "--limit", "6"))


def can_cut_networks():
    return shutil.which("ip") is not None and subprocess.run(
        ["unshare", "-n", "ip", "link", "add", "cut0", "type", "veth", "peer",
         "name", "cut1"], capture_output=True, check=False).returncode == 0


class Network:
    """A namespace of its own, and the cable to it."""

    def __init__(self, number):
        self.name = f"esp{os.getpid() % 10000}x{number}"
        self.holder = subprocess.Popen(["unshare", "-n", "sleep", "100000"])
        wait_for(lambda: os.readlink("/proc/self/ns/net") != os.readlink(
            f"/proc/{self.holder.pid}/ns/net"))
        self.before = ("nsenter", "-t", str(self.holder.pid), "-n")
        net = f"10.{200 + os.getpid() % 50}.{number}"
        self.host = net + ".1"
        for command in (
                ("ip", "link", "add", self.name, "type", "veth", "peer", "name",
                 "eth0", "netns", str(self.holder.pid)),
                ("ip", "addr", "add", self.host + "/24", "dev", self.name),
                ("ip", "link", "set", self.name, "up"),
                (*self.before, "ip", "addr", "add", net + ".2/24", "dev",
                 "eth0"),
                (*self.before, "ip", "link", "set", "eth0", "up")):
            subprocess.run(command, check=True)

    def cable(self, state):
        subprocess.run(["ip", "link", "set", self.name, state], check=True)

    def close(self):
        self.holder.kill()
        self.holder.wait()


@unittest.skipUnless(postgres_case.BIN and can_cut_networks(),
                     "may not make network namespaces")
class NetworkTest(QueueCase):

    @classmethod
    def setUpClass(cls):
        cls.networks = [Network(n) for n in range(2)]
        cls.server = postgres_case.Server(hosts="*")

    @classmethod
    def tearDownClass(cls):
        super().tearDownClass()
        for network in cls.networks:
            network.close()

    def test_cut_networks(self):
        problems = "8" if SLOW else "200"
        options = (*LONG, "--limit", problems)
        expected = self.single(*options)
        workers = [start(self.url_of(network.host), *options, "--lease", "1",
                         before=network.before) for network in self.networks]
        self.addCleanup(lambda: [w.kill() for w in workers])
        # One at a time is cut off, for longer than its lease; then both.
        wait_for(lambda: self.sql(
            "SELECT count(*) FROM pg_namespace WHERE nspname='espalier'"
        ) == [["1"]])
        # Each worker has recorded something of a search that it holds, so that
        # another can continue inside it; or there is no work left.
        inside = ("SELECT count(DISTINCT worker_id) FROM espalier.searches "
                  "WHERE state='running' AND responses > 0")
        left = ("SELECT count(*), count(*) FILTER (WHERE state IN ('waiting', "
                "'running')) FROM espalier.searches")

        def ready():
            (all_of_them, open_ones), = self.sql(left)
            return (self.sql(inside) == [["2"]] or
                    (int(all_of_them) > 0 and int(open_ones) == 0))
        for which in ((0,), (1,), (0, 1)):
            wait_for(ready)
            before = self.status()[0]["continued"]
            for index in which:
                self.networks[index].cable("down")
            time.sleep(2.5)
            # On a busy machine it takes longer until the other worker is done
            # with what it has and goes on with what the cut one left.
            if not SLOW and len(which) == 1:
                def taken_over():
                    return (self.status()[0]["continued"] > before or
                            int(self.sql(left)[0][1]) == 0)
                try:
                    wait_for(taken_over, 60)
                except TimeoutError:
                    pass  # the next cut may do
            for index in which:
                self.networks[index].cable("up")
            time.sleep(0.5)
        for worker in workers:
            self.assert_ended(worker)
        self.assertEqual(self.pulled(), expected)
        (status,) = self.status()
        self.assertEqual(status["done"], int(problems))
        if not SLOW:
            self.assertGreater(status["continued"], 0)
        print("cut networks: continued", status["continued"])


class PullTest(QueueCase):

    def test_a_full_disk(self):
        options = (*LONG, "--limit", "12")
        self.assert_ended(start(self.url, *options))
        out = self.path("run.db")

        def pull(kilobytes):
            """With a bound on the size of files, which SQLite meets first."""
            return subprocess.run(
                ["bash", "-c", f"trap '' XFSZ; ulimit -f {kilobytes}; exec "
                 '"$0" "$@"', PROGRAM, "db", "pull", self.url, "--out", out],
                capture_output=True, text=True, check=False)
        result = pull(64)
        self.refused(result, out, "full", "pull again")
        self.assertNotIn("--resume", result.stderr)
        self.assertEqual(os.listdir(os.path.dirname(out)), [])
        self.assertEqual(pull(100000).returncode, 0)
        expected = content(out)
        # The file that is there stays as it was.
        self.refused(pull(64), "full", "pull again")
        self.assertFalse(os.path.exists(out + ".pull"))
        self.assertEqual(content(out), expected)
        self.assertEqual(expected, self.single(*options))


class DamageTest(QueueCase):
    OPTIONS = (*SHORT, "--limit", "6")

    def pull_damaged(self):
        """What db pull reports; its database is then resumed."""
        out = self.path("damaged.db")
        done = run("db", "pull", self.url, "--out", out, "--json", "-")
        self.assertEqual(done.returncode, 1, done.stderr)
        damaged = json.loads(done.stdout)["damaged"]
        for text in damaged:
            self.assertIn(text, done.stderr)
        again = run("generate", "--out", out, "--resume", *self.OPTIONS)
        self.assertEqual(again.returncode, 0, again.stderr)
        self.assertEqual(content(out), self.single(*self.OPTIONS))
        self.assertEqual(run("replay", out).returncode, 0)
        return damaged

    def test_bytes_that_changed(self):
        self.assert_ended(start(self.url, *self.OPTIONS))
        # One bit each, of a log and of a tree; a log that is gone.
        flip = "%s = set_byte(%s, 40, get_byte(%s, 40) # 1)"
        for search, change in ((1, flip % (3 * ("log",))),
                               (2, flip % (3 * ("tree",))), (4, "log = NULL")):
            self.sql(f"UPDATE espalier.searches SET {change} WHERE "
                     f"search_no={search}")
        damaged = self.pull_damaged()
        self.assertEqual([text.split(":")[1] for text in damaged],
                         [f"middle/1/{n}, seed 0" for n in (1, 2, 4)])

    def test_a_page_that_cannot_be_read(self):
        self.assert_ended(start(self.url, *self.OPTIONS))
        # Values of their own pages, as large ones have.
        self.sql("ALTER TABLE espalier.searches ALTER tree SET STORAGE "
                 "EXTERNAL")
        self.sql("UPDATE espalier.searches SET log = log || ''::bytea")
        (path,), = self.sql(
            "SELECT pg_relation_filepath(reltoastrelid) FROM pg_class WHERE "
            "oid='espalier.searches'::regclass")
        self.sql("CHECKPOINT")
        self.server.stop()
        file = os.path.join(self.server.data, path)
        with open(file, "r+b") as handle:
            self.assertGreaterEqual(os.path.getsize(file), 8192)
            handle.write(b"\xff" * 24)
        self.server.start()
        damaged = self.pull_damaged()
        self.assertGreaterEqual(len(damaged), 1)
        self.assertIn("invalid page", damaged[0])

    def test_a_response_that_cannot_be_read(self):
        options = (*LONG, "--limit", "16", "--lease", "3600")
        worker = start(self.url, *options)
        wait_for(lambda: self.sql(
            "SELECT count(*) FROM pg_namespace WHERE nspname='espalier'"
        ) == [["1"]] and self.responses() > 20)
        worker.send_signal(signal.SIGINT)
        worker.communicate(timeout=60)
        self.sql("UPDATE espalier.responses SET entry='\\xff' WHERE number=1")
        half = self.path("half.db")
        done = run("db", "pull", self.url, "--out", half)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("1 of its responses cannot be read", done.stderr)
        resumed = run("generate", "--out", half, "--resume", *LONG, "--limit",
                      "16")
        self.assertEqual(resumed.returncode, 0, resumed.stderr)
        # A worker, too, asks for it again.
        self.assert_ended(start(self.url, *options))
        expected = self.single(*LONG, "--limit", "16")
        self.assertEqual(content(half), expected)
        self.assertEqual(self.pulled(), expected)


class StartTest(QueueCase):
    """Workers that start while the database is away, or refuses them."""

    def test_a_worker_waits_for_a_server_that_is_away(self):
        options = (*SHORT, "--limit", "4")
        self.server.stop()
        try:
            worker = start(self.url, *options)
            self.addCleanup(worker.kill)
            line = worker.stderr.readline()
            self.assertIn("cannot connect", line)
            self.assertIn("trying again for up to 10 min", line)
            time.sleep(1)
            self.assertIsNone(worker.poll())
        finally:
            self.server.start()
        self.assert_ended(worker)
        self.assertEqual(self.pulled(), self.single(*options))

    def test_a_server_that_stays_away(self):
        self.server.stop()
        try:
            began = time.monotonic()
            away = run("generate", "--queue", self.url, *SHORT, "--limit", "2",
                       "--queue-patience", "2")
            seconds = time.monotonic() - began
            worker = start(self.url, *SHORT, "--limit", "2")
            worker.stderr.readline()
            worker.send_signal(signal.SIGINT)
            _, err = worker.communicate(timeout=20)
        finally:
            self.server.start()
        self.assertEqual(away.returncode, 1)
        self.assertGreater(seconds, 2)
        # Said once, and at the end.
        self.assertEqual(away.stderr.count("cannot connect"), 2, away.stderr)
        self.assertIn("given up after 2 s", away.stderr)
        self.assertEqual(worker.returncode, 130, err)

    def test_refused_at_once(self):
        self.sql("CREATE ROLE ann LOGIN PASSWORD 'right'")
        self.addCleanup(self.sql, "DROP ROLE ann", "postgres")
        self.addCleanup(self.sql, f"DROP DATABASE {self.database}", "postgres")
        rules = os.path.join(self.server.data, "pg_hba.conf")
        with open(rules, encoding="utf-8") as handle:
            before = handle.read()
        with open(rules, "w", encoding="utf-8") as handle:
            handle.write("host all ann all scram-sha-256\n"
                         "host all eve all reject\n" + before)
        self.sql("SELECT pg_reload_conf()")
        self.sql(f"GRANT ALL ON DATABASE {self.database} TO ann")
        time.sleep(0.5)
        ann, eve = (self.url.replace("tester@", name)
                    for name in ("ann@", "eve@"))

        def worker(url, password=None):
            env = dict(os.environ, ESPALIER_ZOO=ZOO, PGPASSFILE="/dev/null")
            env.pop("PGPASSWORD", None)
            if password:
                env["PGPASSWORD"] = password
            return subprocess.run(
                [PROGRAM, "generate", "--queue", url, *SHORT, "--limit", "2"],
                env=env, capture_output=True, text=True, check=False,
                timeout=60)
        for url, password, *words in (
                (ann, "wrong one", "password authentication failed"),
                (ann, None, "asks for a password", "PGPASSWORD", "~/.pgpass"),
                (eve, None, "pg_hba.conf rejects"),
                (self.url + "none", None, "does not exist")):
            with self.subTest(url=url, password=password):
                result = worker(url, password)
                self.refused(result, "cannot connect", *words)
                self.assertNotIn("wrong one", result.stderr)
                self.assertNotIn("trying again", result.stderr)
        right = worker(ann, "right")
        self.assertEqual(right.returncode, 0, right.stderr)
        self.assertNotIn("right", right.stdout + right.stderr)
        self.sql("DROP SCHEMA espalier CASCADE")


class WrongInputTest(QueueCase):

    def test_addresses(self):
        for url in ("postgres://host:port/db", "mysql://host/db",
                    "postgres://u:se%ZZcret@host/db",
                    "postgres://u:se/cret@host/db", "postgres://u:1/cret@h",
                    "postgres://u:p@cret@host/db",
                    "postgres://u:1@cret,h@host/db"):
            result = run("generate", "--queue", url, *SHORT)
            self.refused(result, "--queue", "postgres://USER@HOST")
            self.assertEqual(result.returncode, 2)
            self.assertNotIn("cret", result.stderr)
        nobody = "postgres://tester@127.0.0.1:9/db"
        for result in (run("generate", "--queue", nobody, *SHORT, "--limit",
                           "2", "--queue-patience", "0"),
                       run("db", "status", nobody)):
            self.refused(result, "127.0.0.1:9", "cannot connect")
        self.refused(run("db", "status", self.url + "none"), "does not exist")

    def test_a_password_in_the_address_is_refused_and_not_shown(self):
        out = self.path("run.db")
        for url in (self.url.replace("tester@", "tester:hidden@"),
                    self.url + "?password=hidden",
                    self.url + "?sslpassword=hidden"):
            for result in (run("generate", "--queue", url, *SHORT, "--limit",
                               "2"), run("db", "status", url),
                           run("db", "pull", url, "--out", out),
                           run("db", "prune", url, "--run", "1")):
                self.refused(result, "password", "PGPASSWORD", "~/.pgpass")
                self.assertEqual(result.returncode, 2)
                self.assertNotIn("hidden", result.stdout + result.stderr)
        self.refused(run("db", "status", self.url), "holds no queue")
        self.assertFalse(os.path.exists(out))
        # Where a file is expected.
        for command in (("db", "info", url), ("db", "sql", url, "SELECT 1"),
                        ("db", "upgrade", url),
                        ("db", "merge", url, "--out", out),
                        ("db", "merge", out, "--out", url),
                        ("db", "pull", self.url, "--out", url),
                        ("generate", *SHORT, "--limit", "2", "--out", url)):
            result = run(*command)
            self.refused(result, "run database")
            self.assertEqual(result.returncode, 2)
            self.assertNotIn("hidden", result.stdout + result.stderr)

    def test_a_stop_while_another_worker_measures(self):
        self.assert_ended(start(self.url, *SHORT, "--limit", "2"))
        holder = subprocess.Popen(
            [os.path.join(postgres_case.BIN, "psql"), "-qX", self.url, "-c",
             "SELECT pg_advisory_lock(5004467172852891649)", "-c",
             "SELECT pg_sleep(60)"], stdout=subprocess.DEVNULL)
        self.addCleanup(holder.wait)
        self.addCleanup(holder.kill)
        wait_for(lambda: self.sql("SELECT count(*) FROM pg_locks WHERE "
                                  "locktype='advisory'") == [["1"]])
        worker = start(self.url, *SHORT, "--limit", "3")
        time.sleep(2)
        self.assertIsNone(worker.poll())
        worker.send_signal(signal.SIGINT)
        _, err = worker.communicate(timeout=20)
        self.assertEqual(worker.returncode, 130, err)

    def test_a_run_under_way_is_not_deleted(self):
        worker = start(self.url, *LONG, "--limit", "12")
        wait_for(lambda: self.sql("SELECT count(*) FROM pg_namespace WHERE "
                                  "nspname='espalier'") == [["1"]] and
                 self.responses() > 20)
        self.refused(run("db", "prune", self.url, "--run", "1"),
                     "1 workers are at work")
        # Deleted all the same, the worker says so.
        self.sql("DELETE FROM espalier.workers")
        _, err = worker.communicate(timeout=120)
        self.assertEqual(worker.returncode, 1, err)
        self.assertIn("was deleted", err)

    def test_flags_that_do_not_go_with_a_queue(self):
        for flags in (("--out", "run.db"), ("--resume",), ("--append",),
                      ("--reuse-solutions",), ("--shard", "0/2"),
                      ("--dry-run",)):
            self.refused(run("generate", "--queue", self.url, *SHORT, *flags),
                         "--queue does not go with " + flags[0])
        self.refused(run("generate", "--queue", self.url, *SHORT, "--lease",
                         "0"), "--lease")

    def test_no_queue_another_programs_and_another_version(self):
        self.refused(run("db", "status", self.url), "holds no queue")
        self.refused(run("db", "pull", self.url, "--out", self.path("x.db")),
                     "holds no queue")
        self.assertFalse(os.path.exists(self.path("x.db")))
        self.sql("CREATE SCHEMA espalier")
        command = ("generate", "--queue", self.url, *SHORT, "--limit", "2")
        self.refused(run(*command), "another program's")
        self.sql("DROP SCHEMA espalier")
        self.assertEqual(run(*command).returncode, 0)
        self.sql("UPDATE espalier.queue SET version=99")
        for result in (run(*command), run("db", "status", self.url),
                       run("db", "pull", self.url, "--out",
                           self.path("x.db"))):
            self.refused(result, "version 99", "a newer Espalier")

    def test_runs_are_told_apart(self):
        for limit in ("2", "3"):
            self.assertEqual(run("generate", "--queue", self.url, *SHORT,
                                 "--limit", limit).returncode, 0)
        pull = ("db", "pull", self.url, "--out", self.path("x.db"))
        self.refused(run(*pull), "2 runs", "--run")
        self.refused(run(*pull, "--run", "7"), "no run 7")
        self.assertEqual(run(*pull, "--run", "2").returncode, 0)
        with sqlite3.connect(self.path("x.db")) as db:
            self.assertEqual(db.execute(
                "SELECT count(*) FROM searches").fetchone(), (3,))
        self.refused(run("db", "prune", self.url, "--logs"), "--run")
        self.assertEqual(run("db", "prune", self.url, "--run", "1").returncode,
                         0)
        self.assertEqual([r["run"] for r in self.status()], [2])

    def test_another_set_of_the_same_name_is_refused(self):
        def command():
            return run("generate", "--queue", self.url, "--set",
                       self.path("set.jsonl"), "--task", "stories",
                       "--search", "beam", "--budget-tokens", "300")
        line = '{"question": "Ann has 2 shells. She finds %d more. How many ' \
               'shells does Ann have now?", "answer": "%d"}\n'
        self.path("set.jsonl", line % (3, 5))
        first = command()
        self.assertEqual(first.returncode, 0, first.stderr)
        self.path("set.jsonl", line % (4, 6))
        self.refused(command(), "other problems")

    def test_any_bytes_in_questions(self):
        text = ('{"question": "Ann has 2 shells\\u0000 \\u00e9 \\ud83d\\ude00. '
                'She finds 3 more. How many shells does Ann have now?", '
                '"answer": "5"}\n')
        options = ("--set", self.path("set.jsonl", text), "--task", "stories",
                   "--search", "beam", "--budget-tokens", "300")
        done = run("generate", "--queue", self.url, *options)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.pulled(), self.single(*options))

    def test_a_server_that_refuses_to_write(self):
        self.assertEqual(run("generate", "--queue", self.url, *SHORT, "--limit",
                             "2").returncode, 0)
        self.sql("CREATE ROLE reader LOGIN")
        url = self.url.replace("tester@", "reader@")
        self.refused(run("generate", "--queue", url, *SHORT, "--limit", "3"),
                     "permission denied")


if __name__ == "__main__":
    unittest.main()
