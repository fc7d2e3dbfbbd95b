//go:build unix

package bundlefile_test

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/travel/bundle"
	"github.com/waybill/waybill/infra/bundlefile"
)

// writeBundle writes content as a bundle is written.
func writeBundle(name string, force bool, content string) error {
	target, err := bundlefile.Create(name, force)
	if err != nil {
		return err
	}
	if _, err := target.Write([]byte(content)); err != nil {
		target.Abandon()
		return err
	}
	return target.Commit()
}

func expectContent(t *testing.T, name, want string) {
	t.Helper()
	if b, err := os.ReadFile(name); err != nil || string(b) != want {
		t.Errorf("%s holds %q, %v; want %q", name, b, err, want)
	}
}

func TestCreateRefusesExistingName(t *testing.T) {
	name := filepath.Join(t.TempDir(), "b.json")
	for _, step := range []struct {
		force   bool
		content string
		code    fault.Code
		then    string
	}{{false, "one", "", "one"}, {false, "two", fault.ValidationError, "one"}, {true, "three", "", "three"}} {
		if err := writeBundle(name, step.force, step.content); fault.CodeOf(err) != step.code {
			t.Errorf("%q: %v, want %q", step.content, err, step.code)
		}
		expectContent(t, name, step.then)
	}
}

// TestCreateRefusesSpecialFiles: a superuser could otherwise replace a device by a file.
func TestCreateRefusesSpecialFiles(t *testing.T) {
	dir := t.TempDir()
	pipe, sub := filepath.Join(dir, "pipe"), filepath.Join(dir, "sub")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Skip(err)
	}
	if err := os.Mkdir(sub, 0o700); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(dir, "link")
	if err := os.Symlink(pipe, link); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{pipe, sub, link} {
		before, err := os.Lstat(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, force := range []bool{false, true} {
			if err := writeBundle(name, force, "x"); !fault.Is(err, fault.ValidationError) {
				t.Errorf("%s, force %v: %v", name, force, err)
			}
		}
		if after, err := os.Lstat(name); err != nil || !os.SameFile(before, after) {
			t.Errorf("%s was replaced: %v", name, err)
		}
	}
	if left, _ := filepath.Glob(filepath.Join(dir, ".*")); len(left) > 0 {
		t.Errorf("temporary files remain: %v", left)
	}
}

func TestCreateReplacesTargetOfLink(t *testing.T) {
	dir := t.TempDir()
	file, link := filepath.Join(dir, "file"), filepath.Join(dir, "link")
	if err := os.WriteFile(file, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("file", link); err != nil {
		t.Fatal(err)
	}
	if err := writeBundle(link, false, "new"); !fault.Is(err, fault.ValidationError) {
		t.Errorf("without force: %v", err)
	}
	if err := writeBundle(link, true, "new"); err != nil {
		t.Fatal(err)
	}
	expectContent(t, file, "new")
	if to, err := os.Readlink(link); err != nil || to != "file" {
		t.Errorf("the link leads to %q, %v", to, err)
	}
}

// dirLister is a pipe whose read records the names in a directory.
type dirLister struct {
	dir  string
	seen *[]string
}

func (l dirLister) Read([]byte) (int, error) {
	entries, err := os.ReadDir(l.dir)
	if err != nil {
		return 0, err
	}
	for _, e := range entries {
		*l.seen = append(*l.seen, e.Name())
	}
	return 0, io.EOF
}

// TestSpoolLeavesNoName: however the process ends, no bundle remains in a directory that others can
// read.
func TestSpoolLeavesNoName(t *testing.T) {
	dir, seen := t.TempDir(), []string{}
	t.Setenv("TMPDIR", dir)
	if _, err := bundlefile.Spool(context.Background(), dirLister{dir, &seen}, bundle.Options{}); !fault.Is(err,
		fault.BundleInvalidFormat) {
		t.Errorf("an empty pipe: %v", err)
	}
	if left, _ := os.ReadDir(dir); len(seen)+len(left) > 0 {
		t.Errorf("seen %v, left %v", seen, left)
	}
}
