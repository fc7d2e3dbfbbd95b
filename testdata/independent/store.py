"""A whole store: control files, objects, logs, and what else lies there (sections 2, 12 to 15, 18 to 20)."""
import base64
import binascii
import itertools
import os
import re
import stat

import documents
import jcs
import shapes
from log import SEGMENT_NAME, Log, segment_bounds
from refs import References

SEVERITY = dict.fromkeys(("manifest_damaged", "segment_missing", "segment_damaged", "lost_tail", "object_missing",
                          "object_damaged", "duplicate_dedupe_key", "broken_reference", "control_damaged",
                          "symlink", "unsupported"), "error")  # every other code is a warning
OBJECTS = {"snapshots": ".json", "artifacts": "", "workflows/pinned": ".json"}
CONTROL = {"store.json": "store", "keys/keyring.json": "keyring", "config.json": "config", "trust.json": "trust"}
SIZES = {"snapshots": 4194304, "artifacts": 67108864}
KNOWN = re.compile(r"|".join((
    r"\.use\.lock", r"(annotations|proposals|audit|installed|quarantine|trash|cache)(/.*)?", r"keys|sessions",
    r"snapshots|artifacts|workflows(/pinned)?", r"sessions/SESS(/(events|manifest\.jsonl|\.lock|\.performer\.lock))?",
    r"sessions/SESS/(suspect|keep)", r"sessions/SESS/(cache|annotations)(/.*)?", r"sessions/SESS/events/SEGMENT",
    r"(snapshots|workflows/pinned)/sha256_[0-9a-f]{64}\.json", r"artifacts/sha256_[0-9a-f]{64}",
    r"(.*/)?\.tmp-[^/]*")).replace("SESS", "sess_[a-z2-7]{26}").replace("SEGMENT", SEGMENT_NAME.pattern))
TRUSTED = ("actor", "atMs", "commands", "workflowHash", "workflowId")


def load_control(path, kind):
    """The `data` of a control file; raises ValueError where it is not what was written."""
    with open(path, "rb") as f:
        raw = f.read()
    if len(raw) > 1048576:
        raise ValueError("longer than a control file may be")
    doc = jcs.parse(raw)
    if jcs.encode(doc) != raw:
        raise ValueError("another spelling than JCS")
    shapes.record({"data": shapes.record({}) if doc == {} else shapes.anything, "kind": shapes.one_of(kind),
                   "sha256": shapes.SHA, "v": shapes.integer(1, 1)})(doc)
    if not isinstance(doc["data"], dict) or jcs.digest(jcs.encode(doc["data"])) != doc["sha256"]:
        raise ValueError("sha256 is not that of data")
    return doc["data"]


def key_bytes(text):
    """32 bytes of a keyring."""
    try:
        key = base64.b64decode(text, validate=True)
    except (TypeError, ValueError, binascii.Error):
        raise ValueError("a key is no base64")
    if len(key) != 32 or base64.b64encode(key).decode() != text:
        raise ValueError("a key is not 32 bytes in their one spelling")
    return key


def check_control(kind, data):
    """Members of `data` that the page knows; others are passed over."""
    def member(name, check, required=False):
        if name in data:
            check(data[name])
        elif required:
            raise shapes.Shape("member %s is missing" % name)
    if kind == "store":
        names = shapes.many(shapes.FULL)
        member("storeId", shapes.identifier("store"), True)
        member("createdAtMs", shapes.integer())
        member("features", shapes.anything, True)
        if not isinstance(data["features"], dict) or not {"compat", "incompat", "roCompat"} <= set(data["features"]):
            raise shapes.Shape("features lacks a list")
        for name in ("compat", "incompat", "roCompat"):
            names(data["features"][name])
    elif kind == "keyring":
        member("algorithm", shapes.one_of("HMAC-SHA256"), True)
        member("current", key_bytes, True)
        member("previous", key_bytes)
    elif kind == "config":
        member("agentMaxAutonomy", shapes.AUTONOMY)
        member("lockWaitMs", shapes.integer(0, 600000))
    else:
        member("trusted", shapes.many(shapes.anything, 0, 2000), True)
        for entry in data["trusted"]:
            shapes.record(dict.fromkeys(TRUSTED, shapes.anything))({n: entry[n] for n in TRUSTED if n in entry})
            shapes.ACTOR(entry["actor"]), shapes.SHA(entry["workflowHash"]), shapes.FULL(entry["workflowId"])
            shapes.integer()(entry["atMs"]), shapes.COUNT(entry["commands"])
        hashes, times = [[t[n] for t in data["trusted"]] for n in ("workflowHash", "atMs")]
        if len(set(hashes)) != len(hashes) or times != sorted(times):
            raise shapes.Shape("trusted names a hash twice, or is not oldest first")


class Store:
    """Verifies a store; afterwards `logs`, `findings` and `units` (what was looked at) tell the outcome."""

    def __init__(self, root):
        self.root, self.findings, self.units, self.logs = root, [], set(), []
        self.objects, self.used, self.derived, self.store_id = {}, set(), 0, None
        self.requests = [0, 0]  # requestDigests that were made again, and all
        self.own = os.path.lexists(os.path.join(root, "store.json"))
        if not self.own and not os.path.isdir(os.path.join(root, "sessions")):
            raise ValueError("no store: neither store.json nor a folder sessions")
        self._walk()
        self._controls()
        for folder in OBJECTS:
            self._objects(folder)
        self._logs()
        for rel in sorted(set(self.objects) - self.used):
            if self.objects[rel] is not False:
                self.find("orphan_object", rel, "nothing refers to it")

    def find(self, code, path, message, at=None, index=None):
        self.findings.append({"code": code, "path": path, "message": message, "at": at, "eventIndex": index})

    def _walk(self):
        for folder, dirs, files in os.walk(self.root):
            for name in sorted(dirs) + sorted(files):
                path = os.path.join(folder, name)
                rel, mode = os.path.relpath(path, self.root).replace(os.sep, "/"), os.lstat(path).st_mode
                known = rel in CONTROL or KNOWN.fullmatch(rel) and (
                    not SEGMENT_NAME.fullmatch(name) or segment_bounds(name))
                if stat.S_ISLNK(mode):
                    self.find("symlink" if known else "unknown_file", rel, "symbolic links are refused")
                elif os.name == "posix" and mode & 0o077:
                    ring = rel == "keys/keyring.json"
                    self.find("control_damaged" if ring else "permissions", rel, "others can open it")
                if not known and not stat.S_ISLNK(mode):
                    self.find("unknown_file", rel, "no section of the page names it")
                if name == "suspect":
                    self.find("suspect", rel, "a failed sync left its mark")

    def _controls(self):
        for rel, kind in CONTROL.items():
            path = os.path.join(self.root, rel)
            if not os.path.isfile(path) or os.path.islink(path):
                continue
            self.units.add(rel)
            try:
                data = load_control(path, kind)
                check_control(kind, data)
            except (ValueError, AttributeError, TypeError) as e:
                self.find("control_damaged", rel, str(e))
                continue
            if kind == "store":
                self.store_id = data["storeId"]
                if data["features"]["incompat"]:
                    self.find("unsupported", rel, "it needs features that are not known")

    def _objects(self, folder):
        base = os.path.join(self.root, folder)
        for name in sorted(os.listdir(base)) if os.path.isdir(base) else []:
            rel, path = folder + "/" + name, os.path.join(base, name)
            m = re.fullmatch("sha256_([0-9a-f]{64})" + re.escape(OBJECTS[folder]), name)
            if not m or os.path.islink(path) or not os.path.isfile(path):
                continue
            self.units.add(rel)
            with open(path, "rb") as f:
                data = f.read()
            self.objects[rel] = False
            if jcs.digest(data) != "sha256:" + m.group(1):
                self.find("object_damaged", rel, "its digest is not its name")
            elif folder == "artifacts":
                self.objects[rel] = data
                if not 1 <= len(data) <= SIZES[folder]:
                    self.find("object_damaged", rel, "an artifact of %d bytes" % len(data))
            else:
                self._document(folder, rel, data)

    def _document(self, folder, rel, data):
        """A snapshot or workflow whose digest holds. A snapshot of another form is of an unknown version."""
        self.objects[rel] = None
        try:
            doc = jcs.parse(data)
            if jcs.encode(doc) != data or len(data) > SIZES.get(folder, len(data)):
                raise shapes.Shape("another spelling than JCS, or too long")
            (documents.check_snapshot if folder == "snapshots" else documents.check_workflow)(doc)
            self.objects[rel] = doc
        except ValueError as e:
            self.find("unknown_version" if folder == "snapshots" else "object_damaged", rel, str(e))

    def _logs(self):
        base, found = os.path.join(self.root, "sessions"), []
        for name in sorted(os.listdir(base)) if os.path.isdir(base) else []:
            try:
                shapes.SESS(name)
            except shapes.Shape:
                continue
            found.append(("sessions/" + name, "sessionId", name))
            found.append(("sessions/%s/annotations" % name, "sessionId", name))
        found += [(side, "storeId", self.store_id) for side in ("proposals", "audit")]
        for rel, owner_key, owner in found:
            path = os.path.join(self.root, rel)
            if os.path.islink(path) or not os.path.isdir(path):
                continue
            self.units.add(rel)
            log = Log(self.root, rel, owner_key, owner, not self.own)
            self.derived += References(log).checked
            self._references(log)
            for segment in log.segments:
                self._request(segment)
            self.logs.append(log)
            self.findings += log.findings

    def _refer(self, log, event, folder, digest):
        """The object that an event names, or None where there is none to look into."""
        if not shapes.is_digest(digest):
            return None
        rel = folder + "/" + digest.replace(":", "_") + OBJECTS[folder]
        self.used.add(rel)
        if rel not in self.objects:
            log.find("object_missing", rel, "%s names it" % event.kind, None, event.index)
        return self.objects.get(rel) or None

    def _references(self, log):
        runs, pending = {}, {}
        for e in log.events:
            run, node = e.text("scope", "runId"), e.text("scope", "nodeId")
            if e.kind == "run_started":
                runs[run] = self._refer(log, e, "workflows/pinned", e.get("data", "workflowHash"))
            elif e.kind == "node_created":
                snapshot = self._refer(log, e, "snapshots", e.get("data", "snapshotRef"))
                pending[node] = documents.pending_step(snapshot) if snapshot else None
            elif e.kind == "node_output_appended" and e.get("data", "payload", "sha256"):
                data = self._refer(log, e, "artifacts", e.get("data", "payload", "sha256"))
                if data:
                    steps = (runs.get(run) or {}).get("steps", ())
                    step = next((s for s in steps if s["stepId"] == pending.get(node)), {})
                    self._artifact(log, e, data, step)

    def _request(self, segment):
        """Makes a requestDigest again (section 8). That cannot be done where notes were cut or a digest is absent."""
        want, request, artifacts = segment.events[0].text("data", "requestDigest"), {}, []
        if want is None:
            return
        for e in segment.events:
            data = e.get("data")
            if e.foreign:
                continue
            if e.kind == "context_set":
                request["context"] = data["context"]
            elif e.kind == "preferences_changed":
                request["preferences"] = {d["key"]: d["value"] for d in data["delta"]}
            elif e.kind == "node_output_appended" and data["outputChannel"] == "recap":
                request["notesMarkdown"] = data["payload"]["notesMarkdown"]
            elif e.kind == "node_output_appended":
                digest, content = data["payload"]["sha256"], data["payload"]["contentType"]
                raw = self.objects.get("artifacts/" + digest.replace(":", "_")) or b"null"
                try:
                    value = jcs.parse(raw) if content == "application/json" else None
                except jcs.Refused:
                    return
                artifacts.append({"contentType": content, "sha256": digest} if value is None else value)
        self.requests[1] += 1
        for order in itertools.islice(itertools.permutations(artifacts), 720):
            sent = dict(request, artifacts=list(order)) if order else request
            if jcs.digest(jcs.encode(sent)) == want:
                self.requests[0] += 1
                break

    def _artifact(self, log, e, data, step):
        """What the event says of the bytes: length, spelling, kind; and a command's result."""
        def bad(code, message):
            log.find(code, "%s/events/%s" % (log.rel, e.segment), message, None, e.index)
        payload = e.obj["data"]["payload"]
        if isinstance(payload.get("byteLength"), int) and payload["byteLength"] != len(data):
            bad("broken_reference", "byteLength is not the artifact's")
        if payload.get("contentType") != "application/json":
            return
        try:
            doc = jcs.parse(data)
        except jcs.Refused as error:
            return bad("broken_reference", "an artifact of JSON is none: %s" % error)
        if jcs.encode(doc) != data:
            bad("broken_reference", "an artifact of JSON has another spelling than JCS")
        kind = doc.get("kind") if isinstance(doc, dict) else None
        if payload.get("artifactKind") not in (None, kind):
            bad("artifact_form", "artifactKind is not the artifact's kind")
        if kind == "wr.command_result":
            try:
                documents.COMMAND_RESULT(doc)
            except shapes.Shape as error:
                return bad("unknown_version", "a command result of another form: %s" % error)
            argv = step.get("action", {}).get("argv")
            if argv and doc["argvDigest"] != jcs.digest(jcs.encode(argv)):
                bad("artifact_form", "argvDigest is not that of the action's argv")
            head = doc["outputHead"].encode("utf-8")
            if doc["outputTail"] == "" and len(head) == doc["outputBytes"] and jcs.digest(head) != doc["outputDigest"]:
                bad("artifact_form", "outputDigest is not that of the output")
