package main

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"time"
)

// killSteps and kills are the numbers of the project's durability requirement.
const (
	killSteps = 200
	kills     = 30
)

// program is the test binary used as waybill, see TestMain.
type program struct {
	t     *testing.T
	dir   string
	store string
}

func (p program) command(args ...string) *exec.Cmd {
	cmd := exec.Command("waybill", append(args, "--store", p.store)...)
	cmd.Dir = p.dir
	return cmd
}

// writeFile writes a file into the directory that the program runs in.
func (p program) writeFile(name, text string) {
	p.t.Helper()
	if err := os.WriteFile(filepath.Join(p.dir, name), []byte(text), 0o600); err != nil {
		p.t.Fatal(err)
	}
}

// runPiped runs the program without a terminal and returns its output. The exit status must
// be want.
func (p program) runPiped(want int, args ...string) string {
	p.t.Helper()
	cmd := p.command(args...)
	out, _ := cmd.CombinedOutput()
	if got := cmd.ProcessState.ExitCode(); got != want {
		p.t.Fatalf("%v: exit status %d, want %d:\n%s", args, got, want, out)
	}
	return string(out)
}

// whenLeft is runPiped for a run that another process may still be about to leave: a status is on record a moment before
// the process that recorded it lets go of the run.
func (p program) whenLeft(want int, args ...string) string {
	p.t.Helper()
	for deadline := time.Now().Add(10 * time.Second); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		cmd := p.command(args...)
		out, _ := cmd.CombinedOutput()
		if got := cmd.ProcessState.ExitCode(); got == want {
			return string(out)
		} else if !strings.Contains(string(out), "[RUN_BUSY]") {
			p.t.Fatalf("%v: exit status %d, want %d:\n%s", args, got, want, out)
		}
	}
	p.t.Fatalf("%v: the run is not left", args)
	return ""
}

// json runs a command and reads its document's data into out, which is cleared before.
func (p program) json(out any, args ...string) {
	p.t.Helper()
	p.failing(out, 0, args...)
}

// failing is json for a command whose exit status is want.
func (p program) failing(out any, want int, args ...string) {
	p.t.Helper()
	cmd := p.command(append(args, "--json")...)
	text, err := cmd.Output()
	if got := cmd.ProcessState.ExitCode(); got != want {
		p.t.Fatalf("%v: exit status %d, want %d: %v\n%s", args, got, want, err, text)
	}
	reflect.ValueOf(out).Elem().SetZero()
	doc := struct {
		Data any `json:"data"`
	}{out}
	if err := json.Unmarshal(text, &doc); err != nil {
		p.t.Fatalf("%v: %v\n%s", args, err, text)
	}
}

func asJSON(t *testing.T, v any) []byte {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func manyCommands(n int) string {
	steps := make([]string, n)
	for i := range steps {
		steps[i] = fmt.Sprintf(`{"id":"step-%d","title":"Step %d","action":{"kind":"command","argv":["sleep","0.01"]}}`,
			i, i)
	}
	return `{"id":"test.kill","name":"Kill","description":"d","version":"1.0.0","steps":[` + strings.Join(steps, ",") +
		`]}`
}

// TestKilledAtAnyMoment: a run of 200 command steps is killed thirty times, at
// random moments, and continued each time. Nothing acknowledged is lost, no step
// advances twice, and the store is clean.
func TestKilledAtAnyMoment(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("there is no SIGKILL on windows, and no program called sleep")
	}
	p := program{t, t.TempDir(), filepath.Join(t.TempDir(), "store")}
	if err := os.WriteFile(filepath.Join(p.dir, "kill.json"), []byte(manyCommands(killSteps)), 0o600); err != nil {
		t.Fatal(err)
	}
	seed := uint64(time.Now().UnixNano())
	random := rand.New(rand.NewPCG(seed, 1))
	t.Logf("seed %d", seed)

	var runID string
	inTime := 0
	for range kills {
		args := []string{"run", "kill.json", "--trust", "--quiet"}
		if runID != "" {
			args = []string{"run", "kill.json", "--run", runID, "--trust", "--quiet"}
		}
		cmd := p.command(args...)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		// The delays leave steps for later rounds. Most kills hit a running step, some come
		// before the first one.
		time.Sleep(time.Duration(2+random.IntN(80)) * time.Millisecond)
		_ = cmd.Process.Kill()
		if err := cmd.Wait(); err != nil {
			inTime++
		}
		if runID == "" {
			runID = p.onlyRun()
		}
	}
	if inTime < kills {
		t.Errorf("only %d of %d kills hit a running process: the delays are too long", inTime, kills)
	}
	args := []string{"run", "kill.json", "--trust", "--quiet"}
	if runID != "" {
		args = []string{"run", "kill.json", "--run", runID, "--trust", "--quiet"}
	}
	if out, err := p.command(args...).CombinedOutput(); err != nil {
		t.Fatalf("continuing after the kills: %v\n%s", err, out)
	}
	p.checkStore()
}

// onlyRun returns the only run of the store, "" before it was started.
func (p program) onlyRun() string {
	p.t.Helper()
	var list struct {
		Runs []struct{ RunID string } `json:"runs"`
	}
	if _, err := os.Stat(filepath.Join(p.store, "store.json")); os.IsNotExist(err) {
		return "" // it was killed before it created the store
	}
	p.json(&list, "runs", "list")
	if len(list.Runs) > 1 {
		p.t.Fatalf("%d runs, want 1", len(list.Runs))
	}
	if len(list.Runs) == 0 {
		return ""
	}
	return list.Runs[0].RunID
}

// checkStore checks that each node advanced once in the stored events, and verifies the store.
func (p program) checkStore() {
	p.t.Helper()
	var log struct {
		Events []struct {
			Kind  string
			Scope struct{ NodeID string }
			Data  struct{ Outcome struct{ Kind string } }
		} `json:"events"`
	}
	p.json(&log, "runs", "events", "@last")
	advanced := map[string]int{}
	for _, e := range log.Events {
		if e.Kind == "advance_recorded" && e.Data.Outcome.Kind == "advanced" {
			advanced[e.Scope.NodeID]++
		}
	}
	for node, n := range advanced {
		if n != 1 {
			p.t.Errorf("node %s advanced %d times", node, n)
		}
	}
	if len(advanced) != killSteps {
		p.t.Errorf("%d steps advanced, want %d", len(advanced), killSteps)
	}
	var run struct{ Status string }
	p.json(&run, "runs", "show", "@last")
	if run.Status != "complete" {
		p.t.Errorf("the run is %s", run.Status)
	}
	var verified struct {
		OK       bool
		Sessions []struct{ Findings []any }
		Findings []struct{ Code, Path string }
	}
	p.json(&verified, "verify")
	if !verified.OK {
		p.t.Errorf("verify: %+v", verified)
	}
	for _, f := range verified.Findings {
		if f.Code != "orphan_object" { // left by a killed append, until the next gc
			p.t.Errorf("verify: %+v", f)
		}
	}
	for _, s := range verified.Sessions {
		if len(s.Findings) > 0 {
			p.t.Errorf("verify: %+v", s.Findings)
		}
	}
}
