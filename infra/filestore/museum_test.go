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

// museumDir holds broken stores, each with the verdict that every version must
// come to: what was once written is read for ever.
const museumDir = "../../testdata/broken"

var update = flag.Bool("update", false, "write testdata/broken anew")

// expected is the verdict on an exhibit, as expected.json holds it.
type expected struct {
	How      string                 `json:"how"`
	Open     fault.Code             `json:"open,omitempty"` // why the store cannot be opened
	Health   manifest.Health        `json:"health,omitempty"`
	Findings []manifest.FindingCode `json:"findings"`
	Next     int64                  `json:"next"`
	Objects  []string               `json:"objectsNotThere,omitempty"`
	Writable bool                   `json:"writable"` // a further append comes through
}

// TestMuseum reads every exhibit. With -update it writes them anew; they are the
// same bytes every time.
func TestMuseum(t *testing.T) {
	if *update {
		for _, ex := range exhibits(t) {
			ex.write(t)
		}
	}
	rooms, err := os.ReadDir(museumDir)
	fatal(t, err)
	if want := len(exhibits(t)); len(rooms) != want {
		t.Errorf("%d exhibits on the disk, %d in the table; run with -update", len(rooms), want)
	}
	for _, room := range rooms {
		t.Run(room.Name(), func(t *testing.T) {
			b, err := os.ReadFile(filepath.Join(museumDir, room.Name(), "expected.json"))
			fatal(t, err)
			var want expected
			fatal(t, json.Unmarshal(b, &want))
			visit(t, filepath.Join(museumDir, room.Name(), "store"), want)
		})
	}
}

// TestMuseumIsWhatTheTableMakes: nobody mended an exhibit by hand.
func TestMuseumIsWhatTheTableMakes(t *testing.T) {
	t.Parallel()
	for _, ex := range exhibits(t) {
		have := map[string][]byte{}
		root := filepath.Join(museumDir, ex.name, "store")
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
				t.Errorf("%s: %s is not what the table makes", ex.name, name)
			}
		}
		if len(have) != len(ex.files) {
			t.Errorf("%s: %d files, want %d", ex.name, len(have), len(ex.files))
		}
	}
}

// visit compares what a store says with what it must say, and whether it can be
// written to, on a copy.
func visit(t *testing.T, dir string, want expected) {
	t.Helper()
	s, err := filestore.OpenDir(dir, filestore.Options{})
	if fault.CodeOf(err) != want.Open {
		t.Fatalf("opening said %v; want %q", err, want.Open)
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
	if got := notThere(s, seen); !slices.Equal(got, want.Objects) {
		t.Errorf("objects that are not there: %v; want %v", got, want.Objects)
	}
	if after := tree(t, dir); after != before {
		t.Errorf("reading changed the exhibit")
	}
	// On a copy, since a writer mends what it may: the exhibit stays broken.
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
		t.Errorf("a further append said %v; want it to come through: %v", err, want.Writable)
	}
	if err == nil {
		if _, v := suite.Read(t, w, fixture.Log, manifest.Head{}); v.Head != head || v.Health != manifest.Healthy ||
			v.TailBytes != 0 {
			t.Errorf("after a further append: %+v", v)
		}
	}
}

func notThere(s *filestore.Store, seen *suite.Seen) (out []string) {
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

// exhibit is a broken store on its way to the museum.
type exhibit struct {
	name  string
	want  expected
	files map[string][]byte
}

func (ex exhibit) write(t *testing.T) {
	t.Helper()
	room := filepath.Join(museumDir, ex.name)
	fatal(t, os.RemoveAll(room))
	for name, b := range ex.files {
		to := filepath.Join(room, "store", filepath.FromSlash(name))
		fatal(t, os.MkdirAll(filepath.Dir(to), 0o755))
		fatal(t, os.WriteFile(to, b, 0o644))
	}
	b, err := json.MarshalIndent(ex.want, "", "  ")
	fatal(t, err)
	fatal(t, os.WriteFile(filepath.Join(room, "expected.json"), append(b, '\n'), 0o644))
}

// base is a healthy store of one session with three segments, as files, and its
// heads: behind events 3, 6 and 9.
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
