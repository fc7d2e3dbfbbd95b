package main

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// cacheFiles are what hooks keep of a store in its cache.
var cacheFiles = []string{"guard-latest-2", "guard-all-2", "guard-changes-1"}

// journalTimes matches the time of a line in the journal of changes.
var journalTimes = expression(`(?m)^(sess_\w+ )(\d+)( new)?$`)

// TestHookListEqualsTheLogs: after each of many changes to a store, a hook that follows the changes answers as one that
// has read every session.
func TestHookListEqualsTheLogs(t *testing.T) {
	rounds, seed := 15, uint64(time.Now().UnixNano())
	if text := os.Getenv("WAYBILL_SAMPLE_SEED"); text != "" {
		seed, _ = strconv.ParseUint(text, 10, 64)
	}
	if os.Getenv("WAYBILL_EXHAUSTIVE") != "" {
		rounds = 150
	}
	t.Logf("WAYBILL_SAMPLE_SEED=%d", seed)
	random := rand.New(rand.NewPCG(seed, 1))
	g := newGuarded(t, map[string]string{"two.json": guardFlow})
	other := filepath.Join(g.dir, "other")
	g.write(filepath.Join(other, ".git", "HEAD"), "ref: refs/heads/main\n")
	g.write(filepath.Join(other, "two.json"), guardFlow)
	cache := filepath.Join(g.home, "stores", "local", "cache")
	g.call(0, "", "start", "two.json")
	var warm int
	for round := range rounds {
		var did []string
		for range 1 + random.IntN(3) {
			did = append(did, g.change(random, other))
		}
		if random.IntN(2) == 0 {
			g.age(cache)
		}
		var saved []string
		for _, name := range cacheFiles {
			data, _ := os.ReadFile(filepath.Join(cache, name))
			saved = append(saved, string(data))
		}
		for _, dir := range []string{g.dir, other} {
			got := g.hookAt(dir)
			after, _ := os.ReadFile(filepath.Join(cache, "guard-all-2"))
			if string(after) == saved[1] {
				warm++
			}
			kept := map[string][]byte{}
			for _, name := range cacheFiles {
				if data, err := os.ReadFile(filepath.Join(cache, name)); err == nil {
					kept[name] = data
				}
				_ = os.Remove(filepath.Join(cache, name))
			}
			if want := g.hookAt(dir); got != want {
				t.Fatalf("round %d, %v in %s: answered\n%s\nwant\n%s", round, did, filepath.Base(dir), got, want)
			}
			for name, data := range kept {
				g.write(filepath.Join(cache, name), string(data))
			}
		}
	}
	if warm < rounds/2 {
		t.Errorf("%d of %d hooks followed the changes only", warm, 2*rounds)
	}
}

// hookAt runs a hook in a directory.
func (g *guarded) hookAt(dir string) string {
	g.Helper()
	in, _ := json.Marshal(map[string]any{"session_id": "s", "cwd": dir, "hook_event_name": "SessionStart"})
	return g.call(0, string(in), "guard", "hook", "SessionStart")
}

// age makes the last changes older than the time within which a hook reads them again.
func (g *guarded) age(cache string) {
	name := filepath.Join(cache, "guard-changes-1")
	if data, err := os.ReadFile(name); err == nil {
		g.write(name, journalTimes().ReplaceAllString(string(data), "${1}1700000000000$3"))
	}
	sessions := filepath.Join(cache, "..", "sessions")
	if info, err := os.Stat(sessions); err == nil && time.Since(info.ModTime()) < time.Minute {
		_ = os.Chtimes(sessions, info.ModTime().Add(-time.Hour), info.ModTime().Add(-time.Hour))
	}
}

// change changes the store in one of many ways and returns how. What cannot be done at this moment is left.
func (g *guarded) change(random *rand.Rand, other string) string {
	g.Helper()
	do := func(args ...string) string {
		run(args, strings.NewReader(""), new(strings.Builder), new(strings.Builder), g.env())
		return strings.Join(args, " ")
	}
	var list struct {
		Data struct {
			Runs []struct{ RunID, SessionID string }
		}
	}
	_ = json.Unmarshal([]byte(g.call(0, "", "runs", "list", "--json")), &list)
	any, session := "@last", "none"
	if n := len(list.Data.Runs); n > 0 {
		r := list.Data.Runs[random.IntN(n)]
		any, session = r.RunID, r.SessionID
	}
	switch random.IntN(13) {
	case 0, 1, 2:
		dir := g.dir
		if random.IntN(2) == 0 {
			dir = other
		}
		g.Chdir(dir)
		defer g.Chdir(g.dir)
		return do("start", "two.json", "--title", fmt.Sprint("T", random.IntN(1000)))
	case 3, 4, 5, 6:
		return do("continue", "--run", any, "--notes", "done")
	case 7:
		return do("fork", any)
	case 8:
		return do("runs", "cancel", any)
	case 9:
		return do("sessions", "delete", session, "--yes")
	case 10:
		return "stop " + g.hook("Stop", fmt.Sprint(random.IntN(3)))
	case 11:
		var trash struct {
			Data struct{ Trash []struct{ SessionID string } }
		}
		_ = json.Unmarshal([]byte(g.call(0, "", "sessions", "list", "--trash", "--json")), &trash)
		if n := len(trash.Data.Trash); n > 0 {
			return do("sessions", "restore", trash.Data.Trash[random.IntN(n)].SessionID)
		}
		return "nothing"
	default:
		file := filepath.Join(g.home, fmt.Sprint("b", random.Int64(), ".json"))
		do("export", any, "-o", file)
		return do("import", file, "--as-new")
	}
}
