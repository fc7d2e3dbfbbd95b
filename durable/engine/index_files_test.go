package engine_test

import (
	"context"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/waybill/waybill/durable/engine"
	"github.com/waybill/waybill/durable/engine/index"
	"github.com/waybill/waybill/durable/engine/lists"
	"github.com/waybill/waybill/durable/engine/upkeep"
	"github.com/waybill/waybill/durable/engine/verify"
	"github.com/waybill/waybill/durable/engine/views"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/run/advance"
	"github.com/waybill/waybill/infra/filestore"
	"github.com/waybill/waybill/infra/lock"
	"github.com/waybill/waybill/infra/osfs"
	"github.com/waybill/waybill/infra/sessiontimes"
	"github.com/waybill/waybill/ports/porttest/enginetest"
)

// opened is a directory that notes which files are opened.
type opened struct {
	unsynced
	mu    *sync.Mutex
	names *[]string
}

func (o opened) Open(name string, mode osfs.Mode) (osfs.File, error) {
	o.mu.Lock()
	*o.names = append(*o.names, name)
	o.mu.Unlock()
	return o.unsynced.Open(name, mode)
}

// TestVerifyDoesNotOpenTheIndex: a verification reads what is stored and no cache of what lists show. A list opens both
// files.
func TestVerifyDoesNotOpenTheIndex(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	var last engine.Answer
	for range 40 {
		last = w.start(indexedFlow)
	}
	shown(t, w.indexed().Engine)
	for what, c := range map[string]struct {
		call func(*enginetest.Engine) error
		want int
	}{
		"verify": {func(g *enginetest.Engine) error {
			_, err := g.VerifyWith(context.Background(), verify.VerifyOptions{})
			return err
		}, 0},
		"verify --digests": {func(g *enginetest.Engine) error {
			_, err := g.VerifyWith(context.Background(), verify.VerifyOptions{Digests: true})
			return err
		}, 0},
		"verify SESSION": {func(g *enginetest.Engine) error {
			_, err := g.VerifySession(context.Background(), last.Session.SessionID.String())
			return err
		}, 0},
		"a list and a search": {func(g *enginetest.Engine) error {
			x := index.New(aged{sessiontimes.New(w.dir)}, g.Store)
			g.Lists.KeepIn(x, g.Store)
			_, err := lists.Search(context.Background(), g.Lists, lists.SearchQuery{Text: "alpha"})
			return err
		}, 2},
		"du": {func(g *enginetest.Engine) error {
			g.Upkeep.Index = index.New(aged{sessiontimes.New(w.dir)}, g.Store)
			_, err := g.DU(context.Background())
			return err
		}, 1},
	} {
		var names []string
		d := osfs.NewDir(w.dir)
		s, err := filestore.Open(opened{unsynced{d}, &sync.Mutex{}, &names}, filestore.Options{Locks: lock.Files(d), Boot: osfs.Boot()})
		if err == nil {
			err = c.call(over(s))
			_ = s.Close()
		}
		_ = d.Close()
		if err != nil {
			t.Fatal(what, ": ", err)
		}
		got := 0
		for _, name := range names {
			if kind, _, _ := strings.Cut(path.Base(name), "-"); slices.Contains([]string{"index", "search", "usage"}, kind) {
				got++
			}
		}
		if got != c.want || len(names) == 0 {
			t.Errorf("%s opens %d files of the index, want %d; %d files in all", what, got, c.want, len(names))
		}
	}
}

// TestDiskUsageReadsWhatChanged: the disk usage of a store opens the logs of the sessions that changed since the index was
// written, and no others.
func TestDiskUsageReadsWhatChanged(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	var last engine.Answer
	for range 40 {
		last = w.start(indexedFlow)
	}
	unclear := 0
	opens := func() (sessions []string) {
		t.Helper()
		var names []string
		d := osfs.NewDir(w.dir)
		defer d.Close()
		s, err := filestore.Open(opened{unsynced{d}, &sync.Mutex{}, &names}, filestore.Options{Locks: lock.Files(d), Boot: osfs.Boot()})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		g := over(s)
		g.Upkeep.Index = index.New(aged{sessiontimes.New(w.dir)}, s)
		if used, err := g.DU(t.Context()); err != nil || len(used.Sessions) != 40 || len(used.Sessions[0].Runs) != 1 ||
			used.Sessions[0].Shared.Count == 0 || len(used.Unclear) != unclear {
			t.Fatal(used, err)
		}
		for _, name := range names {
			if parts := strings.Split(name, "/"); len(parts) > 2 && parts[2] == "manifest.jsonl" && !slices.Contains(sessions, parts[1]) {
				sessions = append(sessions, parts[1])
			}
		}
		return sessions
	}
	if got := opens(); len(got) != 40 {
		t.Errorf("without an index %d logs are read, want 40", len(got))
	}
	if got := opens(); len(got) != 0 {
		t.Errorf("with an index %d logs are read", len(got))
	}
	w.must(last, note("done"))
	if got := opens(); !slices.Equal(got, []string{last.Session.SessionID.String()}) {
		t.Errorf("after a change the logs of %q are read", got)
	}
	logs, _ := filepath.Glob(filepath.Join(w.dir, "sessions", last.Session.SessionID.String(), "events", "*"))
	err := os.WriteFile(logs[len(logs)-1], []byte("{}\n"), 0o600)
	if err == nil {
		err = os.Remove(filepath.Join(w.dir, "cache", fmt.Sprintf("usage-%d", index.LogsFormat)))
	}
	if err != nil {
		t.Fatal(err)
	}
	unclear = 1
	for range 2 { // what is damaged is read each time
		if got := opens(); !slices.Contains(got, last.Session.SessionID.String()) {
			t.Errorf("a damaged log is not read: %q", got)
		}
	}
}

// TestErasedTextIsForgotten: nothing that is erased or deleted is found, or is in a file of the index.
func TestErasedTextIsForgotten(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	for range 40 {
		w.start(indexedFlow)
	}
	a := w.start(indexedFlow)
	r := note("done")
	r.Artifacts = []advance.Artifact{report("kind", "zanzibar")}
	w.must(a, r)
	w.seeds++
	titled, err := w.g.Start(context.Background(), w.by(), id.Seed{w.seeds}, engine.Start{Workflow: w.compiled(indexedFlow),
		SourceKind: event.SourceProject, SourceRef: "t.json", Title: "Timbuktu"})
	if err != nil {
		t.Fatal(err)
	}
	hits := func(word string) int {
		t.Helper()
		found, err := lists.Search(context.Background(), w.indexed().Lists, lists.SearchQuery{Text: word})
		if err != nil {
			t.Fatal(err)
		}
		return len(found.Hits)
	}
	kept := func(text string) bool {
		t.Helper()
		all, _ := filepath.Glob(filepath.Join(w.dir, "cache", "*"))
		for _, file := range all {
			if data, err := os.ReadFile(file); err != nil || strings.Contains(string(data), text) {
				return true
			}
		}
		return false
	}
	if hits("zanzibar") != 1 || hits("timbuktu") != 1 || !kept("Timbuktu") || hits("absent") != 0 {
		t.Fatal("the words are not found")
	}
	if _, err := w.indexed().DU(t.Context()); err != nil {
		t.Fatal(err)
	}
	if used, _ := os.ReadFile(filepath.Join(w.dir, "cache", fmt.Sprintf("usage-%d", index.LogsFormat))); !strings.Contains(string(used), "Timbuktu") {
		t.Fatal("what the disk usage needs is not kept")
	}
	before, _ := os.ReadFile(filepath.Join(w.dir, "cache", fmt.Sprintf("search-%d", index.WordsFormat)))
	out, err := w.process().Artifacts(context.Background(), views.ArtifactQuery{Run: a.Session.RunID.String()})
	if err != nil || len(out.Artifacts) == 0 {
		t.Fatal(out, err)
	}
	by := engine.Caller{Actor: event.Actor{Kind: event.Human, Ref: "ann"}, AtMs: w.clock}
	if _, err := w.indexed().EraseArtifact(context.Background(), by, out.Artifacts[0].SHA256, "it is wrong"); err != nil {
		t.Fatal(err)
	}
	if after, _ := os.ReadFile(filepath.Join(w.dir, "cache", fmt.Sprintf("search-%d", index.WordsFormat))); len(before) == 0 || len(after) > 0 {
		t.Errorf("the words of erased text remain: %d bytes, %d before", len(after), len(before))
	}
	if _, err := w.indexed().DeleteSessions(context.Background(), by,
		upkeep.DeleteRequest{Refs: []string{titled.Session.SessionID.String()}}); err != nil {
		t.Fatal(err)
	}
	if kept("Timbuktu") || hits("zanzibar") != 0 || hits("timbuktu") != 0 {
		t.Error("what was removed is found")
	}
}
