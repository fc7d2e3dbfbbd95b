package osfs

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// TestStateByBothCalls: State and the older system call say the same of each kind of name.
func TestStateByBothCalls(t *testing.T) {
	dir := t.TempDir()
	long := strings.Repeat("n", nameMax-3)
	for _, name := range []string{"file", long, long + "er", "a/" + long + "/file"} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(name), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("file", filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	o, err := Observe(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer o.Close()
	var before unix.Stat_t
	if err := unix.Lstat(filepath.Join(dir, "file"), &before); err != nil {
		t.Fatal(err)
	}
	for name, exists := range map[string]bool{"file": true, long: true, long + "er": true, "a": true, "a/" + long + "/file": true,
		"link": true, "missing": false, "file/below": false, "a/missing/file": false} {
		got, err := o.State(name)
		want, wantErr := o.stateOf(name)
		if err != nil || wantErr != nil || got != want || (got != State{}) != exists {
			t.Errorf("%s: %+v, %v; the older call: %+v, %v", name, got, err, want, wantErr)
		}
	}
	if got, _ := o.State("file"); got.Inode != before.Ino || got.Size != 4 || got.ModifiedNs != before.Mtim.Nano() ||
		got.InodeNs != before.Ctim.Nano() || got.Device != uint64(before.Dev) || got.Directory {
		t.Errorf("file: %+v", got)
	}
	for _, name := range []string{"file\x00", "", strings.Repeat("n", 300)} {
		got, err := o.State(name)
		want, wantErr := o.stateOf(name)
		if got != want || (err == nil) != (wantErr == nil) {
			t.Errorf("%.10q: %+v, %v; the older call: %+v, %v", name, got, err, want, wantErr)
		}
	}
	if n := testing.AllocsPerRun(10, func() { _, _ = o.State("file") }); n > 0 {
		t.Errorf("State allocates %v times", n)
	}
}
