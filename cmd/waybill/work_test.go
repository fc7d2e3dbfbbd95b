//go:build unix

package main

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// aWorker is a 'work' process in the background.
type aWorker struct {
	p         program
	cmd       *exec.Cmd
	out, errs string // files
}

// startWorker starts 'work --jsonl' with flags.
func (p program) startWorker(flags ...string) *aWorker {
	p.t.Helper()
	return p.started(p.command(append([]string{"work", "--jsonl"}, flags...)...))
}

// started starts a command as a worker in the background.
func (p program) started(cmd *exec.Cmd) *aWorker {
	p.t.Helper()
	dir := p.t.TempDir()
	w := &aWorker{p, cmd, filepath.Join(dir, "out"), filepath.Join(dir, "errs")}
	for _, to := range []struct {
		name string
		at   *io.Writer
	}{{w.out, &w.cmd.Stdout}, {w.errs, &w.cmd.Stderr}} {
		f, err := os.Create(to.name)
		if err != nil {
			p.t.Fatal(err)
		}
		defer f.Close()
		*to.at = f
	}
	if err := w.cmd.Start(); err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(func() { _ = w.cmd.Process.Kill(); _, _ = w.cmd.Process.Wait() })
	return w
}

// lines are the lines that the worker has printed.
func (w *aWorker) lines() []workedLine {
	w.p.t.Helper()
	data, err := os.ReadFile(w.out)
	if err != nil {
		w.p.t.Fatal(err)
	}
	return worked(w.p.t, data[:bytes.LastIndexByte(data, '\n')+1])
}

// until waits for a line.
func (w *aWorker) until(what string, is func(workedLine) bool) {
	w.p.t.Helper()
	for range 600 {
		if slices.ContainsFunc(w.lines(), is) {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	errs, _ := os.ReadFile(w.errs)
	w.p.t.Fatalf("%s: the worker printed %+v, %s", what, w.lines(), errs)
}

// signalled sends a signal and returns the exit status.
func (w *aWorker) signalled(s syscall.Signal) int {
	_ = w.cmd.Process.Signal(s)
	_ = w.cmd.Wait()
	return w.cmd.ProcessState.ExitCode()
}

// oneCommand is a workflow of command steps that run scripts.
func oneCommand(name string, scripts ...string) string {
	var steps []string
	for i, script := range scripts {
		steps = append(steps, `{"id":"`+string(rune('a'+i))+`","title":"Do","action":{"kind":"command","argv":["sh","-c","`+script+`"]}}`)
	}
	return `{"id":"test.` + name + `","name":"` + name + `","description":"d","version":"1.0.0","steps":[` + strings.Join(steps, ",") + `]}`
}

// worker returns a program in a directory with files.
func workDir(t *testing.T, files map[string]string) program {
	t.Helper()
	p := program{t, t.TempDir(), filepath.Join(t.TempDir(), "store")}
	for name, text := range files {
		p.writeFile(name, text)
	}
	return p
}

// waitFor waits until a file exists.
func (p program) waitFor(name string) {
	p.t.Helper()
	for range 600 {
		if _, err := os.Stat(filepath.Join(p.dir, name)); err == nil {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	p.t.Fatalf("there is no file %s", name)
}

// TestWorkNeedsTrust: commands run only of workflows that a person trusted, no flag allows them, and the command that helps is
// printed once for a workflow. A worker that runs sees new trust, and trust that is revoked between two steps.
func TestWorkNeedsTrust(t *testing.T) {
	t.Parallel()
	p := workDir(t, map[string]string{"w.json": oneCommand("w", "echo a >>ran; until [ -e go ]; do sleep 0.05; done", "echo b >>ran"),
		"other.json": oneCommand("other", "echo o >>ran")})
	for range 3 {
		p.runPiped(0, "start", "w.json")
	}
	p.runPiped(2, "work", "--once", "--trust")
	out := p.runPiped(0, "work", "--once", "--max", "2")
	if p.ran() != "" || strings.Count(out, "not trusted") != 1 || strings.Count(out, "waybill trust sha256:") != 1 || strings.Contains(out, "--trust") {
		t.Fatalf("ran %q:\n%s", p.ran(), out)
	}
	w := p.startWorker("--max", "1")
	w.until("untrusted", func(l workedLine) bool { return l.Event == "left" && l.Error.Code == "WORKFLOW_UNTRUSTED" })
	p.trust("w.json")
	p.waitFor("ran") // the first command runs
	p.runPiped(0, "trust", "--revoke", "w.json")
	p.writeFile("go", "")
	w.until("revoked", func(l workedLine) bool {
		return l.Outcome == "waiting" && l.Performed == 1 && l.Error.Code == "WORKFLOW_UNTRUSTED"
	})
	time.Sleep(700 * time.Millisecond) // the worker looks again
	if p.ran() != "a" || w.signalled(syscall.SIGTERM) != 0 {
		t.Errorf("ran %q: %+v", p.ran(), w.lines())
	}
	p.trust("other.json")
	p.runPiped(0, "start", "other.json")
	if p.runPiped(0, "work", "--once"); p.ran() != "a o" {
		t.Errorf("ran %q", p.ran())
	}
}

// TestWorkLeavesImportedRuns: a bundle starts no command; a run that a person has continued here is performed.
func TestWorkLeavesImportedRuns(t *testing.T) {
	t.Parallel()
	flow := strings.Replace(oneCommand("w", "echo a >>ran"), `[{`, `[{"id":"p","title":"P","prompt":"p"},{`, 1)
	from := workDir(t, map[string]string{"w.json": flow})
	exportedTwice(from)

	p := program{t, from.dir, filepath.Join(t.TempDir(), "store")}
	p.trust("w.json")
	p.runPiped(0, "import", "late.json")
	out := p.runPiped(0, "work", "--once")
	if p.ran() != "" || !strings.Contains(out, "was imported") || !strings.Contains(out, "waybill run --store "+p.store+" --run ") {
		t.Fatalf("ran %q:\n%s", p.ran(), out)
	}
	p = program{t, from.dir, filepath.Join(t.TempDir(), "store")}
	p.trust("w.json")
	p.runPiped(0, "import", "early.json")
	if p.runPiped(0, "work", "--once"); p.ran() != "" {
		t.Fatalf("ran %q", p.ran())
	}
	p.runPiped(0, "continue", "--run", "@last", "--notes", "here")
	if out := p.runPiped(0, "work", "--once"); p.ran() != "a" {
		t.Errorf("ran %q:\n%s", p.ran(), out)
	}
}

// TestWorkGivesCommandsNoToken: a command has the ids of its attempt in its environment, and nothing that a program could act with.
func TestWorkGivesCommandsNoToken(t *testing.T) {
	t.Parallel()
	p := workDir(t, map[string]string{"w.json": oneCommand("w", "env >env")})
	p.trust("w.json")
	p.runPiped(0, "start", "w.json")
	p.runPiped(0, "work", "--once")
	data, err := os.ReadFile(filepath.Join(p.dir, "env"))
	if err != nil {
		t.Fatal(err)
	}
	known := []string{"WAYBILL_SESSION_ID", "WAYBILL_RUN_ID", "WAYBILL_STEP_ID", "WAYBILL_ATTEMPT_ID", "WAYBILL_OUTPUT", "WAYBILL_CONTEXT"}
	for line := range strings.Lines(string(data)) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), "=")
		own := strings.HasPrefix(name, "WAYBILL_") && os.Getenv(name) == ""
		if own && !slices.Contains(known, name) || strings.Contains(value, "st.v1") || strings.Contains(value, "ack.v1") || strings.Contains(value, "chk.v1") {
			t.Errorf("a command gets %s", line)
		}
	}
	if !strings.Contains(string(data), "WAYBILL_ATTEMPT_ID=") {
		t.Errorf("%s", data)
	}
}

// TestWorkEndsOnASignal: the worker stops its command, which leaves its step pending, and the next worker performs it. The status is
// 0, with --once 1.
func TestWorkEndsOnASignal(t *testing.T) {
	t.Parallel()
	p := workDir(t, map[string]string{"w.json": oneCommand("w", "echo a >>ran; [ -e go ] || exec sleep 60", "echo b >>ran")})
	p.trust("w.json")
	p.runPiped(0, "start", "w.json")
	for i, c := range []struct {
		flags  []string
		signal syscall.Signal
		want   int
	}{{nil, syscall.SIGTERM, 0}, {nil, syscall.SIGINT, 0}, {[]string{"--once"}, syscall.SIGTERM, 1}} {
		w := p.startWorker(c.flags...)
		for range 600 {
			if strings.Count(p.ran(), "a") > i {
				break
			}
			time.Sleep(50 * time.Millisecond)
		}
		if got := w.signalled(c.signal); got != c.want {
			t.Errorf("%v: status %d, want %d", c, got, c.want)
		}
		if all := w.lines(); len(all) != 1 || all[0].Outcome != "stopped" || all[0].Performed != 0 {
			t.Errorf("%v: %+v", c, all)
		}
		if errs, _ := os.ReadFile(w.errs); c.want != 0 && !strings.Contains(string(errs), "waybill work --once") {
			t.Errorf("%v: %s", c, errs)
		}
	}
	p.writeFile("go", "")
	if p.runPiped(0, "work", "--once"); p.ran() != "a a a a b" || p.status() != "complete" {
		t.Errorf("ran %q, %s", p.ran(), p.status())
	}
}

// TestWorkWaits: a worker continues a run when its wait is over, takes runs that are started meanwhile, and only those with one of
// its tags.
func TestWorkWaits(t *testing.T) {
	t.Parallel()
	p := withWait(t, waiting(`"for":"1s"`, 2), true)
	p.writeFile("mine.json", oneCommand("mine", "echo mine >>ran"))
	p.trust("mine.json")
	p.runPiped(0, "start", "w.json", "--tags", "b, mine")
	p.runPiped(0, "start", "mine.json", "--tags", "other")
	w := p.startWorker("--tags", "mine,c")
	complete := func(runs int) func(workedLine) bool {
		ended := map[string]bool{}
		return func(l workedLine) bool {
			if l.Outcome == "complete" {
				ended[l.RunID] = true
			}
			return len(ended) >= runs
		}
	}
	w.until("the wait", complete(1))
	p.runPiped(0, "start", "mine.json", "--tags", "c")
	w.until("the new run", complete(2))
	if w.signalled(syscall.SIGTERM) != 0 || p.ran() != "a b mine" {
		t.Errorf("ran %q: %+v", p.ran(), w.lines())
	}
	if p.runPiped(0, "work", "--once"); p.ran() != "a b mine mine" {
		t.Errorf("ran %q", p.ran())
	}
}

// TestWorkWithBadInput: invalid flags, missing stores, and sessions and runs that cannot be performed beside
// others that are.
func TestWorkWithBadInput(t *testing.T) {
	t.Parallel()
	p := workDir(t, map[string]string{"w.json": oneCommand("w", "echo a >>ran"), "fails.json": oneCommand("fails", "exit 4"),
		"asks.json": strings.Replace(strings.Replace(oneCommand("asks", "echo $1 >>ran"), `>>ran"]`, `>>ran","--","{{x}}"]`, 1), `"title":"Do"`, `"title":"Do","inputs":[{"contextKey":"x","reason":"needs_user_artifact","description":"X"}]`, 1)})
	for _, row := range []struct {
		status int
		code   string
		flags  []string
	}{
		{2, "USAGE_ERROR", []string{"--max", "0"}}, {2, "USAGE_ERROR", []string{"--max", "65"}}, {2, "USAGE_ERROR", []string{"--max", "many"}},
		{2, "USAGE_ERROR", []string{"--trust"}}, {2, "USAGE_ERROR", []string{"run_x"}}, {2, "VALIDATION_ERROR", []string{"--tags", "a,,b"}},
		{2, "VALIDATION_ERROR", []string{"--tags", "a\u0007"}}, {6, "TARGET_NOT_FOUND", nil},
	} {
		p.refused(row.status, row.code, append([]string{"work", "--once"}, row.flags...)...)
	}
	p.runPiped(2, "work", "--json")
	for _, file := range []string{"w.json", "fails.json", "asks.json"} {
		p.trust(file)
	}
	p.runPiped(0, "start", "w.json")
	sessions, err := os.ReadDir(filepath.Join(p.store, "sessions"))
	if err != nil || len(sessions) != 1 {
		t.Fatal(sessions, err)
	}
	manifest := filepath.Join(p.store, "sessions", sessions[0].Name(), "manifest.jsonl")
	data, err := os.ReadFile(manifest)
	if err == nil {
		err = os.WriteFile(manifest, bytes.Replace(data, []byte(`"`), []byte(`'`), 1), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{"w.json", "fails.json", "asks.json", "w.json"} {
		p.runPiped(0, "start", file)
	}
	out := p.runPiped(1, "work", "--once")
	if p.ran() != "a a" || strings.Count(out, "is complete") != 2 || !strings.Contains(out, "exited with status 4") ||
		strings.Count(out, "needs input from a person") != 1 || !strings.Contains(out, "waybill verify") || !strings.Contains(out, sessions[0].Name()) {
		t.Errorf("ran %q:\n%s", p.ran(), out)
	}
	if out = p.runPiped(0, "work", "--once"); p.ran() != "a a" || strings.Contains(out, "exited") {
		t.Errorf("ran %q:\n%s", p.ran(), out)
	}
	var doc struct{ Items []workedLine }
	p.json(&doc, "work", "--once")
	slices.SortFunc(doc.Items, func(a, b workedLine) int { return strings.Compare(a.Event, b.Event) })
	if len(doc.Items) != 2 || doc.Items[0].SessionID != sessions[0].Name() || doc.Items[1].Outcome != "waiting" {
		t.Errorf("%+v", doc)
	}
}
