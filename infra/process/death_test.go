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
)

// helperEnv makes the test binary a performer that can be killed.
const helperEnv = "WAYBILL_TEST_PERFORMER"

func TestMain(m *testing.M) {
	if script := os.Getenv(helperEnv); script != "" {
		r := &Runner{}
		if os.Getenv(helperEnv+"_WITHOUT_GUARD") != "" {
			r.guard.pipe = nowhere{}
		}
		if _, err := r.Try(context.Background(), sh(script)); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

type nowhere struct{}

func (nowhere) Write(p []byte) (int, error) { return len(p), nil }
func (nowhere) Close() error                { return nil }

// performAndKill starts a performer of script, which writes pids, and kills it as
// nothing can be caught.
func performAndKill(t *testing.T, script, pids string, n int, env ...string) []int {
	t.Helper()
	helper := exec.Command(os.Args[0])
	helper.Env = append(append(os.Environ(), helperEnv+"="+script), env...)
	helper.Stderr = os.Stderr
	if err := helper.Start(); err != nil {
		t.Fatal(err)
	}
	all := waitForLines(t, pids, n)
	time.Sleep(50 * time.Millisecond) // the guard has been told by now
	if err := helper.Process.Signal(syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	_ = helper.Wait()
	return all
}

func TestTheGroupDiesWithItsPerformer(t *testing.T) {
	pids := filepath.Join(t.TempDir(), "pids")
	script := "sh -c 'echo $$ >>" + pids + "; sleep 60; :' & echo $$ >>" + pids + "; wait"
	gone(t, performAndKill(t, script, pids, 2))
}

func TestTheCommandDiesWithItsPerformerWithoutAGuard(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux has Pdeathsig")
	}
	pids := filepath.Join(t.TempDir(), "pids")
	gone(t, performAndKill(t, "echo $$ >>"+pids+"; exec sleep 60", pids, 1, helperEnv+"_WITHOUT_GUARD=1"))
}

func TestTheGuardLeavesWhatHasEnded(t *testing.T) {
	r := &Runner{}
	attempt(t, r, sh("true"))
	shell := r.guard.shell.Process.Pid
	attempt(t, r, sh("true"))
	if r.guard.shell.Process.Pid != shell {
		t.Error("each command got a guard of its own")
	}
	r.Close()
	gone(t, []int{shell})
	if out := attempt(t, r, sh("echo again")); out.OutputHead != "again\n" {
		t.Errorf("after Close: %+v", out)
	}
}

// recorder is a pipe to a guard that writes down what it is told.
type recorder struct{ strings.Builder }

func (*recorder) Close() error { return nil }

// A number that the guard still holds when its group is gone could be another's.
func TestTheGuardIsToldOfTheEndToo(t *testing.T) {
	told := &recorder{}
	r := &Runner{}
	r.guard.pipe = told
	out, err := r.Try(context.Background(), sh("echo $$"))
	if err != nil || told.String() != out.OutputHead+"\n" {
		t.Errorf("told %q of %q, %v", told.String(), out.OutputHead, err)
	}
}

func TestACommandRunsWhenItsGuardIsKilled(t *testing.T) {
	r := &Runner{}
	attempt(t, r, sh("true"))
	_ = r.guard.shell.Process.Kill()
	for range 3 {
		if out := attempt(t, r, sh("echo on")); out.OutputHead != "on\n" {
			t.Fatalf("%+v", out)
		}
	}
}

func lines(path string) []int {
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
		if all := lines(path); len(all) >= n {
			return all
		}
	}
	t.Errorf("%s does not come to %d lines", path, n)
	return nil
}

// gone fails when a process is still there after a while. A zombie, whose parent
// has not looked yet, counts as gone.
func gone(t *testing.T, pids []int) {
	t.Helper()
	for _, pid := range pids {
		for deadline := time.Now().Add(3 * time.Second); runs(pid); time.Sleep(5 * time.Millisecond) {
			if time.Now().After(deadline) {
				_ = syscall.Kill(pid, syscall.SIGKILL)
				t.Errorf("process %d is still there", pid)
				break
			}
		}
	}
}

func runs(pid int) bool {
	if syscall.Kill(pid, 0) != nil {
		return false
	}
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err != nil || !strings.Contains(string(stat), ") Z ")
}
