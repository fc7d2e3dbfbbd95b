package main

import (
	"os"
	"os/exec"
	"testing"
)

// configure sets a key of the configuration of the store in dir, as a person does at a terminal.
func configure(t *testing.T, dir string, setting ...string) {
	t.Helper()
	atTerminal(t, dir, append([]string{"config", "set"}, setting...)...)
}

// atTerminal runs a command in dir at a terminal, where a person answers every question with yes.
func atTerminal(t *testing.T, dir string, args ...string) {
	t.Helper()
	cmd := exec.Command("waybill", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "HOME="+dir, "USERPROFILE="+dir, "WAYBILL_HOME="+dir+"/home", "XDG_CONFIG_HOME="+dir,
		"TERM=xterm")
	if out, err := withPerson(cmd, "y"); err != nil {
		t.Fatalf("%q: %v\n%s", args, err, out)
	}
}
