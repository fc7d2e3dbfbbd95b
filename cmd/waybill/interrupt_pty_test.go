//go:build linux

package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gofrs/flock"
)

// longAgo is the age of the sessions of an old store: longer than sessions are kept.
const longAgo = 400 * 24 * time.Hour

// oldStore returns a directory with a store of n sessions without events for a long time, and their directories in order.
func oldStore(t *testing.T, n int) (dir string, sessions []string) {
	t.Helper()
	dir = newDir(t, personFlow)
	for range n {
		var out bytes.Buffer
		a := newApp([]string{"start", filepath.Join(dir, "w.yaml")}, strings.NewReader(""), &out, &out,
			[]string{"WAYBILL_HOME=" + dir + "/home"})
		a.Clock = func() time.Time { return time.Now().Add(-longAgo) }
		if status := a.Execute(newRoot(a)); status != 0 {
			t.Fatalf("exit status %d\n%s", status, &out)
		}
	}
	return dir, sessionDirs(t, dir)
}

// sessionDirs returns the directories of the sessions of the store in a directory.
func sessionDirs(t *testing.T, dir string) []string {
	t.Helper()
	all, err := filepath.Glob(filepath.Join(dir, "home", "local", "sessions", "sess_*"))
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// lockFile holds a lock as another process does, until free is called.
func lockFile(t *testing.T, path string) (free func()) {
	t.Helper()
	l := flock.New(path)
	if ok, err := l.TryLock(); !ok || err != nil {
		t.Fatal(ok, err)
	}
	return func() { _ = l.Unlock() }
}

// waitUntil waits for a condition.
func waitUntil(t *testing.T, what string, is func() bool) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); !is(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("not so: %s", what)
		}
	}
}

// eventsOf returns the number of events of the latest session.
func eventsOf(t *testing.T, dir string) int {
	t.Helper()
	return strings.Count(inDir(t, dir, "runs", "events"), "\n")
}

// tear leaves an append in a session that is not complete: what the session has is not known while its lock is held.
func tear(t *testing.T, session string) {
	t.Helper()
	logs, err := filepath.Glob(session + "/events/*")
	if err != nil || len(logs) == 0 {
		t.Fatal(logs, err)
	}
	f, err := os.OpenFile(logs[len(logs)-1], os.O_APPEND|os.O_WRONLY, 0)
	if err == nil {
		_, err = f.WriteString("{")
		err = errorsOf(err, f.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
}

// drew waits until a line was drawn on the screen, over which other text may be drawn.
func (s *terminalSession) drew(what string) {
	s.Helper()
	waitUntil(s.T, what, func() bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		return strings.Contains(s.all.String(), what)
	})
}

// TestCtrlCAtACleanup: Ctrl-C ends a cleanup between two removals. What was removed is stated, the rest is removed by the
// command that the message names, and the store is valid.
func TestCtrlCAtACleanup(t *testing.T) {
	t.Parallel()
	dir, sessions := oldStore(t, 4)
	free := lockFile(t, filepath.Join(sessions[3], ".lock"))
	defer free()
	s := startAtTerminal(t, dir, 80, "gc", "--apply", "--lock-wait", "10m")
	waitUntil(t, "one session is left", func() bool { return len(sessionDirs(t, dir)) == 1 })
	s.drew("Cleaning up (3 of 4 sessions removed)")
	s.typeText("\x03")
	s.expectExit(1)
	const done = "interrupted; 3 sessions left the store or went to the trash, and 0 B were freed"
	if text := strings.Join(strings.Fields(s.text()), " "); !strings.Contains(text, done) ||
		!strings.Contains(text, "Continue with 'waybill gc --apply'.") {
		t.Errorf("the screen is\n%s", s.text())
	}
	inDir(t, dir, "verify")
	if out := inDir(t, dir, "gc"); !strings.Contains(out, "1 session without new events") {
		t.Errorf("another cleanup would find\n%s", out)
	}
	free()
	inDir(t, dir, "gc", "--apply")
	inDir(t, dir, "verify")
	if left := sessionDirs(t, dir); len(left) > 0 {
		t.Errorf("%q are left", left)
	}
}

// TestCtrlCAtAnImport: Ctrl-C ends an import before the session appears, and the command can be repeated.
func TestCtrlCAtAnImport(t *testing.T) {
	t.Parallel()
	dir, _ := oldStore(t, 1)
	bundle := filepath.Join(dir, "b.json")
	inDir(t, dir, "export", "@last", "-o", bundle)
	into := newDir(t, personFlow)
	inDir(t, into, "start", "w.yaml")
	free := lockFile(t, filepath.Join(into, "home", "local", ".use.lock"))
	defer free()
	s := startAtTerminal(t, into, 80, "import", bundle, "--lock-wait", "10m")
	s.drew(fmt.Sprintf("Importing (%d events checked)", eventsOf(t, dir)))
	s.typeText("\x03")
	s.expectExit(1)
	if text := s.text(); !strings.Contains(text, "interrupted; nothing was imported") ||
		!strings.Contains(strings.Join(strings.Fields(text), ""), "Continuewith'waybillimport"+bundle+"'.") {
		t.Errorf("the screen is\n%s", text)
	}
	free()
	inDir(t, into, "verify")
	if n := len(sessionDirs(t, into)); n != 1 {
		t.Errorf("%d sessions", n)
	}
	inDir(t, into, "import", bundle)
	inDir(t, into, "verify")
	if n := len(sessionDirs(t, into)); n != 2 {
		t.Errorf("%d sessions", n)
	}
}

// TestCtrlCAtAVerification: Ctrl-C ends a verification, which waits for a session in use, without a verdict.
func TestCtrlCAtAVerification(t *testing.T) {
	t.Parallel()
	dir, sessions := oldStore(t, 2)
	events := eventsOf(t, dir)
	tear(t, sessions[1])
	defer lockFile(t, filepath.Join(sessions[1], ".lock"))()
	s := startAtTerminal(t, dir, 80, "verify", "--watch-progress", "--lock-wait", "10m")
	s.drew(fmt.Sprintf("%d events checked", events)) // those of one session
	s.typeText("\x03")
	s.expectExit(1)
	text := strings.Join(strings.Fields(s.text()), " ")
	if !strings.Contains(text, "interrupted; nothing was changed, and the rest was not checked") ||
		!strings.Contains(text, "Continue with 'waybill verify'.") || strings.Contains(text, "valid") {
		t.Errorf("the screen is\n%s", s.text())
	}
}

// TestCtrlCAtAList: a list whose index is built says how many sessions are read, and Ctrl-C ends it with the command to repeat.
func TestCtrlCAtAList(t *testing.T) {
	t.Parallel()
	dir, sessions := oldStore(t, 3)
	s := terminalOf(t, dir, "waybill", "runs", "list", "--lock-wait", "10m")
	tear(t, sessions[1])
	defer lockFile(t, filepath.Join(sessions[1], ".lock"))()
	s.start(80)
	s.drew("Reading sessions (1 of 3)")
	s.typeText("\x03")
	s.expectExit(1)
	text := strings.Join(strings.Fields(s.text()), " ")
	if !strings.Contains(text, "interrupted; nothing was changed [INTERRUPTED] Continue with 'waybill runs list'.") {
		t.Errorf("the screen is\n%s", s.text())
	}
}
