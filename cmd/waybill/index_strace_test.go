//go:build linux

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// ofIndex matches a call of the system that names a file of the index.
var ofIndex = expression(`"(?:[^"]*/)?(?:index|search|usage)-[0-9]+"`)

// TestVerifyNamesNoIndexToTheSystem: no call of the system of a verification names a file of the index; those of a list and
// of a search do.
func TestVerifyNamesNoIndexToTheSystem(t *testing.T) {
	t.Parallel()
	strace, err := exec.LookPath("strace")
	if err != nil {
		t.Skipf("strace is not installed: %v", err)
	}
	dir, _ := oldStore(t, 20) // a store with fewer has no index
	inDir(t, dir, "runs", "list")
	if all, err := filepath.Glob(filepath.Join(dir, "home", "local", "cache", "index-*")); err != nil || len(all) != 1 {
		t.Fatalf("the index has the files %q, %v", all, err)
	}
	for what, c := range map[string]struct {
		args []string
		want bool
	}{
		"verify":           {[]string{"verify"}, false},
		"verify --digests": {[]string{"verify", "--digests"}, false},
		"verify RUN":       {[]string{"verify", "@last"}, false},
		"a list":           {[]string{"runs", "list"}, true},
		"du":               {[]string{"du"}, true},
		"a search":         {[]string{"runs", "search", "Person"}, true},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			to := filepath.Join(t.TempDir(), "calls")
			s := terminalOf(t, dir, strace, append([]string{"-f", "-qq", "-e", "trace=file", "-o", to, "--", "waybill"}, c.args...)...)
			if err := exec.Command(strace, "-o", os.DevNull, "true").Run(); err != nil {
				t.Skipf("processes cannot be traced: %v", err)
			}
			if out, err := s.cmd.CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			calls, err := os.ReadFile(to)
			if err != nil || len(calls) == 0 {
				t.Fatal("no calls: ", err)
			}
			if got := ofIndex().Find(calls); (got != nil) != c.want {
				t.Errorf("a call names %q", got)
			}
		})
	}
}
