//go:build unix

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/waybill/waybill/durable/engine"
	"github.com/waybill/waybill/durable/engine/lines"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/workflow/compile"
	"github.com/waybill/waybill/durable/workflow/source"
	"github.com/waybill/waybill/infra/filestore"
	"github.com/waybill/waybill/ports/porttest/sample"
)

// commandRuns is a workflow of command steps, each of which appends a line to a file of its own, of the run and the step, with the
// attempt that it is of.
func commandRuns(steps int) string {
	var all []string
	for i := range steps {
		all = append(all, fmt.Sprintf(`{"id":"s%d","title":"Step %d","action":{"kind":"command","argv":["sh","-c",`+
			`"echo $WAYBILL_ATTEMPT_ID >>ran.$WAYBILL_RUN_ID.$WAYBILL_STEP_ID"]}}`, i, i))
	}
	return `{"id":"test.work","name":"Work","description":"d","version":"1.0.0","steps":[` + strings.Join(all, ",") + `]}`
}

// startMany starts runs of the workflow in a file, in this process.
func (p program) startMany(file string, n int, tags ...string) {
	p.t.Helper()
	text, err := os.ReadFile(filepath.Join(p.dir, file))
	if err != nil {
		p.t.Fatal(err)
	}
	_, w, problems := compile.File(file, source.SourceProject, text)
	if source.HasErrors(problems) {
		p.t.Fatal(problems)
	}
	e := p.engine()
	for range n {
		var seed id.Seed
		for i := range seed {
			seed[i] = byte(rand.Uint32())
		}
		by := engine.Caller{Actor: event.Actor{Kind: event.Human}, AtMs: time.Now().UnixMilli()}
		if _, err := e.Start(context.Background(), by, seed, engine.Start{Workflow: w, SourceKind: event.SourceProject,
			SourceRef: file, Tags: tags}); err != nil {
			p.t.Fatal(err)
		}
	}
	e.Flush(context.Background())
}

// engine opens the store in this process.
func (p program) engine() *engine.Engine {
	p.t.Helper()
	random := rand.NewChaCha8([32]byte{byte(time.Now().UnixNano()), byte(time.Now().UnixNano() >> 8)})
	s, err := filestore.OpenDir(p.store, filestore.Options{LockWait: 10 * time.Second, Now: time.Now, Random: random, Tenant: "local"})
	if err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(func() { _ = s.Close() })
	return engine.New(s)
}

// checkWorked checks that each of n runs is complete and that each of its steps was advanced once, by a command that ran at least
// once, in its attempt; with once exactly once.
func (p program) checkWorked(n, steps int, once bool) (again int) {
	p.t.Helper()
	e := p.engine()
	sessions, err := e.Sessions(context.Background())
	if err != nil || len(sessions) != n {
		p.t.Fatalf("%d sessions, %v", len(sessions), err)
	}
	for _, s := range sessions {
		fold, _, err := e.ReadWindowed(context.Background(), s)
		if err != nil || len(fold.Order) != 1 {
			p.t.Fatalf("%s: %v, %v", s, fold.Order, err)
		}
		run := fold.Order[0]
		events, v, err := lines.Events(context.Background(), e.Reader, run.String())
		if err != nil || v.Health != manifest.Healthy {
			p.t.Fatalf("%s: %+v, %v", s, v, err)
		}
		advanced, results := 0, 0
		for _, ev := range events {
			switch d := ev.Data.(type) {
			case event.AdvanceRecorded:
				if d.Outcome.Kind == event.Advanced {
					advanced++
				} else {
					p.t.Errorf("%s: %+v", run, d.Outcome)
				}
			case event.NodeOutputAppended:
				if d.Payload.ArtifactKind == "wr.command_result" {
					results++
				}
			}
		}
		if advanced != steps || results != steps {
			p.t.Errorf("%s: %d advances and %d results of %d steps", run, advanced, results, steps)
		}
		for i := range steps {
			data, _ := os.ReadFile(filepath.Join(p.dir, fmt.Sprintf("ran.%s.s%d", run, i)))
			attempts := strings.Fields(string(data))
			for _, a := range attempts {
				if a != attempts[0] {
					p.t.Errorf("%s, step %d: commands of other attempts ran: %q", run, i, attempts)
				}
			}
			if len(attempts) == 0 || once && len(attempts) > 1 {
				p.t.Errorf("%s, step %d: its command ran %d times", run, i, len(attempts))
			}
			again += max(0, len(attempts)-1)
		}
	}
	p.runPiped(0, "verify")
	return again
}

// workedLine is a line of 'work --jsonl'.
type workedLine struct {
	Event, RunID, SessionID, StepID, Outcome string
	Performed                                int
	Error                                    *struct{ Code, Message, Suggestion string }
}

// worked returns the lines that a worker printed.
func worked(t *testing.T, out []byte) (all []workedLine) {
	t.Helper()
	for line := range bytes.Lines(out) {
		var l workedLine
		if err := json.Unmarshal(line, &l); err != nil {
			t.Fatalf("%v: %q", err, line)
		}
		all = append(all, l)
	}
	return all
}

// withCommands returns a program with n runs of command steps, which a person trusts.
func withCommands(t *testing.T, n, steps int) program {
	t.Helper()
	p := program{t, t.TempDir(), filepath.Join(t.TempDir(), "store")}
	p.writeFile("w.json", commandRuns(steps))
	p.trust("w.json")
	p.startMany("w.json", n)
	return p
}

// TestManyWorkers: of many worker processes on one store each run is performed by one at a time: each step is advanced once, and each
// command runs once. One process performs as many runs, for comparison.
func TestManyWorkers(t *testing.T) {
	t.Parallel()
	workers, n, steps := 4, 16, 3
	if sample.Exhaustive() {
		workers, n, steps = 16, 200, 5
	}
	alone := withCommands(t, n, steps)
	began := time.Now()
	alone.runPiped(0, "work", "--once", "--max", "1")
	one := time.Since(began)
	alone.checkWorked(n, steps, true)

	p := withCommands(t, n, steps)
	began = time.Now()
	outs := make([][]byte, workers)
	var all sync.WaitGroup
	for i := range outs {
		all.Go(func() {
			cmd := p.command("work", "--once", "--max", "1", "--jsonl")
			var errs bytes.Buffer
			cmd.Stderr = &errs
			out, err := cmd.Output()
			if err != nil {
				t.Errorf("%v: %s", err, &errs)
			}
			outs[i] = out
		})
	}
	all.Wait()
	many := time.Since(began)
	p.checkWorked(n, steps, true)
	completed, reported, busyWorkers := 0, map[string]int{}, 0
	for _, out := range outs {
		before := completed
		for _, l := range worked(t, out) {
			switch {
			case l.Event == "step":
				reported[l.RunID+l.StepID]++
			case l.Outcome == "complete":
				completed++
			default:
				t.Errorf("%+v", l)
			}
		}
		if completed > before {
			busyWorkers++
		}
	}
	for step, times := range reported {
		if times != 1 {
			t.Errorf("step %s was reported %d times", step, times)
		}
	}
	if completed != n || len(reported) != n*steps || busyWorkers < 2 {
		t.Errorf("%d runs were reported complete and %d steps, by %d workers", completed, len(reported), busyWorkers)
	}
	t.Logf("%d runs of %d steps: one process %.1f runs/s, %d processes %.1f runs/s, %.2f times as many", n, steps,
		float64(n)/one.Seconds(), workers, float64(n)/many.Seconds(), one.Seconds()/many.Seconds())
}

// TestWorkersAreKilled: random workers are killed again and again and replaced. Each run completes, and each step is advanced once;
// commands run at least once, each for the one attempt of its step.
func TestWorkersAreKilled(t *testing.T) {
	t.Parallel()
	workers, n, steps, long := 3, 24, 4, 3*time.Second
	if sample.Exhaustive() {
		workers, n, steps, long = 16, 200, 5, time.Minute
	}
	p := withCommands(t, n, steps)
	begin := func() *exec.Cmd {
		cmd := p.command("work", "--max", "2")
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		return cmd
	}
	running := make([]*exec.Cmd, workers)
	for i := range running {
		running[i] = begin()
	}
	random := rand.New(rand.NewPCG(1, 2))
	killed, added := 0, n
	for until := time.Now().Add(long); time.Now().Before(until); {
		time.Sleep(time.Duration(20+random.IntN(150)) * time.Millisecond)
		i := random.IntN(workers)
		_ = running[i].Process.Kill()
		_ = running[i].Wait()
		killed++
		running[i] = begin()
		if killed%8 == 0 { // there is always something to do
			p.startMany("w.json", n/8)
			added += n / 8
		}
	}
	for _, cmd := range running {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}
	// A command that was being started holds the lease of its performer until it is executed or killed, too.
	for range 20 {
		if p.runPiped(0, "work", "--once", "--max", "4"); p.allComplete() {
			break
		}
		time.Sleep(200 * time.Millisecond)
	}
	again := p.checkWorked(added, steps, false)
	t.Logf("%d workers killed, %d runs completed, %d commands ran again", killed, added, again)
	if killed < 5 {
		t.Errorf("only %d workers were killed", killed)
	}
}

// allComplete reports that each run of the store is complete.
func (p program) allComplete() bool {
	p.t.Helper()
	var list struct{ Runs []struct{ Status string } }
	p.json(&list, "runs", "list", "--status", "in_progress", "--limit", "1")
	return len(list.Runs) == 0
}
