package filestore_test

import (
	"context"
	"errors"
	"strings"
	"syscall"
	"testing"

	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/infra/filestore"
	"github.com/waybill/waybill/infra/lock"
	"github.com/waybill/waybill/infra/osfs"
	"github.com/waybill/waybill/ports"
	"github.com/waybill/waybill/ports/porttest/crashfs"
	"github.com/waybill/waybill/ports/porttest/sample"
)

// stubborn is a disk that syncs every folder but one.
type stubborn struct {
	osfs.FS
	dir string
}

func (s stubborn) SyncDir(name string, kind osfs.Sync) error {
	if name == s.dir {
		return syscall.EIO
	}
	return s.FS.SyncDir(name, kind)
}

// TestAnArrivalThatMayBeThere: when neither staying nor going is durable, a power cut
// leaves all of it or nothing, and the answer says that it is not known.
func TestAnArrivalThatMayBeThere(t *testing.T) {
	t.Parallel()
	j := journeys(t)[1]
	run := j.base.Revive()
	s, err := filestore.Open(stubborn{run, "sessions"}, filestore.Options{Locks: lock.NewMemory().
		On(run), Boot: "boot"})
	fatal(t, err)
	if placed, err := j.tr.Import(s, imported); placed || !fault.Is(err, fault.StoreOutcomeUnknown) {
		t.Fatalf("placed %v, %v", placed, err)
	}
	for name := range run.Files() {
		if strings.HasPrefix(name, "sessions/.tmp-") {
			t.Errorf("%s is where a cleanup empties it, and a power cut may bring its name back", name)
		}
	}
	seen := map[bool]int{}
	run.Crashes(200, func(state crashfs.State) bool {
		there, err := j.truth(state.FS)
		if seen[there]++; err != nil {
			t.Errorf("%s: %v", state.Name, err)
		}
		return err == nil
	})
	if seen[true] == 0 || seen[false] == 0 {
		t.Errorf("there and not: %v", seen)
	}
}

// TestKeptWhereItsArrivalWasKilled: what is said of a session that was moved in and
// never synced is lost with it, unless that is settled first.
func TestKeptWhereItsArrivalWasKilled(t *testing.T) {
	t.Parallel()
	ctx, j := context.Background(), journeys(t)[1]
	run := j.base.Revive()
	run.Fault = &crashfs.Fault{At: -1, After: true}
	run.Before = func(op crashfs.Op) {
		if op.Do == "place" && op.Name == j.tr.Log.Root {
			run.Fault.At = op.N
		}
	}
	if err := j.act(run); !errors.Is(err, crashfs.ErrKilled) {
		t.Fatal(err)
	}
	next := run.Revive()
	s, err := process(next, 4)
	fatal(t, err)
	fatal(t, s.UpdateSessionControl(ctx, j.tr.Session, ports.KeepFile,
		func(ports.Control) (ports.Control, error) { return imported, nil }))
	next.Crashes(100, func(state crashfs.State) bool {
		after, err := process(state.FS, 5)
		fatal(t, err)
		there, err := j.truth(state.FS)
		if c, keepErr := after.SessionControl(ctx, j.tr.Session, ports.KeepFile); err != nil || keepErr != nil ||
			!there || c.V != 1 {
			t.Errorf("%s: there %v, kept %+v, %v, %v", state.Name, there, c, err, keepErr)
			return false
		}
		return true
	})
}

// TestExploreArrivalDyingDisks: a disk that fails for a while, from the sync on that
// was to make objects or the session itself durable, and works again for the next
// process.
func TestExploreArrivalDyingDisks(t *testing.T) {
	t.Parallel()
	j, states := journeys(t)[1], 0
	names, _ := j.syncs(t)
	for at, name := range names {
		if name != "syncdir snapshots#0" && name != "syncdir sessions#0" {
			continue
		}
		for ops := range sample.OneIn(t, 8).Of(50) {
			run := j.base.Revive()
			run.Fault = &crashfs.Fault{At: at, Err: syscall.EIO, For: ops}
			said := j.act(run)
			after := run.Revive()
			err := j.judge(after, said, arrivalFaultLimit, &states)
			if err == nil {
				err = j.goesOn(after)
			}
			if err == nil {
				err = j.judge(after, nil, arrivalFaultLimit, &states)
			}
			if err != nil {
				t.Fatalf("%s and %d more fail: %v", name, ops, err)
			}
		}
	}
	t.Logf("%d states", states)
}
