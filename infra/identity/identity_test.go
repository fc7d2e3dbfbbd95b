package identity

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// env is an environment with no configuration of git but the given entries of a file.
func env(t *testing.T, config string) []string {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	file := filepath.Join(t.TempDir(), "config")
	if err := os.WriteFile(file, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	return []string{"PATH=" + os.Getenv("PATH"), "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=" + file,
		"HOME=" + filepath.Dir(file)}
}

func TestNamesOfGit(t *testing.T) {
	t.Parallel()
	for config, want := range map[string][2]string{
		"[user]\nname = Ada Lovelace\nemail = ada@example.org\n":                      {"Ada Lovelace", "ada@example.org"},
		"[user]\nname = One\nname = Two\n":                                            {"Two", ""},
		"[user]\nname = \"a # b\\n c\"\n":                                             {"a # b\n c", ""},
		"[core]\npager = touch ran\n[alias]\nconfig = !touch ran\n[user]\nname = A\n": {"A", ""},
		"[user\n": {"", ""},
		"":        {"", ""},
		"[user]\nname = " + strings.Repeat("x", gitBytesMax) + "\n": {"", ""},
	} {
		dir := t.TempDir()
		got := Machine(context.Background(), dir, env(t, config))
		if got.Name != want[0] || got.Email != want[1] {
			t.Errorf("%.60q: %.60q", config, got)
		}
		if left, _ := os.ReadDir(dir); len(left) > 0 {
			t.Errorf("%.60q: git ran something", config)
		}
	}
}

// TestIncompleteEnvironment: without git, without a home directory and without a search path the
// account is the name.
func TestIncompleteEnvironment(t *testing.T) {
	t.Parallel()
	if name, email := namesOf(context.Background(), "git-that-is-not-installed", t.TempDir(), os.Environ()); name+email != "" {
		t.Errorf("%q, %q", name, email)
	}
	for _, env := range [][]string{{}, {"PATH=" + os.Getenv("PATH")}, {"HOME=/nonexistent"}, {"GIT_DIR=/nonexistent"}} {
		env = append(env, "GIT_CONFIG_NOSYSTEM=1")
		if got := Machine(context.Background(), t.TempDir(), env); got.Name+got.Email != "" || got.Account == "" {
			t.Errorf("%q: %+v", env, got)
		}
	}
}

// TestGitIsNotWaitedFor: a configuration that never ends does not hold up the caller.
func TestGitIsNotWaitedFor(t *testing.T) {
	t.Parallel()
	bin := t.TempDir()
	if err := os.WriteFile(filepath.Join(bin, "git"), []byte("#!/bin/sh\nsleep 60\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
	defer cancel()
	cmd := filepath.Join(bin, "git")
	if name, email := namesOf(ctx, cmd, "", nil); name+email != "" || time.Since(began) > 10*time.Second {
		t.Errorf("%q, %q after %v", name, email, time.Since(began))
	}
}

func TestAccountHasName(t *testing.T) {
	t.Parallel()
	if got := Machine(context.Background(), t.TempDir(), nil); got.Account == "" {
		t.Error("the account has no name")
	}
}
