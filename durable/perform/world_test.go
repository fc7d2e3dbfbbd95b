package perform_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/engine"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/perform"
	"github.com/waybill/waybill/durable/reason"
	"github.com/waybill/waybill/durable/run/advance"
	"github.com/waybill/waybill/durable/workflow/compile"
	"github.com/waybill/waybill/durable/workflow/source"
	"github.com/waybill/waybill/ports"
	"github.com/waybill/waybill/ports/porttest/memstore"
)

// world is a real engine over a store in memory, with performers that follow a
// script and write down everything that is asked of them.
type world struct {
	*testing.T
	g     *engine.Engine
	store *memstore.Store
	at    engine.Position
	hash  canon.Digest

	log       []string
	outcomes  []ports.CommandOutcome // of the tries to come; success when there is none
	onTry     func(n int, c ports.Command) error
	slow      func(ctx context.Context) error // a command that takes its time
	tries     []ports.Command
	answers   []string // of the person; nil: nobody is there
	trusted   bool
	busy      bool
	clock     int64
	sent      int
	requests  []advance.Request
	onSend    func(n int) error
	onWatch   func(ctx context.Context, ms int64) error // nil: the log is never looked at from the side
	files     map[string]string                         // what lies where the person says
	onApprove func()                                    // between a look at what was handed in and its approval
	onHold    func()                                    // before the performer's lock is let go
}

func newWorld(t *testing.T, workflowText string) *world {
	t.Helper()
	s := memstore.NewDisk(id.Seed{9}).Open(time.Second)
	w := &world{T: t, store: s, trusted: true, clock: 1000}
	w.g = &engine.Engine{Logs: s, Locks: s, Objects: s, Sessions: s, Identity: s, Keyring: s}
	_, c, problems := compile.File("test.yaml", source.SourceProject, []byte(workflowText))
	if source.HasErrors(problems) {
		t.Fatal(problems)
	}
	a, err := w.g.Start(context.Background(), engine.Caller{Actor: event.Actor{Kind: event.Human}, AtMs: 1}, id.Seed{1},
		engine.Start{Workflow: c, SourceKind: event.SourceProject, SourceRef: "test.yaml"})
	if err != nil {
		t.Fatal(err)
	}
	w.at, w.hash = a.Position(), c.Hash()
	return w
}

// performer is one call of the program.
func (w *world) performer() *perform.Performer {
	return &perform.Performer{
		Engine: sender{w}, Logs: w.store, Commands: w, Person: w, Performers: w, Display: w,
		Trusted: func(context.Context, canon.Digest) (bool, error) { return w.trusted, nil },
		Remember: func(context.Context,
			compile.Compiled) error {
			w.note("remember trust")
			w.trusted = true
			return nil
		},
		Actor: event.Actor{Kind: event.Human},
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
		GoOn: func(r id.Run, more ...string) string {
			return strings.Join(append([]string{"waybill run --run R"}, more...), " ")
		},
		ApproveLine: func(id.Run) string { return "waybill approve R" },
		HandIn: func(r id.Run, more ...string) string {
			return strings.Join(append([]string{"waybill continue --run R"}, more...), " ")
		},
	}
}

func (w *world) perform(ctx context.Context, o perform.Options) (perform.Report, error) {
	return w.performer().Perform(ctx, w.at.Session, w.at.Run, o)
}

func (w *world) note(format string, args ...any) { w.log = append(w.log, fmt.Sprintf(format, args...)) }

// transcript is what happened since the last look at it.
func (w *world) transcript() string {
	out := strings.Join(w.log, "\n")
	w.log = nil
	return out
}

func (w *world) events() []event.Event {
	w.Helper()
	all, _, err := w.g.Events(context.Background(), w.at.Run.String())
	if err != nil {
		w.Fatal(err)
	}
	return all
}

// attempts counts what is on record: "advanced" and "blocked" in their order.
func (w *world) attempts() string {
	var out []string
	for _, e := range w.events() {
		if a, ok := e.Data.(event.AdvanceRecorded); ok {
			out = append(out, string(a.Outcome.Kind))
		}
	}
	return strings.Join(out, " ")
}

// sender counts attempts on their way to the engine.
type sender struct{ w *world }

func (s sender) Rehydrate(ctx context.Context, at engine.Position) (engine.Answer, error) {
	return s.w.g.Rehydrate(ctx, at)
}

func (s sender) Pinned(ctx context.Context, hash canon.Digest) (compile.Compiled, error) {
	return s.w.g.Pinned(ctx, hash)
}

func (s sender) Close(ctx context.Context, by engine.Caller, at engine.Position) (engine.Cancelled, error) {
	return s.w.g.Close(ctx, by, at)
}

func (s sender) Approvable(ctx context.Context, by engine.Caller, at engine.Position) (engine.Approvable, error) {
	return s.w.g.Approvable(ctx, by, at)
}

func (s sender) ApproveShown(ctx context.Context, by engine.Caller, shown engine.Approvable,
	comment string) (engine.Answer, error) {
	if s.w.onApprove != nil {
		s.w.onApprove()
	}
	return s.w.g.ApproveShown(ctx, by, shown, comment)
}

func (s sender) Advance(ctx context.Context, by engine.Caller, at engine.Position, a id.Attempt,
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
	return s.w.g.Advance(ctx, by, at, a, r)
}

func (w *world) Hold(context.Context, id.Session) (func() error, error) {
	if w.busy {
		return nil, fault.New(fault.RunBusy, "held")
	}
	w.busy = true
	w.note("hold")
	return func() error {
		if w.onHold != nil {
			w.onHold()
		}
		w.busy = false
		w.note("release")
		return nil
	}, nil
}

func (w *world) Try(ctx context.Context, c ports.Command) (ports.CommandOutcome, error) {
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

func (w *world) Present() bool { return w.answers != nil }

func (w *world) answer(question string) (string, error) {
	if !w.Present() {
		w.Fatalf("asked %q where nobody is", question)
	}
	if len(w.answers) == 0 {
		w.Fatalf("no answer is left for %q", question)
	}
	said := w.answers[0]
	w.answers = w.answers[1:]
	w.note("%s %q", question, said)
	switch said {
	case "^D":
		return "", ports.ErrLeft
	case "^C":
		return "", context.Canceled
	}
	return said, nil
}

func (w *world) Notes(_ context.Context, q ports.NotesQuestion) (string, error) {
	return w.answer(fmt.Sprintf("notes? required=%v draft=%q", q.Required, q.Draft))
}

func (w *world) Ask(_ context.Context, q ports.Question) (string, error) {
	if q.Key != "" && len(q.Choices)+len(q.Text) > 0 && !q.Brief {
		return w.answer("input? " + q.Key)
	}
	text := "ask? " + q.Text
	if q.Brief {
		text += " [" + strings.Join(q.Choices, "/") + "]"
	}
	return w.answer(text)
}

func (w *world) File(_ context.Context, q ports.FileQuestion) (advance.Artifact, error) {
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

func (w *world) Approve(_ context.Context, q ports.ApproveQuestion) (bool, error) {
	for _, r := range q.Results {
		w.note("handed in: %s %s", r.Name, r.Text)
	}
	said, err := w.answer(fmt.Sprintf("approve? %q", q.Notes))
	return said == "y", err
}

func (w *world) Confirm(_ context.Context, question string) (bool, error) {
	said, err := w.answer("confirm? " + question)
	return said == "y", err
}

func (w *world) Trust(_ context.Context, q ports.TrustQuestion) (ports.TrustAnswer, error) {
	said, err := w.answer("trust? " + q.Workflow.WorkflowID)
	return ports.TrustAnswer(said), err
}

func (w *world) RunOpened(v perform.RunView) {
	w.note("run %s, %d of %d done", v.Workflow, v.Done, v.Steps)
}

func (w *world) StepBegan(v perform.StepView) {
	prompt, _, _ := strings.Cut(v.Prompt, "\n")
	w.note("[%d/%d] %s: %q", v.At, v.Of, v.Title, prompt)
	if len(v.Rounds) > 0 {
		w.note("%s", perform.Rounds(v.Rounds))
	}
	for _, s := range v.Refused {
		w.note("refused before: %s", s)
	}
	for _, s := range v.Warnings {
		w.note("warning: %s", s)
	}
}

func (w *world) TryBegan(v perform.TryView) {
	w.note("$ %s (%d of %d)", strings.Join(v.Argv, " "), v.Try, v.Of)
}

func (w *world) TryEnded(v perform.TryEnd) {
	w.note("status %d%s, last %v, again in %d ms", v.ExitStatus, v.Failure, v.Last, v.AgainInMs)
}

func (w *world) Blocked(all []reason.Blocker) {
	for _, b := range all {
		w.note("blocked: %s %s%s%s", b.Code, b.Pointer.Key, b.Pointer.ContractRef, b.Pointer.StepID)
	}
}

func (w *world) StepEnded(perform.StepEnd) { w.note("ok") }

func codeOf(err error) fault.Code {
	var f *fault.Fault
	if err != nil && !errors.As(err, &f) {
		return "no fault"
	}
	return fault.CodeOf(err)
}
