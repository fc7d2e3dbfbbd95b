package main

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

// treeOf returns the path, size, mode and time of every entry below a directory.
func treeOf(t *testing.T, dir string) (out []string) {
	t.Helper()
	if err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err == nil {
			out = append(out, fmt.Sprint(name, info.Size(), info.Mode(), info.ModTime().UnixNano()))
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	return out
}

// TestForeignStoreIsNeverWritten: commands that read a store of another program leave every file, and
// every directory's time, as they were: no key, no lock and no cache is added.
func TestForeignStoreIsNeverWritten(t *testing.T) {
	t.Parallel()
	p := program{t, t.TempDir(), filepath.Join(t.TempDir(), "store")}
	if err := os.CopyFS(p.store, os.DirFS("../../testdata/foreign/store")); err != nil {
		t.Fatal(err)
	}
	before := fmt.Sprint(treeOf(t, p.store))
	for _, args := range [][]string{{"resume"}, {"resume", "tea", "--json"}, {"runs", "list"}, {"runs", "show", "q2n2wcwb"},
		{"runs", "timeline", "q2n2wcwb"}} {
		p.runPiped(0, args...)
		if after := fmt.Sprint(treeOf(t, p.store)); after != before {
			t.Fatalf("%v changed the store:\n%s\n%s", args, before, after)
		}
	}
}
