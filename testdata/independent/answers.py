"""The log of answers to requests with an idempotency key (section 25)."""
import jcs
from checks import Shape, holds, integer, record, text
from shapes import COUNT, SHA, event_id

ANSWER_MAX, DEPTH_MAX = 65536, 48


def _status(value):
    integer(200, 499)(value)
    if value in (202, 400, 401, 403, 429):
        raise Shape("an answer with this status is not kept")


def _depth(value):
    inside = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return 1 + max(map(_depth, inside), default=0) if isinstance(value, (dict, list)) else 0


def _answer(value):
    if _depth(value) > DEPTH_MAX or len(jcs.encode(value)) > ANSWER_MAX:
        raise Shape("an answer that is too long or too deep")


def _route(value):
    text(1, 512)(value)
    if len(value.encode()) > 512:
        raise Shape("a route that is too long")


RECORD = record({"answer": _answer, "atMs": COUNT, "bodyDigest": SHA, "keyDigest": SHA, "ordinal": COUNT, "route": _route,
                 "status": _status})


def answered(log, find):
    """Reports events that are none of the page, the first one only, and records that state another index than theirs."""
    unknown = False
    for e in log.events:
        o = e.obj
        if e.kind != "response_recorded" or "scope" in o or not holds(RECORD, o.get("data")) or \
                o.get("dedupeKey") != "response_recorded:%s:%d" % (o["storeId"], o["data"]["ordinal"]):
            if not unknown:
                find("unknown_version", "idempotency", "it is none of this page", None, e.index)
            unknown = True
        elif o.get("eventId") != event_id(o, o["storeId"]):
            find("event_id", "idempotency", "eventId is not derived from owner and dedupeKey", None, e.index)
        elif o["data"]["ordinal"] != e.index:
            find("broken_reference", "idempotency", "it states another index than its own", None, e.index)
