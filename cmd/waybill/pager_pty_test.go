//go:build linux

package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"unsafe"

	"github.com/spf13/cobra"

	"github.com/waybill/waybill/cmd/waybill/cli"
)

// pager is a pager program: it marks the screen, keeps what it gets, and does what its argument says.
const pager = `#!/bin/sh
echo "PAGER $LESSSECURE $LESS"
PATH=${PATH#*/none:}
cd "$(dirname "$0")"
case $1 in
quit) head -n 1 >/dev/null;;
raw) stty raw -echo </dev/tty; cat >got; kill -9 $$;;
wait) stty raw -echo </dev/tty; trap 'echo TERMED; exit 3' TERM; echo READY; while :; do sleep 0.02; done;;
store) cat >got; waybill gc --apply --lock-wait 0; echo "STATUS $?";;
*) cat >got;;
esac
`

// pagedDir returns a directory with a pager and a store with a run.
func pagedDir(t *testing.T) string {
	t.Helper()
	dir := newDir(t, personFlow)
	for _, name := range []string{"pager", "default/less", "none/cat"} {
		err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o700)
		if err = errorsOf(err, os.WriteFile(filepath.Join(dir, name), []byte(pager), 0o700)); err != nil {
			t.Fatal(err)
		}
	}
	for _, args := range [][]string{{"start", "w.yaml", "--title", "A \x1b]0;t\atitle"},
		{"continue", "--run", "@last", "--notes", "n", "--set", "long=" + strings.Repeat("long ", 20000)}} {
		cmd := exec.Command("waybill", args...)
		cmd.Dir, cmd.Env = dir, append(os.Environ(), "HOME="+dir, "WAYBILL_HOME="+dir+"/home")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	return dir
}

// startPaged starts the program at a terminal of 40 rows, with variables of the environment.
func startPaged(t *testing.T, dir string, env []string, args ...string) *terminalSession {
	t.Helper()
	s := terminalOf(t, dir, "waybill", args...)
	s.cmd.Env = slices.DeleteFunc(s.cmd.Env, func(v string) bool {
		return strings.HasPrefix(v, "WAYBILL_PAGER=") || strings.HasPrefix(v, "PAGER=") || strings.HasPrefix(v, "LESS")
	})
	s.cmd.Env = append(s.cmd.Env, env...)
	s.start(80)
	return s
}

// TestPager: text of a view that is longer than the screen goes to the pager that the environment names, and nothing else
// does.
func TestPager(t *testing.T) {
	t.Parallel()
	dir := pagedDir(t)
	mine := "WAYBILL_PAGER=" + dir + "/pager"
	paged := regexp.MustCompile(`(?m)^PAGER 1 \w+$`)
	for name, c := range map[string]struct {
		env  string
		args string
		want bool
	}{
		"a long view":              {mine, "help", true},
		"help of a command":        {mine, "run --help", true},
		"flags of the pager":       {mine + " keep", "workflows builtins", true},
		"a shell":                  {mine + ` "k e e p"`, "workflows builtins", true},
		"another variable":         {"PAGER=" + dir + "/pager", "workflows builtins", true},
		"stored lines":             {mine, "runs events", true},
		"the default":              {"PATH=" + dir + "/default:" + os.Getenv("PATH"), "workflows builtins", true},
		"no pager is preferred":    {"WAYBILL_PAGER=\x00PAGER=" + dir + "/pager", "workflows builtins", false},
		"an empty value":           {"PAGER= ", "workflows builtins", false},
		"cat":                      {"PAGER=cat\x00PATH=" + dir + "/none:" + os.Getenv("PATH"), "workflows builtins", false},
		"a flag":                   {mine, "workflows builtins --no-pager", false},
		"a pager that is missing":  {"PAGER=missing-pager -x", "workflows builtins", false},
		"a missing one of a shell": {"PAGER=A=1 missing-pager 'x'", "workflows builtins", false},
		"a folder":                 {"PAGER=" + dir, "workflows builtins", false},
		"a short view":             {mine, "runs list", false},
		"no view":                  {mine, "completion bash", false},
		"a document":               {mine, "workflows builtins --json", false},
		"lines":                    {mine, "runs events --jsonl", false},
		"no known terminal":        {mine + "\x00TERM=", "workflows builtins", false},
		"a terminal without keys":  {mine + "\x00TERM=dumb", "workflows builtins", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := startPaged(t, dir, strings.Split(c.env, "\x00"), strings.Fields(c.args)...)
			s.expectExit(0)
			if text := s.text(); paged.MatchString(text) != c.want || strings.Contains(text, "error:") || !c.want && len(text) < 20 {
				t.Errorf("paged %v, want %v:\n%s", !c.want, c.want, text)
			}
		})
	}
}

// TestPagerGetsSafeText: what a pager gets is what a pipe gets, with colors and without control characters.
func TestPagerGetsSafeText(t *testing.T) {
	t.Parallel()
	dir := pagedDir(t)
	for _, args := range [][]string{{"runs", "events"}, {"workflows", "builtins"}, {"help"}} {
		s := startPaged(t, dir, []string{"WAYBILL_PAGER=" + dir + "/pager"}, args...)
		s.expectExit(0)
		got, err := os.ReadFile(filepath.Join(dir, "got"))
		if err != nil {
			t.Fatal(err)
		}
		plain := styles().ReplaceAllString(string(got), "")
		for _, r := range plain {
			if isRaw(r) {
				t.Errorf("%q: the pager gets %U", args, r)
			}
		}
		if args[0] == "runs" && !strings.Contains(plain, `\u001b]0;t\u0007title`) {
			t.Errorf("the pager does not get the whole text:\n%s", plain)
		}
	}
}

// modeOf returns the mode of a terminal.
func modeOf(t *testing.T, s *terminalSession) (m syscall.Termios) {
	t.Helper()
	if _, _, errno := syscall.Syscall(syscall.SYS_IOCTL, s.tty.Fd(), syscall.TCGETS, uintptr(unsafe.Pointer(&m))); errno != 0 {
		t.Fatal(errno)
	}
	return m
}

// TestPagerEnds: however a pager ends, the terminal has the mode that it had, and the program its own exit status.
func TestPagerEnds(t *testing.T) {
	t.Parallel()
	dir := pagedDir(t)
	mine := "WAYBILL_PAGER=" + dir + "/pager "
	t.Run("quit early", func(t *testing.T) {
		s := startPaged(t, dir, []string{mine + "quit"}, "runs", "events") // more than fits a pipe
		s.expectExit(0)
		if text := s.text(); !strings.Contains(text, "PAGER") || strings.Contains(text, "rror") {
			t.Errorf("the screen is\n%s", text)
		}
	})
	t.Run("killed", func(t *testing.T) {
		s := startPaged(t, dir, []string{mine + "raw"}, "workflows", "builtins")
		s.expect("PAGER")
		s.expectExit(0)
		if m := modeOf(t, s); m.Lflag&syscall.ICANON == 0 || m.Lflag&syscall.ECHO == 0 || m.Oflag&syscall.OPOST == 0 {
			t.Errorf("the terminal is left in the mode %+v", m)
		}
	})
	t.Run("SIGTERM", func(t *testing.T) {
		s := startPaged(t, dir, []string{mine + "wait"}, "workflows", "builtins")
		s.expect("READY")
		_ = s.cmd.Process.Signal(syscall.SIGTERM)
		s.expect("TERMED")
		s.expectExit(-1)
		if status, _ := s.cmd.ProcessState.Sys().(syscall.WaitStatus); status.Signal() != syscall.SIGTERM {
			t.Errorf("the program ended by %v", status.Signal())
		}
		if m := modeOf(t, s); m.Lflag&syscall.ICANON == 0 {
			t.Errorf("the terminal is left in the mode %+v", m)
		}
	})
	t.Run("the status of a check", func(t *testing.T) {
		if err := os.WriteFile(filepath.Join(dir, "bad.json"), []byte(longInvalid()), 0o600); err != nil {
			t.Fatal(err)
		}
		s := startPaged(t, dir, []string{mine + "quit"}, "workflows", "validate", "bad.json")
		s.expect("PAGER")
		s.expectExit(2)
	})
}

// longInvalid is a workflow file with many problems.
func longInvalid() string {
	var steps []string
	for i := range 60 {
		steps = append(steps, fmt.Sprintf(`{"id":"s%d","title":"T","prompt":"p","nonsense%d":1}`, i, i))
	}
	return `{"id":"test.bad","name":"B","description":"d","version":"1.0.0","steps":[` + strings.Join(steps, ",") + `]}`
}

// TestLess: keys go to less, Ctrl-C included, which ends neither; the terminal is as before.
func TestLess(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("less"); err != nil {
		t.Skip("less is not installed")
	}
	s := startPaged(t, pagedDir(t), nil, "help")
	s.expect("Run workflows:")
	s.expect("\n:")
	before := modeOf(t, s)
	if before.Lflag&syscall.ICANON != 0 {
		t.Fatal("less does not read keys")
	}
	s.typeText("\x03")
	s.typeText("G")
	s.expect("Guide: docs/guide/README.md")
	s.typeText("!") // starts a shell where less may
	s.expect("not available")
	s.typeText("\r")
	s.typeText("q")
	s.expectExit(0)
	if m := modeOf(t, s); m.Lflag&syscall.ICANON == 0 || m.Lflag&syscall.ECHO == 0 {
		t.Errorf("the terminal is left in the mode %+v", m)
	}
}

// TestStoreIsFreeWhilePaging: a person may read as long as it takes, without a lock that delays others.
func TestStoreIsFreeWhilePaging(t *testing.T) {
	t.Parallel()
	dir := pagedDir(t)
	s := startPaged(t, dir, []string{"WAYBILL_PAGER=" + dir + "/pager store"}, "runs", "events")
	s.expect("STATUS 0")
	s.expectExit(0)
}

// TestViewsAreCommands: what a pager shows are commands that only read. Others are left out for a reason.
func TestViewsAreCommands(t *testing.T) {
	t.Parallel()
	notPaged := strings.Fields("annotate approve run start continue checkpoint send-back deny work fork mcp trust repair export import gc serve " +
		"completion version help trailer automations due guard workflows runs proposals artifacts sessions config keys bundle audit annotations")
	root := newRoot(&cli.App{})
	views := slices.Clone(viewCommands)
	walk(root, func(cmd *cobra.Command) {
		_, path, _ := strings.Cut(cmd.CommandPath(), " ")
		at := slices.Index(views, path)
		changes := cmd.Annotations[cli.MayCreate] != "" && path != "doctor" || cmd.Flags().Lookup("yes") != nil || cmd.Flags().Lookup("apply") != nil
		switch {
		case at >= 0 && changes:
			t.Errorf("%s may change something or ask", path)
		case at >= 0:
			views = slices.Delete(views, at, at+1)
		case !changes && !cmd.HasSubCommands() && cmd.HasParent() && cmd.Flags().Lookup("jsonl") != nil &&
			!slices.Contains(notPaged, strings.Fields(path)[0]):
			t.Errorf("%s has a list and is shown without a pager", path)
		}
	})
	if len(views) > 0 {
		t.Errorf("no commands: %q", views)
	}
}

// TestQuestionsAreNotPaged: what a person consents to is shown page by page by the program itself.
func TestQuestionsAreNotPaged(t *testing.T) {
	t.Parallel()
	dir := pagedDir(t)
	var steps []string
	for i := range 80 {
		steps = append(steps, fmt.Sprintf(`{"id":"s%d","title":"T","action":{"kind":"command","argv":["echo","%d"]}}`, i, i))
	}
	flow := `{"id":"test.long","name":"L","description":"d","version":"1.0.0","steps":[` + strings.Join(steps, ",") + `]}`
	if err := os.WriteFile(filepath.Join(dir, "long.json"), []byte(flow), 0o600); err != nil {
		t.Fatal(err)
	}
	s := startPaged(t, dir, []string{"WAYBILL_PAGER=" + dir + "/pager"}, "trust", "long.json")
	s.expect("/N] ")
	s.typeText("n\n")
	s.expectExit(3)
	if strings.Contains(s.text(), "PAGER") {
		t.Errorf("a question went through the pager:\n%s", s.text())
	}
}

// TestNoPagerInAPipe: a pipe gets the text itself.
func TestNoPagerInAPipe(t *testing.T) {
	t.Parallel()
	dir := pagedDir(t)
	var out bytes.Buffer
	run([]string{"help"}, strings.NewReader(""), &out, io.Discard, []string{"HOME=" + dir, "TERM=xterm", "WAYBILL_PAGER=" + dir + "/pager"})
	if text := out.String(); strings.Contains(text, "PAGER 1") || !strings.Contains(text, "Run workflows:") {
		t.Errorf("the pipe gets\n%s", text)
	}
}
