package perform_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/waybill/waybill/durable/engine"
	"github.com/waybill/waybill/durable/engine/unattended"
	"github.com/waybill/waybill/durable/engine/views"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/perform"
	"github.com/waybill/waybill/durable/run/advance"
	"github.com/waybill/waybill/durable/store/imported"
	"github.com/waybill/waybill/ports"
)

// unattended returns what a server or a worker continues of the run: the kind of what is pending, and the moment until
// which it waits; "" for nothing.
func (w *fixture) unattended() string {
	w.Helper()
	state, err := w.g.PendingOfRun(w.Context(), w.at.Session, w.at.Run)
	if err != nil {
		w.Fatal(err)
	}
	if state.Kind == manifest.NothingPending {
		return ""
	}
	return fmt.Sprintf("%s %d", state.Kind, state.AtMs)
}

const (
	commandStep = `{id: c, title: C, action: {kind: command, argv: [deploy]}}, `
	personStep  = `{id: p, title: P, prompt: p}, `
	noopStep    = `{id: n, title: N, action: {kind: host, typeId: core.noop}}, `
)

// TestUnattendedSteps: a server continues a run at a step of the host, a command or a wait, at its moment, and leaves one at a step
// that needs a person.
func TestUnattendedSteps(t *testing.T) {
	for name, row := range map[string]struct{ steps, want string }{
		"a host step":               {noopStep, "host 0"},
		"a delay":                   {hostStep("d", "core.delay", ", config: {delayMs: 700}"), "host 701"},
		"a gate of the host":        {`{id: g, title: G, action: {kind: host, typeId: core.noop}, requireConfirmation: {kind: human_approval}}`, "host 0"},
		"a command":                 {commandStep, "command 0"},
		"a command with notes":      {`{id: c, title: C, notesRequired: true, action: {kind: command, argv: [deploy]}}`, ""},
		"a wait":                    {`{id: w, title: W, action: {kind: wait, for: 1h}}`, "wait 3600001"},
		"a wait without its moment": {`{id: w, title: W, action: {kind: wait, until: "{{at}}"}}`, ""},
		"a person":                  {personStep, ""},
		"a person before a command": {personStep + commandStep + noopStep, ""},
	} {
		if got := newHosted(t, row.steps).unattended(); got != row.want {
			t.Errorf("%s: %q, want %q", name, got, row.want)
		}
	}
}

// TestUnattendedAfterAFailure: a command that was tried and refused is left to a person. A host step whose failure is on record is
// continued, which ends the run; a run that is over is not.
func TestUnattendedAfterAFailure(t *testing.T) {
	w := newHosted(t, commandStep)
	w.outcomes = []ports.CommandOutcome{{ExitStatus: 3}}
	if _, err := w.performHost(t.Context(), perform.Options{}); codeOf(err) != fault.StepFailed || w.unattended() != "" {
		t.Fatalf("%v, %q", err, w.unattended())
	}
	w = newHosted(t, hostStep("f", "core.fail", ""))
	w.onFail = func() error { return errors.New("killed") }
	if _, err := w.performHost(t.Context(), perform.Options{}); err == nil || w.unattended() != "host 0" {
		t.Fatalf("%v, %q", err, w.unattended())
	}
	w.onFail = nil
	if _, err := w.performHost(t.Context(), perform.Options{}); codeOf(err) != fault.RunClosed || w.unattended() != "" {
		t.Fatalf("%v, %q", err, w.unattended())
	}
	w = newHosted(t, noopStep)
	if _, err := w.performHost(t.Context(), perform.Options{}); err != nil || w.unattended() != "" {
		t.Fatalf("%v, %q", err, w.unattended())
	}
}

// TestUnattendedAfterAnAgent: an attempt of an agent without a result does not keep the host from its step.
func TestUnattendedAfterAnAgent(t *testing.T) {
	w := newHosted(t, noopStep)
	a, err := w.g.Rehydrate(t.Context(), w.at)
	if err != nil {
		t.Fatal(err)
	}
	agent := engine.Caller{Actor: event.Actor{Kind: event.Agent}, AtMs: 10}
	if _, err := w.g.Advance(t.Context(), agent, w.at, a.AttemptID, advance.Request{Notes: "done"}); err != nil {
		t.Fatal(err)
	}
	if got := w.unattended(); got != "host 0" {
		t.Error(got)
	}
}

// TestUnattendedGate: a gate of the host is left to people once its result is on record, until they approved it.
func TestUnattendedGate(t *testing.T) {
	w := newHosted(t, `{id: g, title: G, action: {kind: host, typeId: core.noop}, requireConfirmation: {kind: human_approval}}`)
	if _, err := w.performHost(t.Context(), perform.Options{}); codeOf(err) != fault.RunWaiting || w.unattended() != "" {
		t.Fatalf("%v, %q", err, w.unattended())
	}
	person := engine.Caller{Actor: event.Actor{Kind: event.Human}, AtMs: w.clock}
	if _, err := w.g.Approve(t.Context(), person, w.at, ""); err != nil {
		t.Fatal(err)
	}
	if got := w.unattended(); got != "host 0" {
		t.Error(got)
	}
}

// TestUnattendedEnd: a run whose end is requested and not recorded is continued, which closes it.
func TestUnattendedEnd(t *testing.T) {
	w := newHosted(t, personStep)
	w.busy = true
	if _, err := w.cancel(false); err != nil {
		t.Fatal(err)
	}
	w.busy = false
	if got := w.unattended(); got != "end 0" {
		t.Error(got)
	}
}

// TestUnattendedImports: an imported run is left alone until it was continued here.
func TestUnattendedImports(t *testing.T) {
	w := newHosted(t, personStep+noopStep)
	a, err := w.g.Rehydrate(t.Context(), w.at)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.g.Advance(t.Context(), engine.Caller{Actor: event.Actor{Kind: event.Human}, AtMs: 9}, w.at, a.AttemptID,
		advance.Request{}); err != nil {
		t.Fatal(err)
	}
	all := int64(len(w.events()))
	for came, want := range map[imported.Span]bool{{}: false, {Events: all - 1}: false, {Events: all}: true, {From: all - 1, Events: all}: true} {
		v := unattended.New(w.g.Reader, w.g.Store,
			views.Here{Imported: func(context.Context, manifest.Log) (imported.Span, error) { return came, nil }})
		if state, err := v.PendingOfRun(t.Context(), w.at.Session, w.at.Run); err != nil || state.Imported != want {
			t.Errorf("%+v of %d events imported: %+v, %v", came, all, state, err)
		}
	}
}
