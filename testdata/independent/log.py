"""Reading one log: segments, groups, the chain and its head; sections 9, 10, 18 and 19 of the format."""
import os
import re

import jcs
import shapes

SEGMENT_NAME = re.compile(r"(\d{8}|[1-9]\d{8,15})-(\d{8}|[1-9]\d{8,15})\.jsonl")
LINE_MAX = 1048576
SECTOR = 512
EMPTY_HEAD = {"digest": None, "groupAt": 0, "bytes": 0, "next": 0, "nextRecord": 0}


class NotSegment(ValueError):
    """Bytes that are no segment."""


class Event:
    """One line: `obj` is its JSON, `foreign` says why it is not of the page, or is None."""

    def __init__(self, obj, line, owner_key, segment):
        self.obj, self.segment = obj, segment
        self.index, self.kind = obj["eventIndex"], obj["kind"]
        self.foreign = None
        try:
            if jcs.encode(obj) != line:
                raise shapes.Shape("another spelling than JCS")
            shapes.check_event(obj, owner_key)
        except shapes.Shape as e:
            self.foreign = str(e)

    def get(self, *path):
        """A member of a member, or None where it cannot be read."""
        value = self.obj
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
        return value if shapes.is_id(value) else None


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
            if not isinstance(obj, dict) or not isinstance(obj.get("kind"), str) or obj.get(owner_key) != owner:
                raise NotSegment("line %d is no event of this log" % i)
            index = obj.get("eventIndex")
            if isinstance(index, bool) or not isinstance(index, int) or index != self.first + i:
                raise NotSegment("line %d has another index" % i)
            self.events.append(Event(obj, line, owner_key, name))
        if self.first + len(self.events) - 1 != self.last:
            raise NotSegment("it does not end at index %d" % self.last)

    def pins(self):
        """(createdByEventId, eventIndex, snapshotRef) of each node_created."""
        return [(e.text("eventId") or "", e.index, e.get("data", "snapshotRef")) for e in self.events
                if e.kind == "node_created" and shapes.is_digest(e.get("data", "snapshotRef"))]


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
    """The length of a group with members of another program (section 19), or 0."""
    lines = rest.split(b"\n")
    try:
        records = [jcs.parse(lines[0])]
        for line in lines[1:-1]:
            record = jcs.parse(line)
            if record.get("kind") != "snapshot_pinned" or not shapes.is_digest(record.get("snapshotRef")):
                break
            records.append(record)
    except (jcs.Refused, AttributeError):
        if len(lines) < 2:
            return 0
    if len(lines) < 2 or not isinstance(records[0], dict):
        return 0
    first, named = records[0], {r["snapshotRef"] for r in records[1:]}
    want = {"kind": "segment_closed", "sha256": segment.sha256, "bytes": segment.size,
            "firstEventIndex": segment.first, "lastEventIndex": segment.last}
    if any(first.get(k) != v for k, v in want.items()) or first.get("prev", head["digest"]) != head["digest"]:
        return 0
    if first.get("pins", len(records) - 1) != len(records) - 1:
        return 0
    if any(ref not in named for _, _, ref in new_pins(segment, pinned)):
        return 0
    return sum(len(line) + 1 for line in lines[:len(records)])


class Log:
    """What reading a log came to: health, events up to the head, segments, head, findings."""

    def __init__(self, store, rel, owner_key, owner, foreign_store=False):
        self.store, self.rel, self.owner_key, self.owner = store, rel, owner_key, owner
        self.events, self.segments, self.pinned = [], [], set()
        self.head, self.health, self.findings = dict(EMPTY_HEAD), "healthy", []
        self._read(foreign_store)

    def find(self, code, path, message, at=None, index=None):
        self.findings.append({"code": code, "path": path, "message": message, "at": at, "eventIndex": index})

    def _file(self, rel):
        path = os.path.join(self.store, self.rel, rel)
        if os.path.islink(path):
            return None
        try:
            with open(path, "rb") as f:
                return f.read()
        except FileNotFoundError:
            return None

    def _commit(self, rest, segment, foreign_store):
        """Moves the head behind the group that `rest` begins with; the group's length, or 0."""
        plain = new_pins(segment, self.pinned)
        size = 0
        for pins, chained in ((segment.pins(), True), (segment.pins(), False), (plain, False)):
            group = write_group(self.owner_key, self.owner, self.head, segment, pins, chained)
            if rest.startswith(group):
                size, is_plain, records = len(group), not chained, 1 + len(pins)
                break
        else:
            size = foreign_group(rest, self.head, segment, self.pinned) if foreign_store else 0
            if not size:
                return 0
            is_plain, records = True, rest[:size].count(b"\n")
            self.health = "unknown_version"
            self.find("unknown_version", self.rel + "/manifest.jsonl", "a group with members of another program",
                      self.head["bytes"])
        if is_plain:
            self.pinned |= {ref for _, _, ref in segment.pins()}
        at = self.head["bytes"]
        self.head = {"digest": jcs.digest(rest[:size]), "groupAt": at, "bytes": at + size,
                     "next": segment.last + 1, "nextRecord": self.head["nextRecord"] + records}
        return size

    def _read(self, foreign_store):
        folder = os.path.join(self.store, self.rel, "events")
        names = sorted(os.listdir(folder)) if os.path.isdir(folder) else []
        bounds = {n: segment_bounds(n) for n in names if segment_bounds(n)}
        manifest = self._file("manifest.jsonl") or b""
        while len(manifest) > self.head["bytes"]:
            rest, candidates, reasons = manifest[self.head["bytes"]:], [], {}
            for name in [n for n in bounds if bounds[n][0] == self.head["next"]]:
                try:
                    data = self._file("events/" + name)
                    if data is None:
                        raise NotSegment("a symbolic link")
                    candidates.append(Segment(name, data, self.owner_key, self.owner))
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
                    self.health = "unknown_version"
                if e.foreign:
                    self.find("unknown_version", self.rel + "/events/" + segment.name, e.foreign, None, e.index)
        if self.health.startswith("corrupt"):
            return
        committed = {s.name for s in self.segments}
        lost = len(manifest) == self.head["bytes"] > 0  # rest is empty: a last group that was lost looks so
        for name, (first, _) in sorted(bounds.items(), key=lambda b: b[1]):
            path = self.rel + "/events/" + name
            if first == self.head["next"]:
                self.find("uncommitted_tail" if lost else "orphan_segment", path, "no group commits it")
            elif first > self.head["next"]:
                if self.health.startswith("corrupt"):
                    continue
                self.health = "corrupt_tail" if self.segments else "corrupt_head"
                self.find("lost_tail", path, "it begins beyond the end, at %d: more had been committed" % first)
            elif name not in committed:
                self.find("orphan_segment", path, "no group names it")

    def _end(self, rest, candidates, reasons):
        """`rest` commits nothing: part of an append, or damage."""
        at, path = self.head["bytes"], self.rel + "/manifest.jsonl"
        for c in candidates:
            if torn(rest, write_group(self.owner_key, self.owner, self.head, c, c.pins(), True), at):
                self.find("uncommitted_tail", path, "%d bytes of an append that was never acknowledged" % len(rest), at)
                return
        self.health = "corrupt_tail" if self.segments else "corrupt_head"
        try:
            named = jcs.parse(rest.split(b"\n")[0])["segmentRelPath"].split("/")[-1]
        except (jcs.Refused, KeyError, TypeError, AttributeError):
            named = ""
        if named in reasons:
            self.find("segment_damaged", self.rel + "/events/" + named, reasons[named])
        elif segment_bounds(named) and self._file("events/" + named) is None:
            self.find("segment_missing", self.rel + "/events/" + named, "the manifest attests it", at)
        else:
            self.find("manifest_damaged", path, "its lines commit no segment that is there", at)
