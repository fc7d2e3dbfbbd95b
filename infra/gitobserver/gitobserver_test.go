package gitobserver

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/waybill/waybill/durable/log/event"
)

func writeFiles(t *testing.T, root string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		at := filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(at), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func values(root string) map[string]string {
	out := map[string]string{}
	for _, o := range Observe(root) {
		out[o.Key] = o.Value.Value
	}
	return out
}

var (
	one = strings.Repeat("1", 40)
	two = strings.Repeat("2", 40)
)

func TestLayouts(t *testing.T) {
	for name, c := range map[string]struct {
		files          map[string]string
		branch, commit string
	}{
		"loose": {map[string]string{".git/HEAD": "ref: refs/heads/main\n", ".git/refs/heads/main": one + "\n"}, "main",
			one},
		"nested": {map[string]string{".git/HEAD": "ref: refs/heads/feature/x\n", ".git/refs/heads/feature/x": one},
			"feature/x", one},
		"packed": {map[string]string{".git/HEAD": "ref: refs/heads/main", ".git/packed-refs": "# pack-refs\n" + two +
			" refs/tags/main\n" + one + " refs/heads/main\n^" + two + "\n"}, "main", one},
		"loose wins": {map[string]string{".git/HEAD": "ref: refs/heads/main", ".git/refs/heads/main": one,
			".git/packed-refs": two + " refs/heads/main\n"}, "main", one},
		"detached": {map[string]string{".git/HEAD": one + "\n"}, "", one},
		"unborn":   {map[string]string{".git/HEAD": "ref: refs/heads/main\n"}, "main", ""},
		"worktree": {map[string]string{".git": "gitdir: real/worktrees/w\n",
			"real/worktrees/w/HEAD":      "ref: refs/heads/w",
			"real/worktrees/w/commondir": "../..\n", "real/refs/heads/w": one}, "w", one},
		"reftable":     {map[string]string{".git/HEAD": "ref: refs/heads/.invalid\n"}, "", ""},
		"escape":       {map[string]string{".git/HEAD": "ref: refs/heads/../../../secret\n", "secret": one}, "", ""},
		"not a branch": {map[string]string{".git/HEAD": "ref: refs/tags/v1\n", ".git/refs/tags/v1": one}, "", ""},
		"sha256": {map[string]string{".git/HEAD": "ref: refs/heads/main",
			".git/refs/heads/main": strings.Repeat("a", 64)}, "main", ""},
		"garbage":   {map[string]string{".git/HEAD": "\x00\xff"}, "", ""},
		"huge":      {map[string]string{".git/HEAD": strings.Repeat("x", smallMax+1)}, "", ""},
		"long name": {map[string]string{".git/HEAD": "ref: refs/heads/" + strings.Repeat("x", 81)}, strings.Repeat("x", 81), ""},
	} {
		t.Run(name, func(t *testing.T) {
			root := t.TempDir()
			writeFiles(t, root, c.files)
			sub := filepath.Join(root, "a", "b")
			if err := os.MkdirAll(sub, 0o700); err != nil {
				t.Fatal(err)
			}
			if got := Root(sub); got != root {
				t.Fatalf("Root is %q, want %q", got, root)
			}
			got := values(root)
			if got["git_branch"] != c.branch || got["git_head_sha"] != c.commit ||
				!strings.HasPrefix(got["repo_root_hash"], "sha256:") {
				t.Errorf("got %v", got)
			}
			for _, v := range got {
				if strings.Contains(v, root) {
					t.Errorf("the path itself is recorded: %s", v)
				}
			}
			for _, o := range Observe(root) {
				// A start drops a branch that is too long, and says so.
				if err := o.Check(event.Scope{}); err != nil && (o.Key != "git_branch" || name != "long name") {
					t.Errorf("%s: %v", o.Key, err)
				}
			}
		})
	}
}

func TestOutsideARepository(t *testing.T) {
	dir := t.TempDir()
	writeFiles(t, dir, map[string]string{"x/.git": "not a pointer", "y/.git": "gitdir: nowhere", "z/.git/config": ""})
	for _, sub := range []string{"", "x", "y", "z"} {
		if got := Root(filepath.Join(dir, sub)); got != "" && strings.HasPrefix(got, dir) {
			t.Errorf("%s: Root is %q", sub, got)
		}
	}
	if got := Observe(""); len(got) != 0 {
		t.Errorf("observed %v", got)
	}
}

// TestAgreesWithGit compares the values with those of git, where it is installed.
func TestAgreesWithGit(t *testing.T) {
	git, err := exec.LookPath("git")
	if err != nil {
		t.Skip("git is not installed")
	}
	root := t.TempDir()
	run := func(args ...string) string {
		cmd := exec.Command(git, append([]string{"-C", root, "-c", "user.name=t", "-c", "user.email=t@example.com"},
			args...)...)
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
		return strings.TrimSpace(string(out))
	}
	run("init", "-q", "-b", "trunk")
	run("commit", "-q", "--allow-empty", "-m", "first")
	for range 2 {
		if got := values(root); got["git_branch"] != "trunk" || got["git_head_sha"] != run("rev-parse", "HEAD") {
			t.Errorf("got %v", got)
		}
		run("pack-refs", "--all")
	}
	tree := filepath.Join(t.TempDir(), "tree")
	run("worktree", "add", "-q", "-b", "other", tree)
	if got := values(Root(tree)); got["git_branch"] != "other" || got["git_head_sha"] != run("rev-parse", "other") {
		t.Errorf("in a worktree: %v", got)
	}
}
