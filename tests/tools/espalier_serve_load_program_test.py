"""espalier serve with many clients, slow ones and ones that leave; its queue
and its end.

ESPALIER_PROGRAM names the program (ctest sets it). ESPALIER_LONG=1 asks for the
long test."""

import asyncio
import json
import os
import re
import resource
import signal
import socket
import struct
import threading
import time
import unittest
from concurrent.futures import ThreadPoolExecutor

import espalier_readme_program_test as readme
from espalier_program_test import SLOW, STORY
from serve_case import (CHAT, ENDLESS, PEOPLE, WHILE, ServeTest, chat_body,
                        events, story, until, user)

LONG = bool(os.environ.get("ESPALIER_LONG"))


class OthersTest(ServeTest):
    """Who else asks makes no difference."""

    def others(self, ended):
        """16 clients that ask other things until `ended`."""
        def ask(i):
            count = 0
            while not ended.is_set():
                model = ("greedy", "majority@300", "beam@400", "puct@500")[
                    (i + count) % 4]
                fields = {"model": model, "seed": i * 1000 + count}
                if i % 2:
                    self.order(self.server.stream(story(i), **fields))
                else:
                    self.content(self.server.chat(story(i), **fields))
                count += 1
            return count
        return [self.pool.submit(ask, i) for i in range(16)]

    def setUp(self):
        super().setUp()
        self.pool = ThreadPoolExecutor(32)
        self.addCleanup(self.pool.shutdown)

    def test_a_seed_gives_the_same_content_in_company(self):
        def ask():
            row = self.right(self.server.chat(model="puct@1200", seed=77))
            for key in ("id", "created"):
                row.pop(key)
            row["search"].pop("seconds")
            return row
        quiet = ask()
        ended = threading.Event()
        self.addCleanup(ended.set)
        others = self.others(ended)
        for _ in range(5):
            self.assertEqual(ask(), quiet)
        ended.set()
        self.assertGreater(min(other.result() for other in others), 0)

    def test_conversations_do_not_mix(self):
        def ask(i):
            row = self.right(self.server.chat(story(i), user=PEOPLE[i % 8]))
            content = row["choices"][0]["message"]["content"]
            self.assertIn(str(11 + i), content)
            return row["id"], content
        alone = [ask(i) for i in range(32)]
        self.assertGreater(len({content for _, content in alone}), 16)
        together = list(self.pool.map(ask, list(range(32)) * 3))
        self.assertEqual([content for _, content in together],
                         [content for _, content in alone] * 3)
        self.assertEqual(len({name for name, _ in alone + together}), 128)

    def test_turns_do_not_mix(self):
        """Conversations that begin alike, with a model that takes turns."""
        folder = self.copy_of_model()
        readme.ReadmeTest.give_chat_template(folder)
        server = self.serve("--model", folder, "--prompt", "instruct")

        def talk(i):
            messages = [{"role": "system", "content": "Be brief."}]
            for j in range(3):
                messages += user(f"I am {PEOPLE[i % (2 + 3 * j)]}. " + STORY)
                content = self.content(server.chat(
                    model="majority@90", messages=messages, seed=1))
                messages.append({"role": "assistant", "content": content})
            return messages
        alone = [talk(i) for i in range(8)]
        self.assertEqual(list(self.pool.map(talk, list(range(8)) * 2)),
                         alone * 2)

    def test_slow_clients_hold_up_nobody(self):
        address = ("127.0.0.1", self.server.port)
        head = f"POST {CHAT} HTTP/1.1\r\nHost: a\r\n".encode()
        for data in (head[:20], head, head + b"Content-Length: 99\r\n\r\n{",
                     head + b"Transfer-Encoding: chunked\r\n\r\n5\r\n{", b""):
            for _ in range(10):
                one = socket.create_connection(address)
                self.addCleanup(one.close)
                one.sendall(data)
        body = json.dumps(chat_body(STORY, {
            "model": "puct@3000", "search": {"tree": True}})).encode()
        for _ in range(2):  # those never read
            one = socket.socket()
            self.addCleanup(one.close)
            one.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
            one.connect(address)
            length = f"Content-Length: {len(body)}\r\n\r\n".encode()
            one.sendall((head + length + body) * 3)
        for _ in range(5):
            start = time.monotonic()
            self.right(self.server.get("/health"))
            self.assertIn("23", self.content(self.server.chat()))
            self.assertLess(time.monotonic() - start, 30 if SLOW else 5)


class LatencyTest(ServeTest):
    """What serve adds to the seconds of a search, request by request."""
    most = 0.5 if SLOW else 0.05  # seconds; other tests may run beside this one

    def test_added_latency(self):
        connection = self.server.connect()
        added = []
        for i in range(200):
            start = time.monotonic()
            row = self.right(self.server.chat(story(i % 40), over=connection))
            added.append(time.monotonic() - start - row["search"]["seconds"])
        connection.close()
        added.sort()
        print(f"\nfigure: serve adds {1000 * added[100]:.2f} ms to a search, "
              f"p99 {1000 * added[197]:.2f} ms")
        self.assertLess(added[197], self.most)


class QueueTest(ServeTest):
    flags = ("--live", "1", "--queue", "2")

    def counts(self, over=None):
        found = self.server.metrics(over)
        return [found["espalier_" + name] for name in (
            "searches_running", "searches_waiting",
            "requests_cancelled_total")]

    def freed(self, connection, reset=False):
        """Seconds until a client that left is noticed."""
        over = self.server.connect()
        running, waiting, cancelled = self.counts(over)
        if reset:  # the connection, rather than end it in order
            connection.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER,
                                       struct.pack("ii", 1, 0))
        start = time.monotonic()
        connection.close()
        until(lambda: sum(self.counts(over)[:2]) < running + waiting)
        seconds = time.monotonic() - start
        until(lambda: self.counts(over)[2] == cancelled + 1)
        over.close()
        self.assertLess(seconds, 20 if SLOW else 2)
        return seconds

    def test_a_client_that_leaves_frees_its_search(self):
        times = []
        for i in range(6):
            connection = self.server.begin(model=ENDLESS, stream=i % 3 == 2)
            self.server.until_running()
            if i % 3 == 2:
                connection.sock.recv(100)  # it has begun
            times.append(self.freed(connection, reset=i % 2 == 1))
        print(f"figure: serve frees the search of a client that left within "
              f"{1000 * max(times):.0f} ms")
        self.assertIn("23", self.content(self.server.chat()))

    def test_one_that_has_sent_more_is_watched_too(self):
        for more in (b"\r\n", b"GET /health HTTP/1.1\r\nHost: a\r\n\r\n"):
            for reset in (False, True):
                connection = self.server.begin(model=ENDLESS)
                self.server.until_running()
                connection.sock.sendall(more)
                time.sleep(0.05)
                with self.subTest(more=more, reset=reset):
                    self.freed(connection, reset)

    def test_a_full_queue(self):
        first = self.server.begin(model=ENDLESS)
        self.server.until_running()
        waiting = [self.server.begin(story(i)) for i in range(2)]
        until(lambda: self.counts()[:2] == [1, 2])
        for fields in ({}, {"stream": True}):
            reply = self.server.chat(**fields)
            self.fault(reply, 429)
            self.assertGreater(int(reply.headers["Retry-After"]), 0)
        self.right(self.server.get("/health"))
        seconds = self.freed(waiting[0])
        print(f"figure: serve frees the place of a waiting client that left "
              f"within {1000 * seconds:.0f} ms")
        self.assertEqual(self.counts()[:2], [1, 1])
        self.freed(first)
        self.assertIn("12", self.content(self.server.finish(waiting[1])))
        waiting[1].close()
        self.assertEqual(self.counts()[:2], [0, 0])

    def test_requests_are_served_in_order(self):
        server = self.serve("--live", "1")
        first = server.begin(model=WHILE)
        server.until_running()
        done, threads = [], []

        def ask(i):
            self.content(server.chat(story(i)))
            done.append(i)

        for i in range(5):
            threads.append(threading.Thread(target=ask, args=(i,)))
            threads[-1].start()
            until(lambda: server.metric("searches_waiting") == len(threads))
        for thread in threads:
            thread.join()
        self.assertEqual(done, list(range(5)))
        first.close()


class EndTest(ServeTest):

    @classmethod
    def setUpClass(cls):
        pass  # each test has a server of its own

    def test_what_runs_is_answered(self):
        server = self.serve("--live", "1")
        whole = self.content(server.chat(model=WHILE, seed=2))
        over = server.connect()
        self.right(server.get("/health", over=over))
        running = server.begin(model=WHILE, seed=2)
        server.until_running()
        waiting = server.begin()
        until(lambda: server.metric("searches_waiting") == 1)
        server.process.send_signal(signal.SIGTERM)
        time.sleep(0.1)
        try:
            reply = server.get("/health", over=over)
            self.assertEqual((reply.status, reply.json),
                             (503, {"status": "draining"}))
        except ConnectionError:
            pass  # idle connections may be closed
        health = server.get("/health")
        self.assertEqual((health.status, health.json),
                         (503, {"status": "draining"}))
        late = server.chat()
        self.fault(late, 503, "shutting down")
        self.assertEqual(late.headers["Retry-After"], "1")
        self.assertEqual(self.content(server.finish(running)), whole)
        self.assertIn(server.finish(waiting).status, (200, 503))
        self.assertEqual(server.process.wait(timeout=30), 0)

    def test_what_takes_too_long_is_stopped(self):
        server = self.serve("--drain-seconds", "0.2")
        plain = server.begin(model=ENDLESS)
        stream = server.begin(model=ENDLESS, stream=True)
        server.until_running(2)
        time.sleep(0.3)
        start = time.monotonic()
        server.process.send_signal(signal.SIGINT)
        row = self.right(server.finish(plain))
        self.assertNotEqual(row["choices"][0]["message"]["content"], "")
        self.assertNotEqual(row["search"]["stop_reason"], "")
        content, _, _ = self.order(list(events(stream.getresponse())))
        self.assertNotEqual(content, "")
        self.assertEqual(server.process.wait(timeout=30), 0)
        self.assertLess(time.monotonic() - start, 30 if SLOW else 3)

    def test_idle_clients_do_not_delay_the_end(self):
        server = self.serve()
        over = server.connect()
        self.right(server.get("/health", over=over))
        for data in (b"", b"POST /v1/chat", b"POST /v1/chat/completions "
                     b"HTTP/1.1\r\nContent-Length: 9\r\n\r\n{"):
            one = socket.create_connection(("127.0.0.1", server.port))
            self.addCleanup(one.close)
            one.sendall(data)
        time.sleep(0.1)
        start = time.monotonic()
        server.end()
        self.assertLess(time.monotonic() - start, 20 if SLOW else 3)
        over.close()

    def test_a_second_signal_ends_at_once(self):
        server = self.serve()
        connection = server.begin(model=ENDLESS)
        server.until_running()
        for _ in range(2):
            server.process.send_signal(signal.SIGTERM)
            time.sleep(0.3)
        server.process.wait(timeout=30 if SLOW else 3)
        connection.close()


class CrowdTest(ServeTest):
    """`clients` at once, each of which asks for so many chats on average."""
    flags = ("--queue", "5000")
    clients, chats, rounds = 1000, 2, 2

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
        cls.addClassCleanup(resource.setrlimit, resource.RLIMIT_NOFILE,
                            (soft, hard))

    async def client(self, read, write, i):
        await self.request(read, write, "GET /health", b"")
        for j in range(int(self.chats + i % 10 / 10)):
            body = json.dumps(chat_body(story((i + j) % 40),
                                        {"max_tokens": 30}))
            await self.request(read, write, "POST " + CHAT, body.encode())
        await self.request(read, write, "GET /health", b"")

    async def request(self, read, write, line, body):
        write.write(f"{line} HTTP/1.1\r\nHost: a\r\nContent-Length: "
                    f"{len(body)}\r\n\r\n".encode() + body)
        head = await read.readuntil(b"\r\n\r\n")
        size = int(re.search(rb"(?i)content-length: *(\d+)", head)[1])
        reply = await read.readexactly(size)
        self.assertTrue(head.startswith(b"HTTP/1.1 200 "), head + reply)

    async def round(self):
        pairs = await asyncio.gather(*(
            asyncio.open_connection("127.0.0.1", self.server.port)
            for _ in range(self.clients)))
        await asyncio.gather(*(self.client(*pair, i)
                               for i, pair in enumerate(pairs)))
        connected = await asyncio.to_thread(self.server.metric, "connections")
        self.assertGreaterEqual(connected, self.clients)
        for _, write in pairs:
            write.close()
        await asyncio.gather(*(write.wait_closed() for _, write in pairs))

    def resident(self):
        with open(f"/proc/{self.server.process.pid}/statm",
                  encoding="ascii") as handle:
            return int(handle.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    def test_a_crowd(self):
        sizes, start = [], time.monotonic()
        for _ in range(self.rounds):
            asyncio.run(self.round())
            until(lambda: self.server.metric("connections") <= 1)
            sizes.append(self.resident())
        print(f"\nfigure: serve answers {self.clients} clients in "
              f"{(time.monotonic() - start) / self.rounds:.1f} s; resident "
              f"{', '.join(f'{size / 2**20:.1f}' for size in sizes)} MiB")
        self.assertLess(sizes[-1], 1.1 * sizes[0])


@unittest.skipUnless(LONG, "takes minutes")
class LongTest(CrowdTest, LatencyTest):
    chats, rounds = 10, 6
    most = 0.005


if __name__ == "__main__":
    unittest.main()
