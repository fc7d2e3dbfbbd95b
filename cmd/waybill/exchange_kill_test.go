package main

import (
	"bytes"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/waybill/waybill/ports/porttest/sample"
)

const incident = "id: test.incident\nname: Incident\ndescription: d\nversion: 1.0.0\nsteps:\n" +
	"  - {id: look, title: Look, prompt: p}\n  - {id: deploy, title: Deploy, prompt: p}\n"

// logFilesOf are the files of a session's own log, with their bytes, and of all of its logs in one text.
func logFilesOf(t *testing.T, store, session string) (own map[string][]byte, all string) {
	t.Helper()
	own = map[string][]byte{}
	root := filepath.Join(store, "sessions", session)
	_ = filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(name) != ".jsonl" {
			return nil //nolint:nilerr // a missing directory has no files
		}
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		rel, _ := filepath.Rel(root, name)
		all += rel + "\n" + string(data)
		if !strings.HasPrefix(rel, "annotations") {
			own[rel] = data
		}
		return nil
	})
	return own, all
}

// TestKilledExchanges: push and pull that are killed at random moments leave the session of the target as it was, or with all
// of its events; the source is not changed, both stores verify, and the same call completes the exchange.
func TestKilledExchanges(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("there is no SIGKILL on windows")
	}
	source := program{t, t.TempDir(), filepath.Join(t.TempDir(), "source")}
	source.writeFile("w.yaml", incident)
	target := program{t, source.dir, filepath.Join(t.TempDir(), "target")}
	var doc struct {
		Session struct{ SessionID, RunID string }
	}
	source.json(&doc, "start", "w.yaml")
	run, session := doc.Session.RunID, doc.Session.SessionID
	seed := uint64(time.Now().UnixNano())
	random := rand.New(rand.NewPCG(seed, 2))
	t.Logf("seed %d", seed)
	rounds, killed := 6, 0
	if sample.Exhaustive() {
		rounds = 200
	}
	for n := range rounds {
		source.runPiped(0, "annotate", run, "--label", "l"+string(rune('a'+n%26)))
		source.runPiped(0, "checkpoint", "--run", run, "--notes", strings.Repeat("n", 1+random.IntN(5000)))
		before, _ := logFilesOf(t, target.store, session)
		after, all := logFilesOf(t, source.store, session)
		cmd := source.command("push", run, "--to", target.store, "--accept")
		if n%2 == 1 {
			cmd = target.command("pull", run, "--from", source.store, "--accept")
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Duration(5+random.IntN(60)) * time.Millisecond)
		_ = cmd.Process.Kill()
		if cmd.Wait() != nil {
			killed++
		}
		if _, is := logFilesOf(t, source.store, session); is != all {
			t.Fatal("the source changed")
		}
		source.runPiped(0, "verify")
		if _, err := os.Stat(filepath.Join(target.store, "store.json")); err == nil {
			target.runPiped(0, "verify")
		}
		for name, is := range manifestOf(t, target.store, session) {
			if !bytes.Equal(is, before[name]) && !bytes.Equal(is, after[name]) {
				t.Fatalf("round %d: the target is neither as before nor as after", n)
			}
		}
		source.runPiped(0, "push", run, "--to", target.store, "--accept")
		is, _ := logFilesOf(t, target.store, session)
		if len(is) != len(after) {
			t.Errorf("round %d: %d files, want %d", n, len(is), len(after))
		}
		for name, data := range after {
			if !bytes.Equal(is[name], data) {
				t.Errorf("round %d: %s differs", n, name)
			}
		}
		target.runPiped(0, "verify")
	}
	if killed == 0 {
		t.Error("every call ended before it was killed")
	}
}

// manifestOf is the manifest of a session's own log, which says how much of it is committed.
func manifestOf(t *testing.T, store, session string) map[string][]byte {
	t.Helper()
	own, _ := logFilesOf(t, store, session)
	out := map[string][]byte{}
	if data, ok := own["manifest.jsonl"]; ok {
		out["manifest.jsonl"] = data
	}
	return out
}
