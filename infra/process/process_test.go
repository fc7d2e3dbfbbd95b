//go:build unix

package process

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/waybill/waybill/ports"
)

func sh(script string) ports.Command { return ports.Command{Argv: []string{"sh", "-c", script}} }

// attempt runs one command with a short grace period.
func attempt(t *testing.T, r *Runner, c ports.Command) ports.CommandOutcome {
	t.Helper()
	if r.Grace == 0 {
		r.Grace = 300 * time.Millisecond
	}
	t.Cleanup(r.Close)
	out, err := r.Try(context.Background(), c)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestOutcomes(t *testing.T) {
	dir := t.TempDir()
	writeFile(t, filepath.Join(dir, "sub", "hello"), 0o755, "#!/bin/sh\npwd\n")
	writeFile(t, filepath.Join(dir, "plain"), 0o644, "just text")
	writeFile(t, filepath.Join(dir, "lost"), 0o755, "#!/no/such/interpreter\n")
	writeFile(t, filepath.Join(dir, "bytes"), 0o755, "\x00\x01\x02")
	cases := []struct {
		name    string
		c       ports.Command
		status  int64
		failure string // contained
		fix     string // contained
		output  string
	}{
		{"success", sh("echo out; echo err >&2"), 0, "", "", "out\nerr\n"},
		{"status", sh("echo no; exit 7"), 7, "", "", "no\n"},
		{"signal", sh("kill -9 $$"), -1, "signal 9", "", ""},
		{"no input", sh("cat; echo done"), 0, "", "", "done\n"},
		{"no terminal", sh("(: </dev/tty) 2>/dev/null && echo has one || echo has none"), 0, "", "", "has none\n"},
		{"no shell", ports.Command{Argv: []string{"echo", "$HOME", "{{x}}", "a b"}}, 0, "", "", "$HOME {{x}} a b\n"},
		{"cwd", ports.Command{Argv: []string{"./hello"}, Cwd: "sub"}, 0, "", "", filepath.Join(dir, "sub") + "\n"},
		{"own path", ports.Command{Argv: []string{"hello"}, Env: map[string]string{"PATH": "sub:/bin"}}, 0, "", "",
			dir + "\n"},
		{"environment", ports.Command{Argv: []string{"sh", "-c", "echo $A $B"}, Env: map[string]string{"B": "2"}}, 0,
			"", "", "1 2\n"},
		{"missing program", ports.Command{Argv: []string{"no-such-program"}}, -1, `"no-such-program" was not found`,
			"PATH", ""},
		{"missing script", ports.Command{Argv: []string{"./nope"}}, -1, `"./nope" was not found`, "path", ""},
		{"missing folder", ports.Command{Argv: []string{"true"}, Cwd: "nowhere"}, -1, `no folder "nowhere"`, "cwd", ""},
		{"not executable", ports.Command{Argv: []string{"./plain"}}, -1, "may not be executed", "chmod +x ./plain", ""},
		{"lost interpreter", ports.Command{Argv: []string{"./lost"}}, -1, "interpreter", "#!", ""},
		{"no program", ports.Command{Argv: []string{"./bytes"}}, -1, "no program that this system can run", "#!/bin/sh",
			""},
		{"no argv", ports.Command{}, -1, "names no program", "argv", ""},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			r := &Runner{Dir: dir, Env: append(os.Environ(), "A=1")}
			out := attempt(t, r, tc.c)
			if out.ExitStatus != tc.status || !strings.Contains(out.Failure, tc.failure) ||
				(tc.failure == "") != (out.Failure == "") {
				t.Errorf("status %d, failure %q", out.ExitStatus, out.Failure)
			}
			if !strings.Contains(out.Fix.String(), tc.fix) || out.Stdout.Head+out.Stderr.Head != tc.output {
				t.Errorf("fix %q, output %q, %q", out.Fix.String(), out.Stdout.Head, out.Stderr.Head)
			}
			if strings.Contains(out.Failure+out.Fix.String(), dir) {
				t.Errorf("an absolute path in %q %q", out.Failure, out.Fix.String())
			}
		})
	}
}

func writeFile(t *testing.T, path string, mode os.FileMode, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
}

func TestTimeoutAsksThenKills(t *testing.T) {
	polite := attempt(t, &Runner{Grace: time.Hour}, ports.Command{TimeoutMs: 100,
		Argv: []string{"sh", "-c", "trap 'echo bye; exit 0' TERM; echo on; while :; do sleep 0.02; done"}})
	if polite.ExitStatus != -1 || !strings.Contains(polite.Failure, "longer than 100ms") ||
		!strings.HasSuffix(polite.Stdout.Head, "bye\n") {
		t.Errorf("polite: %+v", polite)
	}
	stubborn := attempt(t, &Runner{Grace: 200 * time.Millisecond}, ports.Command{TimeoutMs: 100,
		Argv: []string{"sh", "-c", "trap '' TERM; while :; do sleep 0.02; done"}})
	if stubborn.Failure == "" || stubborn.DurationMs < 300 {
		t.Errorf("stubborn: %+v", stubborn)
	}
}

func TestInterruptionEndsTheGroup(t *testing.T) {
	pids := filepath.Join(t.TempDir(), "pids")
	ctx, cancel := context.WithCancel(context.Background())
	r := &Runner{Grace: 200 * time.Millisecond}
	defer r.Close()
	go func() {
		waitForLines(t, pids, 2)
		cancel()
	}()
	_, err := r.Try(ctx, sh("trap '' TERM; sleep 60 & echo $! >>"+pids+"; echo $$ >>"+pids+"; wait; sleep 60"))
	if err != context.Canceled {
		t.Fatalf("got %v", err)
	}
	expectGone(t, waitForLines(t, pids, 2))
	if _, err := r.Try(ctx, sh("echo ran >>"+pids)); err != context.Canceled || len(readPIDs(pids)) != 2 {
		t.Errorf("a command started after the context ended: %v", err)
	}
}

func TestGroupEndsWithCommand(t *testing.T) {
	pids := filepath.Join(t.TempDir(), "pids")
	// Were the background process waited for, the test would not end before its timeout.
	out := attempt(t, &Runner{Grace: 2 * time.Second}, sh("sleep 100000 & echo $! >>"+pids+"; echo here"))
	if !out.OK() || out.OutputHead != "here\n" {
		t.Errorf("%+v", out)
	}
	expectGone(t, waitForLines(t, pids, 1))
}

func TestOutputAfterExitIsCaptured(t *testing.T) {
	out := attempt(t, &Runner{}, sh("(sleep 0.05; echo late) & echo early"))
	if out.OutputHead != "early\nlate\n" {
		t.Errorf("got %q", out.OutputHead)
	}
}

func TestOutputIsForwardedImmediately(t *testing.T) {
	// The command ends once its first line has been passed on.
	seen := filepath.Join(t.TempDir(), "seen")
	w := writerFunc(func(p []byte) (int, error) { return len(p), os.WriteFile(seen, p, 0o600) })
	attempt(t, &Runner{Output: w}, sh("echo now; while [ ! -e "+seen+" ]; do sleep 0.01; done"))
	var all bytes.Buffer
	attempt(t, &Runner{Output: &all}, sh("echo a; sleep 0.1; echo b >&2; sleep 0.1; echo c"))
	if all.String() != "a\nb\nc\n" {
		t.Errorf("passed on %q", all.String())
	}
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

// TestInput: a command gets its input whole, and one that does not read it ends as it would without.
func TestInput(t *testing.T) {
	input := []byte(strings.Repeat("0123456789abcdef", 64<<10)) // more than a pipe holds
	read := sh("wc -c")
	read.Input = input
	if out := attempt(t, &Runner{}, read); !out.OK() || strings.TrimSpace(out.OutputHead) != "1048576" {
		t.Errorf("read: %+v", out)
	}
	unread := sh("echo done")
	unread.Input = input
	if out := attempt(t, &Runner{}, unread); !out.OK() || out.OutputHead != "done\n" {
		t.Errorf("not read: %+v", out)
	}
	hangs := sh("sleep 60")
	hangs.Input, hangs.TimeoutMs = input, 100
	if out := attempt(t, &Runner{}, hangs); out.Failure == "" {
		t.Errorf("hangs: %+v", out)
	}
}
