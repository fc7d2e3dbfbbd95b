"""An import under new ids: what every line of the log becomes, by sections 5, 6, 9 and 23 of the format."""
import re

import jcs
from blake3 import derive_id
from log import EMPTY_HEAD, Segment, write_group
from refs import FACTS, form_of, is_decided
from shapes import dedupe_key, event_id

MEMBERS = {"runId", "nodeId", "parentNodeId", "fromNodeId", "toNodeId", "attemptId", "eventId", "resolvesGapId",
           "supersedesOutputId"} | {member for _, member in FACTS.values()}


class _Ids:
    """What each id of the log becomes."""

    def __init__(self, log, store_id):
        self.base = ("import", store_id, log.head["digest"])
        self.session = derive_id("sess", *self.base)
        self.new, self.counts = {}, {}

    def of(self, old):
        """An id that section 5 has no recipe for, or that precedes what it names, follows from the old one."""
        if old not in self.new:
            self.new[old] = derive_id(old.partition("_")[0], *self.base + (old,))
        return self.new[old]

    def next(self, what, node):
        n = self.counts[what, node] = self.counts.get((what, node), -1) + 1
        return n

    def anywhere(self, value):
        """A value of a side log: every id of the session becomes the new one, in keys of events too."""
        if isinstance(value, dict):
            return {k: self.anywhere(v) for k, v in value.items()}
        if isinstance(value, list):
            return [self.anywhere(v) for v in value]
        return self.new.get(value, value) if isinstance(value, str) else value

    def value(self, value, name=None):
        """A value with the ids in it replaced; what people chose, and ids of other sessions, stay."""
        if isinstance(value, dict):
            return {k: v if k in ("context", "forkedFrom") else self.value(v, k) for k, v in value.items()}
        if isinstance(value, list):
            return [self.value(v) for v in value]
        return self.of(value) if name in MEMBERS and isinstance(value, str) else value


def _made(ids, segment):
    """Learns the ids that a segment brings, before it is written."""
    first, form, facts = segment.events[0], form_of(segment.events), {}
    source = operation = None
    for e in segment.events:
        run, node = e.id("scope", "runId"), e.id("scope", "nodeId")
        if e.kind == "advance_recorded":
            left, operation = ids.of(node), "ack"
            source = ids.new[e.get("data", "attemptId")] = derive_id("attempt", left, operation, ids.next("ack", left))
            to = e.get("data", "outcome", "toNodeId")
            if to:
                ids.new[to] = derive_id("node", left, source, operation)
        elif e.kind == "node_created" and e.get("data", "parentNodeId") is None:
            ids.new[node] = source = derive_id("node", "root", ids.of(run))
            operation = "start"
        elif e.kind == "node_created" and e.get("data", "nodeKind") == "checkpoint":
            left, operation = ids.of(e.get("data", "parentNodeId")), "checkpoint"
            source = derive_id("attempt", left, operation, ids.next(operation, left))
            ids.new[node] = derive_id("node", left, source, operation)
    if form == "approval":
        left, operation = ids.of(first.id("scope", "nodeId")), "approve"
        source = derive_id("attempt", left, operation, ids.counts.get((operation, left), -1) + 1)
    for e in segment.events:
        if e.kind in FACTS and source:
            prefix, member = FACTS[e.kind]
            n = facts[prefix] = facts.get(prefix, -1) + 1
            ids.new[e.get("data", member)] = derive_id(prefix, source, operation, n)
        if e.kind == "node_output_appended" and is_decided(e):
            ids.next("approve", ids.of(e.id("scope", "nodeId")))


def _side(ids, e):
    obj = ids.anywhere(e.obj)
    obj["dedupeKey"] = re.sub("[a-z]+_[a-z2-7]{26}", lambda m: ids.new.get(m.group(), m.group()), e.obj["dedupeKey"])
    return obj


def _main(ids, e, origin):
    obj = dict(e.obj, data=ids.value(e.obj["data"]), sessionId=ids.session)
    if "scope" in obj:
        obj["scope"] = ids.value(obj["scope"])
    if e.index == 0:
        obj["data"] = {"importedFrom": origin}
    obj["dedupeKey"] = dedupe_key(obj, "sessionId")
    return obj


def _log(ids, log, rel, write):
    """path -> bytes of a log whose events `write` makes again, in segments with the bounds of the old ones."""
    head, manifest, files = dict(EMPTY_HEAD), b"", {}
    for segment in log.segments:
        if write is not _side:
            _made(ids, segment)
        lines = b""
        for e in segment.events:
            obj = write(ids, e)
            obj["eventId"] = ids.new[e.obj["eventId"]] = event_id(obj, ids.session)
            lines += jcs.encode(obj) + b"\n"
        again = Segment(segment.name, lines, "sessionId", ids.session)
        group = write_group("sessionId", ids.session, head, again, again.pins(), True)
        manifest += group
        head = {"digest": jcs.digest(group), "next": segment.last + 1, "nextRecord": head["nextRecord"] + 1 + len(again.pins())}
        files[rel + "/events/" + segment.name] = lines
    return dict(files, **{rel + "/manifest.jsonl": manifest})


def renewed(logs, store_id):
    """The new session's id, and path -> bytes of its files: of its log, the first of `logs`, and of its side logs."""
    log, ids = logs[0], _Ids(logs[0], store_id)
    origin = {"storeId": store_id, "sessionId": log.owner, "head": log.head["digest"]}
    ids.new[log.owner] = ids.session
    files = _log(ids, log, "sessions/" + ids.session, lambda ids, e: _main(ids, e, origin))
    for side in logs[1:]:
        files.update(_log(ids, side, side.rel.replace(log.owner, ids.session), _side))
    return ids.session, files
