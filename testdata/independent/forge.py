#!/usr/bin/env python3
"""Changes what a session recorded and commits it again, as a program might that writes other facts: forge.py STORE
SESSION KIND N MEMBER=JSON... changes members (a.b.c) of event N, from 0 or counted from the end, of a kind; swap A B
instead exchanges two events by their indices; annotate NAME N adds a side log of N events. SESSION may be `audit` or
`idempotency`, of which `idempotency answer N` writes a log of N events. Digests, groups and derived
event ids hold afterwards."""
import json
import os
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import jcs                                          # noqa: E402
from blake3 import derive_id                        # noqa: E402
from log import EMPTY_HEAD, Log, Segment, write_group   # noqa: E402


def change(events, kind, n, members):
    event = [e for e in events if e["kind"] == kind][int(n)]
    for m in members:
        path, _, value = m.partition("=")
        at = event
        for name in path.split(".")[:-1]:
            at = at[name]
        at[path.split(".")[-1]] = json.loads(value)


def side(session, n):
    """`events` and `manifest` of a side log, one event in each segment."""
    events, manifest, head = [], [], dict(EMPTY_HEAD)
    for i in range(n):
        key = "note_added:%s:%d" % (session, i)
        events.append({"data": {"sessionId": session, "text": "Größe %d" % i}, "dedupeKey": key, "eventId": derive_id("evt", session, key),
                       "eventIndex": i, "kind": "note_added", "sessionId": session, "v": 1})
        again = Segment("%08d-%08d.jsonl" % (i, i), jcs.encode(events[-1]) + b"\n", "sessionId", session)
        group = write_group("sessionId", session, head, again, [], True)
        manifest.append(json.loads(group))
        head = {"digest": jcs.digest(group), "next": i + 1, "nextRecord": i + 1}
    return {"events": events, "manifest": manifest}


def answers(store_id, n):
    """A log of answers to idempotency keys, one event in each segment."""
    events, manifest, head = [], [], dict(EMPTY_HEAD)
    for i in range(n):
        key = "response_recorded:%s:%d" % (store_id, i)
        data = {"answer": {"annotationId": "ann_%d" % i, "note": "Größe"}, "atMs": 1767225600000 + i, "bodyDigest": jcs.digest(b"{}"),
                "keyDigest": jcs.digest(jcs.encode(["key-%d" % i, "POST /x"])), "ordinal": i, "route": "POST /x", "status": 201}
        events.append({"actor": {"kind": "engine"}, "data": data, "dedupeKey": key, "eventId": derive_id("evt", store_id, key),
                       "eventIndex": i, "kind": "response_recorded", "storeId": store_id, "timestampMs": data["atMs"], "v": 1})
        again = Segment("%08d-%08d.jsonl" % (i, i), jcs.encode(events[-1]) + b"\n", "storeId", store_id)
        group = write_group("storeId", store_id, head, again, [], True)
        manifest.append(json.loads(group))
        at = head.get("bytes", 0)
        head = {"digest": jcs.digest(group), "groupAt": at, "bytes": at + len(group), "next": i + 1, "nextRecord": i + 1}
    return {"events": events, "manifest": manifest}


def annotate(folder, log):
    write = {}
    os.makedirs(os.path.join(folder, "events"), 0o700)
    for i, e in enumerate(log["events"]):
        write["events/%08d-%08d.jsonl" % (i, i)] = jcs.encode(e) + b"\n"
    write["manifest.jsonl"] = b"".join(jcs.encode(r) + b"\n" for r in log["manifest"])
    for name, content in write.items():
        with open(os.path.join(folder, name), "wb") as f:
            f.write(content)


def main(store, session, what, *args):
    rel, owner_key = "sessions/" + session, "sessionId"
    if session in ("audit", "idempotency"):
        with open(os.path.join(store, "store.json"), "rb") as f:
            rel, owner_key, session = session, "storeId", json.load(f)["data"]["storeId"]
    if what == "answer":
        return annotate(os.path.join(store, rel), answers(session, int(args[0])))
    if what == "annotate":
        return annotate(os.path.join(store, rel, args[0]), side(session, int(args[1])))
    log = Log(store, rel, owner_key, session)
    events = [e.obj for e in log.events]
    if what == "swap":
        a, b = map(int, args)
        events[a], events[b] = events[b], events[a]
        events[a]["eventIndex"], events[b]["eventIndex"] = a, b
    else:
        change(events, what, args[0], args[1:])
    head, lines = dict(EMPTY_HEAD), b""
    for s in log.segments:
        data = b"".join(jcs.encode(e) + b"\n" for e in events[s.first:s.last + 1])
        with open(os.path.join(store, rel, "events", s.name), "wb") as f:
            f.write(data)
        again = Segment(s.name, data, owner_key, session)
        group = write_group(owner_key, session, head, again, again.pins(), True)
        lines += group
        head = {"digest": jcs.digest(group), "groupAt": len(lines) - len(group), "bytes": len(lines), "next": s.last + 1,
                "nextRecord": head["nextRecord"] + 1 + len(again.pins())}
    with open(os.path.join(store, rel, "manifest.jsonl"), "wb") as f:
        f.write(lines)


if __name__ == "__main__":
    main(*sys.argv[1:])
