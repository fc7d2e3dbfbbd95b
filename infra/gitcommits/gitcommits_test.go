package gitcommits

import (
	"bufio"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/limits"
)

// repository is a git repository of a test, with no configuration but its own.
type repository struct {
	*testing.T
	Repository
}

func newRepository(t *testing.T) repository {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	dir := t.TempDir()
	r := repository{t, Repository{dir, []string{"PATH=" + os.Getenv("PATH"), "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=" + os.DevNull,
		"HOME=" + dir, "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.org", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.org",
		"GIT_CEILING_DIRECTORIES=" + filepath.Dir(dir)}}}
	return r
}

// git runs git with an input.
func (r repository) git(in string, args ...string) string {
	r.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir, cmd.Env, cmd.Stdin = r.Dir, r.Env, strings.NewReader(in)
	out, err := cmd.CombinedOutput()
	if err != nil {
		r.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

// commit makes a commit with a message, as it is.
func (r repository) commit(message string) string {
	r.Helper()
	r.git(message, "commit", "-q", "--allow-empty", "--allow-empty-message", "--cleanup=verbatim", "-F", "-")
	return r.git("", "rev-parse", "HEAD")
}

func (r repository) read(name string) []Commit {
	r.Helper()
	out, err := r.Read(context.Background(), name)
	if err != nil {
		r.Fatalf("%s: %v", name, err)
	}
	return out
}

func (r repository) refused(name string, want fault.Code) {
	r.Helper()
	if out, err := r.Read(context.Background(), name); !fault.Is(err, want) {
		r.Errorf("%.80q: %d commits, %v, want %s", name, len(out), err, want)
	}
}

func TestReadsCommitsAndRanges(t *testing.T) {
	t.Parallel()
	r := newRepository(t)
	r.git("", "init", "-q", "-b", "trunk")
	one := r.commit("First\n\ntext\n")
	r.git("", "tag", "-a", "v1", "-m", "a tag")
	two := r.commit("Second\n\nwith more text\n\n\n")
	three := r.commit("")
	for name, want := range map[string][]Commit{
		"HEAD~2": {{one, "First\n\ntext\n", false}}, "v1": {{one, "First\n\ntext\n", false}}, one[:12]: {{one, "First\n\ntext\n", false}},
		"trunk~1": {{two, "Second\n\nwith more text\n\n\n", false}}, "HEAD": {{three, "", false}}, ":/^First": {{one, "First\n\ntext\n", false}},
		"v1..trunk": {{three, "", false}, {two, "Second\n\nwith more text\n\n\n", false}}, "v1..": {{three, "", false}, {two, "Second\n\nwith more text\n\n\n", false}},
		"trunk..v1": nil, "HEAD^{/First}": {{one, "First\n\ntext\n", false}},
	} {
		got := r.read(name)
		same := len(got) == len(want)
		for i := range got {
			same = same && got[i] == want[i]
		}
		if !same {
			t.Errorf("%s: got %+v, want %+v", name, got, want)
		}
	}
}

// TestHostileNames: the name of a commit is never an option, a file or a list.
func TestHostileNames(t *testing.T) {
	t.Parallel()
	r := newRepository(t)
	r.git("", "init", "-q", "-b", "trunk")
	r.commit("First\n")
	blob := r.git("text", "hash-object", "-w", "--stdin")
	if err := os.WriteFile(filepath.Join(r.Dir, "file"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"", "-", "--all", "--output=ran", "-n1", "^HEAD", "--end-of-options", "HEAD..--all", "--all..HEAD", "..-x", "HEAD...HEAD",
		"HEAD..^HEAD", "HEAD\nHEAD", "a\x00b", strings.Repeat("x", limits.CommitNameBytesMax+1)} {
		r.refused(name, fault.ValidationError)
	}
	for _, name := range []string{"file", "nothing", "HEAD HEAD", "HEAD HEAD~1", " ", blob, "HEAD^{tree}", "HEAD:", "$(touch ran)", "`touch ran`; touch ran",
		"ext::touch ran", "@{upstream}", "HEAD..nothing", "nothing..HEAD", strings.Repeat("a", 40), "\x1b[2J", "a'\"", "..."[:1], "HEAD^{", "x:../../../etc"} {
		r.refused(name, fault.CommitNotFound)
	}
	if left, _ := os.ReadDir(r.Dir); len(left) != 2 {
		t.Errorf("git wrote something: %v", left)
	}
}

func TestNoRepositoryAndNoGit(t *testing.T) {
	t.Parallel()
	r := newRepository(t)
	r.refused("HEAD", fault.CommitNotFound) // no repository
	r.git("", "init", "-q")
	r.refused("HEAD", fault.CommitNotFound) // no commit
	r.refused("HEAD..HEAD", fault.CommitNotFound)
}

// TestGitIsNotInstalled: an empty search path. It changes the environment of the process.
func TestGitIsNotInstalled(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	_, err := Repository{t.TempDir(), nil}.Read(context.Background(), "HEAD")
	if !fault.Is(err, fault.GitFailed) || !strings.Contains(err.Error(), "not installed") {
		t.Errorf("got %v", err)
	}
}

// TestLongRangesAndMessages: a long range is refused, and a long message is cut.
func TestLongRangesAndMessages(t *testing.T) {
	t.Parallel()
	r := newRepository(t)
	r.git("", "init", "-q", "-b", "trunk")
	tree, parent := r.git("", "write-tree"), ""
	for n := range limits.CommitsMax + 2 {
		args := []string{"commit-tree", tree, "-m", "c"}
		if parent != "" {
			args = append(args, "-p", parent)
		}
		if parent = r.git("", args...); n == 0 {
			r.git("", "tag", "first", parent)
		}
	}
	r.git("", "update-ref", "refs/heads/trunk", parent)
	r.refused("first..trunk", fault.ValidationError)
	if got := r.read("first..trunk~1"); len(got) != limits.CommitsMax {
		t.Errorf("%d commits", len(got))
	}
	long := r.commit("Long\n\n" + strings.Repeat("x", limits.CommitMessageBytesMax))
	short := r.commit("Short\n")
	got := r.read(long + "~1..")
	if len(got) != 2 || got[0].ID != short || got[0].Message != "Short\n" || !got[1].Cut || len(got[1].Message) != limits.CommitMessageBytesMax ||
		!strings.HasPrefix(got[1].Message, "Long\n\nx") {
		t.Errorf("%d commits, the last of %d bytes", len(got), len(got[len(got)-1].Message))
	}
}

// TestHostileRepository: the configuration of a repository starts nothing, an object that a partial clone does not have is
// not transferred, and a replaced commit keeps its own message.
func TestHostileRepository(t *testing.T) {
	t.Parallel()
	r := newRepository(t)
	r.git("", "init", "-q", "-b", "trunk")
	id := r.commit("Own\n")
	other := r.commit("Another\n")
	r.git("", "replace", id, other)
	const runs = "touch ran; false"
	file, err := os.OpenFile(filepath.Join(r.Dir, ".git/config"), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	_, err = file.WriteString("[core]\nrepositoryformatversion = 1\nfsmonitor = " + runs + "\neditor = " + runs + "\npager = " + runs + "\naskPass = " + runs + "\nsshCommand = " + runs +
		"\ngitProxy = " + runs + "\n[pager]\nrev-list = " + runs + "\ncat-file = " + runs + "\n[alias]\nrev-parse = !" + runs + "\n[credential]\nhelper = !" + runs +
		"\n[extensions]\npartialClone = x\n[remote \"x\"]\npromisor = true\nurl = ssh://example.org/x\n[protocol]\nallow = always\n" +
		"[trailer \"Waybill-Run\"]\ncmd = " + runs + "\ncommand = " + runs + "\n[log]\nshowSignature = true\n[gpg]\nprogram = " + runs + "\n")
	if err != nil || file.Close() != nil {
		t.Fatal(err)
	}
	if got := r.read(id); len(got) != 1 || got[0].Message != "Own\n" {
		t.Errorf("got %+v", got)
	}
	if got := r.read(id + ".." + other); len(got) != 1 || got[0].Message != "Another\n" {
		t.Errorf("got %+v", got)
	}
	r.refused(strings.Repeat("a", 40), fault.CommitNotFound)
	missing := filepath.Join(r.Dir, ".git/refs/heads/missing")
	if err := os.WriteFile(missing, []byte(strings.Repeat("b", 40)+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	r.refused("missing", fault.CommitNotFound)
	if left, _ := os.ReadDir(r.Dir); len(left) != 1 {
		t.Errorf("git ran something: %v", left)
	}
}

// TestOutputsThatAreNone: what is not the output of cat-file is refused, wherever it ends.
func TestOutputsThatAreNone(t *testing.T) {
	t.Parallel()
	id := strings.Repeat("a", 40)
	good := id + " commit 8\nx y\n\nabc\n"
	for _, out := range []string{"", "\n", id + " missing\n", id + " blob 3\nabc\n", strings.Repeat("b", 40) + " commit 1\nx\n", id + " commit -1\n\n",
		id + " commit 99999999999999999999\n", id + " commit 9\nx y\n\nabc\n", good[:len(good)-1], good[:len(good)-4], id, strings.Repeat("x", 100_000)} {
		if c, err := next(bufio.NewReader(strings.NewReader(out)), id); err == nil {
			t.Errorf("%.60q is a commit: %+v", out, c)
		}
	}
	if c, err := next(bufio.NewReader(strings.NewReader(good)), id); err != nil || c.Message != "abc" {
		t.Errorf("got %+v, %v", c, err)
	}
}
