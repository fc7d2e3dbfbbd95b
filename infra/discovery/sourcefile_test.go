package discovery

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/workflow/source"
)

// TestSourceFile: the file that a run records is found where it was, whichever source it belongs to, and
// nothing else is read: no file of another kind or size, and none outside of a folder.
func TestSourceFile(t *testing.T) {
	root := t.TempDir()
	write := func(name string, data string) string {
		path := filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(data), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	write("repo/.waybill/workflows/a.yaml", "project")
	write("repo/x.yaml", "named")
	write("outside.yaml", "outside")
	write("user/u.yaml", "user")
	write("rail/r.yaml", "rail")
	write("plug/sub/p.yaml", "plugin")
	write("repo/full.yaml", strings.Repeat("#", limits.DriftBytesMax))
	write("repo/huge.yaml", strings.Repeat("#", limits.DriftBytesMax+1))
	if err := os.Mkdir(filepath.Join(root, "repo", "dir.yaml"), 0o755); err != nil {
		t.Fatal(err)
	}
	f := New(Places{User: filepath.Join(root, "user"), WorkRail: filepath.Join(root, "rail"), Root: filepath.Join(root, "repo"),
		From: filepath.Join(root, "repo"), Attached: []Attached{{"plug", filepath.Join(root, "plug")}}})
	for _, row := range []struct {
		kind source.SourceKind
		ref  string
		want string // the content, "" for none
	}{
		{source.SourceProject, ".waybill/workflows/a.yaml", "project"}, {source.SourceProject, "x.yaml", "named"},
		{source.SourceProject, "../outside.yaml", "outside"}, {source.SourceUser, "u.yaml", "user"},
		{source.SourceUser, ".workrail/workflows/r.yaml", "rail"}, {source.SourcePlugin, "plug/sub/p.yaml", "plugin"},
		{source.SourceUser, "../outside.yaml", ""}, {source.SourcePlugin, "plug/../outside.yaml", ""},
		{source.SourcePlugin, "other/sub/p.yaml", ""}, {source.SourceUser, "x.yaml", ""}, {source.SourceProject, "u.yaml", ""},
		{source.SourceProject, "", ""}, {source.SourceProject, "dir.yaml", ""}, {source.SourceProject, "huge.yaml", ""},
		{source.SourceProject, "full.yaml", strings.Repeat("#", limits.DriftBytesMax)}, {source.SourceBundled, "wr.demo", ""},
	} {
		file, path, ok := f.SourceFile(row.kind, row.ref)
		if ok != (row.want != "") || ok && (string(file.Data) != row.want || file.Kind != row.kind || file.Ref != row.ref || path == "") {
			t.Errorf("%s %s: %q at %q, %v", row.kind, row.ref, file.Data, path, ok)
		}
	}
}
