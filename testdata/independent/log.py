"""Reading one log: segments, groups, the chain and its head; sections 9, 10, 18 and 19 of the format."""
import os
import re

import jcs
import shapes
from checks import Shape, anything, holds, integer, is_digest, is_id, one_of, record
from files import Ended, list_folder, read_file

SEGMENT_NAME = re.compile(r"(\d{8}|[1-9]\d{8,15})-(\d{8}|[1-9]\d{8,15})\.jsonl")
LINE_MAX = 1048576
SECTOR = 512
EMPTY_HEAD = {"digest": None, "groupAt": 0, "bytes": 0, "next": 0, "nextRecord": 0}


class NotSegment(ValueError):
    """Bytes that are no segment."""


class Event:
    """One line: `obj` is its JSON, `foreign` says why it is not of the page, or is None. `readable` is whether its
    `data` counts; `get` and the like see only what counts of a foreign event (section 10)."""

    def __init__(self, obj, line, owner_key, segment):
        self.obj, self.segment = obj, segment
        self.index, self.kind = obj["eventIndex"], obj["kind"]
        self.foreign = None
        try:
            if jcs.encode(obj) != line:
                raise Shape("another spelling than JCS")
            shapes.check_event(obj, owner_key)
        except Shape as e:
            self.foreign = str(e)
        self.counts = {"eventId": obj.get("eventId")}
        for name, check in (("scope", shapes.SCOPE), ("actor", shapes.ACTOR)):
            if holds(check, obj.get(name)):
                self.counts[name] = obj[name]
        self.readable = not self.foreign or holds(lambda o: shapes.check_data(o, True), obj)
        if self.readable:
            self.counts["data"] = obj["data"]

    def get(self, *path):
        """A member of a member, or None where it cannot be read."""
        value = self.counts
        for name in path:
            value = value.get(name) if isinstance(value, dict) else None
        return value

    def text(self, *path):
        """The same, where it is a text."""
        value = self.get(*path)
        return value if isinstance(value, str) else None

    def id(self, *path):
        """The same, where it is an id."""
        value = self.get(*path)
        return value if is_id(value) else None

    def pin(self):
        """(createdByEventId, eventIndex, snapshotRef) of a node_created, foreign or not, or None."""
        data = self.obj.get("data")
        ref = data.get("snapshotRef") if self.kind == "node_created" and isinstance(data, dict) else None
        made_by = self.obj.get("eventId")
        return (made_by if isinstance(made_by, str) else "", self.index, ref) if is_digest(ref) else None


def segment_bounds(name):
    """(first, last) of a segment's name, or None."""
    m = SEGMENT_NAME.fullmatch(name)
    bounds = (int(m.group(1)), int(m.group(2))) if m else (1, 0)
    return bounds if bounds[0] <= bounds[1] else None


class Segment:
    """A file of events/ whose bytes are a segment of the log."""

    def __init__(self, name, data, owner_key, owner):
        self.name, self.size, self.sha256 = name, len(data), jcs.digest(data)
        self.first, self.last = segment_bounds(name)
        if not data.endswith(b"\n"):
            raise NotSegment("the last line does not end")
        self.events = []
        for i, line in enumerate(data[:-1].split(b"\n")):
            if len(line) >= LINE_MAX:
                raise NotSegment("line %d is too long" % i)
            try:
                obj = jcs.parse(line)
            except jcs.Refused as e:
                raise NotSegment("line %d: %s" % (i, e))
            kind = obj.get("kind") if isinstance(obj, dict) else None
            if not isinstance(kind, str) or not kind or obj.get(owner_key) != owner:
                raise NotSegment("line %d is no event of this log" % i)
            index = obj.get("eventIndex")
            if isinstance(index, bool) or not isinstance(index, int) or index != self.first + i:
                raise NotSegment("line %d has another index" % i)
            self.events.append(Event(obj, line, owner_key, name))
        if self.first + len(self.events) - 1 != self.last:
            raise NotSegment("it does not end at index %d" % self.last)

    def pins(self):
        """The pins of its nodes, in order."""
        return [pin for pin in (e.pin() for e in self.events) if pin]


def write_group(owner_key, owner, head, segment, pins, chained):
    """The bytes of the group that commits a segment behind a head."""
    closed = {"bytes": segment.size, "firstEventIndex": segment.first, "kind": "segment_closed",
              "lastEventIndex": segment.last, "manifestIndex": head["nextRecord"], owner_key: owner,
              "segmentRelPath": "events/" + segment.name, "sha256": segment.sha256, "v": 1}
    if chained:
        closed["pins"] = len(pins)
        if head["digest"]:
            closed["prev"] = head["digest"]
    records = [closed]
    for i, (event_id, index, ref) in enumerate(pins):
        records.append({"createdByEventId": event_id, "eventIndex": index, "kind": "snapshot_pinned",
                        "manifestIndex": head["nextRecord"] + 1 + i, owner_key: owner, "snapshotRef": ref, "v": 1})
    return b"".join(jcs.encode(r) + b"\n" for r in records)


def torn(rest, group, at):
    """Whether a crash can leave `rest` of an append of `group` at offset `at` of the file."""
    if len(rest) > len(group):
        return False
    start = 0
    while start < len(rest):
        end = min(len(rest), start + SECTOR - (at + start) % SECTOR)
        piece = rest[start:end]
        if piece != group[start:end] and piece.strip(b"\0"):
            return False
        start = end
    return True


def new_pins(segment, pinned):
    """The pins of a plain group that names each snapshot once."""
    out, seen = [], set(pinned)
    for pin in segment.pins():
        if pin[2] not in seen:
            seen.add(pin[2])
            out.append(pin)
    return out


def foreign_group(rest, head, segment, pinned):
    """The length of a group with members of another program and the snapshots it pins (section 19), or None."""
    first, newline, behind = rest.partition(b"\n")
    try:
        closed, refs = jcs.parse(first), []
    except jcs.Refused:
        return None
    size = len(first) + len(newline)
    for line in behind.split(b"\n")[:-1]:
        try:
            pin = jcs.parse(line)
        except jcs.Refused:
            break
        if not isinstance(pin, dict) or pin.get("kind") != "snapshot_pinned" or not is_digest(
                pin.get("snapshotRef")):
            break
        refs.append(pin["snapshotRef"])
        size += len(line) + 1
    try:
        record(
            {"kind": one_of("segment_closed"), "sha256": one_of(segment.sha256),
             "bytes": integer(segment.size, segment.size),
             "firstEventIndex": integer(segment.first, segment.first),
             "lastEventIndex": integer(segment.last, segment.last)},
            dict(dict.fromkeys(closed, anything), pins=integer(len(refs), len(refs)),
                 prev=one_of(*[head["digest"]] if head["digest"] else [])))(closed)
    except (Shape, TypeError):
        return None
    return (size, refs) if all(ref in refs for _, _, ref in new_pins(segment, pinned)) else None


class Log:
    """The result of reading a log: health, events up to the head, segments, head, findings."""

    def __init__(self, store, rel, owner_key, owner, foreign_store=False):
        self.store, self.rel, self.owner_key, self.owner = store, rel, owner_key, owner
        self._clear("healthy")
        try:
            self._read(foreign_store)
        except Ended as e:  # a link, or what else is no file or folder
            self._clear("corrupt_head")
            self.find("manifest_damaged", rel, e.args[1])

    def _clear(self, health):
        self.events, self.segments, self.pinned = [], [], set()
        self.outlived = False  # a head cache names a later head
        self.heads = {}  # digest of each head -> index of the next event behind it
        self.head, self.health, self.findings = dict(EMPTY_HEAD), health, []

    def find(self, code, path, message, at=None, index=None):
        self.findings.append({"code": code, "path": path, "message": message, "at": at, "eventIndex": index})

    def _file(self, rel):
        return read_file(os.path.join(self.store, self.rel, rel))

    def _unknown(self, message, index=None):
        """What this version does not know. Of a log the first is a finding."""
        if self.health == "healthy":
            self.find("unknown_version", self.rel, message, None, index)
            self.health = "unknown_version"

    def _commit(self, rest, segment, foreign_store):
        """Moves the head behind the group that `rest` begins with; the group's length, or 0."""
        once = new_pins(segment, self.pinned)
        for pins, chained in ((segment.pins(), True), (segment.pins(), False), (once, False)):
            group = write_group(self.owner_key, self.owner, self.head, segment, pins, chained)
            if rest.startswith(group):
                size, refs = len(group), [ref for _, _, ref in pins]
                break
        else:
            found = foreign_group(rest, self.head, segment, self.pinned) if foreign_store else None
            if not found:
                return 0
            (size, refs), chained = found, False
            self._unknown("a group with members of another program")
        if not chained:
            self.pinned.update(refs)
        at = self.head["bytes"]
        self.head = {"digest": jcs.digest(rest[:size]), "groupAt": at, "bytes": at + size,
                     "next": segment.last + 1, "nextRecord": self.head["nextRecord"] + 1 + len(refs)}
        self.heads[self.head["digest"]] = self.head["next"]
        return size

    def _read(self, foreign_store):
        names = list_folder(os.path.join(self.store, self.rel, "events"))
        bounds = {n: segment_bounds(n) for n in names if segment_bounds(n)}
        manifest = self._file("manifest.jsonl") or b""
        while len(manifest) > self.head["bytes"]:
            rest, candidates, reasons = manifest[self.head["bytes"]:], [], {}
            for name in [n for n in bounds if bounds[n][0] == self.head["next"]]:
                try:
                    candidates.append(Segment(name, self._file("events/" + name), self.owner_key, self.owner))
                except NotSegment as e:
                    reasons[name] = str(e)
            segment = next((c for c in candidates if self._commit(rest, c, foreign_store)), None)
            if segment is None:
                self._end(rest, candidates, reasons)
                break
            self.segments.append(segment)
            self.events += segment.events
            for e in segment.events:
                if e.foreign and e.obj.get("ignorable") is not True:
                    self._unknown(e.foreign, e.index)
        if self.health.startswith("corrupt"):
            return
        committed = {s.name for s in self.segments}
        lost = len(manifest) == self.head["bytes"] > 0  # rest is empty: a last group that was lost looks so
        for name, (first, _) in sorted(bounds.items(), key=lambda b: b[1]):
            path = self.rel + "/events/" + name
            if first >= self.head["next"] and self._pending() == self.head["next"]:
                self.find("orphan_segment", path, "an import that extends the log did not finish")
            elif first == self.head["next"]:
                self.find("uncommitted_tail" if lost else "orphan_segment", path, "no group commits it")
            elif first > self.head["next"]:
                if self.health.startswith("corrupt"):
                    continue
                self.health = "corrupt_tail" if self.segments else "corrupt_head"
                self.find("lost_tail", path, "it begins beyond the end, at %d: more had been committed" % first)
            elif name not in committed:
                self.find("orphan_segment", path, "no group names it")

    def _pending(self):
        """How many events the log had when an import began to extend it; None without one."""
        from control import load_control
        parts = self.rel.split("/")
        try:
            mark = load_control(os.path.join(self.store, parts[0], parts[1], "imported.json"), "imported")[1]
        except (IndexError, OSError, TypeError, ValueError):
            return None
        return mark.get("pending", {}).get(parts[2] if len(parts) > 2 else "events")

    def _end(self, rest, candidates, reasons):
        """`rest` commits nothing: part of an append, or damage."""
        at, path = self.head["bytes"], self.rel + "/manifest.jsonl"
        for c in candidates:
            if torn(rest, write_group(self.owner_key, self.owner, self.head, c, c.pins(), True), at):
                self.find("uncommitted_tail", path, "%d bytes of an append that was never acknowledged" % len(rest), at)
                return
        self.health = "corrupt_tail" if self.segments else "corrupt_head"
        try:
            closed = jcs.parse(rest.split(b"\n")[0])
            named, want = closed["segmentRelPath"].split("/")[-1], closed["sha256"]
            if segment_bounds(named)[0] != self.head["next"] or not is_digest(want):
                named = ""
        except (jcs.Refused, KeyError, TypeError, AttributeError):
            named = ""
        found = {c.name: c.sha256 for c in candidates}
        if named in reasons or named in found and found[named] != want:
            message = reasons.get(named, "it has another digest than the manifest attests")
            self.find("segment_damaged", self.rel + "/events/" + named, message, at)
        elif named and self._file("events/" + named) is None:
            self.find("segment_missing", self.rel + "/events/" + named, "the manifest attests it", at)
        else:
            self.find("manifest_damaged", path, "its lines commit no existing segment", at)
