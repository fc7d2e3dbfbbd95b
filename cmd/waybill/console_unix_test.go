//go:build !windows

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestConsoleIsOfOneAccount: another account of this machine cannot read the file with the token. It needs root, to be one.
func TestConsoleIsOfOneAccount(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root can be another account")
	}
	t.Parallel()
	p, _ := consoleStore(t)
	// Folders on the way to the file that everyone can enter: the file alone must not be readable.
	open, err := os.MkdirTemp("", "waybill-open-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(open) })
	if err := os.Chmod(open, 0o777); err != nil {
		t.Fatal(err)
	}
	c := p.consoleIn([]string{"XDG_RUNTIME_DIR=" + open})
	for _, path := range []string{c.File, filepath.Dir(c.File)} {
		cat := exec.Command("/bin/cat", path)
		if path != c.File {
			cat = exec.Command("/bin/ls", path)
		}
		cat.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
		cat.Dir = "/"
		if out, err := cat.CombinedOutput(); err == nil || !strings.Contains(string(out), "Permission denied") {
			t.Errorf("%s as another account: %s, %v", path, out, err)
		}
	}
	if text, err := os.ReadFile(c.File); err != nil || !strings.Contains(string(text), c.Token) {
		t.Errorf("as this account: %s, %v", text, err)
	}
}
