package engine

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
	"github.com/waybill/waybill/projections"
)

// annotations checks what a session's annotations say: that what each is about is there,
// and what it supersedes or retracts. They are read before the session is: whatever they
// name was durable before they were written.
func (w *verifier) annotations(ctx context.Context, s id.Session) ([]manifest.Finding, error) {
	c := newAnnotationCheck(annotationsLog(s))
	v, err := w.g.Logs.Read(ctx, ports.Reading{Log: c.log}, funcVisitor{c.visit, c.reset})
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err != nil {
		return unreadableLog(c.log, err), nil
	}
	if len(c.lines) > 0 {
		own, err := w.g.Logs.Read(ctx, ports.Reading{Log: manifest.SessionEvents(s)},
			funcVisitor{c.matchSession, c.resetMatches})
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		// Of a session that is not read to its end nobody can say what is not there.
		if found := c.missing(); len(found) > 0 && err == nil && own.Health == manifest.Healthy &&
			!w.truncatedOnRecord(ctx, s) {
			c.findings = append(c.findings, found...)
		}
	}
	return append(v.Findings, c.findings...), nil
}

// cutShort tells of a session whose end was taken away on record: by a repair, or before
// it came here. What annotations name may have gone with it.
func (w *verifier) truncatedOnRecord(ctx context.Context, s id.Session) bool {
	if w.g.Marks != nil {
		c, err := w.g.Marks.SessionControl(ctx, s, ports.ImportedFile)
		if mark, readErr := imported.Read(c.Data); err == nil && readErr == nil && mark.Salvage {
			return true
		}
	}
	store, err := w.g.Identity.StoreID(ctx, ports.ReadOnly)
	if err != nil || store.IsZero() {
		return false
	}
	trail := projections.NewAuditTrail(auditLog(store))
	_, _ = w.g.Logs.Read(ctx, ports.Reading{Log: auditLog(store)}, trail) // what is wrong with it is told elsewhere
	return slices.ContainsFunc(trail.Entries, func(e projections.AuditEntry) bool {
		return e.Action == audit.Repair && e.Target.ID == s.String()
	})
}

// bereft is the verdict over a session whose own log holds nothing: nil, since it is none
// yet, unless something was said of it. Annotations are written to what is durable alone,
// so that a session was there; of its log they say no more.
func (w *verifier) missingSessionLog(ctx context.Context, s id.Session) (*SessionVerdict, error) {
	log := annotationsLog(s)
	recorded, err := w.g.Logs.Read(ctx, ports.Reading{Log: log}, &verdictVisitor{})
	if err != nil || recorded.Head.IsZero() {
		return nil, nil // what cannot be read proves nothing
	}
	own, err := w.g.Logs.Read(ctx, ports.Reading{Log: manifest.SessionEvents(s)}, &verdictVisitor{})
	if err != nil || !own.Unborn() {
		return nil, err // it was restored while it was looked at
	}
	f := manifest.NewFinding(manifest.LostTail, log.Root,
		"%d events are about a session of whose own log nothing is here", recorded.Head.Next)
	return &SessionVerdict{SessionID: s, Health: own.Health, Findings: []manifest.Finding{f}}, nil
}

// annotationCheck is the check of one log of annotations. What it remembers grows with
// them, and not with the session.
type annotationCheck struct {
	log      manifest.Log
	findings []manifest.Finding
	unread   bool // a line could not be read: what others name may be its
	keys     map[string]bool
	owners   map[id.Annotation]id.Run
	lines    []annotationLine
	// What lines name, by what the session says of it: the zero value until it is met.
	runs   map[id.Run]bool
	nodes  map[id.Node]id.Run
	events map[id.Event]event.Scope
}

// annotationLine is a line whose names are looked for in the session.
type annotationLine struct {
	kind   string
	index  int64
	run    id.Run
	target feedback.Target
	at     id.Node
}

func newAnnotationCheck(log manifest.Log) *annotationCheck {
	c := &annotationCheck{log: log}
	c.reset()
	return c
}

func (c *annotationCheck) reset() {
	*c = annotationCheck{log: c.log, keys: map[string]bool{}, owners: map[id.Annotation]id.Run{},
		runs: map[id.Run]bool{}, nodes: map[id.Node]id.Run{}, events: map[id.Event]event.Scope{}}
}

func (c *annotationCheck) finding(code manifest.FindingCode, kind string, index int64, format string,
	args ...any) manifest.Finding {
	f := manifest.NewFinding(code, c.log.Root, "event %d (%s): %s", index, kind, fmt.Sprintf(format, args...))
	f.Event = &index
	return f
}

func (c *annotationCheck) find(code manifest.FindingCode, e event.Event, format string, args ...any) {
	c.findings = append(c.findings, c.finding(code, e.Data.Kind(), e.Index, format, args...))
}

// visit checks each line of a segment against those before it.
func (c *annotationCheck) visit(seg manifest.Segment) error {
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

// identity checks what makes a line the one that it is. A foreign line's key follows a
// recipe that is not ours.
func (c *annotationCheck) identity(e event.Event) {
	if e.Foreign() {
		return
	}
	key := e.DedupeKey()
	if c.keys[key] {
		c.find(manifest.DuplicateKey, e, "its dedupeKey %s stands twice", key)
	}
	c.keys[key] = true
	if e.Actor.Kind != "" && e.ID != id.EventOf(e.Owner, key) {
		c.find(manifest.EventIDMismatch, e, "its eventId %s does not follow from its dedupeKey", e.ID)
	}
}

// named finds fault with an annotation that is not among those of the run before.
func (c *annotationCheck) checkReference(e event.Event, name id.Annotation, relation string) {
	if run, ok := c.owners[name]; !name.IsZero() && !c.unread && (!ok || run != e.Scope.RunID) {
		c.find(manifest.BrokenReference, e, "it %s annotation %s, and its run had none of that id", relation, name)
	}
}

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

// look ticks off what a segment of the session holds.
func (c *annotationCheck) matchSession(seg manifest.Segment) error {
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

// overlook forgets what was ticked off.
func (c *annotationCheck) resetMatches() {
	lines := c.lines
	c.lines, c.runs, c.nodes, c.events = nil, map[id.Run]bool{}, map[id.Node]id.Run{}, map[id.Event]event.Scope{}
	for _, l := range lines {
		c.expectNamed(l)
	}
}

// missing tells of each line the first thing that it names and the session does not hold.
func (c *annotationCheck) missing() (out []manifest.Finding) {
	for _, l := range c.lines {
		t := l.target
		broken := func(format string, args ...any) {
			out = append(out, c.finding(manifest.BrokenReference, l.kind, l.index, format, args...))
		}
		of := c.events[t.EventID]
		switch {
		case !c.runs[l.run]:
			broken("run %s is none of the session", l.run)
		case !t.NodeID.IsZero() && c.nodes[t.NodeID] != l.run:
			broken("it is about node %s, which is none of its run", t.NodeID)
		case !l.at.IsZero() && c.nodes[l.at] != l.run:
			broken("it stands at node %s, which is none of its run", l.at)
		case !t.EventID.IsZero() && of.RunID != l.run:
			broken("it is about event %s, which is none of its run", t.EventID)
		case !t.EventID.IsZero() && of.NodeID != l.at:
			broken("it stands at node %q, and event %s is about node %q", l.at, t.EventID, of.NodeID)
		}
	}
	return out
}
