#!/usr/bin/env python3
"""Writes surt.jsonl: URLs, one JSON array a line, with the keys that cdxj-indexer gives them.

    pip install surt==0.3.1
    python3 make-surt.py < urls.json > surt.jsonl      # urls.json: a JSON array of strings

The key is what surt.surt() returns, or the URL where that raises an exception.
"""
import json
import sys

import surt


def key(url):
    try:
        return surt.surt(url)
    except Exception:
        return url


for url in json.load(sys.stdin):
    print(json.dumps([url, key(url)]))
