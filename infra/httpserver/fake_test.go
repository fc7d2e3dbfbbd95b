package httpserver

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/learning/feedback"
	"github.com/waybill/waybill/durable/learning/proposal"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/log/idempotency"
	"github.com/waybill/waybill/durable/openwop"
	"github.com/waybill/waybill/durable/store/httpkeys"
)

// fakeHost is a Host in memory. Its runs have the events that a test appends.
type fakeHost struct {
	mu          sync.Mutex
	keys        []httpkeys.Key
	keysErr     error
	noFeedback  bool
	noProposals bool
	runs        map[string]*fakeRun
	byKey       map[string]string // runs by idempotency key
	bodies      map[string]string // what created them
	records     map[string]fakeRecord
	annotated   map[string][]feedback.Annotation
	drafts      map[string]proposal.Proposal
	pending     *PendingGate
	calls       []string
	fail        map[string]error // errors of use cases, by name
	block       chan struct{}    // when not nil, use cases that change something wait for it
	entered     chan string      // when not nil, gets the name of a use case that begins
	deaf        bool             // they wait though the request has ended
	request     context.Context  // of the last call
	onSnapshot  func()           // called once, before a snapshot is read
	feeds       atomic.Int64     // open feeds
	pageSize    int
}

type fakeRecord struct {
	digest canon.Digest
	out    Recorded
}

type fakeRun struct {
	mu      sync.Mutex
	id      string
	status  openwop.Status
	events  []openwop.RunEvent
	notes   []Notification
	changed chan struct{}
}

func newHost() *fakeHost {
	return &fakeHost{runs: map[string]*fakeRun{}, byKey: map[string]string{}, bodies: map[string]string{},
		records: map[string]fakeRecord{}, annotated: map[string][]feedback.Annotation{}, drafts: map[string]proposal.Proposal{},
		fail: map[string]error{}, pageSize: 100}
}

// addKey adds a key with a text and scopes.
func (h *fakeHost) addKey(name, text string, scopes ...httpkeys.Scope) {
	h.keys = append(h.keys, httpkeys.Key{Name: name, SHA256: canon.Sum([]byte(text)), Scopes: scopes})
}

func allScopes() []httpkeys.Scope {
	return []httpkeys.Scope{httpkeys.ManifestRead, httpkeys.RunsCreate, httpkeys.RunsRead, httpkeys.RunsCancel,
		httpkeys.FeedbackWrite, httpkeys.ProposalsAuthor, httpkeys.PacksPublish, httpkeys.ApprovalsRespond}
}

// begin records a call, and fails or waits as the test wants.
func (h *fakeHost) begin(ctx context.Context, name string, args ...any) error {
	h.mu.Lock()
	h.calls = append(h.calls, fmt.Sprint(append([]any{name}, args...)...))
	err, block, entered, ended := h.fail[name], h.block, h.entered, ctx.Done()
	h.request = ctx
	if h.deaf {
		ended = nil
	}
	h.mu.Unlock()
	if entered != nil {
		entered <- name
	}
	if block != nil {
		select {
		case <-block:
		case <-ended:
			return ctx.Err()
		}
	}
	if err != nil && err.Error() == "panic" {
		panic("a secret of the host: sk-abcdefghijklmnop")
	}
	return err
}

// set changes the host between requests.
func (h *fakeHost) set(change func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	change()
}

// failWith makes a use case fail, nil lets it succeed.
func (h *fakeHost) failWith(name string, err error) { h.set(func() { h.fail[name] = err }) }

func (h *fakeHost) called() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.calls)
}

func (h *fakeHost) Keys(context.Context) ([]httpkeys.Key, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.keys, h.keysErr
}

func (h *fakeHost) Discovery(ctx context.Context) (canon.Value, error) {
	if err := h.begin(ctx, "Discovery"); err != nil {
		return canon.Value{}, err
	}
	return canon.Parse([]byte(`{"protocolVersion":"1.1","supportedEnvelopes":[],"schemaVersions":{},` +
		`"limits":{"clarificationRounds":0,"maxRequestBodyBytes":7},"capabilities":{"limits":{"schemaRounds":0}}}`))
}

func (h *fakeHost) Workflow(ctx context.Context, workflow string) (canon.Value, error) {
	if err := h.begin(ctx, "Workflow", workflow); err != nil {
		return canon.Value{}, err
	}
	if workflow != "wr.demo" {
		return canon.Value{}, fault.New(fault.WorkflowNotFound, "no workflow has this id")
	}
	return canon.Parse([]byte(`{"id":"wr.demo","nodes":[]}`))
}

func (h *fakeHost) CreateRun(ctx context.Context, by event.Actor, key string, in openwop.CreateRun) (openwop.RunCreated, bool, error) {
	if err := h.begin(ctx, "CreateRun", by, key); err != nil {
		return openwop.RunCreated{}, false, err
	}
	if in.WorkflowID != "wr.demo" {
		return openwop.RunCreated{}, false, fault.New(fault.WorkflowNotFound, "no workflow has this id")
	}
	body, err := canon.Marshal(in)
	if err != nil {
		return openwop.RunCreated{}, false, err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if old := h.byKey[key]; key != "" && old != "" {
		if h.bodies[old] != string(body) {
			return openwop.RunCreated{}, false, mismatch()
		}
		return openwop.RunCreated{RunID: old, Status: h.runs[old].status}, true, nil
	}
	r := h.addRunLocked()
	h.byKey[key], h.bodies[r.id] = r.id, string(body)
	return openwop.RunCreated{RunID: r.id, Status: openwop.Pending}, false, nil
}

func (h *fakeHost) ForkRun(ctx context.Context, by event.Actor, key, run string, in openwop.ForkRun) (out openwop.RunForked,
	replayed bool, err error) {
	if err := h.begin(ctx, "ForkRun", by, key); err != nil {
		return out, false, err
	}
	body, err := canon.Marshal(in)
	if err != nil {
		return out, false, err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.runs[run] == nil {
		return out, false, fault.New(fault.RunNotFound, "no run has this id")
	}
	if in.FromSeq > 99 {
		return out, false, fault.New(fault.ForkPointInvalid, "the run has no such event")
	}
	key = "fork " + key
	old := h.byKey[key]
	switch {
	case key == "fork " || old == "":
		old = h.addRunLocked().id
		h.byKey[key], h.bodies[old] = old, run+string(body)
	case h.bodies[old] != run+string(body):
		return out, false, mismatch()
	default:
		replayed = true
	}
	return openwop.RunForked{RunID: old, SourceRunID: run, FromSeq: in.FromSeq, Mode: in.Mode, Status: openwop.Pending}, replayed, nil
}

// mismatch is the fault for an idempotency key that another request had.
func mismatch() error {
	return fault.New(fault.IdempotencyMismatch, "another request had the idempotency key")
}

func (h *fakeHost) addRun() *fakeRun {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.addRunLocked()
}

func (h *fakeHost) addRunLocked() *fakeRun {
	var raw [16]byte
	raw[0], raw[1] = byte(len(h.runs)), byte(len(h.runs)>>8)
	r := &fakeRun{id: id.NewRun(raw).String(), status: openwop.Running, changed: make(chan struct{})}
	h.runs[r.id] = r
	return r
}

func (h *fakeHost) find(run string) (*fakeRun, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if r := h.runs[run]; r != nil {
		return r, nil
	}
	return nil, fault.New(fault.RunNotFound, "the store holds no such run")
}

// add appends events of these types. A terminal one ends the run.
func (r *fakeRun) add(types ...openwop.EventType) *fakeRun {
	for _, t := range types {
		r.addWith(t, canon.OfMembers())
	}
	return r
}

func (r *fakeRun) addWith(t openwop.EventType, payload canon.Value) {
	r.mu.Lock()
	defer r.mu.Unlock()
	n := int64(len(r.events))
	r.events = append(r.events, openwop.RunEvent{EventID: fmt.Sprintf("evt_%d", n), RunID: r.id, Sequence: n, Type: t,
		Payload: payload, Timestamp: "2026-01-02T03:04:05.678Z"})
	if t.Terminal() {
		r.status = openwop.Status(t[len("run."):])
	}
	r.wake()
}

func (r *fakeRun) notify(t openwop.EventType, payload canon.Value) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.notes = append(r.notes, Notification{Type: t, Payload: payload, AtMs: 1})
	r.wake()
}

func (r *fakeRun) wake() {
	close(r.changed)
	r.changed = make(chan struct{})
}

func (h *fakeHost) Snapshot(ctx context.Context, run string) (openwop.Snapshot, error) {
	if err := h.begin(ctx, "Snapshot", run); err != nil {
		return openwop.Snapshot{}, err
	}
	var before func()
	h.set(func() { before, h.onSnapshot = h.onSnapshot, nil })
	if before != nil {
		before()
	}
	r, err := h.find(run)
	if err != nil {
		return openwop.Snapshot{}, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return openwop.Snapshot{RunID: run, WorkflowID: "wr.demo", Status: r.status, NodeStates: map[string]openwop.NodeState{},
		Variables: canon.OfMembers(), Metrics: openwop.Metrics{EventCount: int64(len(r.events))}}, nil
}

type fakeFeed struct {
	host  *fakeHost
	run   *fakeRun
	seen  int // notifications
	close sync.Once
}

func (h *fakeHost) Feed(ctx context.Context, run string) (Feed, error) {
	if err := h.begin(ctx, "Feed", run); err != nil {
		return nil, err
	}
	r, err := h.find(run)
	if err != nil {
		return nil, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	h.feeds.Add(1)
	return &fakeFeed{host: h, run: r, seen: len(r.notes)}, nil
}

func (f *fakeFeed) Close() { f.close.Do(func() { f.host.feeds.Add(-1) }) }

func (f *fakeFeed) now(after int64) (Chunk, <-chan struct{}, error) {
	f.host.mu.Lock()
	err, size := f.host.fail["Next"], f.host.pageSize
	f.host.mu.Unlock()
	if err != nil {
		return Chunk{}, nil, err
	}
	f.run.mu.Lock()
	defer f.run.mu.Unlock()
	from := min(max(after+1, 0), int64(len(f.run.events)))
	to := min(from+int64(size), int64(len(f.run.events)))
	out := Chunk{Events: slices.Clone(f.run.events[from:to]), Notifications: slices.Clone(f.run.notes[f.seen:]),
		Ended: f.run.status.Terminal() && to == int64(len(f.run.events))}
	f.seen = len(f.run.notes)
	return out, f.run.changed, nil
}

func (f *fakeFeed) Now(_ context.Context, after int64) (Chunk, error) {
	out, _, err := f.now(after)
	return out, err
}

func (f *fakeFeed) Next(ctx context.Context, after int64) (Chunk, error) {
	for {
		out, changed, err := f.now(after)
		if err != nil || out.Ended || len(out.Events)+len(out.Notifications) > 0 {
			return out, err
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return Chunk{}, ctx.Err()
		}
	}
}

func (h *fakeHost) Cancel(ctx context.Context, by event.Actor, run, reason string) (openwop.RunState, error) {
	if err := h.begin(ctx, "Cancel", by, run, reason); err != nil {
		return openwop.RunState{}, err
	}
	r, err := h.find(run)
	if err != nil {
		return openwop.RunState{}, err
	}
	r.mu.Lock()
	ended := r.status.Terminal()
	r.mu.Unlock()
	if !ended {
		r.add(openwop.RunCancelled)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return openwop.RunState{RunID: run, Status: r.status}, nil
}

func (h *fakeHost) Pause(ctx context.Context, by event.Actor, run string, in openwop.PauseRun) (openwop.RunPause, error) {
	if err := h.begin(ctx, "Pause", by, run, string(in.DrainPolicy), in.Reason); err != nil {
		return openwop.RunPause{}, err
	}
	r, err := h.find(run)
	if err != nil {
		return openwop.RunPause{}, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.status != openwop.Running && r.status != openwop.Pending {
		return openwop.RunPause{}, fault.New(fault.RunPaused, "it is %s", r.status).With("runStatus", string(r.status))
	}
	r.status = openwop.Paused
	return openwop.RunPause{RunID: run, Status: r.status, PausedAt: "2023-11-14T22:13:20.000Z"}, nil
}

func (h *fakeHost) Resume(ctx context.Context, by event.Actor, run, reason string) (openwop.RunState, error) {
	if err := h.begin(ctx, "Resume", by, run, reason); err != nil {
		return openwop.RunState{}, err
	}
	r, err := h.find(run)
	if err != nil {
		return openwop.RunState{}, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.status != openwop.Paused {
		return openwop.RunState{}, fault.New(fault.RunWaiting, "it is %s", r.status).With("runStatus", string(r.status))
	}
	r.status = openwop.Running
	return openwop.RunState{RunID: run, Status: r.status}, nil
}

func (h *fakeHost) FeedbackProvided(context.Context) (bool, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return !h.noFeedback, h.fail["Provided"]
}

func (h *fakeHost) ProposalsProvided(context.Context) (bool, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return !h.noProposals, h.fail["Provided"]
}

func (h *fakeHost) Annotate(ctx context.Context, by event.Actor, key, run string, in canon.Value) (v canon.Value, err error) {
	var out feedback.Annotation
	if err := h.begin(ctx, "Annotate", by, key); err != nil {
		return v, err
	}
	r, err := h.find(run)
	if err != nil {
		return v, err
	}
	create, err := feedback.ParseCreate(in.JCS())
	if err != nil {
		return v, err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	runID, err := id.ParseRun(run)
	out = feedback.Annotation{AnnotationID: id.NewAnnotation([16]byte{byte(len(h.annotated[run]))}), Signal: create.Signal,
		Target: feedback.RunTarget{RunID: runID}, Actor: feedback.Principal{PrincipalRef: by.Ref}, CreatedAt: timestamp(0)}
	h.annotated[run] = append(h.annotated[run], out)
	v, _ = canon.ValueOf(out)
	r.notify(openwop.RunAnnotated, v)
	return v, err
}

func (h *fakeHost) Annotations(ctx context.Context, run string) (all []canon.Value, err error) {
	if err := h.begin(ctx, "Annotations", run); err != nil {
		return nil, err
	}
	if _, err := h.find(run); err != nil {
		return nil, err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, a := range h.annotated[run] {
		v, _ := canon.ValueOf(a)
		all = append(all, v)
	}
	return all, nil
}

// addProposal adds a draft.
func (h *fakeHost) addProposal() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	p := id.NewProposal([16]byte{byte(len(h.drafts))})
	h.drafts[p.String()] = proposal.Proposal{ID: p, Kind: proposal.PromptTemplate, State: proposal.StateDraft, Title: "first",
		Artifact: canon.OfMembers(), Owner: proposal.Owner{Tenant: "local"}, CreatedAt: timestamp(0), UpdatedAt: timestamp(0)}
	return p.String()
}

func (h *fakeHost) Proposals(ctx context.Context, state, kind string) (out []proposal.Proposal, err error) {
	if err := h.begin(ctx, "Proposals", state, " ", kind); err != nil {
		return nil, err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, name := range slices.Sorted(maps.Keys(h.drafts)) {
		if p := h.drafts[name]; (state == "" || state == string(p.State)) && (kind == "" || kind == string(p.Kind)) {
			out = append(out, p)
		}
	}
	return out, nil
}

// change applies a change to a proposal.
func (h *fakeHost) change(ctx context.Context, name, proposalID string, do func(*proposal.Proposal) error) (out proposal.Proposal, err error) {
	if err := h.begin(ctx, name, proposalID); err != nil {
		return out, err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	p, ok := h.drafts[proposalID]
	if !ok {
		return out, fault.New(fault.ProposalNotFound, "the store has no such proposal")
	}
	if err := do(&p); err != nil {
		return out, err
	}
	h.drafts[proposalID] = p
	return p, nil
}

func (h *fakeHost) Proposal(ctx context.Context, proposalID string) (proposal.Proposal, error) {
	return h.change(ctx, "Proposal", proposalID, func(*proposal.Proposal) error { return nil })
}

func (h *fakeHost) Revise(ctx context.Context, by event.Actor, proposalID string, patch canon.Value) (proposal.Proposal, error) {
	return h.change(ctx, "Revise", proposalID, func(p *proposal.Proposal) error {
		if title, ok := patch.Get("title"); ok {
			p.Title = title.Text()
		}
		p.State = proposal.StateRevised
		return nil
	})
}

// to returns a change to a state, which an applied proposal does not allow.
func to(s proposal.State) func(*proposal.Proposal) error {
	return func(p *proposal.Proposal) error {
		if p.State == proposal.StateApplied {
			return fault.New(fault.ProposalState, "the proposal is applied")
		}
		p.State = s
		return nil
	}
}

func (h *fakeHost) Apply(ctx context.Context, by event.Actor, proposalID string) (proposal.Proposal, *PendingGate, error) {
	h.mu.Lock()
	pending := h.pending
	h.mu.Unlock()
	if pending != nil {
		return proposal.Proposal{}, pending, h.begin(ctx, "Apply", proposalID)
	}
	out, err := h.change(ctx, "Apply", proposalID, to(proposal.StateApplied))
	return out, nil, err
}

func (h *fakeHost) Reject(ctx context.Context, by event.Actor, proposalID, reason string) (proposal.Proposal, error) {
	return h.change(ctx, "Reject "+reason, proposalID, to(proposal.StateRejected))
}

func (h *fakeHost) Archive(ctx context.Context, by event.Actor, proposalID, reason string) (proposal.Proposal, error) {
	return h.change(ctx, "Archive "+reason, proposalID, to(proposal.StateArchived))
}

func (h *fakeHost) Replay(_ context.Context, by event.Actor, key, route string, body canon.Digest) (*Recorded, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if err := h.fail["Replay"]; err != nil {
		return nil, err
	}
	r, ok := h.records[by.Ref+" "+route+" "+key]
	if !ok {
		return nil, nil
	}
	if r.digest != body {
		return nil, mismatch()
	}
	return &r.out, nil
}

func (h *fakeHost) Record(ctx context.Context, by event.Actor, key, route string, body canon.Digest, out Recorded) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if err := h.fail["Record"]; err != nil {
		return err
	}
	if !idempotency.IsKept(int64(out.Status)) {
		return nil
	}
	h.records[by.Ref+" "+route+" "+key] = fakeRecord{body, out}
	return nil
}
