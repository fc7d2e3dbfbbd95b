package suite

import (
	"encoding/binary"
	"errors"
	"fmt"
	"strings"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/log/manifest"
)

// Story is one run of a session as a test commits it: a start, then advances, with sizes like those
// of real ones.
type Story struct {
	Session id.Session
	RunID   id.Run
	Log     manifest.Log

	workflow manifest.Object
	node     id.Node
	step     int
}

// Seed is entropy that a test can repeat.
func Seed(n int) (s id.Seed) {
	binary.LittleEndian.PutUint64(s[:], uint64(n))
	return s
}

// NewStory is the n-th story; two stories have no id in common.
func NewStory(n int) *Story {
	r := &Story{Session: id.NewSession(Seed(n)), RunID: id.NewRun(Seed(n))}
	r.Log = manifest.SessionEvents(r.Session)
	steps := strings.Repeat(`{"id":"step","prompt":"Look at what is there, and say what you see."},`, 12)
	r.workflow = manifest.Object{Kind: manifest.Workflow, Bytes: fmt.Appendf(nil, `{"n":%d,"steps":[%s{}]}`, n, steps)}
	r.node = id.RootNode(r.RunID)
	return r
}

// Snapshot is the n-th snapshot of the run.
func (r *Story) Snapshot(n int) manifest.Object {
	return manifest.Object{Kind: manifest.Snapshot, Bytes: fmt.Appendf(nil,
		`{"enginePayload":{"engineState":{"kind":"running","step":%d},"v":1},"kind":"execution_snapshot","of":"%s","pad":"%s","v":1}`,
		n, r.RunID, strings.Repeat("s", 480))}
}

var actor = event.Actor{Kind: event.Engine}

const atMs = 1_760_000_000_000

func (r *Story) event(index int64, s event.Scope, data event.Payload) event.Event {
	return event.New(r.Session.String(), index, s, actor, atMs+index, data)
}

// Start is a plan that starts the session: session_created, run_started and
// node_created, with a snapshot and the pinned workflow.
func (r *Story) Start() manifest.Plan {
	run, node := event.Scope{RunID: r.RunID}, event.Scope{RunID: r.RunID, NodeID: r.node}
	snapshot := r.Snapshot(0)
	r.step = 0
	return manifest.Plan{
		Log: r.Log,
		Events: []event.Event{
			r.event(0, event.Scope{}, event.SessionCreated{}),
			r.event(1, run, event.RunStarted{
				WorkflowID: "test.flow", WorkflowHash: r.workflow.Ref(), WorkflowSourceKind: event.SourceProject,
				WorkflowSourceRef: "flow.json",
			}),
			r.event(2, node, event.NodeCreated{NodeKind: event.StepNode, SnapshotRef: snapshot.Ref(),
				WorkflowHash: r.workflow.Ref()}),
		},
		Objects: []manifest.Object{snapshot, r.workflow},
	}
}

// Advance is a plan of three events, advance_recorded, node_created and
// edge_created, behind an index, with a new snapshot.
func (r *Story) Advance(next int64) manifest.Plan {
	r.step++
	attempt := id.NextAttempt(r.node, id.OpAck, 0)
	child := id.ChildNode(r.node, attempt, id.OpAck)
	snapshot := r.Snapshot(r.step)
	parent := r.node
	recorded := r.event(next, event.Scope{RunID: r.RunID, NodeID: parent}, event.AdvanceRecorded{
		AttemptID: attempt, Intent: event.IntentAckPending, Outcome: event.AdvancedTo(child),
		RequestDigest: snapshot.Ref(),
	})
	r.node = child
	return manifest.Plan{
		Log: r.Log,
		Events: []event.Event{
			recorded,
			r.event(next+1, event.Scope{RunID: r.RunID, NodeID: child}, event.NodeCreated{
				NodeKind: event.StepNode, ParentNodeID: &parent, SnapshotRef: snapshot.Ref(),
				WorkflowHash: r.workflow.Ref(),
			}),
			r.event(next+2, event.Scope{RunID: r.RunID}, event.EdgeCreated{
				Cause: event.Cause{EventID: recorded.ID, Kind: event.IntentionalFork}, EdgeKind: event.AckedStepEdge,
				FromNodeID: parent, ToNodeID: child,
			}),
		},
		Objects: []manifest.Object{snapshot},
	}
}

// Note is the event of a side log: it shows that logs do not depend on the union of session events.
type Note struct {
	Text   string       `json:"text"`
	PinRef canon.Digest `json:"pin,omitzero"`
}

// Kind is "note_appended".
func (Note) Kind() string { return "note_appended" }

// DedupeKey allows one note of a text's digest.
func (n Note) DedupeKey(owner string, _ event.Scope) string {
	return "note_appended:" + owner + ":" + canon.Sum([]byte(n.Text)).String()
}

// Check refuses empty notes.
func (n Note) Check(event.Scope) error {
	if n.Text == "" {
		return errors.New("text is empty")
	}
	return nil
}

// Pin is a snapshot that the note keeps.
func (n Note) Pin() canon.Digest { return n.PinRef }

// The side logs of tests: one beside a session, one of a store.
var (
	sessionNotes = event.NewTable("notes", "sessionId", event.Row[Note](event.NoScope))
	storeNotes   = event.NewTable("notes", "storeId", event.Row[Note](event.NoScope))
)

// SessionNotes is a side log of a session.
func SessionNotes(s id.Session) manifest.Log {
	return manifest.Log{Root: "sessions/" + s.String() + "/notes", Owner: s.String(), Table: sessionNotes}
}

// StoreNotes is a log of the store, with a lock of its own.
func StoreNotes(s id.Store) manifest.Log {
	return manifest.Log{Root: "notes", Owner: s.String(), Table: storeNotes}
}

// Notes is a plan for a side log.
func Notes(log manifest.Log, next int64, texts ...string) manifest.Plan {
	p := manifest.Plan{Log: log}
	for i, text := range texts {
		p.Events = append(p.Events, event.New(log.Owner, next+int64(i), event.Scope{}, actor, atMs, Note{Text: text}))
	}
	return p
}
