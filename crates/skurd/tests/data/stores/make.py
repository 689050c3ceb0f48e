#!/usr/bin/env python3
"""Makes a small data directory with a skurd binary, and writes down what that binary says of it.

    make.py BINARY NAME

NAME/data is the directory (each file packed with zstd), NAME/expected/*.jsonl the `--json` output of the binary's own
commands, and NAME/commands.txt which commands those were. Stores of the past are made once, by the binary of their time, and never again:
see README.md.
"""

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

CONFIG = """
settings:
  user_agent: "skurd-test (+http://en.test/om)"
  contact: "http://en.test/om"
  recheck: 1h
  lease: 30m
  session_ids: [sid]
  politeness: {factor: 0.5, min: 5ms, max: 1s, parallel: 2}
collections:
  - {name: open, warc_prefix: OPEN, headers: {Accept-Language: "nb"}}
  - name: members
    cookies: [{host: en.test, name: medlem, value: kari}]
profiles:
  - name: daily
    collection: open
    every: 1d
    ttl: 30d
    scope: {within: domain, max_depth: 5, exclude: [{regex: '[?&]sort='}, {prefix: "en.test/ut"}]}
    limits: {max_errors: 2, max_not_found: 1, backoff_base: 100ms, backoff_cap: 1s, first_byte_timeout: 500ms, total_timeout: 20m}
  - {name: twice, extends: daily, every: 2s, length: 2}
  - {name: club, extends: daily, collection: members, robots: ignore}
  - {name: patient, collection: open, every: 7d, limits: {first_byte_timeout: 10m}}
seeds:
  - {name: en, url: "http://en.test/", profiles: [daily]}
  - {name: forside, url: "http://en.test/nytt", profiles: [twice, daily]}
  - {name: to, url: "http://to.test/", profiles: [daily]}
  - {name: klubb, url: "http://en.test/", profiles: [club]}
  - {name: slutt, url: "http://slutt.test/", profiles: [twice]}
  - {name: hengende, url: "http://heng.test/", profiles: [patient]}
  - {name: av, url: "http://av.test/", profiles: [daily], active: false}
host_groups:
  - {name: "group:to", hosts: [to.test, bilder.to.test], politeness: {min: 10ms}}
hosts:
  - {host: en.test, politeness: {factor: 0.2, min: 5ms}}
"""
WALKS = """
walks:
  - {name: protokoll, template: "http://en.test/protokoll/{id}", profile: daily, min: 1, margin: 5}
"""
LATE = """
  - {name: treg, template: "http://heng.test/sak/{id:04}", profile: patient, min: 1, max: 40}
"""

PAGES = {
    ("en.test", "/"): '<a href="/nytt">Nytt</a> <a href="/a">A å</a> <a href="/a?sort=x">s</a> <a href="/borte">borte</a>'
    ' <a href="http://to.test/x">til to</a> <a href="/hemmelig/1">h</a> <a href="/flytt">f</a> <img src="http://bilder.to.test/b.png">',
    ("en.test", "/nytt"): '<a href="/">hjem</a> <a href="/a">igjen A</a> <a href="/protokoll/1">P</a>',
    ("en.test", "/a"): '<a href="/b?sid=123&amp;q=1">B</a> <a href="/borte">borte</a>',
    ("en.test", "/b?q=1"): "<p>B</p>",
    ("en.test", "/c"): "<p>C</p>",
    ("to.test", "/"): '<a href="/x">X</a> <a href="/feil">feil</a> <a href="http://en.test/a">A hos en</a> <a href="/stum">stum</a>',
    ("to.test", "/x"): '<a href="/">hjem</a>',
    ("slutt.test", "/"): '<a href="/to">to</a>',
    ("slutt.test", "/to"): "<p>to</p>",
    ("bilder.to.test", "/b.png"): "no picture",
}
HOLES = {3, 4, 9}


class Web(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def do_GET(self):
        host, path = self.headers.get("Host", "").split(":")[0], self.path
        if "://" in path:
            path = "/" + path.split("/", 3)[3]
        if host == "heng.test" and path != "/robots.txt":
            time.sleep(600)
        if path == "/stum":
            time.sleep(2)
            self.close_connection = True
            return
        if path == "/robots.txt":
            body = "User-agent: *\nDisallow: /hemmelig\n" if host == "en.test" else ""
            return self.answer(200 if body else 404, body, kind="text/plain")
        if path == "/feil":
            return self.answer(500, "oops")
        if path == "/flytt":
            return self.answer(302, "", Location="/c")
        if path.startswith("/protokoll/"):
            number = int(path.rsplit("/", 1)[1])
            there = number <= 12 and number not in HOLES
            return self.answer(200 if there else 404, f"<p>protokoll {number}</p>" if there else "ingen")
        page = PAGES.get((host, path))
        if page is None:
            return self.answer(404, "ingen")
        if path == "/nytt":
            if self.headers.get("If-None-Match") == '"n1"':
                return self.answer(304, "", ETag='"n1"')
            return self.answer(200, page, ETag='"n1"', Last_Modified="Mon, 16 Nov 2026 10:00:00 GMT")
        if path == "/":
            return self.answer(200, page, Set_Cookie="okt=1; Path=/")
        self.answer(200, page)

    def answer(self, status, body, kind="text/html; charset=utf-8", **fields):
        body = body.encode()
        self.send_response_only(status)
        for name, value in fields.items():
            self.send_header(name.replace("_", "-"), value)
        if body:
            self.send_header("Content-Type", kind)
        if status != 304:
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if status != 304:
            self.wfile.write(body)


def main(binary, name):
    server = ThreadingHTTPServer(("127.0.0.1", 0), Web)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    commands = subprocess.run([binary, "--help"], capture_output=True, text=True).stdout
    has = lambda command: f"\n  {command} " in commands
    with tempfile.TemporaryDirectory() as work:
        make(binary, Path(work), f"*.test=127.0.0.1:{server.server_address[1]}", has)
        keep(binary, Path(work), Path(__file__).parent / name, has)


def make(binary, work, resolve, has):
    data = ["--data", str(work / "data")]
    net = ["--resolve", resolve, "--allow-net", "127.0.0.0/8"]
    run = lambda *args: subprocess.run([binary, *args, *data], check=True, capture_output=True, text=True)
    config = work / "c.yaml"
    declared = CONFIG + (WALKS if has("linear") else "")
    # First what answers, to its end; what hangs is switched off meanwhile.
    quiet = declared.replace('"http://heng.test/", profiles: [patient]', '"http://heng.test/", profiles: [patient], active: false')
    config.write_text(quiet)
    run("crawl", str(config), "--until-done", *net)
    run("seed", "add", "http://sen.test/", "--profile", "daily", "--name", "sen")
    run("blacklist", "add", "http://en.test/c", "--reason", "for the test", "--for", "3650d")
    config.write_text(declared + (LATE if has("linear") else ""))
    run("config", "apply", str(config))
    run("start", "--seed", "hengende")
    # Then what hangs, and a sudden end while it is in flight.
    command = ["serve", "--listen", "127.0.0.1:18643"] if has("serve") else ["crawl", str(config)]
    running = subprocess.Popen([binary, *command, *net, *data], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    time.sleep(4)
    if has("serve"):
        for what in [{"what": "host", "name": "to.test"}, {"what": "collection", "name": "members"}]:
            asked = urllib.request.Request(
                "http://127.0.0.1:18643/api/v1/pause", data=json.dumps(what).encode(), headers={"Content-Type": "application/json"}
            )
            urllib.request.urlopen(asked).read()
        time.sleep(1)
    running.send_signal(signal.SIGKILL)
    running.wait()
    run("queue")


def keep(binary, work, out, has):
    expected = [
        ["queue"], ["queue", "--state", "in-flight"], ["hosts"], ["blacklist"], ["captures"],
        ["seed", "list"], ["profile", "list"], ["collection", "list"], ["host-group", "list"],
        ["report", "domains"], ["report", "errors"], ["report", "contract"],
    ]
    if has("linear"):
        expected += [["linear", "show"], ["linear", "show", "protokoll"]]
    shutil.rmtree(out, ignore_errors=True)
    (out / "expected").mkdir(parents=True)
    plain = [["cdx", "export"]]
    if has("index"):
        plain += [["index", "dump", "--collection", "open"], ["index", "dump", "--collection", "members"]]
    lines = []
    for command in expected + plain:
        asked = [*command, "--json"] if command in expected else command
        told = subprocess.run([binary, *asked, "--data", str(work / "data")], check=True, capture_output=True, text=True)
        file = "-".join(word.strip("-") for word in command) + ".txt"
        (out / "expected" / file).write_text(told.stdout.replace(str(work), "WORK"))
        lines.append(f"{file}\t{' '.join(asked)}\n")
    checked = subprocess.run([binary, "store", "check", str(work / "data"), "--json"], check=True, capture_output=True, text=True)
    (out / "expected" / "store-check.txt").write_text(checked.stdout)
    (out / "commands.txt").write_text("".join(lines))
    for path in sorted((work / "data").rglob("*")):
        relative = path.relative_to(work / "data")
        if path.is_file() and relative.parts[0] != "tmp" and relative.name not in ("LOCK", "lock", "serve.json"):
            target = out / "data" / f"{relative}.zst"
            target.parent.mkdir(parents=True, exist_ok=True)
            subprocess.run(["zstd", "-q", "-19", "-o", str(target), str(path)], check=True)


if __name__ == "__main__":
    main(str(Path(sys.argv[1]).resolve()), sys.argv[2])
