#!/usr/bin/env python3
"""Verifies bundles by section 23 of the format: bundle.py FILE... [--against STORE] [--renewed STORE]. For each file a
line: its name and `ok`, or a code and what is wrong. --against: the store has the session, and every file that the
bundle stands for has the same bytes there. --renewed: the store has it as an import under new ids, every line of it as
sections 5 and 23 derive it. Exit status: 0 all hold, 5 one does not, 2 usage."""
import argparse
import base64
import binascii
import os
import re
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import jcs                                                                              # noqa: E402
from checks import Shape, anything, holds, integer, is_digest, many, matching, passing, record, text  # noqa: E402
from control import ERASED, load_control                                                # noqa: E402
from files import Ended, read_file                                                      # noqa: E402
from log import Log                                                                     # noqa: E402
from objects import Objects, erased_path, object_path                                   # noqa: E402
from refs import References                                                             # noqa: E402
from renew import renewed                                                               # noqa: E402
from runs import Runs                                                                   # noqa: E402
from shapes import COUNT, SESS, SHA                                      # noqa: E402
from sides import SIDE_NAME, TAKEN, side_log                                                   # noqa: E402

BYTES_MAX, LOGS_MAX = 1073741824, 64
ERRORS = {"duplicate_dedupe_key", "broken_reference", "object_missing", "object_damaged", "lost_tail", "segment_damaged",
          "segment_missing", "manifest_damaged", "event_id"}


class Bad(Exception):
    """What is wrong with a bundle: a code of section 23, and why."""


def keyed_by(key, check):
    def checked(v):
        if not isinstance(v, dict):
            raise Shape("no object")
        for name, value in v.items():
            key(name)
            check(value)
    return checked


def _artifact(v):
    """Its bytes in base64, or the data of a tombstone."""
    if isinstance(v, dict):
        return record({"erased": ERASED})(v)
    text()(v)
    try:
        if base64.b64encode(base64.b64decode(v, validate=True)).decode() != v:
            raise Shape("base64 in another spelling")
    except (ValueError, binascii.Error):
        raise Shape("no base64")


def _side_name(v):
    matching(SIDE_NAME, "name of a side log")(v)
    if v in TAKEN:
        raise Shape("%s is the name of something else" % v)


OBJECT = keyed_by(text(), anything)
LOG = {"events": many(OBJECT), "manifest": many(OBJECT)}
SESSION = record(dict(LOG, sessionId=SESS, snapshots=keyed_by(SHA, OBJECT), pinnedWorkflows=keyed_by(SHA, OBJECT)),
                 {"artifacts": keyed_by(SHA, _artifact),
                  "logs": keyed_by(_side_name, record(LOG))})
BUNDLE = record({
    "bundleId": text(1, 256), "bundleSchemaVersion": integer(1, 1), "exportedAt": text(), "session": SESSION,
    "producer": passing(record({"appVersion": text()})),
    "integrity": record({"kind": text(), "entries": many(record({"path": text(1), "sha256": SHA, "bytes": integer(0)}))})},
    {"salvage": record({"health": text(1), "findings": many(OBJECT)}),
     "redacted": record({"rules": keyed_by(text(1), integer(1))})})


def parts(session):
    """path -> value, of all that has an entry in `integrity`, in the order of the page."""
    out = {"session/events": session["events"], "session/manifest": session["manifest"]}
    for name in ("snapshots", "pinnedWorkflows", "artifacts"):
        for digest in sorted(session.get(name, {})):
            out["session/%s/%s" % (name, digest)] = session[name][digest]
    for name in sorted(session.get("logs", {})):
        for member in ("events", "manifest"):
            out["session/logs/%s/%s" % (name, member)] = session["logs"][name][member]
    return out


def entry(path, value):
    data = jcs.encode(value)
    return {"path": path, "sha256": jcs.digest(data), "bytes": len(data)}


def _order(log, session):
    for e in log["events"]:
        if e.get("sessionId") != session:
            raise Bad("BUNDLE_EVENT_ORDER_INVALID", "an event of another log")
    for code, values, member in (("BUNDLE_EVENT_ORDER_INVALID", log["events"], "eventIndex"),
                                 ("BUNDLE_MANIFEST_ORDER_INVALID", log["manifest"], "manifestIndex")):
        for i, value in enumerate(values):
            if isinstance(value.get(member), bool) or value.get(member) != i:
                raise Bad(code, "%s %r is at %d" % (member, value.get(member), i))
    closed = [r for r in log["manifest"] if r.get("kind") == "segment_closed"]
    bounds = [(r.get("firstEventIndex"), r.get("lastEventIndex")) for r in closed]
    if not all(holds(COUNT, n) for b in bounds for n in b):
        raise Bad("BUNDLE_MANIFEST_ORDER_INVALID", "a record without bounds")
    if [a for a, _ in bounds] != ([0] + [b + 1 for _, b in bounds])[:len(bounds)] or bounds and bounds[-1][1] + 1 != len(log["events"]):
        raise Bad("BUNDLE_MANIFEST_ORDER_INVALID", "the records do not cover the events")


def _files(log):
    """name -> bytes of the files of a log."""
    out = {"manifest.jsonl": b"".join(jcs.encode(r) + b"\n" for r in log["manifest"])}
    for r in log["manifest"]:
        if r.get("kind") != "segment_closed":
            continue
        first, last = r["firstEventIndex"], r["lastEventIndex"]
        out["events/%08d-%08d.jsonl" % (first, last)] = b"".join(jcs.encode(e) + b"\n" for e in log["events"][first:last + 1])
    return out


class Bundle:
    """A bundle that holds; raises Bad. `files` are those that it stands for, by their path in a store."""

    def __init__(self, data):
        if len(data) > BYTES_MAX:
            raise Bad("BUNDLE_INVALID_FORMAT", "longer than a bundle may be")
        try:
            doc = jcs.parse(data)
        except jcs.Refused as e:
            raise Bad("BUNDLE_INVALID_FORMAT", str(e))
        self._version(doc)
        try:
            BUNDLE(doc)
        except Shape as e:
            raise Bad("BUNDLE_INVALID_FORMAT", str(e))
        self.doc, self.session = doc, doc["session"]
        if not self.session["events"] or len(self.session.get("logs", {})) > LOGS_MAX:
            raise Bad("BUNDLE_INVALID_FORMAT", "no events, or too many side logs")
        self._integrity()
        _order(self.session, self.session["sessionId"])
        for log in self.session.get("logs", {}).values():
            _order(log, self.session["sessionId"])
        self._missing()
        self.rel = "sessions/" + self.session["sessionId"]
        self.files = {self.rel + "/" + n: d for n, d in _files(self.session).items()}
        for name, log in self.session.get("logs", {}).items():
            self.files.update({"%s/%s/%s" % (self.rel, name, n): d for n, d in _files(log).items()})
        for member, folder in (("snapshots", "snapshots"), ("pinnedWorkflows", "workflows/pinned")):
            self.files.update({object_path(folder, d): jcs.encode(v) for d, v in self.session[member].items()})
        self.erased = {}
        for digest, v in self.session.get("artifacts", {}).items():
            if isinstance(v, str):
                self.files[object_path("artifacts", digest)] = base64.b64decode(v)
            else:
                self.erased[digest] = v["erased"]
                if v["erased"].get("sha256", digest) != digest:
                    raise Bad("BUNDLE_INVALID_FORMAT", "a tombstone of another artifact")
        for rel, content in self.files.items():
            if not rel.startswith("sessions/") and "sha256_" + jcs.digest(content)[7:] != rel.split("/")[-1].split(".")[0]:
                raise Bad("BUNDLE_INTEGRITY_FAILED", "%s has another digest" % rel)
        self._verify()

    @staticmethod
    def _version(doc):
        if not isinstance(doc, dict):
            raise Bad("BUNDLE_INVALID_FORMAT", "no object")
        version, integrity = doc.get("bundleSchemaVersion"), doc.get("integrity")
        kind = integrity.get("kind") if isinstance(integrity, dict) else None
        if holds(integer(), version) and version != 1 or isinstance(kind, str) and kind != "sha256_manifest_v1":
            raise Bad("BUNDLE_UNSUPPORTED_VERSION", "version %r, integrity %r" % (version, kind))

    def _integrity(self):
        want = {path: entry(path, value) for path, value in parts(self.session).items()}
        have = self.doc["integrity"]["entries"]
        if len({e["path"] for e in have}) != len(have):
            raise Bad("BUNDLE_INTEGRITY_FAILED", "a path occurs twice")
        if {e["path"]: e for e in have} != want:
            wrong = [p for p in set(want) | {e["path"] for e in have} if want.get(p) not in have]
            raise Bad("BUNDLE_INTEGRITY_FAILED", "not those of the values: %s" % sorted(wrong)[:3])

    def _missing(self):
        """What pins and events name and the bundle has not; without `artifacts` it need not have any."""
        s = self.session
        named = {"snapshots": [], "pinnedWorkflows": [], "artifacts": []}
        for e in s["events"]:
            data = e.get("data") if isinstance(e.get("data"), dict) else {}
            payload = data.get("payload") if isinstance(data.get("payload"), dict) else {}
            for name, kind, ref in (("snapshots", "node_created", data.get("snapshotRef")),
                                    ("pinnedWorkflows", "run_started", data.get("workflowHash")),
                                    ("artifacts", "node_output_appended", payload.get("sha256"))):
                if e.get("kind") == kind and is_digest(ref):
                    named[name].append(ref)
        named["snapshots"] += [r["snapshotRef"] for r in s["manifest"] if is_digest(r.get("snapshotRef"))]
        for name, code in (("snapshots", "BUNDLE_MISSING_SNAPSHOT"), ("pinnedWorkflows", "BUNDLE_MISSING_PINNED_WORKFLOW"),
                           ("artifacts", "BUNDLE_INTEGRITY_FAILED")):
            lost = [d for d in named[name] if d not in s.get(name, {})]
            if lost and name in s:
                raise Bad(code, lost[0])

    def _verify(self):
        """The log of the files, and what section 17 says of it."""
        with tempfile.TemporaryDirectory() as root:
            self.write(root)
            found = []
            log = Log(root, self.rel, "sessionId", self.session["sessionId"])
            objects = Objects(root, lambda *finding: found.append(finding[0]))
            References(log)
            objects.check(log)
            Runs(log, objects)
            self.logs = [log] + [side_log(root, self.rel + "/" + name, "sessionId", log.owner)
                                 for name in self.session.get("logs", {})]
            self.findings = [f for log in self.logs for f in log.findings]
        for log, values in zip(self.logs, [self.session] + list(self.session.get("logs", {}).values())):
            if log.health not in ("healthy", "unknown_version") or len(log.events) != len(values["events"]):
                raise Bad("BUNDLE_INTEGRITY_FAILED", "%s is %s with %d events" % (log.rel, log.health, len(log.events)))
        bare = "artifacts" not in self.session
        for f in self.findings:
            if f["code"] == "uncommitted_tail" or f["code"] in ERRORS and not (
                    bare and f["code"] == "object_missing" and f["path"].startswith("artifacts/")):
                raise Bad("BUNDLE_INTEGRITY_FAILED", "%s %s: %s" % (f["code"], f["path"], f["message"]))

    def write(self, root):
        for folder in ("snapshots", "artifacts", "workflows/pinned"):
            os.makedirs(os.path.join(root, folder), exist_ok=True)
        for digest, data in self.erased.items():
            self.files[erased_path(digest)] = jcs.encode(
                {"data": data, "kind": "erased", "sha256": jcs.digest(jcs.encode(data)), "v": 1})
        for rel, content in self.files.items():
            os.makedirs(os.path.dirname(os.path.join(root, rel)), exist_ok=True)
            with open(os.path.join(root, rel), "wb") as f:
                f.write(content)

    def warnings(self):
        return sorted({f["code"] for f in self.findings})


def differs(files, store, folder):
    """The paths whose bytes a store has not, and those of the session's log that it has beside them."""
    wrong = [rel for rel, content in sorted(files.items()) if read_file(os.path.join(store, rel)) != content]
    segments = {n for n in os.listdir(os.path.join(store, folder, "events")) if not n.startswith(".tmp-")}
    return wrong + sorted(n for n in segments if folder + "/events/" + n not in files)


def main(argv):
    parser = argparse.ArgumentParser(description="Verify bundles by the format page alone.")
    parser.add_argument("files", metavar="FILE", nargs="+")
    parser.add_argument("--against", metavar="STORE")
    parser.add_argument("--renewed", metavar="STORE")
    args = parser.parse_args(argv)
    failed = 0
    for path in args.files:
        try:
            with open(path, "rb") as f:
                bundle = Bundle(f.read())
            if args.against:
                wrong = differs(bundle.files, args.against, bundle.rel)
                if wrong:
                    raise Bad("differs", " ".join(wrong))
            if args.renewed:
                store_id = load_control(os.path.join(args.renewed, "store.json"), "store")[1]["storeId"]
                session, files = renewed(bundle.logs, store_id)
                wrong = differs(files, args.renewed, "sessions/" + session)
                if wrong:
                    raise Bad("differs", " ".join(wrong))
            notes = [w for w in bundle.warnings() if w not in ("artifact_erased", "object_missing")]
            print(os.path.basename(path), " ".join(["ok"] + notes))
        except Bad as e:
            failed += 1
            print(os.path.basename(path), *e.args)
        except (OSError, Ended) as e:
            print("bundle.py: %s" % e, file=sys.stderr)
            return 2
    return 5 if failed else 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
