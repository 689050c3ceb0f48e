"""A web of three hosts on loopback that remembers what it served.

Every host has a tree of pages, each delivered in one of the ways HTTP has for it; beside them lie the pages that
make captures special: redirects, pages that stay the same with and without an ETag, one that changes, one that
looks different to members, and addresses and headers that are hard on an index. A host of its own has pages that only
a browser sees whole: what they need is asked for by script, with POST too.
"""

import gzip
import random
import threading
import zlib
from collections import defaultdict
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

HOSTS = ["en.test", "to.test", "www.tre.test"]
PAGES_EACH = 500
MEMBER = "medlem=kari"

# How page n is delivered: the n-th of these, round and round.
WAYS = ["plain", "gzip", "chunked", "gzip chunked", "plain", "until close", "deflate"]

# Addresses that normal forms and sort keys tend to disagree about.
ODD_PATHS = [
    "/Odd/CASE?B=2&a=1",
    "/odd/bl%C3%A5b%C3%A6r?%C3%B8=%C3%A5",
    "/odd/a%20b;c=d?x=1&x=0&y",
    "/odd/session;jsessionid=0123456789abcdef0123456789abcdef?id=3",
    "/odd/cf?CFID=1234&CFTOKEN=5678&keep=1",
    "/odd/quote%22%27%5C?q=%22",
    "/odd/www.html?u=http://www.en.test/a//b",
    "/odd/?",
    "/odd/dots/../up/./here",
    "/odd/~tilde/%7Etilde",
    "/odd/trailing/",
    "/odd/q?a=&b&=c&&d",
    "/odd/plus?a+b=c+d",
    "/odd/" + "long/" * 2 + "x" * 900,
]

# Different addresses with one sort key, in the order of the page, which is not that of an index.
ALIKE = [f"/lik/{a}{b}{c}{d}" for a in "xX" for b in "yY" for c in "zZ" for d in "wW"]

# Content types that are hard on an index; the last is none at all.
ODD_TYPES = [
    "TEXT/HTML;charset=utf-8", " text/html ; a=b", 'text/"quoted"', "text/bl\xe5", ";", "text/html, text/plain", None,
]

ODD_STATUSES = [203, 204, 299, 404, 410, 418, 451, 500]


# Pages for a browser, each with what it needs: loaded by markup, style and script, sent by POST, in a frame, redirected.
BROWSER_HOST = "sett.test"
BROWSER_PAGES = 6
FORM, JSON = "application/x-www-form-urlencoded", "application/json"
# What is sent, as content types say it. The last but one is of no type that an index knows; of the last pywb and
# cdxj-indexer make different keys (`true` and `True`), so it is in the index as the latter has it, and does not replay.
POSTED = [(FORM, "a=1&b=x+y%21"), (JSON, '{"a": {"b": [1, 2, "x"]}, "c": "d e"}'), ("text/plain", "hello"), ("application/x-own", "\\x00\\x01"), (JSON, '{"a": [true, null]}')]


def browser_page(number):
    posts = "".join(
        f"await fetch('/post/{number}/{n}', {{method: 'POST', headers: {{'Content-Type': '{kind}'}}, body: '{body}'}});\n"
        for n, (kind, body) in enumerate(POSTED)
    )
    return f"""<!doctype html><html><head><title>Sett {number}</title><link rel=stylesheet href=/stil/{number}.css></head><body>
<a href=/p/{number + 1}>next</a><img src=/bilde/{number}.png><iframe src=http://ramme.test/inni/{number}></iframe>
<div style="height:3000px"></div><img loading=lazy src=/lat/{number}.png>
<script>(async () => {{
const data = await (await fetch('/data/{number}.json?q=%C3%A6&a=1')).json();
document.body.insertAdjacentHTML('beforeend', `<a href=${{data.link}}>made</a><img src=/omvei/{number}>`);
{posts}}})()</script></body></html>
""".encode()


class Web:
    """Serves until closed. `served` has, for every URL and visitor, the answers in the order they were given."""

    def __init__(self):
        self.served = defaultdict(list)
        self.asked = defaultdict(int)
        self.methods = defaultdict(set)
        self.lock = threading.Lock()
        web = self

        class Handler(_Handler):
            pass

        Handler.web = web
        self.server = _Server(("127.0.0.1", 0), Handler)
        self.port = self.server.server_address[1]
        self.thread = threading.Thread(target=self.server.serve_forever, daemon=True)
        self.thread.start()

    def close(self):
        self.server.shutdown()
        self.server.server_close()

    def bodies(self, url, member=False):
        """What was answered with a body to a visitor: status, content type, body before any coding."""
        with self.lock:
            return [answer for answer in self.served[url, member] if answer[0] != 304]


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 256


def page_body(host, number):
    """Links to two pages below it and to the same page of the next host, and some text that does not pack to nothing."""
    below = [n for n in (2 * number + 1, 2 * number + 2) if n < PAGES_EACH]
    links = "".join(f'<li><a href="/side/{n}">Page {n}</a>\n' for n in below)
    other = HOSTS[(HOSTS.index(host) + 1) % len(HOSTS)]
    words = random.Random(f"{host} {number}")
    text = " ".join(f"{words.getrandbits(40):x}" for _ in range(words.randrange(20, 900)))
    return (
        f"<!doctype html><html><head><title>{host} {number}</title></head><body><h1>Side {number} på {host}</h1>\n"
        f'<ul>\n{links}</ul>\n<p>Elsewhere: <a href="http://{other}/side/{number}">{other}</a></p>\n<p>{text}</p></body></html>\n'
    ).encode()


def front_body(host, member):
    """Where everything begins."""
    special = ["/side/0", "/flyttet", "/videre", "/borte", "/tom", "/bilde.png", "/stil.css", "/kopi/1", "/kopi/2"]
    special += [f"/type/{n}" for n in range(len(ODD_TYPES))] + [f"/status/{status}" for status in ODD_STATUSES]
    special += ODD_PATHS + ALIKE if host == HOSTS[0] else []
    links = "".join(f'<li><a href="{path}">{path}</a>\n' for path in special)
    who = "Welcome aboard, Kari" if member else "Who goes there?"
    return f"<!doctype html><html><head><title>{host}</title></head><body><p>{who}</p>\n<ul>\n{links}</ul></body></html>\n".encode()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    # An answer is one segment, and sent at once.
    wbufsize = -1
    disable_nagle_algorithm = True
    timeout = 30
    web: Web

    def log_message(self, *_):
        pass

    def do_POST(self):
        self.sent = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        self.do_GET()

    def do_GET(self):
        host = (self.headers.get("Host") or "").lower()
        url = f"http://{host}{self.path}"
        member = MEMBER in (self.headers.get("Cookie") or "")
        with self.web.lock:
            self.web.asked[url, member] += 1
            asked = self.web.asked[url, member]
        name = host.split(":")[0]
        status, headers, body, way = self.answer(name, self.path, member, asked)
        with self.web.lock:
            self.web.methods[url].add(self.command)
            self.web.served[url, member].append((status, dict(headers).get("Content-Type"), body))
        self.send(status, headers, body, way)

    def answer(self, host, path, member, asked):
        html = [("Content-Type", "text/html; charset=utf-8")]
        plain = [("Content-Type", "text/plain")]
        if path == "/robots.txt":
            return 200, plain, f"# {host}\nUser-agent: *\nDisallow: /hemmelig\n".encode(), "plain"
        if host in (BROWSER_HOST, "ramme.test"):
            return self.browser_answer(path)
        if host == "localhost":
            return 200, html, b"<!doctype html><title>Here</title><p>Found by its real name.\n", "plain"
        if path == "/":
            return 200, html, front_body(host, member), "plain"
        if path.startswith("/side/") and path[6:].isdigit() and int(path[6:]) < PAGES_EACH:
            number = int(path[6:])
            return 200, html, page_body(host, number), WAYS[number % len(WAYS)]
        if path == "/flyttet":
            return 301, html + [("Location", "/side/3")], b"<p>Moved.\n", "plain"
        if path == "/videre":
            return 302, html + [("Location", "http://to.test/side/1")], b"<p>Moved on.\n", "plain"
        if path == "/fast":
            return 200, html, b"<!doctype html><title>Fast</title><p>" + b"This never changes, and nothing says so. " * 50, "gzip"
        if path == "/merket":
            same = self.headers.get("If-None-Match") == '"v1"'
            body = b"" if same else b"<!doctype html><title>Merket</title><p>" + b"This never changes, and says so. " * 50
            return (304 if same else 200), html + [("ETag", '"v1"')], body, "plain"
        if path == "/klokke":
            return 200, html, b"<!doctype html><title>Klokke</title><p>Asked %d times.\n" % asked, "chunked"
        if path == "/tom":
            return 200, html, b"", "plain"
        if path == "/bilde.png":
            return 200, [("Content-Type", "image/png")], random.Random(host).randbytes(30_000), "plain"
        if path == "/stil.css":
            return 200, [("Content-Type", "text/css")], b"body { background: url(/bilde.png) }\n", "gzip"
        if path.startswith("/kopi/"):
            return 200, html, b"<p>The same under two addresses.\n" * 20, "plain"
        if path.startswith("/type/"):
            kind = ODD_TYPES[int(path[6:])]
            return 200, [("Content-Type", kind)] if kind is not None else [], f"type {kind!r}\n".encode(), "plain"
        if path.startswith("/status/"):
            status = int(path[8:])
            return status, plain, b"" if status == 204 else f"status {status}\n".encode(), "plain"
        if path.lower().startswith(("/odd/", "/lik/")):
            return 200, html, f"<p>{path}\n".encode(), "plain"
        return 404, html, b"<p>Not here.\n", "plain"

    def browser_answer(self, path):
        html = [("Content-Type", "text/html; charset=utf-8")]
        kind, _, rest = path[1:].partition("/")
        number = rest.split(".")[0].split("/")[0]
        if path == "/" or (kind == "p" and rest.isdigit() and int(rest) < BROWSER_PAGES):
            return 200, html, browser_page(int(rest or 0)), "gzip chunked"
        if kind == "inni":
            return 200, html, b"<p>inside<img src=http://sett.test/bilde/i%s.png>" % number.encode(), "chunked"
        if kind == "stil":
            return 200, [("Content-Type", "text/css")], f"body {{ background: url(/bilde/css{number}.png) }}".encode(), "gzip"
        if kind in ("bilde", "lat"):
            return 200, [("Content-Type", "image/png")], random.Random(path).randbytes(3000), "plain"
        if kind == "data":
            return 200, [("Content-Type", "application/json")], f'{{"link": "/laget/{number}"}}'.encode(), "deflate"
        if kind == "omvei":
            return 302, [("Location", f"/bilde/o{number}.png")], b"", "plain"
        if kind == "post":
            return 200, [("Content-Type", "text/plain")], b"took " + self.sent, "chunked"
        if kind == "laget":
            return 200, [("Content-Type", "text/plain")], path.encode(), "plain"
        return 404, html, b"<p>Not here.\n", "plain"

    def send(self, status, headers, body, way):
        coding = next((one for one in ("gzip", "deflate") if one in way), None)
        if coding:
            body = gzip.compress(body, 6, mtime=0) if coding == "gzip" else zlib.compress(body)
            headers = headers + [("Content-Encoding", coding)]
        self.send_response_only(status, self.responses.get(status, ("Odd",))[0])
        for name, value in headers:
            self.send_header(name, value)
        if "chunked" in way:
            self.send_header("Transfer-Encoding", "chunked")
            pieces = [body[at : at + 700] for at in range(0, len(body), 700)]
            body = b"".join(b"%x\r\n%s\r\n" % (len(piece), piece) for piece in pieces) + b"0\r\n\r\n"
        elif way == "until close":
            self.send_header("Connection", "close")
        elif status not in (204, 304):
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
