//go:build unix

package process

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/ports"
)

// private returns a Runner whose private folders are in a new runtime folder, and that folder.
func private(t *testing.T) (*Runner, string) {
	t.Helper()
	runtime := t.TempDir()
	return &Runner{Dir: t.TempDir(), Env: append(os.Environ(), "XDG_RUNTIME_DIR="+runtime)}, runtime
}

func folderCommand(script string) ports.Command {
	return ports.Command{Argv: []string{"sh", "-c", script}, Folder: "attempt_a", Context: []byte(`{"context":{}}`)}
}

func TestPrivateFolder(t *testing.T) {
	defer syscall.Umask(syscall.Umask(0o777))
	r, runtime := private(t)
	out := attempt(t, r, folderCommand(`cd "${WAYBILL_CONTEXT%/*}" && ls -lnd . * | cut -c1-10 && pwd &&
		cat "$WAYBILL_CONTEXT" && printf '{"a":1}' > "$WAYBILL_OUTPUT"`))
	if !out.OK() || string(out.Written) != `{"a":1}` || out.Unread != "" {
		t.Fatalf("%+v", out)
	}
	want := "drwx------\n-rw-------\n-rw-------\n" + runtime + "/waybill/attempt_a\n" + `{"context":{}}`
	if out.Stdout.Head != want {
		t.Errorf("got %s, want %s", out.Stdout.Head, want)
	}
	if left, err := os.ReadDir(filepath.Join(runtime, "waybill")); err != nil || len(left) > 0 {
		t.Errorf("left: %v %v", left, err)
	}
}

func TestPrivateFolderFallsBackToTemporaryFolder(t *testing.T) {
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	for _, runtime := range []string{"", "relative", filepath.Join(temp, "missing")} {
		r := &Runner{Env: append(os.Environ(), "XDG_RUNTIME_DIR="+runtime)}
		out := attempt(t, r, folderCommand(`printf %s "$WAYBILL_CONTEXT"`))
		if !strings.HasPrefix(out.Stdout.Head, temp+"/waybill-") {
			t.Errorf("%q: %+v", runtime, out)
		}
	}
}

func TestWrittenFile(t *testing.T) {
	other := filepath.Join(t.TempDir(), "other")
	writeFile(t, other, 0o600, `{"secret":1}`)
	for name, c := range map[string]struct{ script, written, unread string }{
		"untouched":  {`:`, "", ""},
		"replaced":   {`rm "$WAYBILL_OUTPUT"; echo x > "$WAYBILL_OUTPUT"`, "x\n", ""},
		"removed":    {`rm "$WAYBILL_OUTPUT"`, "", ""},
		"link":       {`ln -sf ` + other + ` "$WAYBILL_OUTPUT"`, "", "regular"},
		"hard link":  {`ln -f ` + other + ` "$WAYBILL_OUTPUT"`, `{"secret":1}`, ""},
		"pipe":       {`rm "$WAYBILL_OUTPUT"; mkfifo "$WAYBILL_OUTPUT"`, "", "regular"},
		"folder":     {`rm "$WAYBILL_OUTPUT"; mkdir "$WAYBILL_OUTPUT"`, "", "regular"},
		"unreadable": {`chmod 0 "$WAYBILL_OUTPUT"`, "", "denied"},
		"at limit":   {`head -c 1048576 /dev/zero > "$WAYBILL_OUTPUT"`, strings.Repeat("\x00", limits.CommandOutputBytesMax), ""},
		"over limit": {`head -c 1048577 /dev/zero > "$WAYBILL_OUTPUT"`, "", "more than"},
		"folder moved": {`d="${WAYBILL_OUTPUT%/*}"; echo y > "$WAYBILL_OUTPUT"; mv "$d" "$d.b"; ln -s / "$d"`,
			"y\n", ""},
		"locked subfolder": {`mkdir "${WAYBILL_OUTPUT%/*}/s"; touch "${WAYBILL_OUTPUT%/*}/s/f"; chmod 0 "${WAYBILL_OUTPUT%/*}/s"`,
			"", ""},
	} {
		t.Run(name, func(t *testing.T) {
			if name == "unreadable" && os.Getuid() == 0 {
				t.Skip("root reads every file")
			}
			r, runtime := private(t)
			out := attempt(t, r, folderCommand(c.script))
			if !out.OK() || string(out.Written) != c.written || !strings.Contains(out.Unread, c.unread) ||
				(c.unread == "") != (out.Unread == "") {
				t.Errorf("%+v", out)
			}
			if _, err := os.Lstat(filepath.Join(runtime, "waybill", "attempt_a")); err == nil {
				t.Error("the folder is left")
			}
			if _, err := os.Stat(other); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestLinkInPlaceOfPrivateFolderIsRefused(t *testing.T) {
	for name, prepare := range map[string]func(base, elsewhere string) error{
		"link": func(base, elsewhere string) error { return os.Symlink(elsewhere, base) },
		"file": func(base, _ string) error { return os.WriteFile(base, nil, 0o600) },
	} {
		r, runtime := private(t)
		elsewhere := t.TempDir()
		if err := prepare(filepath.Join(runtime, "waybill"), elsewhere); err != nil {
			t.Fatal(err)
		}
		out := attempt(t, r, folderCommand("echo ran"))
		if out.Stdout.Bytes > 0 || !strings.Contains(out.Failure, "private folder") ||
			strings.Contains(out.Failure+out.Fix.String(), runtime) {
			t.Errorf("%s: %+v", name, out)
		}
		if left, _ := os.ReadDir(elsewhere); len(left) > 0 {
			t.Errorf("%s: wrote to %v", name, left)
		}
	}
}

// TestForeignPrivateFolderIsRefused needs a folder of another user, which only root can make.
func TestForeignPrivateFolderIsRefused(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root can give a folder away")
	}
	r, runtime := private(t)
	base := filepath.Join(runtime, "waybill")
	if err := os.Mkdir(base, 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.Chown(base, 4711, 4711); err != nil {
		t.Fatal(err)
	}
	if out := attempt(t, r, folderCommand("echo ran")); out.Stdout.Bytes > 0 || out.Failure == "" {
		t.Errorf("%+v", out)
	}
}

// TestLeftFoldersAreRemoved: by the next performer of any run, but not while a performer lives.
func TestLeftFoldersAreRemoved(t *testing.T) {
	r, runtime := private(t)
	pids := filepath.Join(t.TempDir(), "pids")
	t.Setenv("XDG_RUNTIME_DIR", runtime)
	performAndKill(t, "echo $$ >>"+pids+"; sleep 60", pids, 1, helperEnv+"_FOLDER=attempt_killed")
	killed := filepath.Join(runtime, "waybill", "attempt_killed")
	if _, err := os.Stat(filepath.Join(killed, contextFile)); err != nil {
		t.Fatal(err)
	}
	waitForUnlocked(t, killed)
	living := &Runner{Env: r.Env}
	c := folderCommand("")
	c.Folder = "attempt_living"
	held, failed := living.open(c)
	if failed != nil {
		t.Fatal(failed)
	}
	if _, err := os.Stat(killed); err == nil {
		t.Error("the folder of a killed performer is left")
	}
	attempt(t, r, folderCommand("true"))
	if _, err := os.Stat(held.path); err != nil {
		t.Error("the folder of a living performer is gone")
	}
	held.remove()
}

// waitForUnlocked waits until no process holds a folder: one that a killed performer was about to
// start has its handles until then.
func waitForUnlocked(t *testing.T, folder string) {
	t.Helper()
	for deadline := time.Now().Add(10 * time.Second); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		f, err := os.Open(folder)
		if err != nil {
			t.Fatal(err)
		}
		unlocked := isUnlocked(f)
		if f.Close(); unlocked {
			return
		}
	}
	t.Errorf("%s is still locked", folder)
}

func TestFolderWithAValueStaysBelowRoot(t *testing.T) {
	root := t.TempDir()
	outside := t.TempDir()
	writeFile(t, filepath.Join(root, "work", "sub", "f"), 0o600, "")
	writeFile(t, filepath.Join(root, "beside", "f"), 0o600, "")
	for name, target := range map[string]string{"out": outside, "beside": "../beside", "up": "../.."} {
		if err := os.Symlink(target, filepath.Join(root, "work", "to-"+name)); err != nil {
			t.Fatal(err)
		}
	}
	r := &Runner{Dir: filepath.Join(root, "work"), Root: root}
	for cwd, want := range map[string]string{"sub": "work/sub", "to-beside": "beside", "sub/../sub": "work/sub", ".": "work"} {
		out := attempt(t, r, ports.Command{Argv: []string{"pwd", "-P"}, Cwd: cwd, Below: true})
		if out.Stdout.Head != filepath.Join(root, want)+"\n" {
			t.Errorf("%s: %+v", cwd, out)
		}
	}
	for _, cwd := range []string{"to-out", "to-up", "..", outside, "sub/../..", "to-out/missing"} {
		out, err := r.Try(t.Context(), ports.Command{Argv: []string{"touch", "ran"}, Cwd: cwd, Below: true})
		_, statErr := os.Stat(filepath.Join(outside, "ran"))
		if err != ports.ErrOutside && !strings.Contains(out.Failure, "no folder") || statErr == nil {
			t.Errorf("%s: %+v %v", cwd, out, err)
		}
	}
	if out := attempt(t, r, ports.Command{Argv: []string{"pwd"}, Cwd: "nowhere", Below: true}); !strings.Contains(out.Failure,
		"no folder") {
		t.Errorf("%+v", out)
	}
}

func TestWholeStdout(t *testing.T) {
	for n, kept := range map[string]bool{"262144": true, "262145": false, "0": true} {
		out := attempt(t, &Runner{}, ports.Command{Argv: []string{"sh", "-c", "echo no >&2; head -c " + n + " /dev/zero"}, Whole: limits.OutputValueBytesMax})
		if got := int64(len(out.Whole)) == out.Stdout.Bytes; got != kept {
			t.Errorf("%s bytes: kept %d", n, len(out.Whole))
		}
	}
}

// TestOwnEnvironment: a command with an environment and a program of its own gets nothing of the
// performer's, and no program is looked up.
func TestOwnEnvironment(t *testing.T) {
	t.Setenv("SKIP_TESTS", "1")
	out := attempt(t, &Runner{Env: []string{"SKIP_TESTS=1", "PATH=/nowhere"}}, ports.Command{Argv: []string{"env"},
		Program: "/usr/bin/env", Environ: map[string]string{"PATH": "/bin", "A": "1"}, Env: map[string]string{"A": "2"}})
	lines := strings.Fields(out.Stdout.Head)
	slices.Sort(lines)
	if !out.OK() || !slices.Equal(lines, []string{"A=2", "PATH=/bin"}) {
		t.Errorf("%+v, %q", out, lines)
	}
}
