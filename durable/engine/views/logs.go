package views

import (
	"context"
	"slices"
	"strconv"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/engine/session"
	"github.com/waybill/waybill/durable/engine/submitted"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/paging"
	"github.com/waybill/waybill/durable/run/check"
	"github.com/waybill/waybill/durable/run/command"
	"github.com/waybill/waybill/durable/run/snapshot"
	"github.com/waybill/waybill/durable/workflow/compile"
	"github.com/waybill/waybill/projections/runs"
)

// StreamName is the closed set of outputs of a command.
type StreamName string

// The streams.
const (
	Stdout StreamName = "stdout"
	Stderr StreamName = "stderr"
	// BothStreams is the output of a record of an earlier version, which did not keep them apart.
	BothStreams StreamName = "output"
)

// Logs is the document "logs": what the command steps and the checks of a run printed.
type Logs struct {
	RunID      id.Run     `json:"runId"`
	SessionID  id.Session `json:"sessionId"`
	Entries    []LogEntry `json:"entries"`
	NextCursor string     `json:"nextCursor,omitzero"`
}

// LogEntry is what one performance of a command or a check printed to one stream, in its last try.
type LogEntry struct {
	RunID           id.Run       `json:"runId"`
	StepID          string       `json:"stepId"`
	StepInstanceKey string       `json:"stepInstanceKey"`
	CheckID         string       `json:"checkId,omitzero"` // "" for the command of a step
	NodeID          id.Node      `json:"nodeId"`
	Title           string       `json:"title"`
	EventIndex      int64        `json:"eventIndex"`
	AtMs            int64        `json:"atMs,omitzero"`
	SHA256          canon.Digest `json:"sha256,omitzero"` // of the record
	Outcome         string       `json:"outcome"`         // in words
	ExitStatus      int64        `json:"exitStatus"`
	DurationMs      int64        `json:"durationMs"`
	Tries           int64        `json:"tries"`
	ResultNote      string       `json:"resultNote,omitzero"`
	LogStream
	// Unreadable says why nothing of the record can be shown, "" if it can.
	Unreadable string `json:"unreadable,omitzero"`
}

// LogStream is what is stored of a stream: head and tail, with the number of bytes between them.
type LogStream struct {
	Stream       StreamName `json:"stream"`
	Head         string     `json:"head"`
	Tail         string     `json:"tail,omitzero"`
	Bytes        int64      `json:"bytes"`
	OmittedBytes int64      `json:"omittedBytes,omitzero"`
}

// LogQuery selects entries of Logs.
type LogQuery struct {
	Run    string
	Step   string     // step id, loop id or step instance key; "": all
	Stream StreamName // Stdout or Stderr
	Cursor string     // NextCursor of the previous page
}

// isPrinted reports that artifacts of a kind hold what a command or a check printed.
func isPrinted(kind string) bool { return kind == command.Kind || kind == check.Kind }

// streamOf returns one stream of a result.
func streamOf(r command.Result, want StreamName) LogStream {
	s, name := r.Out(), want
	switch {
	case !r.Apart():
		name = BothStreams
	case want == Stderr:
		s = r.Err()
	}
	return LogStream{Stream: name, Head: s.Head, Tail: s.Tail, Bytes: s.Bytes, OmittedBytes: s.LeftOut()}
}

// streamsOf returns the streams that a result has.
func streamsOf(r command.Result) []LogStream {
	if !r.Apart() {
		return []LogStream{streamOf(r, Stdout)}
	}
	return []LogStream{streamOf(r, Stdout), streamOf(r, Stderr)}
}

// CommandLogs returns what the command steps and the checks of a run printed, in the order of the log, every performance
// that is recorded: of each iteration, and also the results that later ones replaced. A page ends
// before limits.AnswerBytesMax. Errors: RUN_NOT_FOUND, RUN_AMBIGUOUS, TOKEN_UNKNOWN_NODE for a step
// that the run has not.
func (o *Views) CommandLogs(ctx context.Context, q LogQuery) (Logs, error) {
	return session.Whole(o.store, func() (Logs, error) { return o.logs(ctx, q) })
}

func (o *Views) logs(ctx context.Context, q LogQuery) (Logs, error) {
	after := int64(-1)
	if q.Cursor != "" {
		n, err := strconv.ParseInt(q.Cursor, 10, 64)
		if err != nil {
			return Logs{}, fault.New(fault.ValidationError, "the cursor %q is not valid", q.Cursor).
				Suggest("Copy nextCursor unchanged from the previous page.")
		}
		after = n
	}
	at, err := session.Find(ctx, o.r, q.Run)
	if err != nil {
		return Logs{}, err
	}
	out := Logs{RunID: at.Run, SessionID: at.Session, Entries: []LogEntry{}}
	var size paging.Size
	for first := true; ; first = false {
		found, _, err := submitted.Read(ctx, o.store, at.Session, limits.ArtifactRowsMax, func(x submitted.Artifact) bool {
			return x.Index > after && x.Scope.RunID == at.Run && isPrinted(x.Payload.ArtifactKind)
		})
		if err != nil {
			return out, err
		}
		run, obs := found.Fold.Runs[at.Run], &observer{v: o}
		if run == nil || run.Tip.IsZero() {
			return Logs{}, at.NotRead()
		}
		w, _ := obs.workflow(ctx, run.Started.WorkflowHash) // without it steps have no titles
		if first {
			if err := o.hasStep(ctx, w, at, q.Step); err != nil {
				return out, err
			}
		}
		for _, x := range found.Outputs {
			entry, ok := obs.entry(ctx, w, x, found.Node(x), q)
			switch {
			case !ok:
			case !size.Fits(entry) && len(out.Entries) > 0:
				out.NextCursor = strconv.FormatInt(out.Entries[len(out.Entries)-1].EventIndex, 10)
				return out, nil
			default:
				out.Entries = append(out.Entries, entry)
			}
			after = x.Index
		}
		if !found.More {
			return out, nil
		}
	}
}

// hasStep is that of an observer for a run as a whole. Only what is no step of the workflow is looked for at its nodes.
func (o *Views) hasStep(ctx context.Context, w compile.View, at session.Found, ref string) error {
	if ref == "" || w.Has(ref) {
		return nil
	}
	found, err := o.r.Lookup(ctx, at.Run.String())
	if err != nil {
		return err
	}
	return (&observer{v: o}).hasStep(ctx, w, found.Run, ref)
}

// hasStep is nil for a step or loop that the run's workflow has, or a step instance that it reached.
func (o *observer) hasStep(ctx context.Context, w compile.View, r *runs.Run, ref string) error {
	if ref == "" || w.Has(ref) {
		return nil
	}
	for _, n := range r.Order {
		if p := o.pendingAt(ctx, r.Node(n)); p != nil && isNamed(*p, ref) {
			return nil
		}
	}
	return unknownStep(r.ID, ref)
}

// isNamed reports whether ref is the id of a step, its step instance key, or the id of a loop around it.
func isNamed(p snapshot.PendingStep, ref string) bool {
	return p.StepID == ref || p.Key() == ref ||
		slices.ContainsFunc(p.LoopPath, func(in snapshot.PathElement) bool { return in.LoopID == ref })
}

// Logs returns what commands printed of facts that Next returned.
func (f *Follower) Logs(ctx context.Context, facts []Fact, q LogQuery) (out []LogEntry) {
	obs := &observer{v: f.v}
	run := f.fold.Runs[f.Run]
	if run == nil {
		return nil
	}
	w, _ := obs.workflow(ctx, run.Started.WorkflowHash) // without it steps have no titles
	for _, fact := range facts {
		x, ok := submitted.Of(fact.Event)
		if !ok || !isPrinted(x.Payload.ArtifactKind) {
			continue
		}
		if e, ok := obs.entry(ctx, w, x, run.Node(x.Scope.NodeID), q); ok {
			out = append(out, e)
		}
	}
	return out
}

// HasStep is TOKEN_UNKNOWN_NODE for a step that neither the workflow nor the run had when it began to be followed.
func (f *Follower) HasStep(ctx context.Context, ref string) error {
	obs := &observer{v: f.v}
	w, _ := obs.workflow(ctx, f.begun.Started.WorkflowHash)
	return obs.hasStep(ctx, w, f.begun, ref)
}

// entry converts a recorded result; ok is false for one that the query does not select.
func (o *observer) entry(ctx context.Context, w compile.View, x submitted.Artifact, n *runs.Node, q LogQuery) (e LogEntry, ok bool) {
	e = LogEntry{RunID: x.Scope.RunID, NodeID: x.Scope.NodeID, EventIndex: x.Index, AtMs: x.TimestampMs,
		SHA256: x.Payload.SHA256, LogStream: LogStream{Stream: q.Stream}}
	named := q.Step == ""
	if n != nil {
		if p := o.pendingAt(ctx, n); p != nil {
			e.StepID, e.StepInstanceKey, e.Title = p.StepID, p.Key(), titleAt(w, *p, n)
			named = named || isNamed(*p, q.Step)
		}
	}
	if !named {
		return e, false
	}
	if x.Actor.Kind != event.Engine {
		e.ResultNote = runs.HandedInNote
	}
	r, err := o.printed(ctx, x, &e)
	if err != nil {
		e.Unreadable = fault.Of(err).Message
		return e, true
	}
	e.Outcome, e.ExitStatus, e.DurationMs, e.Tries = r.Outcome(), r.ExitStatus, r.DurationMs, r.Tries
	e.LogStream = streamOf(r, q.Stream)
	return e, true
}

// printed reads the result of a command, or that of a check as one, and which check it is.
func (o *observer) printed(ctx context.Context, x submitted.Artifact, e *LogEntry) (command.Result, error) {
	if x.Payload.ArtifactKind == command.Kind {
		return o.resultOf(ctx, x)
	}
	r, err := o.checkOf(ctx, x)
	e.CheckID = r.CheckID
	return command.Result{ExitStatus: r.Exit, Failure: r.Failure, DurationMs: r.DurationMs, Tries: 1, Stdout: &r.Stdout,
		Stderr: &r.Stderr}, err
}
