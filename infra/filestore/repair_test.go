package filestore_test

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/infra/controlfile"
	"github.com/waybill/waybill/ports"
	"github.com/waybill/waybill/ports/porttest/crashfs"
	"github.com/waybill/waybill/ports/porttest/suite"
)

// diskWith returns a disk with the given files, all of them durable.
func diskWith(t testing.TB, files map[string][]byte) *crashfs.FS {
	t.Helper()
	f := crashfs.New()
	for _, name := range slices.Sorted(maps.Keys(files)) {
		dir := ""
		for _, part := range strings.Split(filepath.Dir(name), "/") {
			if dir = filepath.Join(dir, part); dir != "." {
				_ = f.Mkdir(dir)
			}
		}
		file, err := f.Open(name, 1)
		fatal(t, err)
		_, err = file.Write(files[name])
		fatal(t, err)
		fatal(t, file.Close())
	}
	_ = f.Mkdir("quarantine") // every store has this directory
	syncTree(t, f, ".")
	return f
}

func syncTree(t testing.TB, f *crashfs.FS, dir string) {
	t.Helper()
	entries, err := f.List(dir)
	fatal(t, err)
	for _, e := range entries {
		at := filepath.Join(dir, e.Name)
		if e.Kind == 1 {
			syncTree(t, f, at)
			continue
		}
		file, err := f.Open(at, 0)
		fatal(t, err)
		fatal(t, file.Sync(1))
		fatal(t, file.Close())
	}
	fatal(t, f.SyncDir(dir, 1))
}

const repairMs = 1_760_000_000_123

func repairOf(log manifest.Log) ports.LogRepair {
	return ports.LogRepair{Log: log, By: event.Actor{Kind: event.Human, Ref: "ann"}, AtMs: repairMs}
}

// checkNothingLost checks that after contains every file of before, at its path or in quarantine/
// under the same relative path. Lock files, markers and temporary files have no content to keep.
func checkNothingLost(before, after map[string][]byte) error {
	for name, b := range before {
		base := filepath.Base(name)
		if strings.HasSuffix(base, ".lock") || base == "suspect" || strings.HasPrefix(base, ".tmp-") {
			continue
		}
		if have, ok := after[name]; ok && bytes.Equal(have, b) {
			continue
		}
		found := false
		for other, have := range after {
			if rel, ok := relInQuarantine(other); ok && strings.HasSuffix(name, rel) && bytes.Equal(have, b) {
				found = true
			}
		}
		if !found {
			return fmt.Errorf("%s is neither at its path nor in the quarantine", name)
		}
	}
	return nil
}

// checkRepairNote checks that a valid repair.json exists if any file was moved.
func checkRepairNote(before, after map[string][]byte) error {
	for name := range before {
		if _, exists := after[name]; exists || strings.HasSuffix(name, ".lock") {
			continue
		}
		for other, b := range after {
			if rel, ok := relInQuarantine(other); ok && rel == "repair.json" {
				if _, err := controlfile.Decode(b, "repair"); err == nil {
					return nil
				}
			}
		}
		return fmt.Errorf("%s was moved, and no repair.json describes it", name)
	}
	return nil
}

func relInQuarantine(name string) (string, bool) {
	parts := strings.SplitN(name, "/", 3)
	if len(parts) < 3 || parts[0] != "quarantine" {
		return "", false
	}
	return parts[2], true
}

// TestRepairOfEveryDamagedStore: a damaged log is healthy after the repair, a healthy one is
// unchanged, and no file is lost. A dry run changes nothing and reports the same steps.
func TestRepairOfEveryDamagedStore(t *testing.T) {
	t.Parallel()
	for _, ex := range damagedStores(t) {
		t.Run(ex.name, func(t *testing.T) {
			f := diskWith(t, ex.files)
			before := f.Files()
			s, err := process(f, 1)
			if ex.want.Open != "" {
				if !fault.Is(err, ex.want.Open) {
					t.Fatalf("opening returned %v", err)
				}
				return
			}
			fatal(t, err)
			log := suite.NewSessionFixture(1).Log
			r := repairOf(log)
			r.DryRun = true
			planned, err := s.RepairLog(context.Background(), r)
			if ex.want.Health == manifest.UnknownVersion {
				if !fault.Is(err, fault.SessionUnhealthy) {
					t.Fatalf("repairing an unknown version: %v; want SESSION_UNHEALTHY", err)
				}
				return
			}
			fatal(t, err)
			if !maps.EqualFunc(before, f.Files(), bytes.Equal) {
				t.Fatal("the dry run changed a file")
			}
			r.DryRun = false
			done, err := s.RepairLog(context.Background(), r)
			fatal(t, err)
			damaged := ex.want.Health == manifest.CorruptHead || ex.want.Health == manifest.CorruptTail
			if damaged != (len(done.Steps) > 0) || !slices.Equal(planned.Steps, done.Steps) {
				t.Errorf("planned %+v, did %+v", planned.Steps, done.Steps)
			}
			fatal(t, checkNothingLost(before, f.Files()))
			checkRepaired(t, f, ex.want, done)
		})
	}
}

// checkRepaired reads the log with a new process, appends to it, and repairs it again, which must
// do nothing.
func checkRepaired(t *testing.T, f *crashfs.FS, was expected, done ports.RepairResult) {
	t.Helper()
	s, err := process(f, 2)
	fatal(t, err)
	fixture := suite.NewSessionFixture(1)
	_, v, err := read(s, fixture.Log)
	fatal(t, err)
	if v.Health != manifest.Healthy || v.Head.Next != was.Next || len(done.Steps) > 0 && len(v.Findings) > 0 {
		t.Errorf("after the repair the log is %+v", v)
	}
	if was.Health == manifest.CorruptHead {
		if list, err := s.Sessions(context.Background()); err != nil || len(list) != 0 {
			t.Errorf("the session directory still exists: %v, %v", list, err)
		}
		return
	}
	plan := fixture.Start()
	if v.Head.Next > 0 {
		plan = fixture.Advance(v.Head.Next)
	}
	if _, err := suite.Gate(s, plan); err != nil {
		t.Errorf("appending after the repair: %v", err)
	}
	again, err := s.RepairLog(context.Background(), repairOf(fixture.Log))
	if err != nil || len(again.Steps) > 0 {
		t.Errorf("a second repair: %+v, %v; want no steps", again.Steps, err)
	}
}

// TestRepairRecordsQuarantinedFiles: the caller receives every quarantined file, and repair.json
// records actor, health, kept head and steps.
func TestRepairRecordsQuarantinedFiles(t *testing.T) {
	t.Parallel()
	all := damagedStores(t)
	ex := all[slices.IndexFunc(all, func(ex damagedStore) bool { return ex.name == "flipped-segment" })]
	f := diskWith(t, ex.files)
	s, err := process(f, 1)
	fatal(t, err)
	seen := map[string][]byte{}
	r := repairOf(suite.NewSessionFixture(1).Log)
	r.Quarantine = func(name string, b []byte) { seen[name] = bytes.Clone(b) }
	done, err := s.RepairLog(context.Background(), r)
	fatal(t, err)
	root := r.Log.Root
	if len(seen) != 3 || !bytes.Equal(seen[manifest.FileName],
		ex.files[root+"/manifest.jsonl"][done.Verdict.Head.Bytes:]) ||
		!bytes.Equal(seen["00000006-00000008.jsonl"], ex.files[root+"/events/00000006-00000008.jsonl"]) {
		t.Errorf("the caller received %d files: %v", len(seen), slices.Sorted(maps.Keys(seen)))
	}
	note := f.Files()[done.QuarantinePlace+"/repair.json"]
	doc, err := controlfile.Decode(note, "repair")
	fatal(t, err)
	var what struct {
		Actor  event.Actor        `json:"actor"`
		Health manifest.Health    `json:"health"`
		Kept   manifest.Head      `json:"kept"`
		Root   string             `json:"root"`
		Steps  []ports.RepairStep `json:"steps"`
	}
	fatal(t, canon.DecodeKnown(doc.Data, &what))
	if what.Root != root || what.Actor != r.By || what.Health != manifest.CorruptTail ||
		what.Kept != done.Verdict.Head || !slices.Equal(what.Steps, done.Steps) {
		t.Errorf("repair.json contains %+v", what)
	}
	if done.QuarantinePlace != fmt.Sprintf("quarantine/%s.%d", r.Log.Owner, repairMs) {
		t.Errorf("the quarantine directory is %s, with the note %s", done.QuarantinePlace, note)
	}
}

// TestRepairUsesExpectedNext: a log that ends before the expected next event is damaged.
func TestRepairUsesExpectedNext(t *testing.T) {
	t.Parallel()
	for _, claim := range []int64{8, 9, 10} {
		files, _ := base(t)
		f := diskWith(t, files)
		s, err := process(f, 1)
		fatal(t, err)
		log := suite.NewSessionFixture(1).Log
		fatal(t, s.StoreHead(context.Background(), suite.NewSessionFixture(1).Log, 8, []byte("of another format")))
		r := repairOf(log)
		r.ExpectedNext = claim
		before := f.Files()
		done, err := s.RepairLog(context.Background(), r)
		fatal(t, err)
		if (claim > 9) != (len(done.Steps) > 0) {
			t.Errorf("expected next %d: %+v", claim, done)
		}
		fatal(t, checkNothingLost(before, f.Files()))
		if b := f.Files()[log.Root+"/cache/head-8"]; (claim > 9) != (b == nil) {
			t.Errorf("expected next %d: the head cache holds %q", claim, b)
		}
	}
}
