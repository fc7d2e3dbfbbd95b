package discovery

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/workflow/catalog"
	"github.com/waybill/waybill/durable/workflow/source"
)

// realDir is a new directory with files, links resolved.
func realDir(t *testing.T, files map[string]string) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(writeTree(t, files))
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestAttachedFilesHaveTheNameOfTheFolder(t *testing.T) {
	dir := realDir(t, map[string]string{"a.yaml": "x", "sub/deep/b.json": "x", ".git/c.json": "x", "README.md": "x"})
	files, err := AttachedFiles(Attached{"team", dir})
	if err != nil || len(files) != 2 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for i, ref := range []string{"team/a.yaml", "team/sub/deep/b.json"} {
		f := files[i]
		if f.Ref != ref || f.Kind != source.SourcePlugin || f.Attached != "team" || f.Source() != "plugin:team" ||
			f.Folder != files[0].Folder || string(f.Data) != "x" {
			t.Errorf("got %+v, want %s", f, ref)
		}
	}
	got := findFiles(t, Places{From: t.TempDir(), Attached: []Attached{{"team", dir}}})
	if len(got) != 2 {
		t.Errorf("found %v", got)
	}
}

// TestUnusableAttachedFoldersAreListed: each is one entry with its name, and the others are read.
func TestUnusableAttachedFoldersAreListed(t *testing.T) {
	base := realDir(t, map[string]string{"good/a.yaml": "x", "real/b.yaml": "x", "file": "x", "closed/c.yaml": "x"})
	if err := os.Symlink("real", filepath.Join(base, "link")); err != nil {
		t.Skip(err)
	}
	at := Places{From: t.TempDir()}
	want := map[string]string{"gone": "does not exist any more", "file": "it is a file", "link": "replaced by a link"}
	if os.Getuid() != 0 {
		if err := os.Chmod(filepath.Join(base, "closed"), 0); err != nil {
			t.Fatal(err)
		}
		defer os.Chmod(filepath.Join(base, "closed"), 0o700) //nolint:errcheck // for the removal
		want["closed"] = "permission denied"
	}
	for _, name := range []string{"good", "gone", "file", "link", "closed"} {
		at.Attached = append(at.Attached, Attached{name, filepath.Join(base, name)})
	}
	got := findFiles(t, at)
	if f, ok := got["good/a.yaml"]; !ok || f.Err != nil {
		t.Errorf("the usable folder: %+v", f)
	}
	for name, words := range want {
		f, ok := got[name]
		if !ok || f.Err == nil || !strings.Contains(f.Err.Error(), words) || f.Attached != name {
			t.Errorf("%s: %+v, want %q", name, f, words)
		} else if strings.Contains(f.Err.Error(), base) {
			t.Errorf("%s: the reason contains a path of the machine: %v", name, f.Err)
		}
	}
}

// TestLinksInAttachedFolders: a link to a file that is read under its own name is not a second file, a
// link to another file of the folder is read, and all others are named.
func TestLinksInAttachedFolders(t *testing.T) {
	base := realDir(t, map[string]string{"flows/real.yaml": "x", "flows/.kept/k.yaml": "x", "flows/sub/a.yaml": "x", "secret.yaml": "secret",
		"far/far.yaml": "secret"})
	for name, to := range map[string]string{"in.yaml": "real.yaml", "chain.yaml": "in.yaml",
		"sub/up.json": "../real.yaml", "kept.yaml": ".kept/k.yaml", "loop.yaml": "loop.yaml", "out.yaml": "../secret.yaml", "dir": "../far",
		"abs.yaml": filepath.Join(base, "secret.yaml"), "near": "sub", "read.md": "../secret.yaml", ".hidden": "../far"} {
		if err := os.Symlink(to, filepath.Join(base, "flows", name)); err != nil {
			t.Skip(err)
		}
	}
	got := findFiles(t, Places{From: t.TempDir(), Attached: []Attached{{"f", filepath.Join(base, "flows")}}})
	for ref, usable := range map[string]bool{"f/real.yaml": true, "f/sub/a.yaml": true, "f/kept.yaml": true,
		"f/loop.yaml": false, "f/out.yaml": false, "f/abs.yaml": false, "f/dir": false, "f/near": false} {
		f, ok := got[ref]
		if !ok || (f.Err == nil) != usable || strings.Contains(string(f.Data), "secret") {
			t.Errorf("%s: found %v, %q, %v", ref, ok, f.Data, f.Err)
		}
	}
	if len(got) != 8 {
		t.Errorf("%d files: %v", len(got), got)
	}
}

// TestFilesOfOtherToolsAreNoWorkflows: they are not listed in an attached folder, and broken
// workflows beside them are. In a directory for workflows only, each file but tests is listed.
func TestFilesOfOtherToolsAreNoWorkflows(t *testing.T) {
	names := []string{"package.json", "sub/package-lock.json", "a.test.json", "B.TEST.yaml", "w.schema.json",
		".eslintrc.json", "node_modules/x/y.json", "tsconfig.json", "pnpm-lock.yaml"}
	tree := map[string]string{"broken.json": "{", "testing.json": "x", "my.package.json": "x"}
	for _, name := range names {
		tree[name] = "{}"
	}
	dir := realDir(t, tree)
	got := findFiles(t, Places{From: t.TempDir(), Attached: []Attached{{"f", dir}}})
	for _, ref := range []string{"f/broken.json", "f/testing.json", "f/my.package.json"} {
		if _, ok := got[ref]; !ok || len(got) != 3 {
			t.Errorf("%s is listed: %v, of %d files", ref, ok, len(got))
		}
	}
	if got := findFiles(t, Places{User: dir, From: t.TempDir()}); len(got) != len(tree)-2 {
		t.Errorf("%d of the user's %d files", len(got), len(tree))
	}
}

func TestLargeAttachedFoldersAreBounded(t *testing.T) {
	dir := realDir(t, nil)
	for i := range filesMax + 5 {
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("w%04d.json", i)), []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	files, err := AttachedFiles(Attached{"big", dir})
	if err != nil || len(files) != filesMax+1 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	if last := files[filesMax]; last.Err == nil || !strings.Contains(last.Err.Error(), "more than 1000 workflow files") {
		t.Errorf("the last entry: %+v", last)
	}
}

// TestOneFileIsFoundOnce: in an attached folder before other sources, and as the user's before the
// project's.
func TestOneFileIsFoundOnce(t *testing.T) {
	dir := realDir(t, map[string]string{".workrail/workflows/w.yaml": "x", ".workrail/workflows/team/t.yaml": "x",
		"config/u.yaml": "x", ".waybill/workflows/p.yaml": "x"})
	places := Places{User: filepath.Join(dir, "config"), WorkRail: filepath.Join(dir, ".workrail/workflows"), From: dir}
	kinds := func(at Places) string {
		var out []string
		for ref, f := range findFiles(t, at) {
			out = append(out, f.Source()+" "+ref)
		}
		return strings.Join(slices.Sorted(slices.Values(out)), ", ")
	}
	const user = "project .waybill/workflows/p.yaml, user .workrail/workflows/team/t.yaml, user .workrail/workflows/w.yaml, user u.yaml"
	if got := kinds(places); got != user {
		t.Errorf("got  %s\nwant %s", got, user)
	}
	places.Attached = []Attached{{"team", filepath.Join(dir, ".workrail/workflows/team")}}
	const below = "plugin:team team/t.yaml, project .waybill/workflows/p.yaml, user .workrail/workflows/w.yaml, user u.yaml"
	if got := kinds(places); got != below {
		t.Errorf("got  %s\nwant %s", got, below)
	}
	places.Attached = []Attached{{"all", filepath.Join(dir, ".workrail")}}
	const above = "plugin:all all/workflows/team/t.yaml, plugin:all all/workflows/w.yaml, project .waybill/workflows/p.yaml, user u.yaml"
	if got := kinds(places); got != above {
		t.Errorf("got  %s\nwant %s", got, above)
	}
}

// TestBundledIDsArePublishedNowhere: the ids that a published collection has are aliases.
func TestBundledIDsArePublishedNowhere(t *testing.T) {
	published := []string{"wr.routine-design-review", "wr.routine-tension-driven-design", "wr.routine-ideation"}
	all := map[string]bool{}
	for _, f := range bundled() {
		all[f.Ref] = true
		for _, alias := range f.Aliases {
			all["alias "+alias] = true
		}
	}
	for i, id := range published {
		if all[id] || all["alias "+id] != (i < 2) {
			t.Errorf("%s is bundled: %v, an alias: %v", id, all[id], all["alias "+id])
		}
	}
}

func TestIsBundled(t *testing.T) {
	for _, f := range bundled() {
		hash := catalog.Sources{Files: bundled()}.Compile(f).Compiled.Hash()
		if !IsBundled(f.Ref, hash) || IsBundled(f.Ref, canon.Sum(f.Data)) || IsBundled("wr.other", hash) {
			t.Errorf("%s", f.Ref)
		}
	}
}
