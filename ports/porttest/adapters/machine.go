package adapters

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/workflow/catalog"
	"github.com/waybill/waybill/durable/workflow/source"
	"github.com/waybill/waybill/ports"
)

// Programs are command lines of the machine of a test.
type Programs struct {
	// Copy writes its standard input to its output. Fail ends with status 3. Endless does not end.
	Copy, Fail, Endless []string
}

// Commands is the suite of ports.Commands: a command gets its input and no other, and its output, status and digest are
// the outcome. A failure, a missing program and a timeout are outcomes. The end of the context ends the command, and is
// an error.
func Commands(t testing.TB, c ports.Commands, p Programs) {
	ctx := context.Background()
	out, err := c.Try(ctx, ports.Command{Argv: p.Copy, Input: []byte("in and out"), Whole: 100})
	if err != nil || !out.OK() || string(out.Whole) != "in and out" || out.OutputHead != "in and out" ||
		out.OutputBytes != 10 || out.OutputDigest != canon.Sum([]byte("in and out")) {
		t.Errorf("a command that copies its input: %+v, %v", out, err)
	}
	if out, err := c.Try(ctx, ports.Command{Argv: p.Fail}); err != nil || out.OK() || out.ExitStatus != 3 || out.Failure != "" {
		t.Errorf("a command that fails: %+v, %v; want status 3", out, err)
	}
	if out, err := c.Try(ctx, ports.Command{Argv: []string{"no-such-program"}}); err != nil || out.OK() ||
		out.ExitStatus != -1 || out.Failure == "" {
		t.Errorf("a missing program: %+v, %v; want an outcome", out, err)
	}
	if out, err := c.Try(ctx, ports.Command{Argv: p.Endless, TimeoutMs: 100}); err != nil || out.OK() || out.Failure == "" {
		t.Errorf("a command that takes too long: %+v, %v; want an outcome", out, err)
	}
	ended, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := c.Try(ended, ports.Command{Argv: p.Endless}); !errors.Is(err, context.Canceled) {
		t.Errorf("a command of a call that ended: %v; want its error", err)
	}
}

// Notifier is the suite of ports.Notifier: each command is reported once, with its outcome, and gets the document. Wait
// returns when all of them were reported.
func Notifier(t testing.TB, n ports.Notifier, p Programs) {
	var reports, copied, failed, missing atomic.Int64
	start := func(argv []string, of *atomic.Int64, ok func(ports.CommandOutcome) bool) {
		n.Notify(context.Background(), ports.Notification{Argv: argv, Dir: t.TempDir(), Document: []byte("the document")},
			func(out ports.CommandOutcome) {
				reports.Add(1)
				if ok(out) {
					of.Add(1)
				} else {
					t.Errorf("the outcome of %v is %+v", argv, out)
				}
			})
	}
	start(p.Copy, &copied, func(out ports.CommandOutcome) bool {
		return out.OK() && strings.Contains(out.OutputHead+out.OutputTail, "the document")
	})
	start(p.Fail, &failed, func(out ports.CommandOutcome) bool { return out.ExitStatus == 3 })
	start([]string{"no-such-program"}, &missing, func(out ports.CommandOutcome) bool { return !out.OK() && out.Failure != "" })
	n.Wait()
	if reports.Load() != 3 || copied.Load() != 1 || failed.Load() != 1 || missing.Load() != 1 {
		t.Errorf("%d of 3 commands were reported when Wait returned", reports.Load())
	}
}

// Pins is the suite of ports.Pins for the project in which put writes files. Fix has the digest of each pin and the
// program of each check; a pin that is missing is VALIDATION_ERROR. Compare names what differs from it, and nothing else.
// Place identifies the project.
func Pins(t testing.TB, pins ports.Pins, program string, put func(name, content string)) {
	ctx := context.Background()
	check := source.Check{ID: "unit", Argv: []string{program}, Pins: []string{"a.txt", "b.txt"}}
	put("a.txt", "a")
	if _, err := pins.Fix(ctx, []source.Check{check}); !fault.Is(err, fault.ValidationError) ||
		!strings.Contains(err.Error(), "b.txt") {
		t.Errorf("a pin that is missing: %v; want VALIDATION_ERROR about it", err)
	}
	put("b.txt", "b")
	fixed, err := pins.Fix(ctx, []source.Check{check})
	if err != nil || fixed.Pins["a.txt"] != canon.Sum([]byte("a")) || len(fixed.Programs) != 1 {
		t.Fatalf("fixed: %+v, %v", fixed, err)
	}
	changed := func(what string, want ...string) {
		t.Helper()
		state, err := pins.Compare(ctx, check, fixed)
		if err != nil || !slices.Equal(state.Changed, want) || len(state.Pins) != 2 {
			t.Errorf("%s: %+v, %v; want %v changed", what, state, err, want)
		}
	}
	changed("nothing")
	put("a.txt", "c")
	changed("another content", "a.txt")
	if at := pins.Place(ctx); at.Root.IsZero() {
		t.Errorf("the place is %+v", at)
	}
}

// Workflows is the suite of ports.Workflows for a project in which put writes files, below its folder of workflows and
// beside it: a file is found in its location, by its path, and beside another one. What does not exist is
// WORKFLOW_NOT_FOUND, and no binding.
func Workflows(t testing.TB, w ports.Workflows, put func(name, content string)) {
	ctx := context.Background()
	const text = `{"id":"test.one"}`
	named := func(files []catalog.File, name string) bool {
		return slices.ContainsFunc(files, func(f catalog.File) bool {
			return strings.HasSuffix(f.Ref, name) && f.Kind == source.SourceProject && string(f.Data) == text && f.Err == nil
		})
	}
	if _, err := w.WorkflowFile(ctx, "none.json"); !fault.Is(err, fault.WorkflowNotFound) {
		t.Errorf("a file that does not exist: %v; want WORKFLOW_NOT_FOUND", err)
	}
	if bindings, err := w.Bindings(ctx); err != nil || len(bindings) > 0 {
		t.Errorf("bindings of a project without any: %v, %v", bindings, err)
	}
	put(".waybill/workflows/one.json", text)
	put("two.json", text)
	put("routines/three.json", text)
	put(".waybill/bindings.json", `{"test.one":{"slot":"routine"}}`)
	if files, err := w.Workflows(ctx); err != nil || !named(files, "one.json") || named(files, "two.json") {
		t.Errorf("the workflows of the project: %v, %v", len(files), err)
	}
	if f, err := w.WorkflowFile(ctx, "two.json"); err != nil || !named([]catalog.File{f}, "two.json") {
		t.Errorf("a file by its path: %+v, %v", f, err)
	}
	if files, err := w.SiblingFiles(ctx, "two.json"); err != nil || !named(files, "two.json") && !named(files, "three.json") {
		t.Errorf("the files beside it: %v, %v", len(files), err)
	}
	if bindings, err := w.Bindings(ctx); err != nil || bindings["test.one"]["slot"] != "routine" {
		t.Errorf("bindings: %v, %v", bindings, err)
	}
}

// Trace is the suite of ports.Trace: every phase that was entered is counted, also one inside another, and by several
// goroutines.
func Trace(t testing.TB, tr ports.Trace, count func(ports.Phase) int) {
	leave := tr.Enter(ports.Reading)
	tr.Enter(ports.Syncing)()
	leave()
	done := make(chan struct{})
	go func() { defer close(done); tr.Enter(ports.Reading)() }()
	<-done
	for phase, want := range map[ports.Phase]int{ports.Reading: 2, ports.Syncing: 1, ports.Compile: 0} {
		if got := count(phase); got != want {
			t.Errorf("phase %s was entered %d times; want %d", phase, got, want)
		}
	}
}
