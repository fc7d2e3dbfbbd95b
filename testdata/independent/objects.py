"""Objects and what events say of them: snapshots, artifacts and pinned workflows (sections 12 to 14, 17)."""
import itertools
import os
import re

import jcs
from refs import OBSERVED
from documents import Problem, check_snapshot, check_workflow, pending_step, sequences
from files import is_file, list_folder, mode_of, read_file

FOLDERS = {"snapshots": ".json", "artifacts": "", "workflows/pinned": ".json"}
ARTIFACT_MAX = 67108864


def object_path(folder, digest):
    return folder + "/" + digest.replace(":", "_") + FOLDERS[folder]


def erased_path(digest):
    """The path of the tombstone of an erased artifact."""
    return object_path("artifacts", digest) + ".erased"


class Objects:
    """The three folders of a store. `there` are its objects; `find` reports what is wrong for every reference."""

    def __init__(self, root, find):
        self.root, self.there, self.used, self.seen = root, set(), set(), {}
        list_folder(os.path.join(root, "workflows"))
        for folder, suffix in FOLDERS.items():
            for name in list_folder(os.path.join(root, folder)):
                rel = folder + "/" + name
                m = re.fullmatch("sha256_([0-9a-f]{64})" + re.escape(suffix), name)
                if not m or not is_file(os.path.join(root, rel)):
                    continue
                self.there.add(rel)
                if self.look(folder, "sha256:" + m.group(1))[1] == "its digest is not its name":
                    find("object_damaged", rel, "its digest is not its name")

    def orphans(self):
        return sorted(self.there - self.used)

    def look(self, folder, digest):
        """(code, message, value) of an object: a finding, or None and its document or bytes."""
        rel = object_path(folder, digest)
        if rel not in self.seen:
            self.seen[rel] = self._look(folder, digest, os.path.join(self.root, rel))
        return self.seen[rel]

    def _look(self, folder, digest, path):
        if folder == "artifacts" and is_file(path + ".erased"):
            return "artifact_erased", "its bytes were erased", None
        if mode_of(path) is None:
            return "object_missing", "it does not exist", None
        if not is_file(path):
            return "object_damaged", "it is no file", None
        data = read_file(path)
        if jcs.digest(data) != digest:
            return "object_damaged", "its digest is not its name", None
        try:
            if folder == "artifacts":
                if len(data) > ARTIFACT_MAX:
                    raise Problem("object_damaged", "longer than an artifact can be")
                return None, None, data
            return None, None, (check_snapshot if folder == "snapshots" else check_workflow)(data)
        except Problem as e:
            return e.args + (None,)

    def check(self, log):
        """The objects that the events of a log refer to; findings are the log's."""
        runs, pending, reported = {}, {}, set()
        for e in log.events:
            run, node = e.get("scope", "runId"), e.get("scope", "nodeId")
            if e.kind == "run_started":
                folder, digest = "workflows/pinned", e.get("data", "workflowHash")
            elif e.kind == "node_created":
                folder, digest = "snapshots", e.get("data", "snapshotRef")
            else:
                folder, digest = "artifacts", e.get("data", "payload", "sha256")
            if digest is None:
                continue
            rel = object_path(folder, digest)
            self.used.add(rel)
            if run not in runs and e.kind != "run_started":
                continue  # nothing more is checked of it
            code, message, value = self.look(folder, digest)
            if code and rel not in reported:
                log.find(code, rel, "%s names it: %s" % (e.kind, message), None, e.index)
                reported.add(rel)
            if code == "unknown_version" and log.health == "healthy":
                log.health = code
            if e.kind == "run_started":
                runs[run] = value
            elif e.kind == "node_created":
                pending[node] = pending_step(value) if value else None
            elif value is not None:
                bodies = sequences(runs[run]).values() if runs.get(run) else ()
                step = next((s for body in bodies for s in body if s["stepId"] == pending.get(node)), {})
                _artifact(log, e, value, step)

    def requests(self, log):
        """How many requestDigests of a log could be made again, and how many there are (section 8)."""
        made = [r for r in map(self._request, log.segments) if r is not None]
        return sum(made), len(made)

    def _request(self, segment):
        """Whether a requestDigest could be made again, or None where there is none to make."""
        want, request, artifacts = segment.events[0].text("data", "requestDigest"), {}, []
        if want is None:
            return None
        for e in segment.events:
            data = e.get("data")
            performed = e.get("data", "payload", "artifactKind") in OBSERVED
            if e.get("data", "payload", "artifactKind") == "wr.check_result":
                continue  # the results of checks are no part of the request
            if e.foreign or e.text("actor", "kind") == "engine" and not performed:
                continue  # what the engine concludes was not sent; a performer sends what it observed
            if e.kind == "context_set":
                request["context"] = data["context"]
            elif e.kind == "preferences_changed":
                request["preferences"] = {d["key"]: d["value"] for d in data["delta"]}
            elif e.kind == "node_output_appended" and data["outputChannel"] == "recap":
                request["notesMarkdown"] = data["payload"]["notesMarkdown"]
            elif e.kind == "node_output_appended":
                digest, content = data["payload"]["sha256"], data["payload"]["contentType"]
                raw = self.look("artifacts", digest)[2] or b"null"
                try:
                    value = jcs.parse(raw) if content == "application/json" else None
                except jcs.Refused:
                    return None
                artifacts.append({"contentType": content, "sha256": digest} if value is None else value)
        for order in itertools.islice(itertools.permutations(artifacts), 720):
            sent = dict(request, artifacts=list(order)) if order else request
            if jcs.digest(jcs.encode(sent)) == want:
                return True
        return False


def _artifact(log, e, data, step):
    """What the event says of the bytes: length and kind; and, as `artifact_form`, whether a command's result goes
    with its action."""
    def bad(code, message):
        log.find(code, log.rel, message, None, e.index)
    payload = e.get("data", "payload")
    try:
        doc = jcs.parse(data)
    except jcs.Refused:
        doc = None
    kind = doc.get("kind") if isinstance(doc, dict) else None
    if payload["byteLength"] != len(data):
        bad("broken_reference", "byteLength is not the artifact's")
    elif payload.get("artifactKind", kind) != kind:
        bad("broken_reference", "artifactKind is not the artifact's kind")
    if kind != "wr.command_result":
        return
    if not all(isinstance(doc.get(n), t) for n, t in (("argvDigest", str), ("outputBytes", int))):
        return  # reported where its form is checked
    argv = step.get("action", {}).get("argv")
    if argv and doc["argvDigest"] != jcs.digest(jcs.encode(argv)):
        bad("artifact_form", "argvDigest is not that of the action's argv")
    streams = [doc.get("stdout"), doc.get("stderr")]
    if all(isinstance(s, dict) and isinstance(s.get("bytes"), int) for s in streams):
        if sum(s["bytes"] for s in streams) != doc["outputBytes"]:
            bad("artifact_form", "outputBytes is not the length of stdout and stderr")
        return
    head = str(doc.get("outputHead")).encode("utf-8")
    if doc.get("outputTail") == "" and len(head) == doc["outputBytes"] and jcs.digest(head) != doc.get("outputDigest"):
        bad("artifact_form", "outputDigest is not that of the output")
