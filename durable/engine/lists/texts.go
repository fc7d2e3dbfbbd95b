package lists

import (
	"cmp"
	"context"
	"strings"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/engine/index"
	"github.com/waybill/waybill/durable/engine/session"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/learning/feedback"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/run/snapshot"
	"github.com/waybill/waybill/durable/sorting"
	"github.com/waybill/waybill/ports"
	"github.com/waybill/waybill/projections/annotations"
	"github.com/waybill/waybill/projections/runs"
)

// text is a text of a run with where it was recorded.
type text struct {
	in         Part
	run        id.Run
	node       id.Node
	snapshot   canon.Digest // of the node
	ref        canon.Digest // of an output
	annotation id.Annotation
	index      int64 // of the event
	text       string
}

// texts collects those texts of a session that are accepted, so that a session of thousands of steps is searched in
// little memory.
type texts struct {
	accept  func(text string) bool
	matched []text
	long    bool // some notes are longer than what the log holds of them
	// settled reports that the texts are a function of the files that the index observes.
	settled bool
}

// add adds a text if it is accepted.
func (t *texts) add(x text) {
	if x.text != "" && t.accept(x.text) {
		t.matched = append(t.matched, x)
	}
}

// searchedBytesMax bounds the artifacts that are searched: a larger one is a file and no text to be read.
const searchedBytesMax = 4 << 20

// textsOf returns the accepted texts of a session, those that were recorded last first. Annotations are at the
// beginning. Notes are those that no later notes of their branch replaced. The error is the end of the context.
func (o *Lists) textsOf(ctx context.Context, s id.Session, accept func(text string) bool) (texts, error) {
	out := texts{accept: accept}
	var c *collector
	_, v, err := session.ReadEach(ctx, o.r, s, func() func(event.Event) {
		c = newCollector(accept)
		return c.visit
	})
	if ctx.Err() != nil {
		return out, ctx.Err()
	}
	out.settled = err == nil && v.Health == manifest.Healthy && v.TailBytes == 0 && len(v.Orphans) == 0
	if c == nil {
		return out, nil
	}
	out.matched = c.plain
	for _, run := range c.order {
		for _, n := range c.notes.Of(run) {
			in := InNotes
			if n.Checkpoint {
				in = InCheckpoint
			}
			x := text{in: in, run: run, node: n.Node, snapshot: n.SnapshotRef, index: n.Index, text: n.Value}
			if !n.Whole.IsZero() {
				out.long = true
				if whole, ok := o.artifact(ctx, n.Whole, &out); ok && accept(whole) {
					x.text = whole
				}
			}
			if x.text != "" {
				out.matched = append(out.matched, x)
			}
		}
	}
	for _, x := range c.outputs {
		if data, ok := o.artifact(ctx, x.ref, &out); ok {
			x.snapshot, x.text = c.snapshots[x.node], plainText(data)
			out.add(x)
		}
	}
	for _, x := range c.untitled {
		w, err := o.r.Workflow(ctx, x.hash)
		out.settled = out.settled && err == nil
		x.text.text = cmp.Or(w.Name, x.workflow)
		out.add(x.text)
	}
	o.annotationsOf(ctx, s, c, &out)
	for i, x := range out.matched {
		if x.snapshot.IsZero() {
			out.matched[i].snapshot = c.snapshots[x.node]
		}
	}
	sorting.Stable(out.matched, func(a, b text) int { return cmp.Compare(b.index, a.index) })
	return out, ctx.Err()
}

// artifact reads an artifact. ok is false for one that was erased or cannot be read, and for one that is too large.
func (o *Lists) artifact(ctx context.Context, ref canon.Digest, t *texts) (data string, ok bool) {
	raw, err := o.r.Object(ctx, manifest.Artifact, ref)
	if err != nil {
		t.settled = false // the same bytes may be stored again
		return "", false
	}
	return string(raw), len(raw) <= searchedBytesMax
}

// annotationsOf adds the current annotations of a session, as they are shown. They are not searched where feedback is
// turned off, and the index has their words nevertheless.
func (o *Lists) annotationsOf(ctx context.Context, s id.Session, c *collector, out *texts) {
	var all *annotations.Log
	v, err := o.store.Read(ctx, ports.ReadRequest{Log: feedback.LogOf(s)}, ports.Into(&all, annotations.NewLog))
	out.settled = out.settled && err == nil && v.Health == manifest.Healthy && v.TailBytes == 0
	if err != nil || all == nil {
		return
	}
	for _, run := range c.order {
		for _, e := range all.Current(run) {
			node := e.Target.NodeID
			if node.IsZero() {
				node = e.Details.NodeID
			}
			out.add(text{in: InAnnotation, run: run, node: node, annotation: e.AnnotationID, index: c.next + e.Index,
				text: strings.Join([]string{e.Note, e.Signal.Correction, e.Signal.Label}, "\n")})
		}
	}
}

// collector collects texts of the events of a session.
type collector struct {
	accept    func(string) bool
	order     []id.Run
	notes     *runs.NotesFold[string] // "" for notes that are not accepted
	plain     []text
	outputs   []text // of artifacts, which are not read yet
	untitled  []untitled
	snapshots map[id.Node]canon.Digest
	next      int64
}

// untitled is a run that its workflow names.
type untitled struct {
	text
	hash     canon.Digest
	workflow string
}

func newCollector(accept func(string) bool) *collector {
	return &collector{accept: accept, snapshots: map[id.Node]canon.Digest{},
		notes: runs.NewNotesFold(func(text string) string {
			if text == "" || !accept(text) {
				return ""
			}
			return strings.Clone(text)
		})}
}

// visit visits an event.
func (c *collector) visit(e event.Event) {
	c.notes.Visit(e)
	c.next = e.Index + 1
	at := text{run: e.Scope.RunID, node: e.Scope.NodeID, index: e.Index}
	add := func(in Part, text string) {
		if text != "" && c.accept(text) {
			at.in, at.text = in, text
			c.plain = append(c.plain, at)
		}
	}
	switch p := e.Data.(type) {
	case event.RunStarted:
		c.order = append(c.order, e.Scope.RunID)
		add(InGoal, p.Goal)
		add(InTitle, p.Title)
		if at.in = InTitle; p.Name() == "" {
			c.untitled = append(c.untitled, untitled{at, p.WorkflowHash, p.WorkflowID})
		}
	case event.NodeCreated:
		c.snapshots[e.Scope.NodeID] = p.SnapshotRef
	case event.ContextSet:
		if p.NodeID != nil {
			at.node = *p.NodeID
		}
		add(InContext, textOf(p.Context))
	case event.NodeOutputAppended:
		if p.OutputChannel == event.Artifact && !p.Payload.IsFullNotes() && p.Payload.ByteLength <= searchedBytesMax {
			at.in, at.ref = InOutput, p.Payload.SHA256
			c.outputs = append(c.outputs, at)
		}
	}
}

// plainText is the text of an artifact: of a JSON document its names and values, one a line.
func plainText(data string) string {
	if v, err := canon.Parse([]byte(data)); err == nil && (v.Kind() == canon.Object || v.Kind() == canon.Array) {
		return textOf(v)
	}
	return data
}

// textOf is the text of a JSON value: each member as "name: value", one a line.
func textOf(v canon.Value) string {
	var out strings.Builder
	var walk func(name string, v canon.Value)
	walk = func(name string, v canon.Value) {
		switch v.Kind() {
		case canon.Object:
			for i := range v.Len() {
				walk(v.Key(i), v.Item(i))
			}
		case canon.Array:
			for i := range v.Len() {
				walk(name, v.Item(i))
			}
		default:
			if out.Len() > 0 {
				out.WriteByte('\n')
			}
			if name != "" {
				out.WriteString(name + ": ")
			}
			if v.Kind() == canon.String {
				out.WriteString(v.Text())
			} else {
				out.Write(v.JCS())
			}
		}
	}
	walk("", v)
	return out.String()
}

// stepAt returns the pending step of the node of a text, "" without one.
func (o *Lists) stepAt(ctx context.Context, t text) string {
	if t.snapshot.IsZero() || t.in == InTitle || t.in == InGoal {
		return ""
	}
	data, err := o.r.Object(ctx, manifest.Snapshot, t.snapshot)
	if err != nil {
		return ""
	}
	state, _ := snapshot.DecodeForeign(data)
	if p := state.PendingStep(); p != nil {
		return p.StepID
	}
	return ""
}

// words is index.Index.ReadWords: it passes all texts of a session, those too that are replaced.
func (o *Lists) words(ctx context.Context, s id.Session, add func(text string)) (about index.WordsOf, keep bool, err error) {
	before := o.store.Failures()
	t, err := o.textsOf(ctx, s, func(text string) bool {
		add(text)
		return false
	})
	return index.WordsOf{Long: t.long}, t.settled && o.store.Failures() == before, err
}
