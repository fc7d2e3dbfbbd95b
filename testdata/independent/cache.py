"""The head cache of a session: section 22 of the format, as far as it proves that a tail was lost."""
import os

import jcs
from blake3 import derive_key, keyed
from checks import Shape, anything, integer, record
from files import is_file
from shapes import COUNT, SHA

LINE_MAX = 4096
CONTEXT = "waybill 2026 v1 head cache brief"
HEAD = record({"bytes": COUNT, "digest": SHA, "groupAt": COUNT, "next": integer(1), "nextRecord": COUNT})


def claimed_next(folder, session, key):
    """`head.next` of a sealed brief of the session, or 0."""
    path = os.path.join(folder, "cache", "head-8")
    if key is None or not is_file(path):
        return 0
    with open(path, "rb") as f:
        line = f.read(LINE_MAX).partition(b"\n")[0]
    seal, space, brief = line.partition(b" ")
    if not space or seal != keyed(derive_key(CONTEXT, key), brief).hex().encode():
        return 0
    try:
        doc = jcs.parse(brief)
        record({"sessionId": anything, "head": HEAD}, {"runs": anything})(doc)
    except (Shape, jcs.Refused):
        return 0
    return doc["head"]["next"] if doc["sessionId"] == session else 0


def lost(log, folder, key):
    """What the cache says of a log that is not damaged."""
    claimed = claimed_next(folder, log.owner, key)
    if claimed > log.head["next"] and not log.health.startswith("corrupt"):
        log.outlived = True
        log.health = "corrupt_tail" if log.segments else "corrupt_head"
        log.find("lost_tail", log.rel, "its head cache names a later head, before event %d" % claimed)
