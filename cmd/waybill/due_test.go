package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/waybill/waybill/ports/porttest/sample"
)

// waiting is a workflow that waits and then runs commands, each of which writes a line to the file
// "ran".
func waiting(wait string, commands int) string {
	steps := `{"id":"w","title":"Wait","action":{"kind":"wait",` + wait + `}}`
	for i := range commands {
		id := string(rune('a' + i))
		steps += `,{"id":"` + id + `","title":"Do","action":{"kind":"command","argv":["sh","-c","echo ` + id + ` >>ran"]}}`
	}
	return `{"id":"test.wait","name":"Wait","description":"d","version":"1.0.0","steps":[` + steps + `]}`
}

// withWait returns a program in a directory with w.json, which is trusted if trust is set.
func withWait(t *testing.T, flow string, trust bool) program {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("there is no program called sh")
	}
	p := program{t, t.TempDir(), filepath.Join(t.TempDir(), "store")}
	p.writeFile("w.json", flow)
	if trust {
		p.trust("w.json")
	}
	return p
}

// trust records that a person trusts a file.
func (p program) trust(file string) {
	p.t.Helper()
	if out, err := withPerson(p.command("trust", file), "y"); err != nil {
		p.t.Fatalf("trust: %v\n%s", err, out)
	}
}

// dueDocument is the document "due".
type dueDocument struct {
	Items []struct {
		RunID, StepID, WaitStepID, Outcome string
		AtMs                               int64
		Imported                           bool
		Performed                          int
		Error                              *struct{ Code, Message, Suggestion string }
	}
	Ahead    int
	NextAtMs int64
}

// due calls due.
func (p program) due(flags ...string) (d dueDocument) {
	p.t.Helper()
	p.json(&d, append([]string{"due"}, flags...)...)
	return d
}

// status is the status of the run that was active last.
func (p program) status() string {
	p.t.Helper()
	var run struct{ Status string }
	p.json(&run, "runs", "show", "@last")
	return run.Status
}

// TestDueByManyProcesses: of ten processes at once one continues the run, and its command runs once.
func TestDueByManyProcesses(t *testing.T) {
	t.Parallel()
	p := withWait(t, waiting(`"for":"3s"`, 2), true)
	p.runPiped(0, "start", "w.json")
	d := p.due("--run")
	if len(d.Items) != 0 || d.Ahead != 1 || d.NextAtMs == 0 || p.ran() != "" {
		t.Fatalf("%+v, ran %q", d, p.ran())
	}
	p.runPiped(3, "run", "--run", "@last")
	time.Sleep(time.Until(time.UnixMilli(d.NextAtMs).Add(100 * time.Millisecond)))
	if d = p.due(); len(d.Items) != 1 || d.Items[0].StepID != "w" || d.Ahead != 0 || p.ran() != "" {
		t.Fatalf("%+v, ran %q", d, p.ran())
	}
	var wg sync.WaitGroup
	outcomes := make([]string, 10)
	for i := range outcomes {
		wg.Go(func() {
			out, err := p.command("due", "--run", "--json").Output()
			var doc struct{ Data dueDocument }
			if err != nil || json.Unmarshal(out, &doc) != nil {
				t.Errorf("%v: %s", err, out)
			} else if len(doc.Data.Items) > 0 {
				outcomes[i] = doc.Data.Items[0].Outcome
			}
		})
	}
	wg.Wait()
	complete := 0
	for _, o := range outcomes {
		switch o {
		case "complete":
			complete++
		case "busy", "": // another process was faster, before or after the list was made
		default:
			t.Errorf("outcomes %q", outcomes)
		}
	}
	if complete != 1 || p.ran() != "a b" || p.status() != "complete" {
		t.Errorf("%d processes completed it, ran %q, %s", complete, p.ran(), p.status())
	}
}

// TestDueGoesAsFarAsTrust: a command behind the wait runs only of a workflow that a person trusted;
// until then the run is listed, and nothing is recorded of further calls. A step that failed is not
// tried again.
func TestDueGoesAsFarAsTrust(t *testing.T) {
	t.Parallel()
	p := withWait(t, waiting(`"until":"2001-01-01T00:00:00Z"`, 1), false)
	p.runPiped(0, "start", "w.json")
	for i := range 3 {
		d := p.due("--run")
		if len(d.Items) != 1 || d.Items[0].Outcome != "waiting" || d.Items[0].Error.Code != "WORKFLOW_UNTRUSTED" ||
			!strings.Contains(d.Items[0].Error.Suggestion, "trust") || p.ran() != "" || (d.Items[0].WaitStepID == "w") != (i > 0) {
			t.Fatalf("%+v, ran %q", d, p.ran())
		}
	}
	p.trust("w.json")
	if d := p.due("--run"); d.Items[0].Outcome != "complete" || p.ran() != "a" || len(p.due().Items) != 0 {
		t.Errorf("%+v, ran %q", d, p.ran())
	}

	p = withWait(t, strings.Replace(waiting(`"until":"2001-01-01T00:00:00Z"`, 1), "echo a >>ran", "echo a >>ran; exit 4", 1), true)
	p.writeFile("w2.json", strings.Replace(waiting(`"until":"2002-01-01T00:00:00Z"`, 1), "test.wait", "test.other", 1))
	p.trust("w2.json")
	p.runPiped(0, "start", "w.json")
	p.runPiped(0, "start", "w2.json")
	out := p.runPiped(1, "due", "--run")
	if p.ran() != "a a" || !strings.Contains(out, "exited with status 4") || !strings.Contains(out, "is complete") {
		t.Errorf("ran %q:\n%s", p.ran(), out)
	}
	if out = p.runPiped(0, "due", "--run"); p.ran() != "a a" || !strings.Contains(out, "No run is due.") {
		t.Errorf("ran %q:\n%s", p.ran(), out)
	}
}

// exportedTwice starts w.json and exports it before and behind its first step, as early.json and late.json.
func exportedTwice(p program) {
	p.runPiped(0, "start", "w.json")
	p.runPiped(0, "export", "@last", "-o", "early.json")
	p.runPiped(0, "continue", "--run", "@last", "--notes", "n")
	p.runPiped(0, "export", "@last", "-o", "late.json")
}

// TestDueOfImportedRuns: a bundle starts no command; a run that a person has continued here is
// performed.
func TestDueOfImportedRuns(t *testing.T) {
	t.Parallel()
	from := withWait(t, strings.Replace(waiting(`"until":"2001-01-01T00:00:00Z"`, 1), `[`, `[{"id":"p","title":"P","prompt":"p"},`, 1), false)
	exportedTwice(from)

	p := program{t, from.dir, filepath.Join(t.TempDir(), "store")}
	p.trust("w.json")
	p.runPiped(0, "import", "late.json")
	d := p.due("--run")
	if len(d.Items) != 1 || !d.Items[0].Imported || d.Items[0].Outcome != "skipped" || p.ran() != "" {
		t.Fatalf("%+v, ran %q", d, p.ran())
	}
	p = program{t, from.dir, filepath.Join(t.TempDir(), "store")}
	p.trust("w.json")
	p.runPiped(0, "import", "early.json")
	p.runPiped(0, "continue", "--run", "@last", "--notes", "here")
	if d = p.due("--run"); len(d.Items) != 1 || d.Items[0].Outcome != "complete" || p.ran() != "a" {
		t.Fatalf("%+v, ran %q", d, p.ran())
	}
}

// dueKillMs is the time within which 'due --run' is killed, in milliseconds: it takes less.
const dueKillMs = 300

// TestDueIsKilled: 'due --run' is killed at a moment, and the next call continues the run from there.
// The wait is recorded once, no step advances twice, and each command runs at least once.
func TestDueIsKilled(t *testing.T) {
	t.Parallel()
	cases := sample.OneIn(t, 75)
	for ms := range cases.Of(dueKillMs) {
		p := withWait(t, waiting(`"until":"2001-01-01T00:00:00Z"`, 3), true)
		p.runPiped(0, "start", "w.json")
		cmd := p.command("due", "--run")
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Duration(ms) * time.Millisecond)
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		out := p.runPiped(0, "due", "--run")
		// A command that was being started holds the lock of its performer until it is executed or killed, too.
		for range 50 {
			if !strings.Contains(out, "by another process") {
				break
			}
			time.Sleep(20 * time.Millisecond)
			out = p.runPiped(0, "due", "--run")
		}
		if got := p.status(); got != "complete" {
			t.Fatalf("killed after %d ms: the run is %s:\n%s", ms, got, out)
		}
		var log struct {
			Events []struct {
				Kind string
				Data struct {
					Outcome struct{ Kind string }
					Payload struct{ ArtifactKind string }
				}
			}
		}
		p.json(&log, "runs", "events", "@last")
		advanced, over := 0, 0
		for _, e := range log.Events {
			if e.Kind == "advance_recorded" {
				advanced++
			}
			if e.Data.Payload.ArtifactKind == "wr.wait_over" {
				over++
			}
		}
		ran := strings.Fields(p.ran())
		if advanced != 4 || over != 1 || len(ran) < 3 || len(ran) > 4 || ran[0] != "a" || ran[len(ran)-1] != "c" {
			t.Errorf("killed after %d ms: %d attempts, %d waits, ran %q", ms, advanced, over, ran)
		}
		p.runPiped(0, "verify")
		p.runPiped(0, "replay", "@last")
	}
}

// TestPrintTimer: the units and the crontab line name absolute paths, quoted for their reader, and
// nothing is written.
func TestPrintTimer(t *testing.T) {
	t.Parallel()
	p := program{t, filepath.Join(t.TempDir(), "a 50% $x"), filepath.Join(t.TempDir(), `st"ore`)}
	if err := os.MkdirAll(p.dir, 0o700); err != nil {
		t.Fatal(err)
	}
	real, err := filepath.EvalSymlinks(p.dir)
	if err != nil {
		t.Fatal(err)
	}
	out := p.runPiped(0, "due", "--print-timer")
	for name, is := range map[string]string{"DIR": real, "STORE": p.store} {
		escaped := strings.NewReplacer(`\`, `\\`, `"`, `\"`, "%", "%%", "$", "$$").Replace(is)
		out = strings.ReplaceAll(out, `"`+escaped+`"`, "<"+name+" in quotation marks>")
		out = strings.ReplaceAll(out, strings.ReplaceAll(is, "%", "%%"), "<"+name+">")
		out = strings.ReplaceAll(out, "'"+strings.ReplaceAll(is, "%", `\%`)+"'", "<"+name+" for a shell>")
	}
	lines := strings.Split(out, "\n")
	for i, line := range lines {
		if strings.HasPrefix(line, "ExecStart=") {
			_, rest, _ := strings.Cut(line, " due ")
			lines[i] = "ExecStart=<PROGRAM> due " + rest
		}
		if strings.HasPrefix(line, "# * *") {
			_, rest, _ := strings.Cut(line, " && ")
			_, rest, _ = strings.Cut(rest, " due ")
			before, _, _ := strings.Cut(line, " && ")
			lines[i] = before + " && <PROGRAM> due " + rest
		}
	}
	current(t, filepath.Join(home, "testdata/due-timer.golden"), strings.Join(lines, "\n"))
	if _, err := os.Stat(p.store); err == nil {
		t.Error("the store was created")
	}
	p.runPiped(2, "due", "--print-timer", "--run")
}

// TestAgentAtAWait: the tools say until when the run waits, and that nothing has to be done; asking
// again and again records nothing.
func TestAgentAtAWait(t *testing.T) {
	t.Parallel()
	p := withWait(t, waiting(`"for":"1h"`, 1), false)
	p.runPiped(0, "start", "w.json")
	before, err := os.ReadFile(p.logged()[0])
	if err != nil {
		t.Fatal(err)
	}
	c := p.agent()
	var run struct{ RunID string }
	p.json(&run, "runs", "show", "@last")
	found := c.tool("resume_session", map[string]any{"runId": run.RunID})
	token := found.Data.Candidates[0].StateToken
	for range 3 {
		r := c.tool("continue_workflow", map[string]any{"stateToken": token})
		if r.Data.Pending == nil || !strings.Contains(r.Data.Pending.Prompt, "Nothing has to be done") ||
			!strings.Contains(r.raw, `"nextIntent":"rehydrate_only"`) || !strings.Contains(r.raw, `"untilMs":`) {
			t.Fatalf("%s", r.raw)
		}
		r = c.tool("continue_workflow", map[string]any{"stateToken": r.Data.StateToken, "ackToken": r.Data.AckToken,
			"output": map[string]any{"notesMarkdown": "done"}})
		if r.Error.Code != "RUN_WAITING" || !strings.Contains(r.Error.Suggestion, "due --run") || r.Error.Details["untilMs"] == nil {
			t.Fatalf("%s", r.raw)
		}
	}
	c.ends()
	after, err := os.ReadFile(p.logged()[0])
	if err != nil || string(after) != string(before) {
		t.Errorf("%v: the log grew from %d to %d bytes", err, len(before), len(after))
	}
}
