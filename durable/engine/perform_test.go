package engine_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/engine"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/run/advance"
	"github.com/waybill/waybill/durable/run/command"
	"github.com/waybill/waybill/durable/workflow/source"
	"github.com/waybill/waybill/ports"
)

const commandFlow = `{"id":"test.command","name":"Command","description":"d","version":"1.0.0","steps":[
	{"id":"build","title":"Build","prompt":"p","notesOptional":true,"action":{"kind":"command","argv":["make","all"]}},
	{"id":"after","title":"After","prompt":"p","notesOptional":true}]}`

// madeUp is a request with a result that says that commandFlow's command succeeded.
func madeUp(t *testing.T) advance.Request {
	t.Helper()
	v, err := canon.ValueOf(command.Result{Kind: command.Kind, Tries: 1, OutputDigest: canon.Sum(nil),
		ArgvDigest: command.ArgvDigest(source.Action{Argv: []string{"make", "all"}})})
	if err != nil {
		t.Fatal(err)
	}
	return advance.Request{Artifacts: []advance.Artifact{advance.JSONArtifact(v)}}
}

// hold calls fn as the performer of a session.
func (w *fixture) hold(s id.Session, fn func(ports.Hold) error) error {
	return ports.WithHold(context.Background(), &performerStub{}, s, fn)
}

func TestResultsAreOnlyTakenFromThePerformer(t *testing.T) {
	t.Parallel()
	ctx, w := context.Background(), newFixture(t)
	a := w.start(commandFlow)
	before := w.events(a)
	var released ports.Hold
	if err := w.hold(a.Session.SessionID, func(h ports.Hold) error { released = h; return nil }); err != nil {
		t.Fatal(err)
	}
	perform := func(h ports.Hold) error {
		_, err := w.g.Perform(ctx, h, w.by(), a.Position(), a.AttemptID, madeUp(t))
		return err
	}
	asked := func(err error) bool {
		return fault.Is(err, fault.ValidationError) &&
			strings.Contains(fault.Of(err).Suggestion.String(), "waybill run --run "+a.Session.RunID.String())
	}
	for name, call := range map[string]func() error{
		"continue": func() error { _, err := w.next(a, madeUp(t)); return err },
		"advance": func() error {
			_, err := w.g.Advance(ctx, w.by(), a.Position(), a.AttemptID, madeUp(t))
			return err
		},
		"checkpoint": func() error {
			_, err := w.g.Checkpoint(ctx, w.by(), engine.CheckpointCall{StateToken: a.StateToken,
				CheckpointToken: a.CheckpointToken, Request: madeUp(t)})
			return err
		},
	} {
		if err := call(); !asked(err) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, call := range map[string]func() error{
		"zero hold":     func() error { return perform(ports.Hold{}) },
		"released hold": func() error { return perform(released) },
		"hold of another session": func() error {
			return w.hold(id.NewSession(id.Seed{77}), perform)
		},
	} {
		if err := call(); !errors.Is(err, ports.ErrHold) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if n := w.events(a); n != before {
		t.Fatalf("%d events were recorded", n-before)
	}
	if err := w.hold(a.Session.SessionID, perform); err != nil {
		t.Fatal(err)
	}
	// A recorded attempt is answered to every caller.
	if again, err := w.next(a, madeUp(t)); err != nil || again.Pending.StepID != "after" || len(again.Warnings) > 0 {
		t.Errorf("%+v, %v", again, err)
	}
	run, err := w.process().Run(ctx, a.Session.RunID.String())
	if err != nil || run.Steps[0].ResultNote != "" {
		t.Errorf("%+v, %v", run.Steps, err)
	}
	if report, err := w.process().Replay(ctx, a.Position()); err != nil || !report.OK || report.Segments != 2 {
		t.Errorf("%+v, %v", report, err)
	}
}

// A log of an older version has results whose actor is the caller: they count as recorded, and are
// shown as results that no performer is known to have recorded.
func TestResultsOfOlderLogs(t *testing.T) {
	t.Parallel()
	ctx, w := context.Background(), newFixture(t)
	a := w.start(commandFlow)
	w.handIn(a, madeUp(t), false)
	run, err := w.process().Run(ctx, a.Session.RunID.String())
	if err != nil || run.Steps[0].State != "done" || !strings.HasPrefix(run.Steps[0].ResultNote, "result handed in") ||
		run.Steps[1].ResultNote != "" {
		t.Fatalf("%+v, %v", run.Steps, err)
	}
	history, err := timelineOf(w.process(), a.Session.RunID.String())
	if err != nil {
		t.Fatal(err)
	}
	var shown int
	for _, m := range history.Moments {
		if strings.Contains(m.Text, "result handed in") && m.Kind == (event.NodeOutputAppended{}).Kind() {
			shown++
		}
	}
	if shown != 1 {
		t.Errorf("%d entries of %+v", shown, history.Moments)
	}
	if report, err := w.process().Replay(ctx, a.Position()); err != nil || !report.OK || report.Segments != 2 {
		t.Errorf("%+v, %v", report, err)
	}
}

// handIn records an attempt as a version did that took results from every caller; earlier: and by the rules
// of earlier versions.
func (w *fixture) handIn(a engine.Answer, req advance.Request, earlier bool) {
	w.Helper()
	ctx := context.Background()
	h := w.g.NewHistory(a.Session.SessionID)
	p, err := h.Open(ctx, a.Position())
	if err != nil {
		w.Fatal(err)
	}
	flow, facts, err := w.g.CompleteInputs(ctx, p)
	if err != nil {
		w.Fatal(err)
	}
	by := w.by()
	decided, err := advance.Decide(flow, facts,
		advance.Attempt{ID: a.AttemptID, Request: req, Actor: by.Actor, AtMs: by.AtMs, Earlier: earlier})
	if err != nil {
		w.Fatal(err)
	}
	if err := ports.WithHealthySession(ctx, w.g.Store, w.g.Store, h.Log, manifest.Head{}, ports.Skip,
		func(witness ports.Witness, v manifest.Verdict) error {
			_, err := w.g.Store.Append(ctx, witness, v.Head, decided.Plan)
			return err
		}); err != nil {
		w.Fatal(err)
	}
}
