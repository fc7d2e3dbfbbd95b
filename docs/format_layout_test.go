package docs

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/waybill/waybill/ports/porttest/enginetest"

	"github.com/waybill/waybill/durable/engine"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/infra/filestore"
)

// formatOpen is the engine over a store on the disk.
func formatOpen(t *testing.T, dir string) *enginetest.Engine {
	t.Helper()
	store, err := filestore.OpenDir(dir, filestore.Options{AllowNetworkFS: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	return enginetest.Over(store)
}

// TestFormatStoreOpens: the program itself finds nothing wrong with the example
// store, and continues with its token.
func TestFormatStoreOpens(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "store")
	for name, b := range newFormatStore(t).files {
		name = filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	g := formatOpen(t, dir)
	v, err := g.Verify(context.Background())
	if err != nil || !v.OK || len(v.Findings) > 0 || len(v.Sessions) != 3 {
		t.Fatalf("%+v %v", v, err)
	}
	for _, s := range v.Sessions {
		if len(s.Findings) > 0 {
			t.Errorf("%s: %+v", s.SessionID, s.Findings)
		}
	}
	tok := regexp.MustCompile("(?ms)^```text token state\n(.*?)^```$").FindStringSubmatch(formatText(t))
	if _, err := g.Continue(context.Background(), engine.Caller{},
		engine.Continue{StateToken: strings.TrimSpace(tok[1])}); err != nil {
		t.Errorf("the state token of the page: %v", err)
	}
}

// formatLayout is every path of the tree in section 2.
func formatLayout(t *testing.T) map[string]bool {
	t.Helper()
	block := regexp.MustCompile("(?ms)^```\n<store>/\n(.*?)^```$").FindStringSubmatch(formatText(t))
	if block == nil {
		t.Fatal("the page has no layout")
	}
	out, above := map[string]bool{}, ""
	for line := range strings.SplitSeq(block[1], "\n") {
		name := strings.TrimSpace(line)
		if at := strings.Index(name, "  "); at >= 0 {
			name = name[:at]
		}
		switch depth := len(line) - len(strings.TrimLeft(line, " ")); {
		case name == "":
		case depth == 2:
			above = ""
			if strings.HasSuffix(name, "/") {
				above = name
			}
			out[name] = true
		default:
			out[above+name] = true
		}
	}
	return out
}

// TestFormatLayout: every file that a start writes is in the layout of the page, with
// the modes that the page promises.
func TestFormatLayout(t *testing.T) {
	dir, s := filepath.Join(t.TempDir(), "store"), newFormatStore(t)
	g := formatOpen(t, dir)
	_, err := g.Start(context.Background(), engine.Caller{Actor: s.human, AtMs: formatStart}, id.Seed{1},
		engine.Start{Workflow: s.w, SourceKind: event.SourceProject, SourceRef: "triage.json"})
	if err != nil {
		t.Fatal(err)
	}
	layout, files := formatLayout(t), 0
	session := regexp.MustCompile(`sess_[a-z2-7]{26}`)
	object := regexp.MustCompile(`sha256_[0-9a-f]{64}`)
	segment := regexp.MustCompile(`\d{8}-\d{8}\.jsonl`)
	err = filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		want := fs.FileMode(0o600)
		if d.IsDir() {
			want = 0o700
		}
		if info.Mode().Perm() != want && filepath.Separator == '/' {
			t.Errorf("%s has mode %#o: want %#o", name, info.Mode().Perm(), want)
		}
		if d.IsDir() {
			return nil
		}
		files++
		rel, _ := filepath.Rel(dir, name)
		place := session.ReplaceAllString(filepath.ToSlash(rel), "<sessionId>")
		place = segment.ReplaceAllString(object.ReplaceAllString(place, "sha256_<hex>"), "<first>-<last>.jsonl")
		if !layout[place] {
			t.Errorf("%s is not in the layout of the page", place)
		}
		return nil
	})
	if err != nil || files < 7 {
		t.Errorf("%d files, %v", files, err)
	}
}
