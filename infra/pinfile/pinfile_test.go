//go:build linux

package pinfile

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/workflow/source"
)

// project is a folder with a pinned file and a program, and a check that depends on both.
func project(t *testing.T) (Files, source.Check) {
	t.Helper()
	root, bin := t.TempDir(), t.TempDir()
	put(t, filepath.Join(root, "tests/a.txt"), "tests", 0o644)
	put(t, filepath.Join(bin, "suite"), "#!/bin/sh\n", 0o755)
	return Files{Root: root, Environ: []string{"PATH=.:" + bin + ":/usr/bin:/bin", "SKIP=1"}},
		source.Check{ID: "unit", Argv: []string{"suite"}, Pins: []string{"tests/a.txt"}}
}

// put writes a file and the folders above it.
func put(t *testing.T, name, content string, mode os.FileMode) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(content), mode); err != nil {
		t.Fatal(err)
	}
}

// TestCompare: each change of what a check depends on is named, also with size and time put back, and
// what was put back is as it was.
func TestCompare(t *testing.T) {
	for name, row := range map[string]struct {
		change func(t *testing.T, f Files, program string)
		want   string
	}{
		"nothing": {func(*testing.T, Files, string) {}, ""},
		"content, with size and time put back": {func(t *testing.T, f Files, _ string) {
			at := filepath.Join(f.Root, "tests/a.txt")
			fi, err := os.Stat(at)
			put(t, at, "TESTS", 0o644)
			if err != nil || os.Chtimes(at, fi.ModTime(), fi.ModTime()) != nil {
				t.Fatal(err)
			}
		}, "tests/a.txt"},
		"gone":        {func(t *testing.T, f Files, _ string) { must(t, os.Remove(filepath.Join(f.Root, "tests/a.txt"))) }, "tests/a.txt"},
		"folder gone": {func(t *testing.T, f Files, _ string) { must(t, os.RemoveAll(filepath.Join(f.Root, "tests"))) }, "tests/a.txt"},
		"a link to a copy": {func(t *testing.T, f Files, _ string) {
			at := filepath.Join(f.Root, "tests/a.txt")
			must(t, os.Rename(at, at+".copy"))
			must(t, os.Symlink("a.txt.copy", at))
		}, "tests/a.txt"},
		"a folder that is a link": {func(t *testing.T, f Files, _ string) {
			at := filepath.Join(f.Root, "tests")
			must(t, os.Rename(at, at+".copy"))
			must(t, os.Symlink("tests.copy", at))
		}, "tests/a.txt"},
		"a file in place of the folder": {func(t *testing.T, f Files, _ string) {
			must(t, os.RemoveAll(filepath.Join(f.Root, "tests")))
			put(t, filepath.Join(f.Root, "tests"), "tests", 0o644)
		}, "tests/a.txt"},
		"a pipe": {func(t *testing.T, f Files, _ string) {
			at := filepath.Join(f.Root, "tests/a.txt")
			must(t, os.Remove(at))
			must(t, syscall.Mkfifo(at, 0o644))
		}, "tests/a.txt"},
		"put back": {func(t *testing.T, f Files, _ string) {
			at := filepath.Join(f.Root, "tests/a.txt")
			put(t, at, "other", 0o644)
			put(t, at, "tests", 0o600)
		}, ""},
		"another program":      {func(t *testing.T, _ Files, program string) { put(t, program, "#!/bin/sh\nexit 0\n", 0o755) }, "suite"},
		"the program is gone":  {func(t *testing.T, _ Files, program string) { must(t, os.Remove(program)) }, "suite"},
		"a program beside it":  {func(t *testing.T, f Files, _ string) { put(t, filepath.Join(f.Root, "suite"), "#!/bin/sh\n", 0o755) }, ""},
		"a file that is above": {func(t *testing.T, f Files, _ string) { put(t, filepath.Join(f.Root, "tests/b.txt"), "b", 0o644) }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			f, c := project(t)
			fixed, err := f.Fix(t.Context(), []source.Check{c})
			if err != nil || len(fixed.Env) != 1 || !strings.HasSuffix(fixed.Programs["suite"].Path, "/suite") {
				t.Fatalf("%+v, %v", fixed, err)
			}
			row.change(t, f, fixed.Programs["suite"].Path)
			now, err := f.Compare(t.Context(), c, fixed)
			if err != nil || strings.Join(now.Changed, " ") != row.want {
				t.Errorf("%v, %v", now.Changed, err)
			}
			if _, ok := now.Pins["tests/a.txt"]; row.want == "" && !ok {
				t.Error("no digest of the pin")
			}
		})
	}
}

// must fails the test on an error.
func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// TestFixRefuses: what cannot be fixed is named with its check and the reason.
func TestFixRefuses(t *testing.T) {
	for name, row := range map[string]struct {
		change func(f Files, c *source.Check)
		want   string
	}{
		"missing":       {func(_ Files, c *source.Check) { c.Pins = []string{"none"} }, `"none", which does not exist`},
		"a folder":      {func(_ Files, c *source.Check) { c.Pins = []string{"tests"} }, "no regular file"},
		"outside":       {func(_ Files, c *source.Check) { c.Pins = []string{"../x"} }, "no path below the root"},
		"absolute":      {func(_ Files, c *source.Check) { c.Pins = []string{"/etc/passwd"} }, "no path below the root"},
		"not clean":     {func(_ Files, c *source.Check) { c.Pins = []string{"tests//a.txt"} }, "no path below the root"},
		"no program":    {func(_ Files, c *source.Check) { c.Argv = []string{"no-such-program"} }, "was not found in the folders of PATH"},
		"not a program": {func(_ Files, c *source.Check) { c.Argv = []string{"./tests/a.txt"} }, "is no program"},
		"link": {func(f Files, c *source.Check) {
			_ = os.Symlink("tests/a.txt", filepath.Join(f.Root, "link"))
			c.Pins = []string{"link"}
		}, "through a symbolic link"},
		"large": {func(f Files, c *source.Check) {
			_ = os.WriteFile(filepath.Join(f.Root, "large"), nil, 0o644)
			_ = os.Truncate(filepath.Join(f.Root, "large"), limits.PinBytesMax+1)
			c.Pins = []string{"large"}
		}, "has more than"},
	} {
		t.Run(name, func(t *testing.T) {
			f, c := project(t)
			row.change(f, &c)
			_, err := f.Fix(t.Context(), []source.Check{c})
			if !fault.Is(err, fault.ValidationError) || !strings.Contains(err.Error(), row.want) || !strings.Contains(err.Error(), `"unit"`) {
				t.Error(err)
			}
		})
	}
}

// TestProgramOfProject: a program below the root is found there, in the folder of the check.
func TestProgramOfProject(t *testing.T) {
	f, c := project(t)
	put(t, filepath.Join(f.Root, "sub/run.sh"), "#!/bin/sh\n", 0o755)
	c.Argv, c.Cwd = []string{"./run.sh"}, "sub"
	fixed, err := f.Fix(t.Context(), []source.Check{c})
	if err != nil || fixed.Programs["./sub/run.sh"].Path != filepath.Join(f.Root, "sub/run.sh") {
		t.Fatalf("%+v, %v", fixed.Programs, err)
	}
	put(t, filepath.Join(f.Root, "sub/run.sh"), "#!/bin/sh\nexit 0\n", 0o755)
	if now, err := f.Compare(t.Context(), c, fixed); err != nil || !slices.Equal(now.Changed, []string{"./run.sh"}) {
		t.Errorf("%v, %v", now.Changed, err)
	}
}

// TestSearchedFolders: programs are looked up in folders that exist and are not in the project, links resolved.
func TestSearchedFolders(t *testing.T) {
	f, c := project(t)
	bin, links := filepath.SplitList(strings.TrimPrefix(f.Environ[0], "PATH=.:"))[0], t.TempDir()
	put(t, filepath.Join(f.Root, "bin/suite"), "#!/bin/sh\nexit 0\n", 0o755)
	must(t, os.Symlink(filepath.Join(f.Root, "bin"), filepath.Join(links, "into")))
	must(t, os.Symlink(filepath.Join(f.Root, "later"), filepath.Join(links, "dangling")))
	must(t, os.Symlink(bin, filepath.Join(links, "out")))
	all := []string{f.Root, filepath.Join(f.Root, "bin"), links + "/into", links + "/dangling", "/no/such/folder",
		links + "/into/../into", f.Root + "/bin/../../" + filepath.Base(f.Root) + "/bin", links + "/out", f.Root + "2"}
	must(t, os.Mkdir(f.Root+"2", 0o755))
	f.Environ = []string{"PATH=" + strings.Join(all, ":")}
	fixed, err := f.Fix(t.Context(), []source.Check{c})
	if want := links + "/out:" + f.Root + "2"; err != nil || fixed.Env["PATH"] != want || fixed.Programs["suite"].Path != links+"/out/suite" {
		t.Errorf("%+v, %v, want PATH %s", fixed, err, want)
	}
}

// TestPutBack: a file that was replaced, changed or renamed between two moments differs, also when it is as it was.
func TestPutBack(t *testing.T) {
	pin := func(f Files, _ string) string { return filepath.Join(f.Root, "tests/a.txt") }
	program := func(_ Files, program string) string { return program }
	for name, row := range map[string]struct {
		at     func(f Files, program string) string
		change func(t *testing.T, at string)
		want   string
	}{
		"nothing": {pin, func(*testing.T, string) {}, ""},
		"read": {pin, func(t *testing.T, at string) {
			_, err := os.ReadFile(at)
			must(t, err)
		}, ""},
		"renamed and put back": {pin, func(t *testing.T, at string) {
			must(t, os.Rename(at, at+".kept"))
			put(t, at, "other", 0o644)
			must(t, os.Rename(at+".kept", at))
		}, "tests/a.txt"},
		"copied and put back, with its time": {pin, func(t *testing.T, at string) {
			fi, err := os.Stat(at)
			must(t, err)
			put(t, at, "other", 0o644)
			put(t, at, "tests", 0o644)
			must(t, os.Chtimes(at, fi.ModTime(), fi.ModTime()))
		}, "tests/a.txt"},
		"program renamed and put back": {program, func(t *testing.T, at string) {
			must(t, os.Rename(at, at+".kept"))
			put(t, at, "#!/bin/sh\nexit 0\n", 0o755)
			must(t, os.Rename(at+".kept", at))
		}, "suite"},
		"program that is a link for a moment": {program, func(t *testing.T, at string) {
			must(t, os.Rename(at, at+".kept"))
			must(t, os.Symlink(at+".kept", at))
		}, "suite"},
	} {
		t.Run(name, func(t *testing.T) {
			f, c := project(t)
			fixed, err := f.Fix(t.Context(), []source.Check{c})
			must(t, err)
			before, err := f.Compare(t.Context(), c, fixed)
			must(t, err)
			row.change(t, row.at(f, fixed.Programs["suite"].Path))
			after, err := f.Compare(t.Context(), c, fixed)
			must(t, err)
			if got := strings.Join(after.Since(before), " "); got != row.want || len(after.Changed) > 0 {
				t.Errorf("since: %q, changed: %q", got, after.Changed)
			}
		})
	}
}

// TestPlace: the root has the digest of the observation, and the commit is that of the repository.
func TestPlace(t *testing.T) {
	f, _ := project(t)
	if at := f.Place(t.Context()); at.Root != canon.Sum([]byte(f.Root)) || at.GitHead != "" {
		t.Errorf("without a repository: %+v", at)
	}
	commit := strings.Repeat("0a", 20)
	put(t, filepath.Join(f.Root, ".git/HEAD"), "ref: refs/heads/main\n", 0o644)
	put(t, filepath.Join(f.Root, ".git/refs/heads/main"), commit+"\n", 0o644)
	if at := f.Place(t.Context()); at.GitHead != commit {
		t.Errorf("%+v", at)
	}
	put(t, filepath.Join(f.Root, ".git/HEAD"), "../../secret\n", 0o644)
	if at := f.Place(t.Context()); at.GitHead != "" {
		t.Errorf("%+v", at)
	}
}
