package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/waybill/waybill/ports/porttest/sample"
)

// small mounts a filesystem of some megabytes at a new directory of the server, where this process may; elsewhere the test is skipped.
func (d *database) small(megabytes int) (dir string) {
	d.t.Helper()
	dir = filepath.Join(d.server.Socket(), "small")
	if err := os.Mkdir(dir, 0o700); err != nil {
		d.t.Fatal(err)
	}
	if out, err := exec.Command("mount", "-t", "tmpfs", "-o", "size="+strconv.Itoa(megabytes)+"m", "tmpfs", dir).CombinedOutput(); err != nil {
		d.t.Skipf("no small filesystem can be mounted here, which needs root: %v: %s", err, out)
	}
	d.t.Cleanup(func() {
		d.server.Stop(true)
		if out, err := exec.Command("umount", dir).CombinedOutput(); err != nil {
			d.t.Errorf("umount: %v: %s", err, out)
		}
	})
	if err := d.server.Own(dir); err != nil {
		d.t.Fatal(err)
	}
	return dir
}

// fill writes a file until its filesystem is full, and returns what removes it.
func fill(t *testing.T, dir string) (free func()) {
	t.Helper()
	path := filepath.Join(dir, "filler")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	for size := 1 << 16; size > 0; {
		if _, err := f.Write(make([]byte, size)); err != nil {
			size /= 16
		}
	}
	_ = f.Close()
	return func() {
		if err := os.Remove(path); err != nil {
			t.Error(err)
		}
	}
}

// TestFullDatabase: the disk of the tables is full during an append. The command says so, the log is as before, and the same call succeeds
// when there is space again.
func TestFullDatabase(t *testing.T) {
	t.Parallel()
	d := newDatabase(t, func(*database) error { return nil })
	m, a := d.team()
	dir := d.small(16)
	place := filepath.Join(dir, "tables")
	if err := errors.Join(os.Mkdir(place, 0o700), d.server.Own(place)); err != nil {
		t.Fatal(err)
	}
	d.sql("create tablespace small location '"+place+"'", "alter table all in tablespace pg_default set tablespace small")
	free := fill(t, dir)
	// No page of a table has space for as much.
	call, before := a.advance("--notes", "a large note "+strings.Repeat("much ", 20_000)), m.events()
	out := m.run(1, call...)
	for _, want := range []string{"the disk of the database server is full", "[STORE_FULL]", "Free some space"} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is not in %s", want, out)
		}
	}
	if after := m.events(); after != before {
		t.Errorf("the run has changed to %.2000s", after)
	}
	free()
	m.once("a large note", call)
}

// TestFullLog: the disk of the write-ahead log is full, which ends the server. What was acknowledged is stored when it has space again,
// and the call that was cut off is answered by its token.
func TestFullLog(t *testing.T) {
	if !sample.Exhaustive() {
		t.Skip("a log is filled: for WAYBILL_EXHAUSTIVE")
	}
	t.Parallel()
	settings := []string{"min_wal_size=32MB", "max_wal_size=32MB", "wal_recycle=off", "restart_after_crash=off"}
	dir := ""
	d := newDatabase(t, func(d *database) error {
		dir = d.small(80)
		logs := filepath.Join(d.server.Data(), "pg_wal")
		return errors.Join(exec.Command("cp", "-a", logs, dir).Run(), os.RemoveAll(logs), os.Symlink(filepath.Join(dir, "pg_wal"), logs))
	}, settings...)
	m, _ := d.team()
	free := fill(t, dir)
	big, notes, call := filepath.Join(m.dir, "big"), "", []string(nil)
	acknowledged := 0
	for {
		if acknowledged++; acknowledged > 100 {
			t.Fatal("the log is not full")
		}
		// Each artifact differs, and does not compress.
		if err := exec.Command("dd", "if=/dev/urandom", "of="+big, "bs=1M", "count=4").Run(); err != nil {
			t.Fatal(err)
		}
		notes = "step " + strconv.Itoa(acknowledged)
		a := m.answer(0, "start", "flow.json", "--title", "run "+strconv.Itoa(acknowledged))
		call = a.advance("--notes", notes, "--artifact", big)
		out, status := m.begin(append(call, "--json")...)()
		if status == 0 {
			continue
		}
		if got := m.read(out); got.code != "STORE_UNREACHABLE" && got.code != "STORE_OUTCOME_UNKNOWN" && got.code != "STORE_FULL" {
			t.Errorf("exit status %d: %s", status, out)
		}
		break
	}
	free()
	d.server.Stop(true)
	if err := d.server.Start(settings...); err != nil {
		t.Fatal(err)
	}
	m.once(notes, call)
	if out := m.run(0, "runs", "list", "--json", "--limit", "200"); strings.Count(out, `"run `) != acknowledged {
		t.Errorf("%d runs of %d are left", strings.Count(out, `"run `), acknowledged)
	}
}
