"""A whole store: its control files, logs and objects, and its other files (sections 2, 10, 15, 18 and 19)."""
import os
import re
import stat

import cache
from answers import answered
from audit import audited
from checks import holds
from control import FILES, check_store, key_bytes, load_control
from files import is_file, is_folder, list_folder, mode_of
from log import SEGMENT_NAME, Log, segment_bounds
from objects import FOLDERS, Objects
from policy import confirmed
from refs import References
from runs import Runs, forks
from shapes import SESS
from sides import side_log, side_names

SEVERITY = dict.fromkeys(("manifest_damaged", "segment_missing", "segment_damaged", "lost_tail", "object_missing",
                          "object_damaged", "duplicate_dedupe_key", "broken_reference", "control_damaged",
                          "event_id", "audit_unfounded", "policy_unconfirmed"),
                         "error")  # every other code is a warning
NAMES = {  # what has its name in a folder, by section 2
    "": r"(store|config|trust)\.json|keys|\.use\.lock|sessions|snapshots|artifacts|workflows|proposals|audit|"
        r"idempotency|installed|quarantine|trash|cache",
    "sessions": "sess_[a-z2-7]{25}[aeimquy4]",
    "session": r"manifest\.jsonl|events|\.lock|\.performer\.lock|suspect|keep|imported\.json|cache|annotations",
    "side": r"manifest\.jsonl|events|\.lock|suspect",
    "events": SEGMENT_NAME.pattern,
    "snapshots": r"sha256_[0-9a-f]{64}\.json", "artifacts": r"sha256_[0-9a-f]{64}(\.erased)?",
    "workflows/pinned": r"sha256_[0-9a-f]{64}\.json"}
RESERVED = ("sessions", "snapshots", "artifacts", "workflows", "keys", "installed", "quarantine", "trash", "cache")
UNMADE = ("sessions", "snapshots", "artifacts", "workflows", "workflows/pinned", "keys", "quarantine")


class Store:
    """Verifies a store; afterwards `logs` (those that are born), `findings` and `units` (what was looked at) tell the
    outcome. Raises ValueError where there is no store, and Ended where the verification cannot continue."""

    def __init__(self, root):
        self.root, self.findings, self.units, self.logs = root, [], set(), []
        self.key = None  # the current one of a keyring that holds
        self.controls = {"config": {}, "trust": {}, "http_keys": {}}  # their data, None where it is damaged
        self.imported = {}  # from which event of a session on, and up to which, it came with bundles
        self.sides = []  # side logs, of sessions and of the store
        self.derived, self.walked, self.requests = 0, 0, [0, 0]  # requestDigests that were made again, and all
        self.own = mode_of(os.path.join(root, "store.json")) is not None
        if not self.own and not is_folder(os.path.join(root, "sessions")) and not self._unmade():
            raise ValueError("no store: neither store.json nor a folder sessions")
        if self.own:
            self.store_id = check_store(os.path.join(root, "store.json"))
            self._controls()
        sides = side_names(root, RESERVED)
        self._names("", NAMES[""], sides)
        self.objects = Objects(root, self.find)
        self.units |= self.objects.there
        for folder in FOLDERS:
            self._names(folder, NAMES[folder])
        self._marks()
        self._logs()
        for name in sides if self.own else ():
            self._side(name, "storeId", self.store_id, self)
            if name == "idempotency":
                answered(self.sides[-1], self.find)
            if name == "audit" and self.sides[-1].events:
                audited(self.sides[-1], self.logs, self.imported, set(list_folder(os.path.join(root, "sessions"))), self.find)
        if self.own:
            audit = [log for log in self.sides if log.rel == "audit"]
            confirmed(self.controls["config"], self.controls["trust"], self.controls["http_keys"],
                      audit[0] if audit else None, self.find)
            self._key_names()
        forks(self.logs, self.find)
        damaged = any(log.health.startswith("corrupt") for log in self.logs)
        for rel in [] if damaged else self.objects.orphans():
            self.find("orphan_object", rel, "nothing refers to it that was read")

    def find(self, code, path, message, at=None, index=None):
        self.findings.append({"code": code, "path": path, "message": message, "at": at, "eventIndex": index})

    def _unmade(self):
        """Whether the folder is a store that does not exist yet, by section 11."""
        found = {f for f in UNMADE if is_folder(os.path.join(self.root, f))}
        held = {os.path.join(f, n) for f in found for n in os.listdir(os.path.join(self.root, f))}
        rest = [n for n in os.listdir(self.root) if n not in found]
        return held <= {"workflows/pinned"} & found and all(
            (n == ".use.lock" or n.startswith(".tmp-")) and is_file(os.path.join(self.root, n)) for n in rest)

    def _names(self, folder, pattern, besides=()):
        """Files of a folder that have no name there, are links, or can be opened by others."""
        for name in list_folder(os.path.join(self.root, folder)):
            rel = folder + "/" + name if folder else name
            mode = mode_of(os.path.join(self.root, rel)) or 0
            known = name in besides or re.fullmatch(pattern, name) and (folder != "sessions" or stat.S_ISDIR(mode)) and (
                pattern != NAMES["events"] or segment_bounds(name) and stat.S_ISREG(mode))
            plain = stat.S_ISREG(mode) or stat.S_ISDIR(mode)
            if not plain or not known and not name.startswith(".tmp-"):
                self.find("unknown_file", rel, "no section of the page has it there")
            if plain and self.own and os.name == "posix" and mode & 0o077:
                self.find("permissions", rel, "others can open it")

    def _key_names(self):
        """Files in keys/ that have no name there. Their modes are those of the control files."""
        for name in list_folder(os.path.join(self.root, "keys")):
            mode = mode_of(os.path.join(self.root, "keys", name)) or 0
            plain = stat.S_ISREG(mode) or stat.S_ISDIR(mode)
            if not plain or name not in ("keyring.json", "http.json") and not name.startswith(".tmp-"):
                self.find("unknown_file", "keys/" + name, "no section of the page has it there")

    def _marks(self):
        """Control files beside their subject: tombstones, and those of section 24."""
        if not self.own:
            return
        for folder, name, kind in (("artifacts", r".*\.erased", "erased"), ("sessions/*", r"imported\.json", "imported"),
                                   ("sessions/*", "keep", "keep"), ("trash/*", r"trash\.json", "trash")):
            above, _, deep = folder.partition("/")
            for at in [above] if not deep else [above + "/" + n for n in list_folder(os.path.join(self.root, above))]:
                for found in os.listdir(os.path.join(self.root, at)) if is_folder(os.path.join(self.root, at)) else ():
                    if re.fullmatch(name, found) and (deep or re.fullmatch(NAMES["artifacts"], found)):
                        self._mark(at + "/" + found, kind)

    def _mark(self, rel, kind):
        self.units.add(rel)
        try:
            data = load_control(os.path.join(self.root, rel), kind)[1]
            if kind == "imported":
                self.imported[rel.split("/")[1]] = (data.get("from", 0), data["events"])
            if kind == "erased" and "sha256_" + data.get("sha256", rel)[7:] not in rel:
                raise ValueError("a tombstone of another artifact")
        except (ValueError, TypeError) as e:
            self.find("control_damaged", rel, str(e))

    def _side(self, rel, owner_key, owner, teller):
        """A side log; its findings are `teller`'s."""
        self.units.add(rel)
        self._names(rel, NAMES["side"])
        if is_folder(os.path.join(self.root, rel, "events")):
            self._names(rel + "/events", NAMES["events"])
        log = side_log(self.root, rel, owner_key, owner)
        teller.findings += log.findings
        self.sides.append(log)

    def _controls(self):
        self.units.add("store.json")
        for rel, kind in FILES.items():
            path = os.path.join(self.root, rel)
            folder = mode_of(os.path.dirname(path))
            straight = folder is None or stat.S_ISDIR(folder)
            if straight and mode_of(path) is None:
                continue
            self.units.add(rel)
            try:
                if not straight:
                    raise ValueError("its folder is none")
                self.controls[kind] = None
                self.controls[kind] = data = load_control(path, kind)[1]
                if kind in ("keyring", "http_keys") and os.name == "posix" and mode_of(path) & 0o077:
                    self.controls[kind] = None
                    raise ValueError("others can open it")
                if kind == "keyring":
                    self.key = key_bytes(data["current"])
            except (ValueError, TypeError) as e:
                self.find("control_damaged", rel, str(e))

    def _logs(self):
        self._names("sessions", NAMES["sessions"])
        for name in list_folder(os.path.join(self.root, "sessions")):
            rel = "sessions/" + name
            if not holds(SESS, name) or not is_folder(os.path.join(self.root, rel)):
                continue
            sides = side_names(os.path.join(self.root, rel), ("events", "cache"))
            self._names(rel, NAMES["session"], sides)
            if is_folder(os.path.join(self.root, rel, "events")):
                self._names(rel + "/events", NAMES["events"])
            log = Log(self.root, rel, "sessionId", name, not self.own)
            cache.lost(log, os.path.join(self.root, rel), self.key)
            if log.health == "healthy" and not log.segments:
                continue  # unborn
            self.units.add(rel)
            self.derived += References(log).checked
            self.objects.check(log)
            self.walked += Runs(log, self.objects).checked
            self.requests = [a + b for a, b in zip(self.requests, self.objects.requests(log))]
            suspect = os.path.join(self.root, rel, "suspect")
            if is_file(suspect) or is_folder(suspect):
                log.find("suspect", rel + "/suspect", "a failed sync left its mark")
            for side in sides:
                self._side(rel + "/" + side, "sessionId", name, log)
            self.logs.append(log)
            self.findings += log.findings
