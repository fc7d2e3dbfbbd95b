#!/usr/bin/env python3
"""Bundles that are changed in one way: mutants.py BUNDLE FOLDER writes them and prints a line for each: its name, and the
code that section 23 has for it, or `refused` for any. `sealed` ones have an integrity that was made again."""
import json
import os
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from bundle import entry, parts          # noqa: E402
from forge import side                   # noqa: E402
import jcs                               # noqa: E402

VERSION, FORM, BROKEN = "BUNDLE_UNSUPPORTED_VERSION", "BUNDLE_INVALID_FORMAT", "BUNDLE_INTEGRITY_FAILED"
EVENTS, RECORDS = "BUNDLE_EVENT_ORDER_INVALID", "BUNDLE_MANIFEST_ORDER_INVALID"
SNAPSHOT, WORKFLOW = "BUNDLE_MISSING_SNAPSHOT", "BUNDLE_MISSING_PINNED_WORKFLOW"
OTHER = "sha256:" + "ab" * 32


def first(d):
    return sorted(d)[0]


def swap(items, a, b):
    items[a], items[b] = items[b], items[a]


def rename(d, old, new):
    d[new] = d.pop(old)


def put(d, name, value):
    d[name] = value


def logs(d, **sizes):
    d["session"]["logs"] = {name: side(d["session"]["sessionId"], n) for name, n in sizes.items()}
    return d["session"]["logs"]


def erase(d, digest):
    at = first(d["session"]["artifacts"])
    d["session"]["artifacts"][at] = {"erased": {"actor": {"kind": "human"}, "atMs": 1, "bytes": 3, "reason": "A secret.",
                                                "sha256": digest or at}}


SEALED = (  # name, code, change of the document; integrity is made again
    ("sealed-nothing", "ok", lambda d: None),
    ("sealed-producer-more", "ok", lambda d: d["producer"].update(other=[1])),
    ("sealed-time", "ok", lambda d: put(d, "exportedAt", "2000-01-01T00:00:00.000Z")),
    ("sealed-event-text", BROKEN, lambda d: d["session"]["events"][1]["data"].update(title="Another")),
    ("sealed-event-gone", EVENTS, lambda d: d["session"]["events"].pop(3)),
    ("sealed-events-swapped", EVENTS, lambda d: swap(d["session"]["events"], 3, 4)),
    ("sealed-event-twice", EVENTS, lambda d: d["session"]["events"].append(d["session"]["events"][-1])),
    ("sealed-last-event-gone", RECORDS, lambda d: d["session"]["events"].pop()),
    ("sealed-record-gone", RECORDS, lambda d: d["session"]["manifest"].pop(1)),
    ("sealed-records-swapped", RECORDS, lambda d: swap(d["session"]["manifest"], 0, 1)),
    ("sealed-last-record-gone", BROKEN, lambda d: d["session"]["manifest"].pop()),
    ("sealed-record-digest", BROKEN, lambda d: d["session"]["manifest"][0].update(sha256=OTHER)),
    ("sealed-record-prev", BROKEN, lambda d: d["session"]["manifest"][-2].update(prev=OTHER)),
    ("sealed-snapshot-gone", SNAPSHOT, lambda d: d["session"]["snapshots"].pop(first(d["session"]["snapshots"]))),
    ("sealed-workflow-gone", WORKFLOW, lambda d: d["session"]["pinnedWorkflows"].clear()),
    ("sealed-artifact-gone", BROKEN, lambda d: d["session"]["artifacts"].pop(first(d["session"]["artifacts"]))),
    ("sealed-snapshot-other", BROKEN, lambda d: put(d["session"]["snapshots"], first(d["session"]["snapshots"]), {"v": 2})),
    ("sealed-workflow-other", BROKEN, lambda d: d["session"]["pinnedWorkflows"][first(d["session"]["pinnedWorkflows"])].update(name="x")),
    ("sealed-artifact-other", BROKEN, lambda d: put(d["session"]["artifacts"], first(d["session"]["artifacts"]), "eHg=")),
    ("sealed-snapshots-exchanged", BROKEN, lambda d: (lambda s, k: s.update({k[0]: s[k[1]], k[1]: s[k[0]]}))(
        d["session"]["snapshots"], sorted(d["session"]["snapshots"]))),
    ("sealed-no-events", FORM, lambda d: d["session"].update(events=[], manifest=[])),
    ("sealed-erased", "ok", lambda d: erase(d, None)),
    ("sealed-erased-another", FORM, lambda d: erase(d, OTHER)),
    ("sealed-side-log", "ok", lambda d: logs(d, annotations=2)),
    ("sealed-side-log-unknown", "ok", lambda d: logs(d, other_9=1)),
    ("sealed-side-logs-64", "ok", lambda d: logs(d, **{"l%d" % i: 1 for i in range(64)})),
    ("sealed-side-logs-65", FORM, lambda d: logs(d, **{"l%d" % i: 1 for i in range(65)})),
    ("sealed-side-log-name", FORM, lambda d: logs(d, Other=1)),
    ("sealed-side-log-events", FORM, lambda d: logs(d, events=1)),
    ("sealed-side-log-event-gone", EVENTS, lambda d: logs(d, annotations=2)["annotations"]["events"].pop(0)),
    ("sealed-side-log-record-gone", RECORDS, lambda d: logs(d, annotations=2)["annotations"]["manifest"].pop(0)),
    ("sealed-side-log-text", BROKEN, lambda d: logs(d, annotations=2)["annotations"]["events"][1]["data"].update(text="x")),
    ("sealed-side-log-prev", BROKEN, lambda d: logs(d, annotations=2)["annotations"]["manifest"][1].update(prev=OTHER)),
    ("sealed-side-log-of-another", EVENTS, lambda d: put(d["session"], "logs", {"annotations": side("sess_" + "a" * 26, 1)})),
    ("sealed-other-session", EVENTS, lambda d: put(d["session"], "sessionId", "sess_" + "a" * 26)),
)
FORMS = (  # name, code, change; no integrity is made again
    ("version-2", VERSION, lambda d: put(d, "bundleSchemaVersion", 2)),
    ("version-0", VERSION, lambda d: put(d, "bundleSchemaVersion", 0)),
    ("version-text", FORM, lambda d: put(d, "bundleSchemaVersion", "1")),
    ("version-gone", FORM, lambda d: d.pop("bundleSchemaVersion")),
    ("integrity-kind", VERSION, lambda d: put(d["integrity"], "kind", "sha512_manifest_v1")),
    ("integrity-gone", FORM, lambda d: d.pop("integrity")),
    ("version-2-and-no-session", VERSION, lambda d: (put(d, "bundleSchemaVersion", 2), d.pop("session"))),
    ("integrity-kind-and-more", VERSION, lambda d: (put(d["integrity"], "kind", "none"), put(d, "more", 1))),
    ("member-more", FORM, lambda d: put(d, "more", 1)),
    ("member-of-session-more", FORM, lambda d: put(d["session"], "more", 1)),
    ("member-of-integrity-more", FORM, lambda d: put(d["integrity"], "more", 1)),
    ("member-of-entry-more", FORM, lambda d: put(d["integrity"]["entries"][0], "more", 1)),
    ("events-gone", FORM, lambda d: d["session"].pop("events")),
    ("events-an-object", FORM, lambda d: put(d["session"], "events", {})),
    ("snapshots-gone", FORM, lambda d: d["session"].pop("snapshots")),
    ("bundle-id-empty", FORM, lambda d: put(d, "bundleId", "")),
    ("exported-at-a-number", FORM, lambda d: put(d, "exportedAt", 1)),
    ("producer-of-no-version", FORM, lambda d: put(d, "producer", {})),
    ("salvage-of-nothing", FORM, lambda d: put(d, "salvage", {})),
    ("redacted-of-nothing", FORM, lambda d: put(d, "redacted", {})),
    ("bundle-id-gone", FORM, lambda d: d.pop("bundleId")),
    ("session-id-short", FORM, lambda d: put(d["session"], "sessionId", "sess_a")),
    ("snapshot-by-no-digest", FORM, lambda d: rename(d["session"]["snapshots"], first(d["session"]["snapshots"]), "sha256:ab")),
    ("base64-spelling", FORM, lambda d: put(d["session"]["artifacts"], first(d["session"]["artifacts"]), "eHh=")),
    ("base64-url", FORM, lambda d: put(d["session"]["artifacts"], first(d["session"]["artifacts"]), "_-8=")),
    ("base64-no-padding", FORM, lambda d: put(d["session"]["artifacts"], first(d["session"]["artifacts"]), "eHg")),
    ("base64-newline", FORM, lambda d: put(d["session"]["artifacts"], first(d["session"]["artifacts"]), "eH\ng=")),
    ("artifact-a-number", FORM, lambda d: put(d["session"]["artifacts"], first(d["session"]["artifacts"]), 1)),
    ("entry-gone", BROKEN, lambda d: d["integrity"]["entries"].pop()),
    ("entry-more", BROKEN, lambda d: d["integrity"]["entries"].append(entry("session/snapshots/" + OTHER, {}))),
    ("entry-bytes", BROKEN, lambda d: put(d["integrity"]["entries"][0], "bytes", 1)),
    ("entry-digest", BROKEN, lambda d: put(d["integrity"]["entries"][1], "sha256", OTHER)),
    ("entries-exchange-paths", BROKEN, lambda d: (lambda e: e[0].update(path=e[1]["path"]) or e[1].update(path="session/events"))(
        d["integrity"]["entries"])),
    ("entries-another-order", "ok", lambda d: d["integrity"]["entries"].reverse()),
    ("event-text", BROKEN, lambda d: d["session"]["events"][1]["data"].update(title="Another")),
    ("event-gone", BROKEN, lambda d: d["session"]["events"].pop(3)),
    ("artifact-gone", BROKEN, lambda d: d["session"]["artifacts"].pop(first(d["session"]["artifacts"]))),
    ("events-swapped", BROKEN, lambda d: swap(d["session"]["events"], 3, 4)),
)
TEXTS = (  # name, code, old text, new text
    ("text-name-twice", FORM, b'"producer":{', b'"bundleSchemaVersion":1,"producer":{'),
    ("text-name-in-another-case", FORM, b'"producer":{', b'"Producer":{},"producer":{'),
    ("text-name-twice-in-an-event", FORM, b'"eventIndex":0,', b'"eventIndex":0,"eventIndex":0,'),
    ("text-name-that-folds", FORM, b'"producer":{', '"produ\\u0063er":{},"producer":{'.encode()),
    ("text-number", FORM, b'"bytes":', b'"bytes":9007199254740993,"byte":'),
    ("text-spelling", "ok", b'"producer":{', b' "producer" :\n{'),
    ("text-escape", "ok", b'"kind":"session_created"', b'"k\\u0069nd":"session\\u005fcreated"'),
    ("text-version-as-1.0", "ok", b'"bundleSchemaVersion":1,', b'"bundleSchemaVersion":1.0,'),
    ("text-surrogate", FORM, b'"appVersion":"', b'"appVersion":"\\ud800'),
)


def main(path, folder):
    with open(path, "rb") as f:
        data = f.read()
    want = []

    def write(name, code, content):
        with open(os.path.join(folder, name + ".json"), "wb") as f:
            f.write(content)
        want.append((name, code))
    for name, code, change in SEALED + FORMS:
        doc = json.loads(data)
        change(doc)
        if name.startswith("sealed"):
            doc["integrity"]["entries"] = [entry(p, v) for p, v in parts(doc["session"]).items()]
        write(name, code, jcs.encode(doc) + b"\n")
    for name, code, old, new in TEXTS:
        if old not in data:
            raise SystemExit("%s: the text does not exist" % name)
        write(name, code, data.replace(old, new, 1))
    write("behind", FORM, data + b"{}")
    write("mark", FORM, b"\xef\xbb\xbf" + data)
    write("cut", FORM, data[:-3])
    write("empty", FORM, b"")
    write("list", FORM, b"[]\n")
    write("no-newline", "ok", data[:-1])
    start = data.index(b'"session":') + 1
    for i in range(40):
        at = start + i * (len(data) - 2 - start) // 39
        write("flip-%d" % at, "refused", data[:at] + bytes([data[at] ^ 1]) + data[at + 1:])
    for name, code in want:
        print(name + ".json", code)


if __name__ == "__main__":
    main(*sys.argv[1:])
