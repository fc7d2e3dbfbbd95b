package inbox_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/engine"
	"github.com/waybill/waybill/durable/engine/inbox"
	"github.com/waybill/waybill/durable/engine/learning"
	"github.com/waybill/waybill/durable/engine/views"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/learning/proposal"
	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/run/advance"
	"github.com/waybill/waybill/durable/run/command"
	"github.com/waybill/waybill/durable/store/imported"
	"github.com/waybill/waybill/durable/workflow/compile"
	"github.com/waybill/waybill/durable/workflow/source"
	"github.com/waybill/waybill/infra/memstore"
	"github.com/waybill/waybill/ports"
	"github.com/waybill/waybill/ports/porttest/enginetest"
)

// fixture is a store in memory with a clock that ticks by one at each call. Of its events those before imported came
// with a bundle.
type fixture struct {
	*testing.T
	g        *enginetest.Engine
	box      inbox.Inbox
	clock    int64
	imported int64
}

func newFixture(t *testing.T) *fixture {
	w := &fixture{T: t, g: enginetest.InMemory(memstore.NewDisk(id.Seed{1}).Open(time.Second))}
	v := views.New(w.g.Reader, w.g.Store, views.Here{Approval: w.g.PendingApprovalAt,
		Imported: func(context.Context, manifest.Log) (imported.Span, error) { return imported.Span{Events: w.imported}, nil }})
	w.box = inbox.New(w.g.Reader, w.g.Store, v, w.g.Learning)
	return w
}

func (w *fixture) by(kind event.ActorKind) engine.Caller {
	w.clock++
	return engine.Caller{Actor: event.Actor{Kind: kind}, AtMs: w.clock}
}

// start begins a run of a workflow of one or several steps, each without its id, title and prompt.
func (w *fixture) start(steps ...string) engine.Answer {
	w.Helper()
	for i, s := range steps {
		steps[i] = strings.Replace(s, "{", fmt.Sprintf(`{"id":"s%d","title":"S","prompt":"p",`, i), 1)
		steps[i] = strings.Replace(steps[i], ",}", "}", 1)
	}
	_, c, problems := compile.File("t.json", source.SourceProject, []byte(
		`{"id":"test.t","name":"T","description":"d","version":"1.0.0","steps":[`+strings.Join(steps, ",")+`]}`))
	if source.HasErrors(problems) {
		w.Fatal(problems)
	}
	a, err := w.g.Start(context.Background(), w.by(event.Agent), id.Seed{byte(w.clock)}, engine.Start{Workflow: c,
		SourceKind: event.SourceProject, SourceRef: "t.json"})
	if err != nil {
		w.Fatal(err)
	}
	return a
}

func (w *fixture) next(a engine.Answer, notes string) engine.Answer {
	w.Helper()
	a, err := w.g.Advance(context.Background(), w.by(event.Agent), a.Position(), a.AttemptID, advance.Request{Notes: notes})
	if err != nil {
		w.Fatal(err)
	}
	return a
}

// perform records that the command of the pending step failed.
func (w *fixture) perform(a engine.Answer) engine.Answer {
	w.Helper()
	v, err := canon.ValueOf(command.Result{Kind: command.Kind, Tries: 1, ExitStatus: 1, OutputDigest: canon.Sum(nil),
		ArgvDigest: command.ArgvDigest(source.Action{Argv: []string{"make"}})})
	if err != nil {
		w.Fatal(err)
	}
	err = ports.WithHold(context.Background(), w.g.Store.Performers(), a.Session.SessionID, func(h ports.Hold) error {
		a, err = w.g.Perform(context.Background(), h, w.by(event.Agent), a.Position(), a.AttemptID,
			advance.Request{Artifacts: []advance.Artifact{advance.JSONArtifact(v)}})
		return err
	})
	if err != nil {
		w.Fatal(err)
	}
	return a
}

func (w *fixture) decide(a engine.Answer, word event.DecisionWord) engine.Answer {
	w.Helper()
	a, err := w.g.Decide(context.Background(), w.by(event.Human), engine.Approvable{Position: a.Position()}, word, "r")
	if err != nil {
		w.Fatal(err)
	}
	return a
}

func (w *fixture) list(q inbox.Query) inbox.List {
	w.Helper()
	out, err := w.box.List(context.Background(), q)
	if err != nil {
		w.Fatal(err)
	}
	return out
}

const (
	work    = `{}`
	ask     = `{"inputs":[{"contextKey":"k","reason":"needs_user_artifact","description":"d"}]}`
	confirm = `{"requireConfirmation":true}`
	approve = `{"requireConfirmation":{"kind":"human_approval"}}`
	build   = `{"action":{"kind":"command","argv":["make"]}}`
	notes   = `{"notesRequired":true}`
)

// TestEachKindWaits: one run that waits for each reason, since the event that made it wait, also when more is recorded in
// the run after it.
func TestEachKindWaits(t *testing.T) {
	t.Parallel()
	trusted := func(context.Context, canon.Digest) bool { return true }
	untrusted := func(context.Context, canon.Digest) bool { return false }
	for name, c := range map[string]struct {
		make    func(*fixture) engine.Answer
		trusted func(context.Context, canon.Digest) bool
		// want is kind, step, since and command, with RUN for the run and HASH for the workflow.
		want string
	}{
		"question":          {func(w *fixture) engine.Answer { return w.next(w.start(work, ask), "x") }, trusted, "question s1 2 run --run RUN"},
		"refused question":  {func(w *fixture) engine.Answer { return w.next(w.start(ask), "x") }, trusted, "question s0 1 run --run RUN"},
		"confirmation":      {func(w *fixture) engine.Answer { return w.next(w.start(work, confirm), "x") }, trusted, "confirmation s1 2 run --run RUN"},
		"trust":             {func(w *fixture) engine.Answer { return w.next(w.start(work, build), "x") }, untrusted, "confirmation s1 2 trust HASH"},
		"trusted":           {func(w *fixture) engine.Answer { return w.start(build) }, trusted, ""},
		"approval":          {func(w *fixture) engine.Answer { return w.next(w.start(approve), "x") }, trusted, "approval s0 2 approve RUN"},
		"approval of more":  {func(w *fixture) engine.Answer { return w.next(w.next(w.start(approve), "x"), "y") }, trusted, "approval s0 3 approve RUN"},
		"no output":         {func(w *fixture) engine.Answer { return w.start(approve) }, trusted, ""},
		"sent back":         {func(w *fixture) engine.Answer { return w.decide(w.next(w.start(approve), "x"), event.SentBack) }, trusted, "blocked s0 3 run --run RUN"},
		"approved":          {func(w *fixture) engine.Answer { return w.decide(w.next(w.start(approve), "x"), event.Approved) }, trusted, ""},
		"failed":            {func(w *fixture) engine.Answer { return w.perform(w.start(build)) }, trusted, "failed s0 2 run --run RUN"},
		"failed, untrusted": {func(w *fixture) engine.Answer { return w.perform(w.perform(w.start(build))) }, untrusted, "failed s0 3 run --run RUN"},
		"blocked":           {func(w *fixture) engine.Answer { return w.next(w.start(notes), "") }, trusted, "blocked s0 2 run --run RUN"},
		"blocked again":     {func(w *fixture) engine.Answer { return w.next(w.next(w.start(notes), ""), "") }, trusted, "blocked s0 3 run --run RUN"},
		"work":              {func(w *fixture) engine.Answer { return w.start(work) }, untrusted, ""},
		"complete":          {func(w *fixture) engine.Answer { return w.next(w.start(work), "x") }, untrusted, ""},
	} {
		w := newFixture(t)
		a := c.make(w)
		w.clock += 100
		if a.Pending != nil {
			now, err := w.g.Rehydrate(context.Background(), a.Position())
			if err == nil {
				_, err = w.g.CheckpointAt(context.Background(), w.by(event.Agent), a.Position(), now.CheckpointID,
					advance.Request{Notes: "still at it"})
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		got := ""
		for _, i := range w.list(inbox.Query{Trusted: c.trusted}).Items {
			got += fmt.Sprint(i.Kind, " ", i.StepID, " ", i.SinceMs, " ", strings.Join(i.Next.Command[1:], " "))
			if i.RunID != a.Session.RunID || i.SessionID != a.Session.SessionID || i.Title != "T" || i.Next.Command[0] != "waybill" {
				t.Errorf("%s: %+v", name, i)
			}
		}
		want := strings.NewReplacer("RUN", a.Session.RunID.String(), "HASH", a.Workflow.WorkflowHash.String()).Replace(c.want)
		if got != want {
			t.Errorf("%s: %q waits, want %q", name, got, want)
		}
	}
}

// TestAProposalWaits: until it is decided about, since its last record.
func TestAProposalWaits(t *testing.T) {
	t.Parallel()
	w, ctx := newFixture(t), context.Background()
	w.clock = 1_700_000_000_000
	draft, err := proposal.ParseFile([]byte(`{"kind":"workflow-chain-pack","title":"Look first","rationale":"r",
 "artifact":{"id":"team.look","name":"Look","description":"d","version":"1.0.0","steps":[{"id":"a","title":"A","prompt":"p"}]}}`))
	if err != nil {
		t.Fatal(err)
	}
	p, err := w.g.Propose(ctx, w.by(event.Agent), id.Seed{9}, learning.ProposeRequest{Draft: draft})
	if err != nil {
		t.Fatal(err)
	}
	got := w.list(inbox.Query{}).Items
	if len(got) != 1 || got[0].Kind != inbox.Proposal || got[0].ProposalID != p.Proposal.ID || got[0].Title != "Look first" ||
		got[0].SinceMs != w.clock || fmt.Sprint(got[0].Next.Command) != "[waybill proposals approve "+p.Proposal.ID.String()+"]" {
		t.Errorf("got %+v", got)
	}
	if _, err := w.g.ArchiveProposal(ctx, w.by(event.Human), learning.DecideRequest{Ref: p.Proposal.ID.String(), Reason: "r"}); err != nil {
		t.Fatal(err)
	}
	if got := w.list(inbox.Query{}).Items; len(got) != 0 {
		t.Errorf("archived: %+v", got)
	}
}

// TestImportedRunsWaitWhereTheyCameFrom: until they are continued here they are counted only.
func TestImportedRunsWaitWhereTheyCameFrom(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	a := w.next(w.start(approve), "x")
	w.imported = 100
	if got := w.list(inbox.Query{}); len(got.Items) != 0 || got.Imported != 1 {
		t.Errorf("left out: %+v", got)
	}
	if got := w.list(inbox.Query{Imported: true}); len(got.Items) != 1 || !got.Items[0].Imported || got.Imported != 0 {
		t.Errorf("included: %+v", got)
	}
	// What follows is of this store.
	w.imported = 5
	w.next(a, "y")
	if got := w.list(inbox.Query{}); len(got.Items) != 1 || got.Items[0].Imported || got.Imported != 0 {
		t.Errorf("continued here: %+v", got)
	}
}

// TestPagesOfTheInbox: the one that waits longest first; a page ends where the limit says, and the next one begins behind
// it, also if items were added in between.
func TestPagesOfTheInbox(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	var runs []id.Run
	for range 5 {
		runs = append(runs, w.next(w.start(notes), "").Session.RunID)
	}
	asks := w.start(ask)
	var got []id.Run
	q := inbox.Query{Limit: 2, Kinds: []inbox.Kind{inbox.Blocked}}
	for range 3 {
		page := w.list(q)
		for _, i := range page.Items {
			got = append(got, i.RunID)
		}
		if q.Cursor = page.NextCursor; (q.Cursor == "") != (len(got) == 5) || page.Excluded != 0 {
			t.Errorf("after %d the cursor is %q", len(got), q.Cursor)
		}
	}
	if !slices.Equal(got, runs) {
		t.Errorf("pages have %v, want %v", got, runs)
	}
	if page := w.list(inbox.Query{Kinds: []inbox.Kind{inbox.Question}}); len(page.Items) != 1 || page.Items[0].RunID != asks.Session.RunID {
		t.Errorf("questions: %+v", page)
	}
	if page := w.list(inbox.Query{Kinds: []inbox.Kind{inbox.Failed, inbox.Approval}}); len(page.Items) != 0 || page.Excluded != 6 {
		t.Errorf("of kinds that do not wait: %+v", page)
	}
	for _, cursor := range []string{"x", "12", "x.run_1", "12."} {
		if _, err := w.box.List(context.Background(), inbox.Query{Cursor: cursor}); !fault.Is(err, fault.ValidationError) {
			t.Errorf("cursor %q: %v", cursor, err)
		}
	}
}

// TestAPageOfTheInboxIsBounded: by its bytes, without a limit.
func TestAPageOfTheInboxIsBounded(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	_, c, _ := compile.File("t.json", source.SourceProject, []byte(
		`{"id":"test.t","name":"T","description":"d","version":"1.0.0","steps":[`+
			strings.Replace(ask, "{", `{"id":"s","title":"S","prompt":"p",`, 1)+`]}`))
	const runs = 3 * limits.AnswerBytesMax / 2 / limits.TitleBytesMax
	for n := range runs {
		if _, err := w.g.Start(context.Background(), w.by(event.Agent), id.Seed{byte(n), byte(n >> 8)}, engine.Start{
			Workflow: c, SourceKind: event.SourceProject, SourceRef: "t.json",
			Title: strings.Repeat("t", limits.TitleBytesMax)}); err != nil {
			t.Fatal(err)
		}
	}
	first := w.list(inbox.Query{})
	second := w.list(inbox.Query{Cursor: first.NextCursor})
	if first.NextCursor == "" || len(first.Items)+len(second.Items) < runs*2/3 || len(first.Items) >= runs {
		t.Errorf("%d, then %d of %d", len(first.Items), len(second.Items), runs)
	}
}
