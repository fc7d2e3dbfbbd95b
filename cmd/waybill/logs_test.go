//go:build unix

package main

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// logsFlow prints to both streams, more than is stored in its first step, and once for each item of a list:
// for the item "b" only when the file go exists.
const logsFlow = `
id: test.logs
name: Logs
description: d
version: 1.0.0
steps:
  - id: build
    title: Build
    action: {kind: command, argv: [sh, -c, "seq 1 30000; echo built >&2"]}
  - id: each
    type: loop
    title: Deploy
    loop: {type: forEach, items: services, itemVar: service, maxIterations: 200}
    body:
      - id: deploy
        title: Deploy {{service}}
        action:
          kind: command
          argv: [sh, -c, 'while [ "$1" = b ] && [ ! -e go ]; do sleep 0.05; done; echo "out $1"; echo "err $1" >&2', --, "{{service}}"]
  - {id: say, title: Say it, prompt: Say it.}
`

// logsProgram is a program with the workflow and an empty store.
func logsProgram(t *testing.T) program {
	p := program{t, t.TempDir(), filepath.Join(t.TempDir(), "store")}
	p.writeFile("w.yaml", logsFlow)
	return p
}

// perform starts 'waybill run' of the workflow with a list of services, and returns how to wait for its end.
func (p program) perform(services string) (wait func()) {
	p.t.Helper()
	cmd := p.command("run", "w.yaml", "--trust", "--set", "services="+services, "--notes", "n")
	if err := cmd.Start(); err != nil {
		p.t.Fatal(err)
	}
	return func() {
		p.t.Helper()
		if err := cmd.Wait(); err != nil {
			p.t.Errorf("run: %v", err)
		}
	}
}

// printed returns what a command prints to stdout and to stderr.
func (p program) printed(args ...string) (string, string) {
	p.t.Helper()
	var out, errOut strings.Builder
	cmd := p.command(args...)
	cmd.Stdout, cmd.Stderr = &out, &errOut
	if err := cmd.Run(); err != nil {
		p.t.Fatalf("%v: %v\n%s", args, err, errOut.String())
	}
	return out.String(), errOut.String()
}

// TestLogsPrintStreamsApart: a step is named by its id, by an iteration and by its loop; what is cut is reported where it was.
func TestLogsPrintStreamsApart(t *testing.T) {
	t.Parallel()
	p := logsProgram(t)
	p.writeFile("go", "")
	p.perform(`["a","b","c d"]`)()
	const all, stderr = "out a\nout b\nout c d\n", "err a\nerr b\nerr c d\n"
	for _, tc := range []struct{ args, want string }{
		{"--step deploy", all}, {"--step deploy --stderr", stderr}, {"--step each", all}, {"--step each@1::deploy", "out b\n"},
		{"--step each@2::deploy --stderr", "err c d\n"}, {"--step build --stderr", "built\n"}, {"--stderr", "built\n" + stderr},
		{"--step say", ""}, {"--step deploy --follow", all}, {"--step say --follow", ""},
	} {
		out, remarks := p.printed(append([]string{"runs", "logs"}, strings.Fields(tc.args)...)...)
		if out != tc.want {
			t.Errorf("%s: %q, want %q", tc.args, out, tc.want)
		}
		if none := strings.Contains(remarks, "No command"); none != (tc.want == "") {
			t.Errorf("%s: stderr says %q", tc.args, remarks)
		}
		if strings.Contains(tc.args, "--step deploy") && !strings.Contains(remarks, "Deploy c d (deploy, round 3 of each)") {
			t.Errorf("%s: the iterations are not named: %q", tc.args, remarks)
		}
	}
	out, _ := p.printed("runs", "logs", "--step", "build")
	head, tail, _ := strings.Cut(out, " bytes left out …\n")
	if !strings.HasPrefix(head, "1\n2\n") || !strings.HasSuffix(head, "\n… 103358") || !strings.HasSuffix(tail, "29999\n30000\n") {
		t.Errorf("of %d bytes is printed %q … %q", len(out), head[max(0, len(head)-30):], tail[:min(len(tail), 30)])
	}
	var logs struct {
		Entries []struct {
			StepInstanceKey, Stream    string
			Bytes, OmittedBytes, Tries int
		}
	}
	p.json(&logs, "runs", "logs", "--step", "build")
	if e := logs.Entries; len(e) != 1 || e[0].Stream != "stdout" || e[0].Bytes != 168894 || e[0].OmittedBytes != 103358 {
		t.Errorf("%+v", e)
	}
	p.runPiped(2, "runs", "logs", "--follow", "--cursor", "3")
	p.runPiped(6, "runs", "logs", "--follow", "--step", "nothing")
}

// TestShowNamesALoop: --step with a loop shows its rounds, the latest 100 of them, and says how many there are before.
func TestShowNamesALoop(t *testing.T) {
	t.Parallel()
	p := logsProgram(t)
	p.perform("[" + strings.Repeat(`"x",`, 104) + `"y"]`)()
	var run struct {
		OmittedSteps int
		Steps        []struct{ StepID, StepInstanceKey, State string }
	}
	for _, name := range []string{"each", "deploy"} {
		p.json(&run, "runs", "show", "--step", name)
		if n := len(run.Steps); n != 100 || run.OmittedSteps != 5 || run.Steps[99].StepInstanceKey != "each@104::deploy" ||
			run.Steps[0].State != "done" {
			t.Errorf("%s: %d steps, %d omitted", name, n, run.OmittedSteps)
		}
		if out, _ := p.printed("runs", "show", "--step", name); !strings.Contains(out, "The first 5 rounds are left out") {
			t.Errorf("%s: %.300s", name, out)
		}
	}
	out, _ := p.printed("runs", "show")
	if !strings.Contains(out, "85 earlier steps of this loop: waybill runs show") || strings.Count(out, "Deploy x") != 19 {
		t.Errorf("%s", out)
	}
}

// following is 'runs logs --follow' of a run that another process performs and that waits for the file go.
type following struct {
	*testing.T
	*exec.Cmd
	out  *bufio.Reader
	pipe interface{ Close() error }
	done chan error
}

// follow starts it and reads the first line.
func (p program) follow() following {
	p.t.Helper()
	cmd := p.command("runs", "logs", "--follow", "--step", "deploy")
	pipe, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(func() { _ = cmd.Process.Kill() })
	f := following{p.t, cmd, bufio.NewReader(pipe), pipe, make(chan error, 1)}
	if line, err := f.out.ReadString('\n'); line != "out a\n" {
		p.t.Fatalf("the first line is %q, %v", line, err)
	}
	return f
}

// ended waits for the end of the process.
func (f following) ended() error {
	f.Helper()
	go func() { f.done <- f.Wait() }()
	select {
	case err := <-f.done:
		return err
	case <-time.After(20 * time.Second):
		f.Fatal("it does not end")
		return nil
	}
}

// TestLogsFollowARun: a reader of a pipe gets what each command printed when it is recorded; the run's end, a signal and a
// reader that is gone end it.
func TestLogsFollowARun(t *testing.T) {
	t.Parallel()
	started := func() (program, func(), following) {
		p := logsProgram(t)
		wait := p.perform(`["a","b"]`)
		deadline := time.Now().Add(20 * time.Second)
		for p.command("runs", "show").Run() != nil && time.Now().Before(deadline) {
			time.Sleep(20 * time.Millisecond)
		}
		return p, wait, p.follow()
	}
	t.Run("the end of the run", func(t *testing.T) {
		p, wait, f := started()
		p.writeFile("go", "")
		if line, err := f.out.ReadString('\n'); line != "out b\n" {
			t.Errorf("the second line is %q, %v", line, err)
		}
		if rest, _ := f.out.ReadString('\n'); rest != "" {
			t.Errorf("more is printed: %q", rest)
		}
		if err := f.ended(); err != nil {
			t.Error(err)
		}
		wait()
	})
	for _, signal := range []os.Signal{os.Interrupt, syscall.SIGTERM} {
		t.Run(signal.String(), func(t *testing.T) {
			p, wait, f := started()
			if err := f.Process.Signal(signal); err != nil {
				t.Fatal(err)
			}
			if err := f.ended(); err != nil {
				t.Error(err)
			}
			p.writeFile("go", "")
			wait()
		})
	}
	t.Run("a reader that is gone", func(t *testing.T) {
		p, wait, f := started()
		_ = f.pipe.Close()
		p.writeFile("go", "")
		if err := f.ended(); err == nil {
			t.Error("exit status 0, though the rest could not be written")
		}
		wait()
	})
}

// TestLogsOfEarlierRecords: records of earlier versions have one output, which either stream is read as.
func TestLogsOfEarlierRecords(t *testing.T) {
	t.Parallel()
	p := program{t, t.TempDir(), filepath.Join(t.TempDir(), "store")}
	if err := os.CopyFS(p.store, os.DirFS("../../testdata/stores/v1/store")); err != nil {
		t.Fatal(err)
	}
	var list struct{ Runs []struct{ RunID string } }
	p.json(&list, "runs", "list")
	found := 0
	for _, r := range list.Runs {
		for _, args := range [][]string{{"runs", "logs", r.RunID}, {"runs", "logs", r.RunID, "--stderr"}} {
			if out, remarks := p.printed(args...); out == "done" && strings.Contains(remarks, "stdout and stderr together") {
				found++
			} else if out != "" {
				t.Errorf("%v: %q, %q", args, out, remarks)
			}
		}
	}
	if found != 2 {
		t.Errorf("%d of 2 outputs are printed", found)
	}
}
