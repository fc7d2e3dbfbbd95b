package perform_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/waybill/waybill/ports/porttest/enginetest"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/engine"
	"github.com/waybill/waybill/durable/engine/ledger"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/perform"
	"github.com/waybill/waybill/durable/reason"
	"github.com/waybill/waybill/durable/run/advance"
	"github.com/waybill/waybill/durable/store/trust"
	"github.com/waybill/waybill/durable/workflow/compile"
	"github.com/waybill/waybill/durable/workflow/source"
	"github.com/waybill/waybill/infra/memstore"
	"github.com/waybill/waybill/ports"
)

// fixture is an engine over a store in memory, with scripted ports that log
// every call.
type fixture struct {
	*testing.T
	g     *enginetest.Engine
	store *memstore.Store
	at    engine.Position
	hash  canon.Digest

	log           []string
	outcomes      []ports.CommandOutcome // of the next tries; success when empty
	onTry         func(n int, c ports.Command) error
	slow          func(ctx context.Context) error // runs inside every try
	tries         []ports.Command
	filled        []perform.TryView
	answers       []string    // of the person; nil: no person is present
	trustValues   canon.Value // of the last question about trust
	trusted       bool
	trustedBefore bool              // in another place, or until that was revoked
	fixed         trust.Fixed       // what was trusted
	versions      map[string]string // of pins, as the system records them
	place         ports.Place
	busy          bool
	leases        ports.Performers // nil: the fixture, without leases
	clock         int64
	sent          int
	requests      []advance.Request
	onSend        func(n int) error
	onWatch       func(ctx context.Context, ms int64) error // nil: the log is never polled
	files         map[string]string                         // content by the name that the person answers
	onApprove     func()                                    // between showing the outputs and the approval
	onHold        func()                                    // before the performer's lock is released
	onFail        func() error                              // before a run is ended as failed
	onEnded       func()                                    // after a step was accepted
}

// newFixture starts a run, with a context if one is given.
func newFixture(t *testing.T, workflowText string, context ...string) *fixture {
	t.Helper()
	return newFixtureOver(t, memstore.NewDisk(id.Seed{9}).Open(time.Second), workflowText, context...)
}

// newFixtureOver is newFixture over a handle.
func newFixtureOver(t *testing.T, s *memstore.Store, workflowText string, context ...string) *fixture {
	t.Helper()
	var vars canon.Value
	for _, text := range context {
		vars = parse(t, text)
	}
	w := &fixture{T: t, store: s, trusted: true, clock: 1000}
	w.g = enginetest.InMemory(s)
	_, c, problems := compile.File("test.yaml", source.SourceProject, []byte(workflowText))
	if source.HasErrors(problems) {
		t.Fatal(problems)
	}
	a, err := w.g.Start(t.Context(), engine.Caller{Actor: event.Actor{Kind: event.Human}, AtMs: 1}, id.Seed{1},
		engine.Start{Workflow: c, SourceKind: event.SourceProject, SourceRef: "test.yaml",
			Context: vars})
	if err != nil {
		t.Fatal(err)
	}
	w.at, w.hash = a.Position(), c.Hash()
	return w
}

// performer returns a performer over the fixture, as one process has it.
func (w *fixture) performer() *perform.Performer {
	performers := w.leases
	if performers == nil {
		performers = w
	}
	return &perform.Performer{
		Engine: sender{w}, Logs: w.store, Commands: w, Person: w, Performers: performers, Display: w,
		Pins:          w,
		TrustedBefore: func(context.Context, canon.Digest) (bool, error) { return w.trustedBefore, nil },
		Trusted: func(context.Context, canon.Digest) (trust.Fixed, bool, error) {
			return w.fixed, w.trusted, nil
		},
		Remember: func(_ context.Context, _ compile.Compiled, fixed trust.Fixed) error {
			w.fixed = fixed
			w.note("remember trust")
			w.trusted = true
			return nil
		},
		By:    engine.Caller{Actor: event.Actor{Kind: event.Human}},
		NowMs: func() int64 { w.clock += 10; return w.clock },
		Pause: func(ctx context.Context, ms int64) error {
			w.note("pause %d ms", ms)
			return ctx.Err()
		},
		Watch: func(ctx context.Context, ms int64) error {
			if w.onWatch != nil {
				return w.onWatch(ctx, ms)
			}
			<-ctx.Done()
			return ctx.Err()
		},
		ContinueLine: func(r id.Run, more ...string) fault.Command {
			return append(fault.Command{"run", "--run", "R"}, more...)
		},
		OfStore: func(c fault.Command) fault.Command { return append(c, "--store", "S") },
		ApproveLine: func(r id.Run, more ...string) fault.Command {
			return append(fault.Command{"approve", "R"}, more...)
		},
		SubmitLine: func(r id.Run, more ...string) fault.Command {
			return append(fault.Command{"continue", "--run", "R"}, more...)
		},
	}
}

func (w *fixture) perform(ctx context.Context, o perform.Options) (perform.Report, error) {
	return w.performer().Perform(ctx, w.at.Session, w.at.Run, o)
}

func (w *fixture) note(format string, args ...any) {
	w.log = append(w.log, fmt.Sprintf(format, args...))
}

// transcript returns the log since the last call.
func (w *fixture) transcript() string {
	out := strings.Join(w.log, "\n")
	w.log = nil
	return out
}

func (w *fixture) events() []event.Event {
	w.Helper()
	all, _, err := w.g.Events(context.Background(), w.at.Run.String())
	if err != nil {
		w.Fatal(err)
	}
	return all
}

// attempts lists the outcomes on record: "advanced" and "blocked" in their
// order.
func (w *fixture) attempts() string {
	var out []string
	for _, e := range w.events() {
		if a, ok := e.Data.(event.AdvanceRecorded); ok {
			out = append(out, string(a.Outcome.Kind))
		}
	}
	return strings.Join(out, " ")
}

// sender passes calls to the engine, records attempts and injects errors.
type sender struct{ w *fixture }

func (s sender) Rehydrate(ctx context.Context, at engine.Position) (engine.Answer, error) {
	return s.w.g.Rehydrate(ctx, at)
}

func (s sender) Ledger() *ledger.Ledger { return s.w.g.Ledger() }

func (s sender) Workflow(ctx context.Context, hash canon.Digest) (compile.Compiled, error) {
	return s.w.g.Workflow(ctx, hash)
}

func (s sender) Close(ctx context.Context, by engine.Caller, at engine.Position) (engine.Cancelled, error) {
	return s.w.g.Close(ctx, by, at)
}

func (s sender) Fail(ctx context.Context, h ports.Hold, by engine.Caller, at engine.Position, reason string) (engine.Cancelled,
	error) {
	if s.w.onFail != nil {
		if err := s.w.onFail(); err != nil {
			return engine.Cancelled{}, err
		}
	}
	return s.w.g.Fail(ctx, h, by, at, reason)
}

func (s sender) Approvable(ctx context.Context, by engine.Caller, at engine.Position) (engine.Approvable, error) {
	return s.w.g.Approvable(ctx, by, at)
}

func (s sender) MayDecide(ctx context.Context, by engine.Caller, shown engine.Approvable, word event.DecisionWord) error {
	return s.w.g.MayDecide(ctx, by, shown, word)
}

func (s sender) Decide(ctx context.Context, by engine.Caller, shown engine.Approvable, word event.DecisionWord,
	reason string) (engine.Answer, error) {
	if s.w.onApprove != nil {
		s.w.onApprove()
	}
	return s.w.g.Decide(ctx, by, shown, word, reason)
}

func (s sender) Perform(ctx context.Context, h ports.Hold, by engine.Caller, at engine.Position, a id.Attempt,
	r advance.Request) (engine.Answer, error) {
	if err := ctx.Err(); err != nil {
		return engine.Answer{}, err
	}
	s.w.sent++
	s.w.requests = append(s.w.requests, r)
	if s.w.onSend != nil {
		if err := s.w.onSend(s.w.sent); err != nil {
			return engine.Answer{}, err
		}
	}
	return s.w.g.Perform(ctx, h, by, at, a, r)
}

func (w *fixture) Hold(context.Context, id.Session) (ports.Lease, error) {
	if w.busy {
		return ports.Lease{}, fault.New(fault.RunBusy, "held")
	}
	w.busy = true
	w.note("hold")
	return ports.Lease{Release: func() error {
		if w.onHold != nil {
			w.onHold()
		}
		w.busy = false
		w.note("release")
		return nil
	}}, nil
}

func (w *fixture) Try(ctx context.Context, c ports.Command) (ports.CommandOutcome, error) {
	w.tries = append(w.tries, c)
	if w.onTry != nil {
		if err := w.onTry(len(w.tries), c); err != nil {
			return ports.CommandOutcome{}, err
		}
	}
	if w.slow != nil {
		if err := w.slow(ctx); err != nil {
			return ports.CommandOutcome{}, err
		}
	}
	out := ports.CommandOutcome{DurationMs: 5, OutputDigest: canon.Sum(nil)}
	if len(w.outcomes) > 0 {
		out, w.outcomes = w.outcomes[0], w.outcomes[1:]
		out.OutputDigest = canon.Sum([]byte(out.OutputHead))
	}
	return out, nil
}

func (w *fixture) Present() bool { return w.answers != nil }

func (w *fixture) CanConsent() bool { return w.Present() }

func (w *fixture) answer(question string) (string, error) {
	if !w.Present() {
		w.Fatalf("asked %q without a person", question)
	}
	if len(w.answers) == 0 {
		w.Fatalf("no answer is left for %q", question)
	}
	reply := w.answers[0]
	w.answers = w.answers[1:]
	w.note("%s %q", question, reply)
	switch reply {
	case "^B":
		return "", ports.ErrPersonBack
	case "^D":
		return "", ports.ErrPersonStopped
	case "^C":
		return "", context.Canceled
	}
	return reply, nil
}

func (w *fixture) Notes(_ context.Context, q ports.NotesQuestion) (string, error) {
	if q.Edit {
		return w.answer(fmt.Sprintf("other notes? draft=%q", q.Draft))
	}
	return w.answer(fmt.Sprintf("notes? required=%v draft=%q", q.Required, q.Draft))
}

func (w *fixture) Ask(_ context.Context, q ports.Question) (string, error) {
	if q.Key != "" && len(q.Choices)+len(q.Text) > 0 && !q.Inline {
		return w.answer("input? " + q.Key)
	}
	text := "ask? " + q.Text
	if q.NoBack {
		reply, err := w.answer(text + " " + strings.Join(q.Choices, " | "))
		if n, bad := strconv.Atoi(reply); bad == nil {
			return q.Choices[n-1], err
		}
		return reply, err
	}
	if q.Inline {
		text += " [" + strings.Join(q.Choices, "/") + "]"
	}
	return w.answer(text)
}

func (w *fixture) File(_ context.Context, q ports.FileQuestion) (advance.Artifact, error) {
	for _, wrong := range q.Wrong {
		w.note("wrong: %s", wrong)
	}
	name, err := w.answer("file? " + q.Text + " " + q.Command)
	if err != nil || name == "" {
		return advance.Artifact{}, err
	}
	v, err := canon.Parse([]byte(w.files[name]))
	return advance.JSONArtifact(v), err
}

func (w *fixture) Approve(_ context.Context, q ports.ApproveQuestion) (ports.ApprovalAnswer, error) {
	for _, r := range q.Results {
		w.note("submitted: %s %s", r.Name, r.Text)
	}
	reply, err := w.answer(fmt.Sprintf("approve? %q", q.Notes))
	answer := map[string]ports.ApprovalAnswer{"y": ports.ApprovalGiven, "e": ports.ApprovalEdit,
		"s": ports.ApprovalSentBack, "d": ports.ApprovalDenied}[reply]
	return cmp.Or(answer, ports.ApprovalRefused), err
}

func (w *fixture) Confirm(_ context.Context, question string) (bool, error) {
	reply, err := w.answer("confirm? " + question)
	return reply == "y", err
}

func (w *fixture) Trust(_ context.Context, q ports.TrustQuestion) (ports.TrustAnswer, error) {
	w.trustValues = q.Values
	reply, err := w.answer("trust? " + q.Workflow.WorkflowID)
	return ports.TrustAnswer(reply), err
}

func (w *fixture) RunOpened(v perform.RunView) {
	w.note("run %s, %d of %d done", v.Workflow, v.Done, v.Steps)
}

func (w *fixture) StepBegan(v perform.StepView) {
	prompt, _, _ := strings.Cut(v.Prompt, "\n")
	w.note("[%d/%d] %s: %q", v.At, v.Of, v.Title, prompt)
	if len(v.Rounds) > 0 {
		w.note("%s", perform.FormatRounds(v.Rounds))
	}
	for _, s := range v.Refused {
		w.note("refused before: %s", s)
	}
	for _, s := range v.Warnings {
		w.note("warning: %s", s)
	}
}

func (w *fixture) Filled(v perform.TryView) { w.filled = append(w.filled, v) }

func (w *fixture) TryBegan(v perform.TryView) {
	w.note("$ %s (%d of %d)", strings.Join(v.Argv, " "), v.Try, v.Of)
}

func (w *fixture) TryEnded(v perform.TryEnd) {
	w.note("status %d%s, last %v, again in %d ms", v.ExitStatus, v.Failure, v.Last, v.PauseMs)
}

func (w *fixture) Blocked(all []reason.Blocker) {
	for _, b := range all {
		w.note("blocked: %s %s%s%s", b.Code, b.Pointer.Key, b.Pointer.ContractRef, b.Pointer.StepID)
	}
}

func (w *fixture) Waiting(v perform.WaitView) { w.note("waits %d ms", v.LeftMs) }

func (w *fixture) WaitEnded() { w.note("wait ended") }

func (w *fixture) Suspected(all []perform.Suspected) {
	for _, s := range all {
		w.note("suspected: %s %s %s", s.StepID, s.Pointer, s.Rule)
	}
}

func (w *fixture) StepEnded(perform.StepEnd) {
	w.note("ok")
	if w.onEnded != nil {
		w.onEnded()
	}
}

func codeOf(err error) fault.Code {
	var f *fault.Fault
	if err != nil && !errors.As(err, &f) {
		return "no fault"
	}
	return fault.CodeOf(err)
}

// hashOf is the hash of a workflow.
func hashOf(workflowText string) canon.Digest {
	_, c, problems := compile.File("test.yaml", source.SourceProject, []byte(workflowText))
	if source.HasErrors(problems) {
		panic(problems)
	}
	return c.Hash()
}
