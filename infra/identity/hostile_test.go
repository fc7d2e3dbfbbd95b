//go:build unix

package identity

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestHostileRepository: the configuration of a repository runs nothing, and names in it that are long
// or not text are bounded.
func TestHostileRepository(t *testing.T) {
	t.Parallel()
	const runs = "touch ran; false"
	traps := "[core]\nfsmonitor = " + runs + "\neditor = " + runs + "\npager = " + runs + "\naskPass = " + runs +
		"\nsshCommand = " + runs + "\nhooksPath = hooks\ngitProxy = " + runs + "\n[pager]\nconfig = " + runs +
		"\n[alias]\nconfig = !" + runs + "\n[credential]\nhelper = !" + runs + "\n[trace2]\neventTarget = ran\n" +
		"[filter \"x\"]\nprocess = " + runs + "\n[extensions]\npartialClone = x\n[remote \"x\"]\nurl = ext::" + runs + "\n"
	for name, c := range map[string]struct{ config, want string }{
		"commands":           {traps + "[user]\nname = A\n", "A"},
		"an included file":   {"[include]\npath = more\n", "Included"},
		"a loop of includes": {"[user]\nname = A\n[include]\npath = config\n", ""},
		"a device":           {"[user]\nname = A\n[include]\npath = /dev/zero\n", ""},
		"a pipe":             {"[user]\nname = A\n[include]\npath = pipe\n", ""},
		"1 MiB":              {"[user]\nname = " + strings.Repeat("x", 1<<20) + "\n", ""},
		"many names":         {"[user]\n" + strings.Repeat("name = Ada\n", 100_000), ""},
		"control characters": {"[user]\nname = \"A\\b\x1b]0;x\x07\u202eB\"\n", "A\b\x1b]0;x\x07\u202eB"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			env := env(t, "")
			dir := t.TempDir()
			git := filepath.Join(dir, ".git")
			for _, d := range []string{"refs", "objects", "hooks"} {
				if err := os.MkdirAll(filepath.Join(git, d), 0o700); err != nil {
					t.Fatal(err)
				}
			}
			for file, text := range map[string]string{"HEAD": "ref: refs/heads/main\n", "config": c.config,
				"more": "[user]\nname = Included\n", "hooks/post-index-change": "#!/bin/sh\n" + runs + "\n"} {
				if err := os.WriteFile(filepath.Join(git, file), []byte(text), 0o700); err != nil {
					t.Fatal(err)
				}
			}
			if err := syscall.Mkfifo(filepath.Join(git, "pipe"), 0o600); err != nil {
				t.Fatal(err)
			}
			began := time.Now()
			if got := Machine(context.Background(), dir, env); got.Name != c.want {
				t.Errorf("%.60q, want %q", got.Name, c.want)
			}
			if took := time.Since(began); took > 10*time.Second {
				t.Errorf("it took %v", took)
			}
			if left, _ := os.ReadDir(dir); len(left) != 1 {
				t.Errorf("git ran something: %v", left)
			}
		})
	}
}
