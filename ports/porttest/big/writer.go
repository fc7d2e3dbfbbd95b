// Package big writes stores with one long session, as no run of a bench could grow one
// in time: files are written as the format says, and nothing is synced. What it writes
// passes a full verification without findings.
package big

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/run/advance"
	"github.com/waybill/waybill/durable/run/snapshot"
	"github.com/waybill/waybill/durable/workflow/compile"
	"github.com/waybill/waybill/durable/workflow/source"
	"github.com/waybill/waybill/infra/filestore"
	"github.com/waybill/waybill/ports"
)

// Store is what was written.
type Store struct {
	Session                  id.Session
	Head                     manifest.Head
	Segments, Objects, Bytes int64
}

// Write makes a store in dir, which must not hold one, with a session of about so many
// events in segments of about per events; 0: each holds those of one append (6 to 8).
func Write(dir string, events, per int64) (Store, error) {
	c, err := create(dir)
	if err != nil {
		return Store{}, err
	}
	w, err := newWriter(dir, seed, c, per > 0)
	if err != nil {
		return Store{}, err
	}
	if err := w.begin(); err != nil {
		return Store{}, err
	}
	if err := w.flush(); err != nil {
		return Store{}, err
	}
	for w.next < events {
		if err := w.advance(); err != nil {
			return Store{}, err
		}
		if w.next-w.Head.Next >= per {
			if err := w.flush(); err != nil {
				return Store{}, err
			}
		}
	}
	err = w.close()
	return w.Store, err
}

// log is the session's.
func (w *writer) log() manifest.Log { return manifest.SessionEvents(w.Session) }

var seed = id.Seed{42}

// wide is the number of steps of each of the workflow's two families. A state pairs a pending step
// of one with completed steps of the other, so that wide*wide advances have snapshots of their own.
const wide = 300

// Workflow is the workflow of the sessions whose states are those of State.
func Workflow() (compile.Compiled, error) {
	var steps []string
	for i := range wide {
		steps = append(steps, fmt.Sprintf(`{"id":"step-%03d","title":"Step","prompt":"Do it."}`, i),
			fmt.Sprintf(`{"id":"done-%03d","title":"Done","prompt":"Do it."}`, i))
	}
	_, c, problems := compile.File("bench.json", source.SourceProject, []byte(
		`{"id":"bench.big","name":"Big","description":"d","version":"1.0.0","steps":[`+strings.Join(steps, ",")+`]}`))
	if source.HasErrors(problems) {
		return c, fmt.Errorf("%v", problems)
	}
	return c, nil
}

// State is the nth state: those of n below 90,000 differ.
func State(n int64) (step string, s snapshot.State) {
	step = fmt.Sprintf("step-%03d", n%wide)
	var done []string
	for i := range int64(3) {
		done = append(done, fmt.Sprintf("done-%03d", (n/wide+i)%wide))
	}
	return step, snapshot.At(step, nil, done)
}

// writer composes one session.
type writer struct {
	Store
	dir      string
	lean     bool
	run      id.Run
	workflow compile.Compiled

	node    id.Node
	n       int64 // advances
	next    int64
	events  []event.Event   // not written yet
	ending  string          // the end of the next notes
	known   map[string]bool // the objects that are written
	atMs    int64
	control *bufio.Writer
	file    *os.File
}

// create makes a store without sessions, and returns the workflow of those that it gets.
func create(dir string) (compile.Compiled, error) {
	s, err := filestore.OpenDir(dir, filestore.Options{LockWait: time.Second})
	if err != nil {
		return compile.Compiled{}, err
	}
	defer s.Close()
	if _, err := s.StoreID(context.Background(), ports.MayCreate); err != nil {
		return compile.Compiled{}, err
	}
	// A store that holds a run has a keyring: verify finds control_missing without it.
	if _, err := s.Keys(context.Background(), ports.MayCreate); err != nil {
		return compile.Compiled{}, err
	}
	return Workflow()
}

// firstMs is the time of the first event.
const firstMs = 1_767_225_600_000

func newWriter(dir string, seed id.Seed, c compile.Compiled, lean bool) (*writer, error) {
	var err error
	w := &writer{dir: dir, Store: Store{Session: id.NewSession(seed)}, lean: lean, run: id.NewRun(seed), workflow: c,
		known: map[string]bool{}, atMs: firstMs}
	w.node = id.RootNode(w.run)
	if err := os.MkdirAll(filepath.Join(dir, filepath.FromSlash(w.log().Root), manifest.SegmentDir),
		0o700); err != nil {
		return nil, err
	}
	w.file, err = os.OpenFile(filepath.Join(dir, filepath.FromSlash(w.log().Root), manifest.FileName),
		os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	w.control = bufio.NewWriterSize(w.file, 1<<20)
	return w, nil
}

func (w *writer) begin() error {
	plan, _, err := advance.Begin(w.workflow,
		advance.Start{Session: w.Session, Run: w.run, SourceKind: event.SourceProject,
			SourceRef: "bench.json", Actor: event.Actor{Kind: event.Human, Ref: "sam"}, AtMs: w.atMs})
	if err != nil {
		return err
	}
	for _, o := range plan.Objects {
		if err := w.object(o); err != nil {
			return err
		}
	}
	w.events, w.next = plan.Events, int64(len(plan.Events))
	return nil
}

func (w *writer) object(o manifest.Object) error {
	ref := o.Ref().String()
	if w.known[ref] {
		return nil
	}
	w.known[ref] = true
	w.Objects++
	w.Bytes += int64(len(o.Bytes))
	name := filepath.Join(w.dir, filepath.FromSlash(manifest.ObjectDir(o.Kind)), manifest.ObjectName(o.Kind, o.Ref()))
	return os.WriteFile(name, o.Bytes, 0o600)
}

func (w *writer) add(s event.Scope, a event.Actor, p event.Payload) event.Event {
	e := event.New(w.Session.String(), w.next, s, a, w.atMs+w.n*1000, p)
	w.events, w.next = append(w.events, e), w.next+1
	return e
}

var (
	agent  = event.Actor{Kind: event.Agent, Ref: "reviewer"}
	engine = event.Actor{Kind: event.Engine}
)

// advance adds the events of one append, in the order of docs/design.md#event-order.
func (w *writer) advance() error {
	w.n++
	parent := w.node
	attempt := id.NextAttempt(parent, id.OpAck, 0)
	child, origin := id.ChildNode(parent, attempt, id.OpAck), id.FromAttempt(attempt, id.OpAck)
	step, s := State(w.n)
	state, err := s.Encode()
	if err != nil {
		return err
	}
	o := manifest.Object{Kind: manifest.Snapshot, Bytes: state}
	if err := w.object(o); err != nil {
		return err
	}
	at, run := event.Scope{RunID: w.run, NodeID: parent}, event.Scope{RunID: w.run}
	recorded := w.add(at, agent, event.AdvanceRecorded{AttemptID: attempt, Intent: event.IntentAckPending,
		Outcome: event.AdvancedTo(child), RequestDigest: canon.Sum([]byte(step))})
	if !w.lean {
		w.add(run, agent, event.ContextSet{ContextID: origin.Context(0), NodeID: &parent,
			Source: event.ContextAgentDelta, Context: canon.OfMembers(
				canon.Member{Name: "attempt", Value: canon.OfInt(w.n)},
				canon.Member{Name: "branch", Value: canon.OfString("fix/" + step)},
				canon.Member{Name: "files", Value: canon.OfList(canon.OfString("a.go"), canon.OfString("b.go"),
					canon.OfFloat(0.5))})})
	}
	w.add(at, engine, event.DecisionTraceAppended{TraceID: origin.Trace(0), Entries: []event.TraceEntry{
		{Kind: event.SelectedNextStep, Refs: []event.TraceRef{event.StepRef(step)},
			Summary: fmt.Sprintf("Step %q is next.", step)}}})
	w.add(event.Scope{RunID: w.run, NodeID: child}, engine,
		event.NodeCreated{NodeKind: event.StepNode, ParentNodeID: &parent, SnapshotRef: o.Ref(),
			WorkflowHash: w.workflow.Hash()})
	w.add(run, engine, event.EdgeCreated{EdgeKind: event.AckedStepEdge, FromNodeID: parent, ToNodeID: child,
		Cause: event.Cause{EventID: recorded.ID, Kind: event.IntentionalFork}})
	w.add(at, agent, event.NodeOutputAppended{OutputChannel: event.Recap, OutputID: origin.Output(0),
		Payload: event.OutputPayload{PayloadKind: event.Notes,
			NotesMarkdown: "Read the log of the failing job.\n\n- the cache was \"cold\"\n- " +
				strings.Repeat("it was tried again, ", int(w.n%8)) + "then it passed." + w.ending}})
	if !w.lean && w.n%2 == 0 {
		art := manifest.Object{Kind: manifest.Artifact,
			Bytes: fmt.Appendf(nil, `{"kind":"report","number":%d,"passed":true}`, w.n)}
		if err := w.object(art); err != nil {
			return err
		}
		w.add(at, agent, event.NodeOutputAppended{OutputChannel: event.Artifact, OutputID: origin.Output(1),
			Payload: event.OutputPayload{
				PayloadKind: event.ArtifactRef, SHA256: art.Ref(), ContentType: "application/json",
				ByteLength: int64(len(art.Bytes)), ArtifactKind: "report"}})
	}
	w.node = child
	return nil
}

// flush commits what was added as one segment.
func (w *writer) flush() error {
	if len(w.events) == 0 {
		return nil
	}
	seg, err := manifest.EncodeSegment(w.log(), w.events)
	if err != nil {
		return err
	}
	name := filepath.Join(w.dir, filepath.FromSlash(w.log().Root), manifest.SegmentDir, seg.Name())
	if err := os.WriteFile(name, seg.Bytes, 0o600); err != nil {
		return err
	}
	group := manifest.Group(w.log(), w.Head, seg)
	if _, err := w.control.Write(group); err != nil {
		return err
	}
	w.Head = w.Head.After(group, seg)
	w.Segments++
	w.Bytes += int64(len(seg.Bytes) + len(group))
	w.events = nil
	return nil
}

func (w *writer) close() error {
	if err := w.flush(); err != nil {
		return err
	}
	if err := w.control.Flush(); err != nil {
		return err
	}
	return w.file.Close()
}
