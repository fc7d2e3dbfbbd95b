//go:build unix

package notifier

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/waybill/waybill/ports"
	"github.com/waybill/waybill/ports/porttest/adapters"
)

// TestMain lets the program of the tests be the keeper too.
func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == KeepArg {
		os.Exit(Keep(os.Stdin, os.Stdout, os.Environ()))
	}
	os.Exit(m.Run())
}

// TestContract: the launcher passes the suite of the port.
func TestContract(t *testing.T) {
	adapters.Notifier(t, &Launcher{Env: os.Environ(), Patience: time.Minute},
		adapters.Programs{Copy: []string{"cat"}, Fail: []string{"sh", "-c", "exit 3"}})
}

// sh is a notification whose command is a script.
func sh(t *testing.T, script string) ports.Notification {
	t.Helper()
	return ports.Notification{Argv: []string{"sh", "-c", script}, Dir: t.TempDir(), Document: []byte("{\"v\":1}\n"),
		Env: map[string]string{"WAYBILL_STATUS": "blocked"}}
}

// run starts a command and returns its outcome.
func run(t *testing.T, l *Launcher, n ports.Notification) ports.CommandOutcome {
	t.Helper()
	out := make(chan ports.CommandOutcome, 1)
	l.Notify(context.Background(), n, func(o ports.CommandOutcome) { out <- o })
	select {
	case o := <-out:
		return o
	case <-time.After(20 * time.Second):
		t.Fatal("no outcome")
		panic("unreachable")
	}
}

func TestCommandGetsItsDocument(t *testing.T) {
	n := sh(t, `cat; echo "$WAYBILL_STATUS $OWN"; pwd`)
	out := run(t, &Launcher{Env: append(os.Environ(), "OWN=mine")}, n)
	if want := "{\"v\":1}\nblocked mine\n" + n.Dir + "\n"; !out.OK() || out.OutputTail != want {
		t.Errorf("%+v, want output %q", out, want)
	}
}

func TestFailures(t *testing.T) {
	l := &Launcher{Env: os.Environ()}
	if out := run(t, l, sh(t, "echo no; exit 7")); out.ExitStatus != 7 || out.OutputTail != "no\n" {
		t.Errorf("%+v", out)
	}
	missing := sh(t, "")
	missing.Argv = []string{"no-such-program"}
	if out := run(t, l, missing); out.OK() || !strings.Contains(out.Failure, "not found") {
		t.Errorf("%+v", out)
	}
	if out := run(t, l, sh(t, "head -c 100000 /dev/zero | tr '\\0' x; exit 1")); out.OutputBytes != 100000 ||
		len(out.OutputTail) > tailBytesMax+8 {
		t.Errorf("%d bytes, %d of them reported", out.OutputBytes, len(out.OutputTail))
	}
	l.Keeper = filepath.Join(t.TempDir(), "gone")
	if out := run(t, l, sh(t, "")); out.OK() || !strings.Contains(out.Failure, "could not be started") {
		t.Errorf("%+v", out)
	}
}

// TestHangingCommandIsEnded: a command that ignores SIGTERM and what it started end after the limit, and the caller
// waits no longer than its patience.
func TestHangingCommandIsEnded(t *testing.T) {
	n := sh(t, "trap '' TERM; sleep 300 & echo $! $$ > pids; wait; sleep 300")
	l := &Launcher{Env: os.Environ(), Limit: 500 * time.Millisecond, Patience: 50 * time.Millisecond}
	began := time.Now()
	l.Notify(context.Background(), n, func(o ports.CommandOutcome) { t.Errorf("reported after Wait: %+v", o) })
	l.Wait()
	if took := time.Since(began); took > 400*time.Millisecond {
		t.Errorf("the caller waited %s", took)
	}
	var pids []string
	for len(pids) < 2 {
		text, _ := os.ReadFile(filepath.Join(n.Dir, "pids"))
		pids = strings.Fields(string(text))
		if time.Sleep(5 * time.Millisecond); time.Since(began) > 10*time.Second {
			t.Fatal("the command did not start")
		}
	}
	for _, text := range pids {
		pid, err := strconv.Atoi(text)
		if err != nil {
			t.Fatal(err)
		}
		for isRunning(pid) {
			if time.Sleep(5 * time.Millisecond); time.Since(began) > 15*time.Second {
				t.Fatalf("process %d still runs", pid)
			}
		}
	}
	if took := time.Since(began); took < l.Limit {
		t.Errorf("ended after %s, before the limit", took)
	}
	out := run(t, &Launcher{Env: os.Environ(), Limit: 100 * time.Millisecond}, sh(t, "sleep 300"))
	if !strings.Contains(out.Failure, "longer than 100ms") {
		t.Errorf("%+v", out)
	}
}

// isRunning reports that a process exists and is no zombie.
func isRunning(pid int) bool {
	if syscall.Kill(pid, 0) != nil {
		return false
	}
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	return err != nil || !strings.Contains(string(stat), ") Z ")
}

// TestManyCommandsTakeTurns: at most runningMax commands run at a time, unless the caller is about to end.
func TestManyCommandsTakeTurns(t *testing.T) {
	l := &Launcher{Env: os.Environ()}
	dir := t.TempDir()
	const all = 3 * runningMax
	busy := make(chan ports.CommandOutcome, all+1)
	for range all {
		n := sh(t, `touch "$DIR/$$"; ls "$DIR" | wc -l; sleep 0.1; rm "$DIR/$$"`)
		n.Env["DIR"] = dir
		l.Notify(context.Background(), n, func(o ports.CommandOutcome) { busy <- o })
	}
	for range all {
		o := <-busy
		if n, err := strconv.Atoi(strings.TrimSpace(o.OutputTail)); err != nil || n > runningMax {
			t.Fatalf("%d at a time: %+v", n, o)
		}
	}
	l.Limit = 2 * time.Second
	for range runningMax {
		l.Notify(context.Background(), sh(t, "sleep 300"), func(ports.CommandOutcome) {})
	}
	ending, cancel := context.WithCancel(context.Background())
	cancel()
	l.Notify(ending, sh(t, "echo now"), func(o ports.CommandOutcome) { busy <- o })
	if o := <-busy; o.OutputTail != "now\n" {
		t.Errorf("%+v", o)
	}
}

func TestKeeperWithoutJob(t *testing.T) {
	if status := Keep(strings.NewReader("{"), os.Stdout, nil); status != 2 {
		t.Errorf("exit status %d", status)
	}
}
