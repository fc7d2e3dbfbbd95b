//go:build unix

package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const (
	planned = `{"id":"test.plan","name":"Plan","description":"d","version":"1.0.0","steps":[
		{"id":"plan","title":"Plan","prompt":"p","requireConfirmation":{"kind":"human_approval"}},
		{"id":"build","title":"Build","prompt":"p"},{"id":"ship","title":"Ship","prompt":"p"}]}`
	another = `{"id":"test.other","name":"Other","description":"d","version":"1.0.0","steps":[{"id":"only","title":"Only","prompt":"p"}]}`
)

// checkout is a git repository with a store beside it, the files plan.json and other.json, and no hook.
type checkout struct {
	*testing.T
	dir, store string
	env        []string
}

func newCheckout(t *testing.T) *checkout {
	t.Helper()
	base := t.TempDir()
	c := &checkout{t, filepath.Join(base, "a checkout"), filepath.Join(base, "home", "local"), nil}
	c.env = append(os.Environ(), "HOME="+base, "WAYBILL_HOME="+filepath.Join(base, "home"), "XDG_CONFIG_HOME="+base, "GIT_CONFIG_GLOBAL="+os.DevNull,
		"GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_COUNT=0", "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.org", "GIT_COMMITTER_NAME=a",
		"GIT_COMMITTER_EMAIL=a@example.org", "GIT_EDITOR=false", "TERM=xterm")
	if err := os.Mkdir(c.dir, 0o700); err != nil {
		t.Fatal(err)
	}
	c.git("init", "-q", "-b", "trunk")
	c.write("plan.json", planned)
	c.write("other.json", another)
	return c
}

func (c *checkout) write(name, text string) {
	c.Helper()
	file := filepath.Join(c.dir, name)
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		c.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o700); err != nil {
		c.Fatal(err)
	}
}

// try runs a program in the checkout.
func (c *checkout) try(env []string, name string, args ...string) (string, int) {
	c.Helper()
	cmd := exec.Command(name, args...)
	cmd.Dir, cmd.Env = c.dir, append(slices.Clone(c.env), env...)
	out, err := cmd.CombinedOutput()
	if cmd.ProcessState == nil {
		c.Fatalf("%s %q: %v", name, args, err)
	}
	return string(out), cmd.ProcessState.ExitCode()
}

// must is try for what has to succeed.
func (c *checkout) must(name string, args ...string) string {
	c.Helper()
	out, status := c.try(nil, name, args...)
	if status != 0 {
		c.Fatalf("%s %q: exit status %d\n%s", name, args, status, out)
	}
	return out
}

func (c *checkout) git(args ...string) string     { c.Helper(); return c.must("git", args...) }
func (c *checkout) waybill(args ...string) string { c.Helper(); return c.must("waybill", args...) }

// install writes the hook that the program prints, under each of the names.
func (c *checkout) install(names ...string) {
	c.Helper()
	text := c.waybill("trailer", "--print-hook")
	for _, name := range names {
		c.write(".git/hooks/"+name, text)
	}
}

// start begins a run and returns its id.
func (c *checkout) start(file string) string {
	c.Helper()
	var doc struct {
		Data struct{ Session struct{ RunID string } }
	}
	if err := json.Unmarshal([]byte(c.waybill("start", file, "--json")), &doc); err != nil {
		c.Fatal(err)
	}
	return doc.Data.Session.RunID
}

// commit commits a change of a file.
func (c *checkout) commit(file, message string, more ...string) {
	c.Helper()
	c.write(file, message)
	c.git("add", file)
	c.git(append([]string{"commit", "-q", "-m", message}, more...)...)
}

// trailers are the values of the trailers that git finds in a commit.
func (c *checkout) trailers(commit string) []string {
	c.Helper()
	return strings.Fields(strings.ReplaceAll(c.git("log", "-1", "--format=%(trailers:key=Waybill-Run,valueonly)", commit), " sha256:", "@sha256:"))
}

// head is the head of a run's session, as 'verify' shows it.
func (c *checkout) head(run string) string {
	c.Helper()
	var doc struct {
		Data struct {
			Sessions []struct{ Head struct{ Digest string } }
		}
	}
	if err := json.Unmarshal([]byte(c.waybill("verify", run, "--json")), &doc); err != nil || len(doc.Data.Sessions) != 1 {
		c.Fatalf("%v, %+v", err, doc)
	}
	return doc.Data.Sessions[0].Head.Digest
}

// has requires the trailers of a commit, which are RUN@HEAD.
func (c *checkout) has(commit string, want ...string) {
	c.Helper()
	if got := c.trailers(commit); !slices.Equal(got, want) {
		c.Errorf("%s has the trailers %q, want %q\n%s", commit, got, want, c.git("log", "-1", "--format=%B", commit))
	}
}

// whoDocument is the document "who".
type whoDocument struct {
	Commits []struct {
		Commit, Subject              string
		Trailers, Omitted, Malformed int
	}
	Runs []struct {
		Commit, RunID, Head, StepID, Status string
		InStore, HeadKnown                  bool
		Decisions                           []struct{ Decision, StepID, Reason string }
	}
}

// who is the answer of 'waybill who', and its exit status.
func (c *checkout) who(args ...string) (whoDocument, int) {
	c.Helper()
	out, status := c.try(nil, "waybill", append([]string{"who", "--json"}, args...)...)
	var doc struct{ Data whoDocument }
	if err := json.Unmarshal([]byte(out), &doc); err != nil {
		c.Fatalf("%v\n%s", err, out)
	}
	return doc.Data, status
}

// says is a short form of the runs of an answer: RUN:STEP:decisions, "?" for a head that is not known.
func (d whoDocument) says() (out []string) {
	for _, r := range d.Runs {
		step := r.StepID
		if !r.HeadKnown {
			step = "?"
		}
		text := r.RunID + ":" + step
		for _, x := range r.Decisions {
			text += ":" + x.Decision
		}
		out = append(out, text)
	}
	return out
}

func (c *checkout) shows(commit string, want ...string) {
	c.Helper()
	if doc, status := c.who(commit); status != 0 || !slices.Equal(doc.says(), want) {
		c.Errorf("who %s: exit status %d, %q, want %q", commit, status, doc.says(), want)
	}
}

// TestCommitsNameTheOpenRun: with the hook installed, commits, amended commits, merges and squashes name run and step;
// commits that a rebase copies keep what they have.
func TestCommitsNameTheOpenRun(t *testing.T) {
	t.Parallel()
	c := newCheckout(t)
	c.install("prepare-commit-msg")
	c.commit("a", "Before")
	c.has("HEAD")
	run := c.start("plan.json")
	at := func() string { return run + "@" + c.head(run) }
	c.commit("b", "First")
	first := at()
	c.has("HEAD", first)
	c.shows("HEAD", run+":plan")

	// The decision of a person is shown afterwards, also for the commit before it.
	c.try(nil, "waybill", "continue", "--run", run, "--notes", "the plan")
	c.must("person", "y", "waybill", "approve", run, "--comment", "fine")
	c.shows("HEAD", run+":plan:approved")
	c.waybill("continue", "--run", run, "--done")

	// Amended: the head of the same run is replaced, the trailer of another one is kept.
	c.git("commit", "-q", "--amend", "--no-edit")
	c.has("HEAD", at())
	c.shows("HEAD", run+":build:approved")
	second := at()
	other := c.start("other.json")
	c.git("commit", "-q", "--amend", "-m", "Other words")
	c.has("HEAD", other+"@"+c.head(other))
	c.git("commit", "-q", "--amend", "-m", "First\n\nWaybill-Run: "+strings.Replace(second, "@", " ", 1))
	c.has("HEAD", second, other+"@"+c.head(other))
	c.shows("HEAD", run+":build:approved", other+":only")
	c.waybill("continue", "--run", other, "--notes", "n")
	if doc, _ := c.who("HEAD"); doc.Runs[1].Status != "complete" || doc.Runs[1].StepID != "only" {
		t.Errorf("%+v", doc.Runs[1])
	}

	// Merged, and squashed: the merge is a commit of the run.
	c.git("checkout", "-q", "-b", "topic", "HEAD~1")
	c.commit("c", "On a branch")
	c.commit("d", "Second on it")
	c.git("checkout", "-q", "trunk")
	c.git("merge", "-q", "--no-ff", "--no-edit", "topic")
	c.has("HEAD", at())
	c.git("reset", "-q", "--hard", "HEAD~1")
	c.git("merge", "-q", "--squash", "topic")
	c.git("commit", "-q", "--no-edit")
	c.has("HEAD", at())
	c.git("reset", "-q", "--hard", "HEAD~1")

	// A range, and commits that a rebase copies, after the run continued, and of a run that is complete.
	c.waybill("continue", "--run", run, "--notes", "built")
	before := []string{strings.Join(c.trailers("topic"), " "), strings.Join(c.trailers("topic~1"), " ")}
	c.git("checkout", "-q", "topic")
	c.git("commit", "-q", "--allow-empty", "--no-verify", "-m", "bare", "--author", "b <b@example.org>")
	c.git("rebase", "-q", "trunk")
	c.has("HEAD", at())
	c.has("HEAD~1", before[0])
	c.has("HEAD~2", before[1])
	doc, status := c.who("trunk..topic")
	if want := []string{run + ":ship:approved", run + ":build:approved", run + ":build:approved"}; status != 0 || !slices.Equal(doc.says(), want) ||
		len(doc.Commits) != 3 || doc.Commits[0].Subject != "bare" {
		t.Errorf("%d, %q, %+v", status, doc.says(), doc.Commits)
	}
	// Commits are joined by a rebase: the trailers of each are found, wherever they are in the message.
	c.must("env", "GIT_SEQUENCE_EDITOR=sed -i.bak -e '2,$s/^pick/squash/'", "GIT_EDITOR=true", "git", "rebase", "-q", "-i", "trunk")
	if doc, status = c.who("topic"); status != 0 || len(doc.Runs) != 2 || doc.Commits[0].Trailers != 2 {
		t.Errorf("%d, %+v", status, doc)
	}
	// A commit that is picked is made now.
	c.git("cherry-pick", "--allow-empty", "--keep-redundant-commits", "topic~1")
	if got := c.trailers("HEAD"); len(got) == 0 || got[len(got)-1] != at() {
		t.Errorf("picked: %q, want %q at the end", got, at())
	}
	c.waybill("continue", "--run", run, "--notes", "shipped")
	c.commit("e", "After the end")
	c.has("HEAD")
	if doc, status = c.who("HEAD"); status != 6 || len(doc.Runs) != 0 || len(doc.Commits) != 1 {
		t.Errorf("%d, %+v", status, doc)
	}
}

// TestHookNeverStopsACommit: without the program, with one that fails or prints something else, with a store that is none,
// with settings of git for trailers, and in an editor.
func TestHookNeverStopsACommit(t *testing.T) {
	t.Parallel()
	c := newCheckout(t)
	c.install("prepare-commit-msg")
	run := c.start("plan.json")
	at := run + "@" + c.head(run)
	real, err := exec.LookPath("waybill")
	if err != nil {
		t.Fatal(err)
	}
	git, err := exec.LookPath("git")
	if err != nil {
		t.Fatal(err)
	}
	tools := filepath.Join(filepath.Dir(c.dir), "tools")
	if err := os.Mkdir(tools, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"sh", "sed", "grep", "tail", "git"} {
		path, err := exec.LookPath(name)
		if err == nil {
			err = os.Symlink(path, filepath.Join(tools, name))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	fake := filepath.Join(tools, "waybill")
	for name, script := range map[string]string{"fails": "exit 1", "prints a trailer and fails": "echo 'Waybill-Run: run_x y'; exit 1",
		"prints something else": "echo 'x: y'", "prints nothing": "", "is no program": "\x00", "prints options": "echo '--trailer a:b'",
		"reads its input": "cat; echo x", "is killed": "kill -9 $$", "prints a lot": "yes | head -n 100000", "is missing": "-"} {
		if script != "-" {
			if err := os.WriteFile(fake, []byte("#!/bin/sh\n"+script+"\n"), 0o700); err != nil {
				t.Fatal(err)
			}
		} else if err := os.Remove(fake); err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Fatal(err)
		}
		out, status := c.try([]string{"PATH=" + tools}, git, "commit", "-q", "--allow-empty", "-m", "With a waybill that "+name)
		if status != 0 {
			t.Errorf("a waybill that %s: exit status %d\n%s", name, status, out)
		}
		if got := c.git("log", "-1", "--format=%B"); strings.TrimSpace(got) != "With a waybill that "+name {
			t.Errorf("a waybill that %s: the message is %q", name, got)
		}
		_ = os.Remove(fake)
		_ = os.WriteFile(fake, nil, 0o700)
	}
	if err := os.Remove(fake); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(real, fake); err != nil {
		t.Fatal(err)
	}
	for name, env := range map[string]string{"a store that is none": "WAYBILL_HOME=" + filepath.Dir(c.dir), "no store": "WAYBILL_HOME=/nonexistent",
		"no home": "WAYBILL_HOME="} {
		if out, status := c.try([]string{env, "HOME=", "XDG_DATA_HOME=", "PATH=" + tools}, git, "commit", "-q", "--allow-empty", "-m", name); status != 0 {
			t.Errorf("%s: exit status %d\n%s", name, status, out)
		}
		c.has("HEAD")
	}
	c.git("config", "trailer.separators", "=%")
	c.git("config", "trailer.ifexists", "doNothing")
	c.git("config", "trailer.ifmissing", "doNothing")
	c.git("config", "trailer.where", "start")
	c.git("config", "core.commentChar", ";")
	c.git("commit", "-q", "--allow-empty", "-m", "Settings of trailers\n\n# text\n\nSigned-off-by: a <a@example.org>")
	if got := c.git("log", "-1", "--format=%B"); !strings.HasSuffix(got, "\n# text\n\nSigned-off-by: a <a@example.org>\nWaybill-Run: "+strings.Replace(at, "@", " ", 1)+"\n\n") {
		t.Errorf("got\n%s", got)
	}
}

// TestHookAndEditors: a message that stays empty in the editor abandons the commit as without the hook; one that is written
// there gets its trailer by the hook commit-msg.
func TestHookAndEditors(t *testing.T) {
	t.Parallel()
	c := newCheckout(t)
	c.install("prepare-commit-msg", "commit-msg")
	run := c.start("plan.json")
	at := run + "@" + c.head(run)
	c.commit("a", "First")
	for _, more := range [][]string{nil, {"-v"}, {"--cleanup=scissors"}} {
		c.write("a", fmt.Sprint(more, "other text"))
		c.git("add", "a")
		if out, status := c.try([]string{"GIT_EDITOR=true"}, "git", append([]string{"commit"}, more...)...); status == 0 {
			t.Errorf("%q: a commit without a message\n%s", more, out)
		}
	}
	c.has("HEAD", at)
	for _, more := range [][]string{nil, {"-v"}, {"--cleanup=scissors"}, {"--amend", "-v"}} {
		c.write("a", fmt.Sprint(more))
		c.git("add", "a")
		c.must("env", append([]string{`GIT_EDITOR=sh -c 'echo Written >"$1.new" && cat "$1" >>"$1.new" && mv "$1.new" "$1"' editor`, "git", "commit", "-q"}, more...)...)
		c.has("HEAD", at)
		if got := c.git("log", "-1", "--format=%B"); strings.Count(got, "Waybill-Run") != 1 || strings.Contains(got, "diff --git") {
			t.Errorf("%q: got\n%s", more, got)
		}
	}
	if out, status := c.try(nil, "git", "commit", "-q", "--allow-empty", "-m", ""); status == 0 {
		t.Errorf("a commit with an empty message\n%s", out)
	}
	c.git("commit", "-q", "--allow-empty", "--allow-empty-message", "-m", "")
	c.has("HEAD")
	c.git("commit", "-q", "--allow-empty", "-m", "A line\n\n---\n\nbelow it")
	if got := c.git("log", "-1", "--format=%B"); !strings.HasPrefix(got, "A line\n\n---\n\nbelow it\n\nWaybill-Run: ") {
		t.Errorf("got\n%s", got)
	}
}

// TestTrailerPlaces: subdirectories, linked working trees, other stores, and folders that are no repository.
func TestTrailerPlaces(t *testing.T) {
	t.Parallel()
	c := newCheckout(t)
	run := c.start("plan.json")
	line := "Waybill-Run: " + run + " " + c.head(run) + "\n"
	if got := c.waybill("trailer"); got != line {
		t.Errorf("got %q, want %q", got, line)
	}
	below, tree, outside := filepath.Join(c.dir, "x/y"), filepath.Join(filepath.Dir(c.dir), "tree"), t.TempDir()
	if err := os.MkdirAll(below, 0o700); err != nil {
		t.Fatal(err)
	}
	c.commit("a", "First")
	c.git("worktree", "add", "-q", tree)
	c.git("init", "-q", "--bare", filepath.Join(outside, "bare"))
	for dir, want := range map[string]string{below: line, tree: "", outside: "", filepath.Join(outside, "bare"): ""} {
		in := *c
		in.dir = dir
		if got, status := in.try(nil, "waybill", "trailer"); got != want || status != 0 {
			t.Errorf("%s: %q, %d, want %q", dir, got, status, want)
		}
		// The reason is in the document, and at a terminal; a run that is named is of any place.
		if got := in.waybill("trailer", "--json"); strings.Contains(got, `"reason"`) != (want == "") {
			t.Errorf("%s: %s", dir, got)
		}
		if got := in.must("person", "n", "waybill", "trailer"); strings.Contains(got, "No trailer: ") != (want == "") {
			t.Errorf("%s: at a terminal: %q", dir, got)
		}
		if got := in.waybill("trailer", "--run", run[4:12]); got != line {
			t.Errorf("%s: --run: %q", dir, got)
		}
	}
	if out, status := c.try(nil, "waybill", "trailer", "--run", "run_1"); status != 6 {
		t.Errorf("--run of no run: %d, %s", status, out)
	}
	// The hook of a call with a store selects that store, also below a folder with blanks and quotes.
	c.store = filepath.Join(filepath.Dir(c.dir), "it's a $(touch ran) store")
	c.write(".git/hooks/prepare-commit-msg", c.waybill("trailer", "--print-hook", "--store", "../it's a $(touch ran) store"))
	c.waybill("start", "other.json", "--store", c.store)
	c.commit("b", "In another store")
	if got := c.trailers("HEAD"); len(got) != 1 || strings.HasPrefix(got[0], run) {
		t.Errorf("got %q", got)
	}
	if doc, status := c.who("HEAD"); status != 6 || len(doc.Runs) != 1 || doc.Runs[0].InStore {
		t.Errorf("%d, %+v", status, doc)
	}
	if doc, status := c.who("HEAD", "--store", c.store); status != 0 || doc.Runs[0].StepID != "only" {
		t.Errorf("%d, %+v", status, doc)
	}
	if _, err := os.Stat(filepath.Join(c.dir, "ran")); err == nil {
		t.Error("the name of the store ran as a command")
	}
}

// TestWhoOfHostileCommits: forged trailers, runs of other stores, a repository without commits, no repository, no git, and
// names that are options.
func TestWhoOfHostileCommits(t *testing.T) {
	t.Parallel()
	c := newCheckout(t)
	refused := func(env []string, status int, code string, args ...string) {
		t.Helper()
		out, got := c.try(env, "waybill", append([]string{"who", "--json"}, args...)...)
		if got != status || !strings.Contains(out, `"code":"`+code+`"`) {
			t.Errorf("%q: exit status %d, want %d and %s\n%s", args, got, status, code, out)
		}
	}
	refused(nil, 6, "COMMIT_NOT_FOUND", "HEAD") // no commits
	run := c.start("plan.json")
	real := "Waybill-Run: " + run + " " + c.head(run)
	const run26, head64 = "run_aaaaaaaaaaaaaaaaaaaaaaaaaa", "sha256:0000000000000000000000000000000000000000000000000000000000000000"
	var forged strings.Builder
	for n := range 1000 {
		fmt.Fprintf(&forged, "Waybill-Run: %s sha256:%064d\n", run, n)
	}
	for message, want := range map[string][]string{
		real: {run + ":plan"}, "Waybill-Run: " + run26 + " " + head64 + "\n" + real: {run26 + ":?", run + ":plan"},
		"Waybill-Run: " + run + " " + head64:                                   {run + ":?"},
		real + "\nWaybill-Run: \x1b[2J" + run + "\nWaybill-Run: ../../etc x\n": {run + ":plan"},
	} {
		c.git("commit", "-q", "--allow-empty", "-m", "x\n\n"+message)
		c.shows("HEAD", want...)
	}
	c.git("commit", "-q", "--allow-empty", "-m", "x\n\nWaybill-Run: "+run26+" "+head64)
	out, status := c.try(nil, "waybill", "who", "HEAD")
	if status != 6 || !strings.Contains(out, run26+" is not in this store") {
		t.Errorf("a run of another store: %d\n%s", status, out)
	}
	c.git("commit", "-q", "--allow-empty", "-m", "x\n\n"+forged.String()+real)
	doc, status := c.who("HEAD")
	if says := doc.says(); status != 0 || len(says) != 64 || says[62] != run+":?" || says[63] != run+":plan" || doc.Commits[0].Omitted != 937 {
		t.Errorf("1,000 forged trailers: %d, %d runs, %+v", status, len(says), doc.Commits)
	}
	if out, _ := c.try(nil, "waybill", "who", "HEAD"); !strings.Contains(out, "937 trailers before these") || !strings.Contains(out, "does not contain the head") {
		t.Errorf("1,000 forged trailers: %s", out)
	}
	refused(nil, 2, "VALIDATION_ERROR", "--", "--all")
	refused(nil, 2, "USAGE_ERROR", "")
	refused(nil, 2, "USAGE_ERROR", "--all")
	refused(nil, 2, "USAGE_ERROR", "HEAD", "HEAD")
	refused(nil, 6, "COMMIT_NOT_FOUND", "nothing")
	refused(nil, 6, "COMMIT_NOT_FOUND", "plan.json")
	waybill, err := exec.LookPath("waybill")
	if err != nil {
		t.Fatal(err)
	}
	empty := t.TempDir()
	if out, status := c.try([]string{"PATH=" + empty}, waybill, "who", "HEAD"); status != 1 || !strings.Contains(out, "git is not installed") {
		t.Errorf("without git: %d, %s", status, out)
	}
	if out, status := c.try([]string{"PATH=" + empty}, waybill, "trailer"); status != 0 || out != real+"\n" {
		t.Errorf("a trailer without git: %d, %q", status, out)
	}
	c.dir = t.TempDir()
	c.env = append(c.env, "GIT_CEILING_DIRECTORIES="+filepath.Dir(c.dir))
	refused(nil, 6, "COMMIT_NOT_FOUND", "HEAD")
	if doc, status := c.who("HEAD..HEAD"); status != 6 || len(doc.Commits) != 0 {
		t.Errorf("%d, %+v", status, doc)
	}
}

// TestHookIsPortable: the hook has what a POSIX shell knows and nothing that starts with an argument of the caller.
func TestHookIsPortable(t *testing.T) {
	t.Parallel()
	c := newCheckout(t)
	text := c.waybill("trailer", "--print-hook")
	if !strings.HasPrefix(text, "#!/bin/sh\n") || !strings.HasSuffix(text, "\nexit 0\n") || !strings.Contains(text, "--if-exists") ||
		regexp.MustCompile(`\[\[|<<<|\bfunction\b|\blocal\b|\bset -e\b`).MatchString(text) {
		t.Errorf("got\n%s", text)
	}
	c.write("hook", text)
	for _, shell := range []string{"sh", "dash", "bash"} {
		if _, err := exec.LookPath(shell); err == nil {
			c.must(shell, "-n", "hook")
			for _, args := range [][]string{{"hook"}, {"hook", "/nonexistent"}, {"hook", c.dir, "merge"}, {"hook", "-n"}} {
				if out, status := c.try(nil, shell, args...); status != 0 || out != "" {
					t.Errorf("%s %q: %d, %q", shell, args, status, out)
				}
			}
		}
	}
	var doc struct{ Data struct{ Hook string } }
	if err := json.Unmarshal([]byte(c.waybill("trailer", "--print-hook", "--json")), &doc); err != nil || doc.Data.Hook != text {
		t.Errorf("%v, %q", err, doc.Data.Hook)
	}
}
