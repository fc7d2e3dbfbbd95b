"""Whether the events of a log fit together: cross-references (section 17), derived ids (5), order (8)."""
import re

from blake3 import derive_id
from shapes import APPROVAL, DECISION_KIND, event_id

FACTS = {"node_output_appended": ("out", "outputId"), "gap_recorded": ("gap", "gapId"),
         "preferences_changed": ("chg", "changeId"), "decision_trace_appended": ("trace", "traceId"),
         "context_set": ("ctx", "contextId"), "capability_observed": ("capobs", "capObsId"),
         "divergence_recorded": ("div", "divergenceId")}
LETTERS = {"session_created": "S", "run_started": "R", "node_created": "N", "preferences_changed": "P",
           "context_set": "C", "decision_trace_appended": "T", "gap_recorded": "G", "observation_recorded": "B",
           "advance_recorded": "A", "capability_observed": "K", "divergence_recorded": "D", "edge_created": "E",
           "node_output_appended": "O", "run_cancel_requested": "X", "run_closed": "Z", "guard_noted": "U",
           "run_event_recorded": "V",
           "session_handed_over": "H", "session_taken_back": "W", "run_paused": "Q", "run_resumed": "Y"}
# The page's tables.
ORDERS = {"start": "SRNPC?T+G*O?B*", "fork": "SRNPC?K*TB*", "advanced": "AC?K*D*T+G*P?NEO*V*B*Z?", "blocked": "AC?K*D*G*P?O*V*B*",
          "checkpoint": "NEO+", "approval": "G*OO?Z?", "end": "XZ?|Z", "turn": "U", "run_event": "V", "depart": "D", "handover": "H|W", "pause": "Q|Y", "other": "(?!)"}
CALLER, ENGINE, ANY = ("human", "agent"), ("engine",), ("human", "agent", "engine")
ACTORS = {"S": CALLER, "R": CALLER, "N": ENGINE, "C": CALLER, "T": ENGINE, "G": ENGINE, "B": ENGINE, "A": CALLER,
          "K": CALLER, "D": CALLER, "E": ENGINE, "O": CALLER, "P": CALLER, "X": CALLER, "Z": ENGINE, "U": ENGINE, "V": ENGINE,
          "H": CALLER, "W": CALLER, "Q": CALLER, "Y": CALLER}
OTHERS = {"depart": {"D": ENGINE}, "start": {"P": ANY, "O": ENGINE}, "fork": {"P": ENGINE, "C": ENGINE, "K": ENGINE}, "approval": {"O": ("human",)},
          "advanced": {"O": ANY}, "blocked": {"O": ANY}, "run_event": {"V": CALLER}}
OWN = ("wr.recommendation_warning",)  # what the engine brings to an attempt
OBSERVED = ("wr.command_result", "wr.wait_over", "wr.check_result", "wr.host_result")  # what a performer observes: the engine is its actor


def form_of(events):
    """What wrote a segment, by its first event."""
    first = events[0]
    if first.kind == "session_created":
        sources = [e.get("data", "forkedFrom") for e in events if e.kind == "run_started"]
        return "fork" if any(s and s.get("mode") != "replay" for s in sources) else "start"
    if first.kind == "advance_recorded":
        return first.get("data", "outcome", "kind")
    if first.kind == "node_created" and first.get("data", "nodeKind") == "checkpoint":
        return "checkpoint"
    if first.kind in ("run_cancel_requested", "run_closed"):
        return "end"
    if first.kind in ("session_handed_over", "session_taken_back"):
        return "handover"
    if first.kind in ("run_paused", "run_resumed"):
        return "pause"
    if first.kind == "guard_noted":
        return "turn"
    if first.kind == "run_event_recorded":
        return "run_event"
    if first.kind == "divergence_recorded" and first.get("data", "replay") is not None:
        return "depart"
    output = next((e for e in events if e.kind == "node_output_appended"), None)
    decides = first.kind in ("gap_recorded", "node_output_appended") and output and is_decided(output)
    return "approval" if decides else "other"


def is_decided(e):
    """Whether an output is of a person's decision, or an approval of a version that had no decisions."""
    return e.get("data", "decision") is not None or e.get("data", "payload", "artifactKind") == APPROVAL


def clipped(text):
    """The longest prefix of 512 bytes that splits no character."""
    return text.encode("utf-8")[:512].decode("utf-8", "ignore")


def named(by):
    """The name of a person who decided, in a sentence."""
    return "a person" if by == "human" else by


class References:
    """One pass over the events of a log. Of foreign ones only what can be read is looked at; from one on whose `data`
    cannot be read nothing is broken any more, since it may have been what others refer to (section 17)."""

    def __init__(self, log):
        self.log, self.blind, self.failed = log, False, False
        self.runs = {}       # runId -> workflowHash
        self.nodes = {}      # (runId, nodeId) -> the node's event
        self.roots = {}      # runId -> nodeId
        self.attempts = {}   # nodeId -> how many advance_recorded
        self.checkpoints = {}  # nodeId -> how many checkpoints
        self.approvals = {}  # nodeId -> how many outputs of decisions and approvals
        self.begun = set()   # gaps that a start recorded
        self.modes = {}      # (runId, nodeId) -> autonomy
        self.asked, self.closed = {}, set()  # runs whose end was asked for, or is on record
        self.keys, self.events, self.gaps, self.outputs = {}, set(), {}, {}
        self.advances = {}   # eventId of an advance -> the node it led to
        self.open = {}       # gapId -> nodeId, of gaps that nothing resolved yet
        self.acked = set()   # nodes that have an acked child
        self.chats = {}      # (nodeId, client, chat) -> how often refused, and whether it was let go
        self.limits = {}     # runId -> how many steps it may take up
        self.accepted = {}   # runId -> how many attempts were accepted
        self.pauses = {}     # runId -> how many
        self.held = {}       # runId -> [n, whether it drains, whether an attempt followed] of a pause that was not resumed
        self.checked = 0     # derived ids that were computed
        for segment in log.segments:
            self._segment(segment)

    def find(self, code, message, event):
        self.log.find(code, self.log.rel, "%s: %s" % (event.kind, message), None, event.index)

    def broken(self, event, ok, message):
        """Of several rows of the table the first that fails is reported."""
        if not ok and not self.blind and not self.failed:
            self.failed = True
            self.find("broken_reference", message, event)

    def _derived(self, event, found, *recipe):
        """Compares an id with its derivation. Another id is no damage, so it is a warning."""
        if self.blind or found is None or any(p is None for p in recipe):
            return
        self.checked += 1
        want = derive_id(*recipe)
        if found != want:
            self.find("underived_id", "%s is not the derived %s" % (found, want), event)

    def _segment(self, segment):
        created = {e.id("scope", "nodeId") for e in segment.events if e.kind == "node_created"}
        self.form, self.decided = form_of(segment.events), None
        if self.form == "approval":
            self.decided = self._decision(segment.events)
        for e in segment.events:  # what an attempt sets holds for the attempt itself
            if e.kind == "preferences_changed" and e.readable:
                self.modes[(e.id("scope", "runId"), e.id("scope", "nodeId"))] = e.get("data", "effective", "autonomy")
        for e in segment.events:
            self._event(e, created)
        known = [e for e in segment.events if not e.foreign]
        if len(known) == len(segment.events) and not self.blind:
            first = segment.events[0]
            left = first.id("scope", "nodeId")
            stay = {g for g, node in self.open.items() if node == left} - self.begun
            if self.form == "advanced" and stay and self.modes.get((first.id("scope", "runId"), left)) != "full_auto_never_stop":
                self.find("inconsistent", "gaps of the node that was left stay open", first)
            self._facts(segment)
            self._order(segment)

    def _decision(self, events):
        """What a person decided in a segment: every output states it, and the kinds are those of the decision."""
        outputs = [e for e in events if e.kind == "node_output_appended"]
        decided, kinds = outputs[0].get("data", "decision"), {e.get("data", "payload", "artifactKind") for e in outputs}
        want = {APPROVAL} if decided is None else {DECISION_KIND} | ({APPROVAL} if decided["decision"] == "approved" else set())
        if kinds != want or len(outputs) != len(kinds) or any(e.get("data", "decision") != decided for e in outputs):
            self.find("inconsistent", "the outputs are not those of one decision", outputs[0])
        decided = decided or {"decision": "approved"}
        ends, opened = ([e for e in events if e.kind == kind and e.get("data", "resolution", "kind") in (None, "unresolved")]
                        for kind in ("run_closed", "gap_recorded"))
        if (len(ends), len(opened)) != {"denied": (1, 0), "sent_back": (0, 1)}.get(decided["decision"], (0, 0)):
            self.find("segment_order", "gaps or the end of the run are not those of the decision", events[0])
        return decided

    def _event(self, e, created):
        run, node = e.id("scope", "runId"), e.id("scope", "nodeId")
        if not e.foreign:
            key = e.obj["dedupeKey"]
            if key in self.keys:
                self.find("duplicate_dedupe_key", "%s occurs at %d already" % (key, self.keys[key]), e)
            self.keys.setdefault(key, e.index)
            self.checked += 1
            if e.obj["eventId"] != event_id(e.obj, self.log.owner):
                self.find("event_id", "eventId is not derived from owner and dedupeKey", e)
        if e.kind == "session_created" and e.index != 0:
            self.find("segment_order", "it is not event 0", e)
        if e.id("eventId") is not None:
            self.events.add(e.id("eventId"))
        self.blind = self.blind or not e.readable
        if self.blind:
            return
        self.failed = False
        if run is not None and e.kind != "run_started":
            self.broken(e, run in self.runs, "run %s was not started" % run)
            lost = self.failed
            if node is not None and e.kind != "node_created":
                self.broken(e, (run, node) in self.nodes, "node %s does not exist" % node)
            self.failed = lost  # nothing more is checked only where the run does not exist
        if run in self.closed or run in self.asked and e.kind != "run_closed":
            self.find("inconsistent", "the run takes no further facts", e)
        check = getattr(self, "_" + e.kind, None)
        if check:
            check(e, run, node, created)

    def _guard_noted(self, e, run, node, created):
        chat = (node, e.get("data", "client"), e.get("data", "chat"))
        refused, let_go = self.chats.get(chat, (0, False))
        refuses = e.get("data", "verdict") == "refused"
        if let_go or e.get("data", "refusals") != refused + refuses:
            self.find("inconsistent", "it does not count what was refused before", e)
        self.chats[chat] = (refused + refuses, not refuses)

    def _run_event_recorded(self, e, run, node, created):
        if e.get("data", "number") != e.index:
            self.find("inconsistent", "its number is not its index", e)

    def _run_paused(self, e, run, node, created):
        n = self.pauses[run] = self.pauses.get(run, 0) + 1
        held = self.held.get(run)
        if e.get("data", "n") != n or held and (not held[1] or held[2] or e.get("data", "drain")):
            self.find("inconsistent", "the run is paused already, or it is not the next pause", e)
        self.held[run] = [n, e.get("data", "drain") is True, False]

    def _run_resumed(self, e, run, node, created):
        held = self.held.pop(run, None)
        if not held or held[0] != e.get("data", "n"):
            self.find("inconsistent", "it ends no pause", e)

    def _run_cancel_requested(self, e, run, node, created):
        self.asked[run] = (e.get("data", "reason"), e.get("data", "outcome") or "cancelled")

    def _run_closed(self, e, run, node, created):
        asked = self.asked.get(run)
        if self.decided and self.decided["decision"] == "denied":
            asked = (clipped("Denied by %s: %s" % (named(self.decided["by"]), self.decided["reason"])), "failed")
        most = e.get("data", "limit", "limit")
        if most is not None:
            taken = self.accepted.get(run, 0) + 1
            ok = self.form == "advanced" and most == self.limits.get(run) and e.get("data", "limit", "observed") == most + 1
            if not ok or taken <= most:
                self.find("inconsistent", "the run did not reach its limit", e)
            asked = ("The run was started with a limit of steps, %d, and its next step would be one more." % most, "failed")
        if asked != (e.get("data", "reason"), e.get("data", "outcome")):
            self.find("inconsistent", "it is not what was asked for", e)
        self.closed.add(run)

    def _run_started(self, e, run, node, created):
        self.runs[run] = e.get("data", "workflowHash")
        most = e.get("data", "options", "configurable", "recursionLimit")
        if isinstance(most, (int, float)) and not isinstance(most, bool) and most >= 1 and most == int(most):
            self.limits[run] = int(most)

    def _node_created(self, e, run, node, created):
        parent = e.get("data", "parentNodeId")
        self.broken(e, e.get("data", "workflowHash") == self.runs.get(run), "workflowHash is not the run's")
        if parent is None:
            self.broken(e, run not in self.roots, "the run has a second root")
            self.roots.setdefault(run, node)
            self._derived(e, node, "node", "root", run)
        else:
            self.broken(e, (run, parent) in self.nodes, "parent %s does not exist" % parent)
        self.modes.setdefault((run, node), self.modes.get((run, parent), "guided"))
        if e.get("data", "nodeKind") == "checkpoint" and parent is not None:
            held = self.held.get(run)
            if held and (held[2] or not held[1]):
                self.find("inconsistent", "the run is paused", e)
            n = self.checkpoints.get(parent, 0)
            self.checkpoints[parent] = n + 1
            attempt = derive_id("attempt", parent, "checkpoint", n)
            self._derived(e, node, "node", parent, attempt, "checkpoint")
            above = self.nodes.get((run, parent), e)
            if above.get("data", "snapshotRef") != e.get("data", "snapshotRef") or above.get("data", "nodeKind") == "checkpoint":
                self.find("inconsistent", "a checkpoint with another snapshot than its parent's, or of a checkpoint", e)
        self.nodes.setdefault((run, node), e)

    def _advance_recorded(self, e, run, node, created):
        attempt, to = e.get("data", "attemptId"), e.get("data", "outcome", "toNodeId")
        n = self.attempts.get(node, 0)
        self.attempts[node] = n + 1
        held = self.held.get(run)
        if held:
            if held[2]:
                self.find("inconsistent", "the run is paused, and had its last attempt", e)
            held[2] = True
        if e.get("data", "outcome", "kind") == "advanced":
            self.accepted[run] = self.accepted.get(run, 0) + 1
        self._derived(e, attempt, "attempt", node, "ack", n)
        if to is not None:
            self.broken(e, to in created, "%s is not created in this segment" % to)
            self._derived(e, to, "node", node, attempt, "ack")
            self.advances[e.id("eventId")] = to

    def _context_set(self, e, run, node, created):
        name = e.get("data", "nodeId")
        self.broken(e, name is None or (run, name) in self.nodes or name in created, "node %s does not exist" % name)

    def _edge_created(self, e, run, node, created):
        source, target = (run, e.get("data", "fromNodeId")), (run, e.get("data", "toNodeId"))
        cause, checkpoint = e.get("data", "cause", "eventId"), e.get("data", "edgeKind") == "checkpoint"
        self.broken(e, source in self.nodes and target in self.nodes, "one of its nodes does not exist")
        if target in self.nodes:
            n = self.nodes[target]
            self.broken(e, n.get("data", "parentNodeId") == source[1], "the parent of its node is another")
            self.broken(e, not checkpoint or n.get("data", "nodeKind") == "checkpoint", "it leads to no checkpoint")
        self.broken(e, cause in self.events, "its cause is no earlier event")
        if cause in self.events and target in self.nodes:
            self._cause(e, cause, source, target)

    def _cause(self, e, cause, source, target):
        """Why there is an edge, by section 7."""
        kind = e.get("data", "cause", "kind")
        if e.get("data", "edgeKind") == "checkpoint":
            ok = cause == self.nodes[target].id("eventId")
        else:
            ok = self.advances.get(cause) == target[1]
            ok = ok and kind in ("non_tip_advance" if source in self.acked else "intentional_fork", "idempotent_replay")
            self.acked.add(source)
        if not ok:
            self.find("inconsistent", "%s does not go with what was recorded" % kind, e)

    def _gap_recorded(self, e, run, node, created):
        resolves = e.get("data", "resolution", "resolvesGapId")
        if resolves is not None:
            self.broken(e, resolves in self.gaps, "gap %s was not recorded" % resolves)
            first = self.gaps.get(resolves, e)
            repeats = all(first.get("data", m) == e.get("data", m) for m in ("reason", "pointer"))
            if not repeats or e.get("data", "severity") != "info":
                self.find("inconsistent", "it does not repeat what it resolves, or is more than info", e)
            self.open.pop(resolves, None)
        elif e.get("data", "severity") == "info" and e.get("data", "reason", "category") == "capability_missing":
            # A preferred capability: the run does without it, and the gap stays open.
            if self.form not in ("blocked", "advanced"):
                self.find("inconsistent", "no attempt goes without a preferred capability here", e)
        else:
            self.open[e.get("data", "gapId")] = node
            if self.form == "start":
                self.begun.add(e.get("data", "gapId"))
            warns = self.form == "blocked" and (run, node) in self.acked
            if self.form in ("start", "blocked", "advanced") and e.get("data", "severity") != ("warning" if warns else "critical"):
                self.find("inconsistent", "severity does not go with the node", e)
            if self.form == "approval":
                words = clipped("Sent back by %s: %s" % (named(self.decided.get("by")), self.decided.get("reason")))
                if (e.get("data", "severity"), e.get("data", "summary")) != ("critical", words) or e.get("data", "reason") != {
                        "category": "user_only_dependency", "detail": "needs_user_approval"}:
                    self.find("inconsistent", "the gap is not that of the decision", e)
            elif self.form in ("advanced", "start") and self.modes.get((run, node)) != "full_auto_never_stop":
                self.find("inconsistent", "a gap that is not resolved, where nothing was gone around", e)
        self.gaps.setdefault(e.get("data", "gapId"), e)

    def _node_output_appended(self, e, run, node, created):
        replaces, place = e.get("data", "supersedesOutputId"), (run, node, e.get("data", "outputChannel"))
        self.broken(e, replaces is None or self.outputs.get(replaces) == place,
                    "%s is no output of this node and channel" % replaces)
        self.outputs.setdefault(e.get("data", "outputId"), place)
        if is_decided(e):
            self.approvals[node] = self.approvals.get(node, 0) + 1
            if self.form != "approval":
                self.find("inconsistent", "a decision that no person's decision wrote", e)

    def _facts(self, segment):
        """Ids of facts: of a start from the root, of an attempt from the attempt."""
        first, source, operation, counts = segment.events[0], None, "", {}
        if self.form in ("advanced", "blocked"):
            source, operation = first.id("data", "attemptId"), "ack"
        elif self.form in ("start", "fork"):
            roots = [e.id("scope", "nodeId") for e in segment.events if e.kind == "node_created"]
            source, operation = (roots or [None])[0], "start"
        elif self.form == "checkpoint":
            parent = first.id("data", "parentNodeId")
            source, operation = derive_id("attempt", parent, "checkpoint", self.checkpoints[parent] - 1), "checkpoint"
        elif self.form == "approval":
            node = first.id("scope", "nodeId")
            earlier = self.approvals[node] - sum(map(is_decided, segment.events))
            source, operation = derive_id("attempt", node, "approve", earlier), "approve"
        if source is None:
            return
        for e in segment.events:
            if e.kind in FACTS:
                prefix, member = FACTS[e.kind]
                n = counts[prefix] = counts.get(prefix, -1) + 1
                self._derived(e, e.text("data", member), prefix, source, operation, n)

    def _order(self, segment):
        """The order of section 8, whose events are whose, and which node they name."""
        events = segment.events
        first = events[0]
        form = self.form
        letters = "".join(LETTERS[e.kind] for e in events)
        if not re.fullmatch(ORDERS[form], letters):
            self.find("segment_order", "%s is no order of section 8 (%s)" % (letters, ORDERS[form]), first)
        allowed = dict(ACTORS, **OTHERS.get(form, {}))
        names = set()
        for letter, e in zip(letters, events):
            kind = e.text("actor", "kind")
            artifact = e.get("data", "payload", "artifactKind")
            wrong = artifact not in OBSERVED and (artifact in OWN) != (kind == "engine")
            if kind is not None and (kind not in allowed[letter] or letter == "O" and wrong):
                self.find("segment_order", "its actor is %s" % kind, e)
            if form == "checkpoint" and letter == "O" and e.id("scope", "nodeId") != first.id("scope", "nodeId") or (
                    form == "approval" and letter != "Z" and e.id("scope", "nodeId") != first.id("scope", "nodeId")):
                self.find("segment_order", "it names another node", e)
            if form in ("advanced", "blocked"):
                if letter not in "NECB" and e.id("scope", "nodeId") != first.id("scope", "nodeId"):
                    self.find("segment_order", "it names another node than was attempted", e)
                if letter == "B" and e.get("scope") is not None:
                    self.find("segment_order", "it has a scope", e)
                if letter == "C":
                    names.add((e.id("data", "nodeId"), e.text("data", "source")))
        to = first.id("data", "outcome", "toNodeId") if form == "advanced" else first.id("scope", "nodeId")
        if names - {(to, "agent_delta"), (None, "agent_delta")}:
            self.find("segment_order", "context_set names another node or source", first)
        places = [(e.text("data", "outputChannel") != "recap", e.text("data", "payload", "sha256") or "",
                   e.text("data", "payload", "contentType") or "") for e in events if e.kind == "node_output_appended"]
        if places != sorted(places) or sum(not p[0] for p in places) > 1:
            self.find("segment_order", "outputs are out of order", first)
