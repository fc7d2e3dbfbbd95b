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

// put writes content as a bundle is written.
func put(name string, force bool, content string) error {
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

func holds(t *testing.T, name, want string) {
	t.Helper()
	if b, err := os.ReadFile(name); err != nil || string(b) != want {
		t.Errorf("%s holds %q, %v; want %q", name, b, err, want)
	}
}

func TestCreateTakesNoNameThatIsThere(t *testing.T) {
	name := filepath.Join(t.TempDir(), "b.json")
	for _, step := range []struct {
		force   bool
		content string
		code    fault.Code
		then    string
	}{{false, "one", "", "one"}, {false, "two", fault.ValidationError, "one"}, {true, "three", "", "three"}} {
		if err := put(name, step.force, step.content); fault.CodeOf(err) != step.code {
			t.Errorf("%q: %v, want %q", step.content, err, step.code)
		}
		holds(t, name, step.then)
	}
}

// A superuser may rename a file over a device, and take it from the whole machine.
func TestCreateReplacesNothingButFiles(t *testing.T) {
	dir := t.TempDir()
	pipe, folder := filepath.Join(dir, "pipe"), filepath.Join(dir, "folder")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Skip(err)
	}
	if err := os.Mkdir(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(dir, "link")
	if err := os.Symlink(pipe, link); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{pipe, folder, link} {
		before, err := os.Lstat(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, force := range []bool{false, true} {
			if err := put(name, force, "x"); !fault.Is(err, fault.ValidationError) {
				t.Errorf("%s, force %v: %v", name, force, err)
			}
		}
		if after, err := os.Lstat(name); err != nil || !os.SameFile(before, after) {
			t.Errorf("%s is another one: %v", name, err)
		}
	}
	if left, _ := filepath.Glob(filepath.Join(dir, ".*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

func TestCreateReplacesTheFileThatALinkLeadsTo(t *testing.T) {
	dir := t.TempDir()
	file, link := filepath.Join(dir, "file"), filepath.Join(dir, "link")
	if err := os.WriteFile(file, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("file", link); err != nil {
		t.Fatal(err)
	}
	if err := put(link, false, "new"); !fault.Is(err, fault.ValidationError) {
		t.Errorf("without force: %v", err)
	}
	if err := put(link, true, "new"); err != nil {
		t.Fatal(err)
	}
	holds(t, file, "new")
	if to, err := os.Readlink(link); err != nil || to != "file" {
		t.Errorf("the link leads to %q, %v", to, err)
	}
}

// looking is a pipe at whose end somebody looks what lies in a folder.
type looking struct {
	dir  string
	seen *[]string
}

func (l looking) Read([]byte) (int, error) {
	entries, err := os.ReadDir(l.dir)
	if err != nil {
		return 0, err
	}
	for _, e := range entries {
		*l.seen = append(*l.seen, e.Name())
	}
	return 0, io.EOF
}

// However the process ends, a bundle that came through a pipe is not left in a folder
// that others look into.
func TestSpoolLeavesNoName(t *testing.T) {
	dir, seen := t.TempDir(), []string{}
	t.Setenv("TMPDIR", dir)
	if _, err := bundlefile.Spool(context.Background(), looking{dir, &seen}, bundle.Options{}); !fault.Is(err,
		fault.BundleInvalidFormat) {
		t.Errorf("an empty pipe: %v", err)
	}
	if left, _ := os.ReadDir(dir); len(seen)+len(left) > 0 {
		t.Errorf("seen %v, left %v", seen, left)
	}
}
