//go:build unix

package process

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/waybill/waybill/ports"
)

// helperEnv makes the test binary a performer that can be killed.
const helperEnv = "WAYBILL_TEST_PERFORMER"

func TestMain(m *testing.M) {
	if script := os.Getenv(helperEnv); script != "" {
		r := &Runner{}
		if os.Getenv(helperEnv+"_WITHOUT_GUARD") != "" {
			r.guard.pipe = discardPipe{}
		}
		c := sh(script)
		c.Folder = os.Getenv(helperEnv + "_FOLDER")
		if _, err := r.Try(context.Background(), c); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

type discardPipe struct{}

func (discardPipe) Write(p []byte) (int, error) { return len(p), nil }
func (discardPipe) Close() error                { return nil }

// performAndKill starts a performer of script, which writes n process ids to the file pids, and
// kills it with SIGKILL.
func performAndKill(t *testing.T, script, pids string, n int, env ...string) []int {
	t.Helper()
	helper := exec.Command(os.Args[0])
	helper.Env = append(append(os.Environ(), helperEnv+"="+script), env...)
	helper.Stderr = os.Stderr
	if err := helper.Start(); err != nil {
		t.Fatal(err)
	}
	all := waitForLines(t, pids, n)
	time.Sleep(50 * time.Millisecond) // the group is written right after the start, on a machine with load later
	if err := helper.Process.Signal(syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	_ = helper.Wait()
	return all
}

func TestGroupIsKilledWithPerformer(t *testing.T) {
	pids := filepath.Join(t.TempDir(), "pids")
	script := "sh -c 'echo $$ >>" + pids + "; sleep 60; :' & echo $$ >>" + pids + "; wait"
	expectGone(t, performAndKill(t, script, pids, 2))
}

// TestGuardStartsBeforeTheCommand: with a command that the kernel refuses to execute, only what precedes
// the start has happened.
func TestGuardStartsBeforeTheCommand(t *testing.T) {
	program := filepath.Join(t.TempDir(), "program")
	if err := os.WriteFile(program, []byte("\x7fELF"), 0o700); err != nil {
		t.Fatal(err)
	}
	r := &Runner{}
	defer r.Close()
	if out := attempt(t, r, ports.Command{Argv: []string{program}}); out.Failure == "" {
		t.Fatalf("%+v", out)
	}
	if r.guard.pipe == nil || !isRunning(r.guard.shell.Process.Pid) {
		t.Error("no guard runs")
	}
}

func TestCommandIsKilledWithPerformerWithoutGuard(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux has Pdeathsig")
	}
	pids := filepath.Join(t.TempDir(), "pids")
	expectGone(t, performAndKill(t, "echo $$ >>"+pids+"; exec sleep 60", pids, 1, helperEnv+"_WITHOUT_GUARD=1"))
}

func TestGuardServesAllCommandsUntilClose(t *testing.T) {
	r := &Runner{}
	attempt(t, r, sh("true"))
	shell := r.guard.shell.Process.Pid
	attempt(t, r, sh("true"))
	if r.guard.shell.Process.Pid != shell {
		t.Error("each command got a guard of its own")
	}
	r.Close()
	expectGone(t, []int{shell})
	if out := attempt(t, r, sh("echo again")); out.OutputHead != "again\n" {
		t.Errorf("after Close: %+v", out)
	}
}

// pipeRecorder is a pipe to a guard that records what is written.
type pipeRecorder struct{ strings.Builder }

func (*pipeRecorder) Close() error { return nil }

// TestGuardIsNotifiedOfStartAndEnd: the number of a group that has ended could be reused by
// another.
func TestGuardIsNotifiedOfStartAndEnd(t *testing.T) {
	written := &pipeRecorder{}
	r := &Runner{}
	r.guard.pipe = written
	out, err := r.Try(context.Background(), sh("echo $$"))
	if err != nil || written.String() != "\n"+out.OutputHead+"\n" {
		t.Errorf("the guard got %q for %q, %v", written.String(), out.OutputHead, err)
	}
}

func TestCommandRunsWhenGuardIsKilled(t *testing.T) {
	r := &Runner{}
	attempt(t, r, sh("true"))
	first := r.guard.shell.Process
	_ = first.Kill()
	expectGone(t, []int{first.Pid})
	for range 3 {
		if out := attempt(t, r, sh("echo on")); out.OutputHead != "on\n" {
			t.Fatalf("%+v", out)
		}
		if r.guard.pipe == nil || r.guard.shell.Process == first {
			t.Error("the command ran without a guard")
		}
	}
}

func readPIDs(path string) []int {
	f, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer f.Close()
	var out []int
	for s := bufio.NewScanner(f); s.Scan(); {
		if n, err := strconv.Atoi(strings.TrimSpace(s.Text())); err == nil {
			out = append(out, n)
		}
	}
	return out
}

func waitForLines(t *testing.T, path string, n int) []int {
	t.Helper()
	for deadline := time.Now().Add(10 * time.Second); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		if all := readPIDs(path); len(all) >= n {
			return all
		}
	}
	t.Errorf("%s does not reach %d lines", path, n)
	return nil
}

// expectGone fails when a process still runs after a while. A zombie, whose parent has not waited
// for it, counts as gone.
func expectGone(t *testing.T, pids []int) {
	t.Helper()
	for _, pid := range pids {
		for deadline := time.Now().Add(3 * time.Second); isRunning(pid); time.Sleep(5 * time.Millisecond) {
			if time.Now().After(deadline) {
				_ = syscall.Kill(pid, syscall.SIGKILL)
				t.Errorf("process %d still runs", pid)
				break
			}
		}
	}
}

func isRunning(pid int) bool {
	if syscall.Kill(pid, 0) != nil {
		return false
	}
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err != nil || !strings.Contains(string(stat), ") Z ")
}
