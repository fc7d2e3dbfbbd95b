package verify

import (
	"context"
	"fmt"
	"slices"

	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/learning/feedback"
	"github.com/waybill/waybill/durable/log/audit"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/store/imported"
	"github.com/waybill/waybill/ports"
	auditview "github.com/waybill/waybill/projections/audit"
)

// annotations verifies a session's annotations: that the run, node and event
// that each names exist, and the annotations it supersedes or retracts. The
// annotations are read before the session: everything that they name was
// durable before they were written.
func (w *storeCheck) annotations(ctx context.Context, s id.Session) ([]manifest.Finding, error) {
	log := feedback.LogOf(s)
	c := newAnnotationCheck(log)
	v, err := w.store.Read(ctx, ports.ReadRequest{Log: log},
		ports.Into(&c, func() *annotationCheck { return newAnnotationCheck(log) }))
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err != nil {
		return unreadableLog(log, err)
	}
	if len(c.lines) > 0 {
		own, err := w.store.Read(ctx, ports.ReadRequest{Log: manifest.SessionEvents(s)},
			func(manifest.Head) ports.Visitor { return c.matcher() })
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		// If the session was not read to its end, absence proves nothing.
		if found := c.missing(); len(found) > 0 && err == nil && own.Health == manifest.Healthy &&
			!w.truncatedOnRecord(ctx, s) {
			c.findings = append(c.findings, found...)
		}
	}
	return append(v.Findings, c.findings...), nil
}

// truncatedOnRecord reports that the end of a session was removed on record, by
// a repair here or by a salvage before its import. What annotations name may
// have been removed with it.
func (w *storeCheck) truncatedOnRecord(ctx context.Context, s id.Session) bool {
	if w.bundle {
		return false
	}
	c, err := w.store.SessionControl(ctx, s, ports.ImportedFile)
	if mark, readErr := imported.Read(c.Data); err == nil && readErr == nil && mark.Salvage {
		return true
	}
	store, err := w.store.StoreID(ctx, ports.ReadOnly)
	if err != nil || store.IsZero() {
		return false
	}
	log := audit.LogOf(store)
	history := auditview.NewHistory(log)
	// Damage of the audit log is reported by its own check.
	_, _ = w.store.Read(ctx, ports.ReadRequest{Log: log},
		ports.Into(&history, func() *auditview.History { return auditview.NewHistory(log) }))
	return slices.ContainsFunc(history.Entries, func(e auditview.Entry) bool {
		return e.Action == audit.Repair && e.Target.ID == s.String()
	})
}

// missingSessionLog returns the verdict over a session whose own log is empty:
// nil, because such a session does not exist yet, unless it has annotations.
// These are written only after the session's events are durable, so the session
// existed and its log is lost.
func (w *storeCheck) missingSessionLog(ctx context.Context, s id.Session) (*SessionVerdict, error) {
	log := feedback.LogOf(s)
	recorded, err := w.store.Read(ctx, ports.ReadRequest{Log: log}, ports.Skip)
	if err != nil || recorded.Head.IsZero() {
		return nil, nil // unreadable annotations prove nothing
	}
	own, err := w.store.Read(ctx, ports.ReadRequest{Log: manifest.SessionEvents(s)}, ports.Skip)
	if err != nil || !own.Unborn() {
		return nil, err // it was restored between the two readings
	}
	f := manifest.NewFinding(manifest.LostTail, log.Root,
		"%d events are about a session whose own log is empty", recorded.Head.Next)
	return &SessionVerdict{SessionID: s, Health: own.Health, Findings: []manifest.Finding{f}}, nil
}

// annotationCheck verifies one log of annotations. Its memory grows with the
// annotations and not with the session.
type annotationCheck struct {
	log      manifest.Log
	findings []manifest.Finding
	// unread reports a line that was not decoded; an unknown annotation id may
	// belong to it.
	unread bool
	keys   map[string]bool
	owners map[id.Annotation]id.Run
	lines  []annotationLine
	// What the lines name, with what the session records about it: the zero
	// value until it is found.
	runs   map[id.Run]bool
	nodes  map[id.Node]id.Run
	events map[id.Event]event.Scope
}

// annotationLine is a line whose references are looked up in the session.
type annotationLine struct {
	kind   string
	index  int64
	run    id.Run
	target feedback.Target
	at     id.Node
}

// newAnnotationCheck returns a check for one log, without any line.
func newAnnotationCheck(log manifest.Log) *annotationCheck {
	return &annotationCheck{log: log, keys: map[string]bool{}, owners: map[id.Annotation]id.Run{},
		runs: map[id.Run]bool{}, nodes: map[id.Node]id.Run{}, events: map[id.Event]event.Scope{}}
}

// finding builds a finding about a line.
func (c *annotationCheck) finding(code manifest.FindingCode, kind string, index int64, format string,
	args ...any) manifest.Finding {
	f := manifest.NewFinding(code, c.log.Root, "event %d (%s): %s", index, kind, fmt.Sprintf(format, args...))
	f.Event = &index
	return f
}

// find adds a finding about an event.
func (c *annotationCheck) find(code manifest.FindingCode, e event.Event, format string, args ...any) {
	c.findings = append(c.findings, c.finding(code, e.Data.Kind(), e.Index, format, args...))
}

// Visit checks each line of a segment against the lines before it.
func (c *annotationCheck) Visit(seg manifest.Segment, _ manifest.Head) error {
	for _, e := range seg.Events {
		c.identity(e)
		l := annotationLine{kind: e.Data.Kind(), index: e.Index, run: e.Scope.RunID}
		switch p := e.Data.(type) {
		case feedback.Recorded:
			c.checkReference(e, p.SupersedesAnnotationID, "supersedes")
			if _, twice := c.owners[p.AnnotationID]; !twice {
				c.owners[p.AnnotationID] = e.Scope.RunID
			}
			l.target, l.at = p.Target, p.At.NodeID
		case feedback.Retracted:
			c.checkReference(e, p.AnnotationID, "retracts")
		default:
			c.unread = true
			continue
		}
		c.expectNamed(l)
	}
	return nil
}

// identity checks that the event id follows from the dedupe key, and that the
// key is unique. Foreign lines derive their keys differently and are skipped.
func (c *annotationCheck) identity(e event.Event) {
	if e.Foreign() {
		return
	}
	key := e.DedupeKey()
	if c.keys[key] {
		c.find(manifest.DuplicateKey, e, "its dedupeKey %s is not unique", key)
	}
	c.keys[key] = true
	if e.Actor.Kind != "" && e.ID != id.EventOf(e.Owner, key) {
		c.find(manifest.EventIDMismatch, e, "its eventId %s does not follow from its dedupeKey", e.ID)
	}
}

// checkReference adds a finding if a line names an annotation that is not among
// those of the same run before it.
func (c *annotationCheck) checkReference(e event.Event, name id.Annotation, relation string) {
	if run, ok := c.owners[name]; !name.IsZero() && !c.unread && (!ok || run != e.Scope.RunID) {
		c.find(manifest.BrokenReference, e, "it %s annotation %s, which its run did not have", relation, name)
	}
}

// expectNamed records what a line names, to be found in the session.
func (c *annotationCheck) expectNamed(l annotationLine) {
	c.lines = append(c.lines, l)
	c.runs[l.run] = false
	for _, n := range []id.Node{l.target.NodeID, l.at} {
		if !n.IsZero() {
			c.nodes[n] = id.Run{}
		}
	}
	if !l.target.EventID.IsZero() {
		c.events[l.target.EventID] = event.Scope{}
	}
}

// matchSession marks what a segment of the session contains.
func (c *annotationCheck) matchSession(seg manifest.Segment, _ manifest.Head) error {
	for _, e := range seg.Events {
		if _, wanted := c.events[e.ID]; wanted {
			c.events[e.ID] = e.Scope
		}
		switch e.Data.(type) {
		case event.RunStarted:
			if _, wanted := c.runs[e.Scope.RunID]; wanted {
				c.runs[e.Scope.RunID] = true
			}
		case event.NodeCreated:
			if _, wanted := c.nodes[e.Scope.NodeID]; wanted {
				c.nodes[e.Scope.NodeID] = e.Scope.RunID
			}
		}
	}
	return nil
}

// matcher returns the visitor of another reading of the session's log.
func (c *annotationCheck) matcher() ports.Visitor {
	lines := c.lines
	c.lines, c.runs, c.nodes, c.events = nil, map[id.Run]bool{}, map[id.Node]id.Run{}, map[id.Event]event.Scope{}
	for _, l := range lines {
		c.expectNamed(l)
	}
	return ports.VisitorFunc(c.matchSession)
}

// missing returns one finding per line: the first thing it names that the
// session does not contain.
func (c *annotationCheck) missing() (out []manifest.Finding) {
	for _, l := range c.lines {
		t := l.target
		broken := func(format string, args ...any) {
			out = append(out, c.finding(manifest.BrokenReference, l.kind, l.index, format, args...))
		}
		of := c.events[t.EventID]
		switch {
		case !c.runs[l.run]:
			broken("run %s is not in the session", l.run)
		case !t.NodeID.IsZero() && c.nodes[t.NodeID] != l.run:
			broken("it is about node %s, which is not in its run", t.NodeID)
		case !l.at.IsZero() && c.nodes[l.at] != l.run:
			broken("it is at node %s, which is not in its run", l.at)
		case !t.EventID.IsZero() && of.RunID != l.run:
			broken("it is about event %s, which is not in its run", t.EventID)
		case !t.EventID.IsZero() && of.NodeID != l.at:
			broken("it is at node %q, and event %s is about node %q", l.at, t.EventID, of.NodeID)
		}
	}
	return out
}
