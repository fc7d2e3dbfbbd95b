package main

import (
	"os"
	"os/exec"
	"testing"
)

// configure sets a key of the configuration of the store in dir, as a person does at a terminal.
func configure(t *testing.T, dir string, setting ...string) {
	t.Helper()
	cmd := exec.Command("person", append([]string{"y", "waybill", "config", "set"}, setting...)...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "HOME="+dir, "USERPROFILE="+dir, "WAYBILL_HOME="+dir+"/home", "XDG_CONFIG_HOME="+dir,
		"TERM=xterm")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("config set %q: %v\n%s", setting, err, out)
	}
}
