package filestore_test

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/infra/filestore"
	"github.com/waybill/waybill/ports/porttest/crashfs"
	"github.com/waybill/waybill/ports/porttest/suite"
)

// corpusDir is the corpus of damaged stores, each with the verdict that every version must return:
// a later version must read what an earlier one wrote.
const corpusDir = "../../testdata/broken"

var update = flag.Bool("update", false, "rewrite testdata/broken")

// expected is the content of expected.json: the verdict on a damaged store.
type expected struct {
	How      string                 `json:"how"`
	Open     fault.Code             `json:"open,omitempty"` // why the store cannot be opened
	Health   manifest.Health        `json:"health,omitempty"`
	Findings []manifest.FindingCode `json:"findings"`
	Next     int64                  `json:"next"`
	Objects  []string               `json:"objectsNotThere,omitempty"`
	Writable bool                   `json:"writable"` // a further append succeeds
}

// TestDamagedStoresHaveExpectedVerdicts reads every store of the corpus. With -update it rewrites
// the corpus from the table; the bytes are the same every time.
func TestDamagedStoresHaveExpectedVerdicts(t *testing.T) {
	if *update {
		for _, ex := range damagedStores(t) {
			ex.write(t)
		}
	}
	entries, err := os.ReadDir(corpusDir)
	fatal(t, err)
	if want := len(damagedStores(t)); len(entries) != want {
		t.Errorf("%d stores in testdata/broken, %d in the table; run with -update", len(entries), want)
	}
	for _, entry := range entries {
		t.Run(entry.Name(), func(t *testing.T) {
			b, err := os.ReadFile(filepath.Join(corpusDir, entry.Name(), "expected.json"))
			fatal(t, err)
			var want expected
			fatal(t, json.Unmarshal(b, &want))
			checkVerdict(t, filepath.Join(corpusDir, entry.Name(), "store"), want)
		})
	}
}

// TestDamagedStoresMatchTable: no file of the corpus was edited by hand.
func TestDamagedStoresMatchTable(t *testing.T) {
	t.Parallel()
	for _, ex := range damagedStores(t) {
		have := map[string][]byte{}
		root := filepath.Join(corpusDir, ex.name, "store")
		fatal(t, filepath.Walk(root, func(path string, info os.FileInfo, err error) error {
			if err != nil || info.IsDir() {
				return err
			}
			rel, _ := filepath.Rel(root, path)
			have[filepath.ToSlash(rel)], err = os.ReadFile(path)
			return err
		}))
		for name, b := range ex.files {
			if !bytes.Equal(have[name], b) {
				t.Errorf("%s: %s differs from the table", ex.name, name)
			}
		}
		if len(have) != len(ex.files) {
			t.Errorf("%s: %d files, want %d", ex.name, len(have), len(ex.files))
		}
	}
}

// checkVerdict compares the result of opening and reading a store with the expected one, and
// whether a copy of it can be written to.
func checkVerdict(t *testing.T, dir string, want expected) {
	t.Helper()
	s, err := filestore.OpenDir(dir, filestore.Options{})
	if fault.CodeOf(err) != want.Open {
		t.Fatalf("opening returned %v; want %q", err, want.Open)
	}
	if err != nil {
		return
	}
	defer s.Close()
	before := tree(t, dir)
	seen, v := suite.Read(t, s, suite.NewSessionFixture(1).Log, manifest.Head{})
	codes := []manifest.FindingCode{}
	for _, f := range v.Findings {
		codes = append(codes, f.Code)
	}
	if v.Health != want.Health || !slices.Equal(codes, want.Findings) || v.Head.Next != want.Next {
		t.Errorf("%s, findings %v, next %d; want %s, %v, %d\n%+v", v.Health, codes, v.Head.Next, want.Health,
			want.Findings, want.Next, v.Findings)
	}
	if got := missingObjects(s, seen); !slices.Equal(got, want.Objects) {
		t.Errorf("missing objects: %v; want %v", got, want.Objects)
	}
	if after := tree(t, dir); after != before {
		t.Errorf("reading changed the store")
	}
	// On a copy, since a writer removes torn tails and moves orphans.
	copied := filepath.Join(t.TempDir(), "store")
	fatal(t, os.CopyFS(copied, os.DirFS(dir)))
	fixture := suite.NewSessionFixture(1)
	plan := fixture.Start()
	if v.Head.Next > 0 {
		plan = fixture.Advance(v.Head.Next)
	}
	w := openDir(t, copied, 0)
	head, err := suite.Gate(w, plan)
	if (err == nil) != want.Writable {
		t.Errorf("a further append returned %v; want it to succeed: %v", err, want.Writable)
	}
	if err == nil {
		if _, v := suite.Read(t, w, fixture.Log, manifest.Head{}); v.Head != head || v.Health != manifest.Healthy ||
			v.TailBytes != 0 {
			t.Errorf("after a further append: %+v", v)
		}
	}
}

func missingObjects(s *filestore.Store, seen *suite.Seen) (out []string) {
	for _, seg := range seen.Segments {
		for _, e := range seg.Events {
			for kind, ref := range referred(e) {
				if _, err := s.Object(context.Background(), kind, ref); err != nil {
					out = append(out, manifest.ObjectDir(kind)+"/"+manifest.ObjectName(kind, ref))
				}
			}
		}
	}
	slices.Sort(out)
	return out
}

// damagedStore is one store of the corpus.
type damagedStore struct {
	name  string
	want  expected
	files map[string][]byte
}

func (ex damagedStore) write(t *testing.T) {
	t.Helper()
	dir := filepath.Join(corpusDir, ex.name)
	fatal(t, os.RemoveAll(dir))
	for name, b := range ex.files {
		to := filepath.Join(dir, "store", filepath.FromSlash(name))
		fatal(t, os.MkdirAll(filepath.Dir(to), 0o755))
		fatal(t, os.WriteFile(to, b, 0o644))
	}
	b, err := json.MarshalIndent(ex.want, "", "  ")
	fatal(t, err)
	fatal(t, os.WriteFile(filepath.Join(dir, "expected.json"), append(b, '\n'), 0o644))
}

// base returns the files of a healthy store with one session of three segments, and its heads:
// after 3, 6 and 9 events.
func base(t *testing.T) (files map[string][]byte, heads []manifest.Head) {
	t.Helper()
	f := crashfs.New()
	s, err := onBoot(f, "", 1)
	fatal(t, err)
	fixture := suite.NewSessionFixture(1)
	head, err := suite.Gate(s, fixture.Start())
	fatal(t, err)
	heads = append(heads, head)
	for range 2 {
		head, err = appendPlan(s, head, fixture.Advance(head.Next))
		fatal(t, err)
		heads = append(heads, head)
	}
	files = f.Files()
	delete(files, fixture.Log.Root+"/.lock")
	delete(files, ".use.lock")
	return files, heads
}
