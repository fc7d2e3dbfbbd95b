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

// SessionFixture is a session with one run as a test commits it: Start once, then Advance any
// number of times. Its events and objects are valid and about as large as those of a real run. All
// ids, times and bytes depend on its number and on the number of calls only, so that two stories
// with the same number make the same plans. It is not safe for concurrent use.
type SessionFixture struct {
	Session id.Session
	RunID   id.Run
	Log     manifest.Log // the session's own log

	workflow manifest.Object // the pinned workflow
	node     id.Node         // the current node, which the next advance leaves
	step     int             // number of advances so far
}

// Seed returns the n-th seed for ids; it is the same in every run.
func Seed(n int) (s id.Seed) {
	binary.LittleEndian.PutUint64(s[:], uint64(n))
	return s
}

// NewSessionFixture returns the n-th fixture. Stories with different numbers have no id and no
// object in common.
func NewSessionFixture(n int) *SessionFixture {
	r := &SessionFixture{Session: id.NewSession(Seed(n)), RunID: id.NewRun(Seed(n))}
	r.Log = manifest.SessionEvents(r.Session)
	// About 900 bytes: a pinned workflow is larger than one sector of a disk.
	steps := strings.Repeat(`{"id":"step","prompt":"Look at what is there, and say what you see."},`, 12)
	r.workflow = manifest.Object{Kind: manifest.Workflow, Bytes: fmt.Appendf(nil, `{"n":%d,"steps":[%s{}]}`, n, steps)}
	r.node = id.RootNode(r.RunID)
	return r
}

// Snapshot returns the n-th snapshot of the run, about 600 bytes. Start commits number 0, the k-th
// advance number k.
func (r *SessionFixture) Snapshot(n int) manifest.Object {
	return manifest.Object{Kind: manifest.Snapshot, Bytes: fmt.Appendf(nil,
		`{"enginePayload":{"engineState":{"kind":"running","step":%d},"v":1},"kind":"execution_snapshot","of":"%s","pad":"%s","v":1}`,
		n, r.RunID, strings.Repeat("s", 480))}
}

// actor is the actor of all events.
var actor = event.Actor{Kind: event.Engine}

// atMs is the time of the first event, in milliseconds since 1970 UTC; each event is one later.
const atMs = 1_760_000_000_000

// event returns an event of the session with the given index.
func (r *SessionFixture) event(index int64, s event.Scope, data event.Payload) event.Event {
	return event.New(r.Session.String(), index, s, actor, atMs+index, data)
}

// Start returns the plan that creates the session: session_created, run_started and node_created as
// events 0 to 2, with a snapshot and the pinned workflow as objects.
func (r *SessionFixture) Start() manifest.Plan {
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

// Advance returns the plan of the next advance: advance_recorded, node_created and edge_created as
// events next to next+2, with a new snapshot. next must be the index behind the end of the log. A
// plan that is not committed still counts as a step: the following plan continues from its node.
func (r *SessionFixture) Advance(next int64) manifest.Plan {
	r.step++
	// As in a run, the attempt and the child follow from the node: they are not random.
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

// Note is the only kind of event in the side logs of tests. It is not a session event, which shows
// that stores take the kinds of a log from its table.
type Note struct {
	// Text must not be empty.
	Text string `json:"text"`
	// PinRef is the digest of a snapshot in the note's plan or in the store; zero: none. A store
	// keeps the snapshot as long as the note.
	PinRef canon.Digest `json:"pin,omitzero"`
}

// Kind returns "note_appended".
func (Note) Kind() string { return "note_appended" }

// DedupeKey allows one note with the same text in a log.
func (n Note) DedupeKey(owner string, _ event.Scope) string {
	return "note_appended:" + owner + ":" + canon.Sum([]byte(n.Text)).String()
}

// Check rejects a note without text.
func (n Note) Check(event.Scope) error {
	if n.Text == "" {
		return errors.New("text is empty")
	}
	return nil
}

// Pin returns the digest of the snapshot that the note pins; zero: none.
func (n Note) Pin() canon.Digest { return n.PinRef }

// The tables of the logs in tests: a side log of a session and a log of the store. They differ in
// the member of an event that names the owner.
var (
	sessionNotes = event.NewTable("notes", "sessionId", event.Row[Note](event.NoScope))
	storeNotes   = event.NewTable("notes", "storeId", event.Row[Note](event.NoScope))
)

// laterNotes is the table of the side log "notes" of a later version, which has another kind of event.
var laterNotes = event.NewTable("notes", "sessionId", event.Row[Note](event.NoScope), event.Row[laterNote](event.NoScope))

// laterNote is an event of a later version.
type laterNote struct{}

// Kind returns "later_note_appended".
func (laterNote) Kind() string { return "later_note_appended" }

// DedupeKey allows one event in a log.
func (laterNote) DedupeKey(owner string, _ event.Scope) string { return "later_note_appended:" + owner }

// Check accepts every event.
func (laterNote) Check(event.Scope) error { return nil }

// SessionNotes returns the side log "notes" of a session.
func SessionNotes(s id.Session) manifest.Log {
	return manifest.Log{Root: "sessions/" + s.String() + "/notes", Owner: s.String(), Table: sessionNotes}
}

// StoreNotes returns the log "notes" of the store, which has a lock of its own.
func StoreNotes(s id.Store) manifest.Log {
	return manifest.Log{Root: "notes", Owner: s.String(), Table: storeNotes}
}

// Notes returns a plan for SessionNotes or StoreNotes: one note for each text, from index next on.
func Notes(log manifest.Log, next int64, texts ...string) manifest.Plan {
	p := manifest.Plan{Log: log}
	for i, text := range texts {
		p.Events = append(p.Events, event.New(log.Owner, next+int64(i), event.Scope{}, actor, atMs, Note{Text: text}))
	}
	return p
}
