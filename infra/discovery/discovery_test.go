package discovery

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/workflow/catalog"
	"github.com/waybill/waybill/durable/workflow/compile"
	"github.com/waybill/waybill/durable/workflow/source"
)

// writeTree writes files, by their paths below a new directory.
func writeTree(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		at := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(at), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func findFiles(t *testing.T, at Places) map[string]catalog.File {
	t.Helper()
	files, err := New(at).Workflows(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]catalog.File{}
	for _, f := range files {
		if f.Kind != source.SourceBundled {
			out[f.Ref] = f
		}
	}
	return out
}

func TestBundledWorkflowsCompileWithoutAWarning(t *testing.T) {
	files := bundled()
	if len(files) < 2 {
		t.Fatalf("%d bundled workflows", len(files))
	}
	for _, f := range files {
		src, _, problems := compile.File(f.Ref, f.Kind, f.Data)
		if len(problems) > 0 || src.ID != f.Ref {
			t.Errorf("%s: id %s, %v", f.Ref, src.ID, problems)
		}
	}
}

func TestWorkflowsOfProjectUpToRoot(t *testing.T) {
	dir := writeTree(t, map[string]string{
		".waybill/workflows/top.yaml":             "x",
		"repo/.waybill/workflows/a.yaml":          "x",
		"repo/.waybill/workflows/deep/b.YML":      "x",
		"repo/.waybill/workflows/.hidden/c.yaml":  "x",
		"repo/.waybill/workflows/README.md":       "x",
		"repo/sub/.workrail/workflows/d.json":     "x",
		"repo/sub/deeper/.waybill/workflows/e.no": "x",
		"user/f.yaml": "x",
	})
	repo := filepath.Join(dir, "repo")
	got := findFiles(t,
		Places{User: filepath.Join(dir, "user"), From: filepath.Join(repo, "sub", "deeper"), Root: repo})
	want := []string{".waybill/workflows/a.yaml", ".waybill/workflows/deep/b.YML", "sub/.workrail/workflows/d.json",
		"f.yaml"}
	for _, ref := range want {
		if f, ok := got[ref]; !ok || f.Err != nil {
			t.Errorf("%s: found %v, %v", ref, ok, f.Err)
		}
	}
	if len(got) != len(want) {
		t.Errorf("found %d files: %v", len(got), got)
	}
	if got["f.yaml"].Kind != source.SourceUser {
		t.Error("the user's file has another source kind")
	}
	if outside := findFiles(t, Places{From: repo}); len(outside) != 2 {
		t.Errorf("outside a repository: found %v, want files of the working directory only", outside)
	}
}

func TestLinksLeavingDirectoryAreListedNotFollowed(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("links need a privilege on Windows")
	}
	dir := writeTree(t, map[string]string{"secret.yaml": "id: x", ".waybill/workflows/real.yaml": "id: y"})
	at := filepath.Join(dir, ".waybill", "workflows")
	links := map[string]string{"out.yaml": "../../secret.yaml", "abs.yaml": filepath.Join(dir, "secret.yaml"),
		"in.yaml": "real.yaml", "nowhere.yaml": "gone.yaml", "loop.yaml": "loop.yaml"}
	for name, to := range links {
		if err := os.Symlink(to, filepath.Join(at, name)); err != nil {
			t.Fatal(err)
		}
	}
	got := findFiles(t, Places{From: dir})
	for name := range links {
		f := got[".waybill/workflows/"+name]
		if (f.Err == nil) != (name == "in.yaml") {
			t.Errorf("%s: read %q, %v", name, f.Data, f.Err)
		}
		if f.Err != nil && strings.Contains(f.Err.Error(), dir) {
			t.Errorf("%s: the reason contains a path of the machine: %v", name, f.Err)
		}
	}
}

func TestUnreadableFilesAreListed(t *testing.T) {
	dir := writeTree(t, map[string]string{".waybill/workflows/big.yaml": strings.Repeat("x", limits.SourceBytesMax+1),
		".workrail/workflows": "a file"})
	got := findFiles(t, Places{From: dir})
	if f := got[".waybill/workflows/big.yaml"]; f.Err == nil || f.Data != nil {
		t.Errorf("a file over the limit: %v", f.Err)
	}
	if f := got[".workrail/workflows"]; f.Err == nil {
		t.Errorf("a file in place of a directory is not listed: %v", got)
	}
}

func TestNamedFiles(t *testing.T) {
	dir := writeTree(t, map[string]string{"repo/sub/w.yaml": "id: x", "elsewhere/v.json": "{}",
		"repo/big.json": strings.Repeat(" ", limits.SourceBytesMax+1)})
	repo := filepath.Join(dir, "repo")
	f := New(Places{From: filepath.Join(repo, "sub"), Root: repo})
	for path, ref := range map[string]string{"w.yaml": "sub/w.yaml",
		filepath.Join(dir, "elsewhere", "v.json"): "../elsewhere/v.json"} {
		got, err := f.WorkflowFile(context.Background(), path)
		if err != nil || got.Ref != ref || got.Kind != source.SourceProject || len(got.Data) == 0 {
			t.Errorf("%s: ref %q, %v", path, got.Ref, err)
		}
	}
	for path, code := range map[string]fault.Code{"gone.yaml": fault.WorkflowNotFound, "..": fault.WorkflowInvalid,
		"../big.json": fault.WorkflowInvalid} {
		if _, err := f.WorkflowFile(context.Background(), path); !fault.Is(err, code) {
			t.Errorf("%s: %v, want %s", path, err, code)
		}
	}
}

// TestLongDocumentsAreNotRead: of a long file without a key of a workflow at its beginning no more than that is read, and
// the list says so; a long workflow is read.
func TestLongDocumentsAreNotRead(t *testing.T) {
	const long = 3 << 20
	dir := writeTree(t, map[string]string{
		"a.json": `{"openapi": "3.1.0", "paths": {"x": "` + strings.Repeat("x", long) + `"}}`,
		"b.yaml": "openapi: 3.1.0\npaths:\n" + strings.Repeat("  x: y\n", long/7),
		"c.yaml": "about: |\n" + strings.Repeat("  x\n", 20<<10) + "id: a\n",
	})
	read := func() int64 {
		text, err := os.ReadFile("/proc/self/io")
		if err != nil {
			t.Skip("what is read cannot be counted: ", err)
		}
		n, err := strconv.ParseInt(strings.TrimPrefix(strings.Split(string(text), "\n")[0], "rchar: "), 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	before := read()
	found := findFiles(t, Places{User: dir})
	if n := read() - before; n > 5*limits.SourceFirstBytes || n < 3*limits.SourceFirstBytes {
		t.Errorf("%d bytes were read", n)
	}
	for ref, f := range found {
		isLong := !strings.HasSuffix(ref, "c.yaml")
		if isLong != (f.Err != nil) || isLong && !strings.Contains(f.Err.Error(), "is no workflow") || !isLong && len(f.Data) < 64<<10 {
			t.Errorf("%s: %v, %d bytes", ref, f.Err, len(f.Data))
		}
	}
	if len(found) != 3 {
		t.Errorf("found %d files", len(found))
	}
}
