"""Side logs (section 25): logs beside a session's own, and logs of the store. Their kinds are not looked at."""
import os
import re

from checks import holds
from files import is_file, is_folder
from log import Log, segment_bounds
from shapes import check_envelope, event_id

SIDE_NAME = "[a-z][a-z0-9_]{0,31}"
TAKEN = ("events", "cache", "keep", "suspect", "manifest", "imported")  # what else a session's folder has


def side_names(folder, reserved=()):
    """Names of the side logs in a folder: what has a manifest, or segments that lost it."""
    out = []
    for name in sorted(os.listdir(folder)) if is_folder(folder) else ():
        path = os.path.join(folder, name)
        if not re.fullmatch(SIDE_NAME, name) or name in reserved or not is_folder(path):
            continue
        events = os.path.join(path, "events")
        if is_file(os.path.join(path, "manifest.jsonl")) or is_folder(events) and any(map(segment_bounds, os.listdir(events))):
            out.append(name)
    return out


def side_log(store, rel, owner_key, owner):
    """A side log that was read: digests, chain and order, and of each event what section 6 says of all of them."""
    log = Log(store, rel, owner_key, owner)
    log.findings = [f for f in log.findings if f["code"] != "unknown_version"]  # kinds that this page has not
    keys = set()
    for e in log.events:
        def odd(code, message):
            log.find(code, rel, "%s: %s" % (e.kind, message), None, e.index)
        if not holds(lambda o: check_envelope(o, owner_key), e.obj):
            odd("inconsistent", "not the members of an event")
            continue
        if e.obj["dedupeKey"] in keys:
            odd("duplicate_dedupe_key", "its dedupeKey occurs twice")
        keys.add(e.obj["dedupeKey"])
        if not e.obj["dedupeKey"].startswith(e.kind + ":"):
            odd("inconsistent", "its dedupeKey does not begin with its kind")
        if e.obj["eventId"] != event_id(e.obj, owner):
            odd("underived_id", "eventId is not derived from owner and dedupeKey")
    return log
