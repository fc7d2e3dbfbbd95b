package filestore_test

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/infra/controlfile"
	"github.com/waybill/waybill/ports"
	"github.com/waybill/waybill/ports/porttest/crashfs"
	"github.com/waybill/waybill/ports/porttest/suite"
)

// TestRepairOfSideLogs: each log is repaired by itself; a session that is quarantined
// completely includes its side logs.
func TestRepairOfSideLogs(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	f := crashfs.New()
	s, err := onBoot(f, "", 1)
	fatal(t, err)
	fixture := suite.NewSessionFixture(1)
	_, err = suite.Gate(s, fixture.Start())
	fatal(t, err)
	storeID, err := s.StoreID(ctx, ports.ReadOnly)
	fatal(t, err)
	notes, audit := suite.SessionNotes(fixture.Session), suite.StoreNotes(storeID)
	for _, log := range []manifest.Log{notes, audit} {
		for i := range int64(3) {
			_, err := suite.Gate(s, suite.Notes(log, i, fmt.Sprint("note ", i)))
			fatal(t, err)
		}
		files := f.Files()
		files[log.Root+"/events/00000001-00000001.jsonl"][3] ^= 1
		before := files
		g := diskWith(t, files)
		s, err := process(g, 2)
		fatal(t, err)
		opaque := log
		opaque.Table = event.Opaque(log.Table.Name, log.Table.OwnerField)
		done, err := s.RepairLog(ctx, repairOf(opaque))
		fatal(t, err)
		if want := fmt.Sprintf("quarantine/%s.%d/%s/manifest.jsonl", log.Owner, repairMs,
			log.Table.Name); !slices.ContainsFunc(done.Steps, func(s ports.RepairStep) bool { return s.To == want }) {
			t.Errorf("%s: %+v", log.Root, done.Steps)
		}
		fatal(t, checkNothingLost(before, g.Files()))
		if _, v := suite.Read(t, s, log, manifest.Head{}); v.Health != manifest.Healthy || v.Head.Next != 1 {
			t.Errorf("%s: %+v", log.Root, v)
		}
	}
	files := f.Files()
	files[fixture.Log.Root+"/manifest.jsonl"][20] ^= 1
	g := diskWith(t, files)
	if s, err = process(g, 3); err != nil {
		t.Fatal(err)
	}
	unlock, err := s.Lock(ctx, notes)
	fatal(t, err)
	if _, err := s.RepairLog(ctx, repairOf(fixture.Log)); !fault.Is(err, fault.SessionLocked) {
		t.Errorf("while a side log is locked: %v; want SESSION_LOCKED", err)
	}
	fatal(t, unlock())
	_, err = s.RepairLog(ctx, repairOf(fixture.Log))
	fatal(t, err)
	fatal(t, checkNothingLost(files, g.Files()))
	for name := range g.Files() {
		if strings.HasPrefix(name, fixture.Log.Root) {
			t.Errorf("%s was not moved", name)
		}
	}
}

// TestRepairRespectsLocksAndForeignStores: a repair waits for the holders of locks, and does not
// change a store of another program or create one.
func TestRepairRespectsLocksAndForeignStores(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	dir := t.TempDir()
	foreign := filepath.Join(dir, "sessions", "sess_01JH")
	fatal(t, os.MkdirAll(foreign, 0o700))
	fatal(t, os.WriteFile(filepath.Join(foreign, "manifest.jsonl"), []byte("x"), 0o600))
	before := tree(t, dir)
	if _, err := openDir(t, dir, 0).
		RepairLog(ctx, repairOf(suite.NewSessionFixture(1).Log)); !fault.Is(err, fault.StoreForeign) {
		t.Errorf("a store of another program: %v; want STORE_FOREIGN", err)
	}
	if after := tree(t, dir); after != before {
		t.Errorf("the foreign store was changed:\n%s", after)
	}
	absent := filepath.Join(t.TempDir(), "store")
	done, err := openDir(t, absent, 0).RepairLog(ctx, repairOf(suite.NewSessionFixture(1).Log))
	if _, statErr := os.Stat(absent); err != nil || len(done.Steps) > 0 || statErr == nil {
		t.Errorf("an absent store: %+v, %v, %v", done, err, statErr)
	}
	files, _ := base(t)
	log := suite.NewSessionFixture(1).Log
	files[log.Root+"/manifest.jsonl"][20] ^= 1
	for _, held := range []string{log.Root + "/.lock", ".use.lock"} {
		at := filepath.Join(t.TempDir(), "store")
		for name, b := range files {
			fatal(t, os.MkdirAll(filepath.Dir(filepath.Join(at, name)), 0o700))
			fatal(t, os.WriteFile(filepath.Join(at, name), b, 0o600))
		}
		release := holdLock(t, at, held)
		code := map[string]fault.Code{".use.lock": fault.StoreLocked}[held]
		if code == "" {
			code = fault.SessionLocked
		}
		if _, err := openDir(t, at, 0).RepairLog(ctx, repairOf(log)); !fault.Is(err, code) {
			t.Errorf("while %s is held: %v", held, err)
		}
		release()
	}
}

// TestRepairQuarantinesDamagedControlFile: an unreadable or invalid file is moved to the
// quarantine; a valid one and one of a later version stay.
func TestRepairQuarantinesDamagedControlFile(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	file := ports.ControlFile{Name: "config.json", Kind: "config"}
	good, err := controlfile.New("config", 1, struct {
		Good bool `json:"good"`
	}{true})
	fatal(t, err)
	encoded, err := controlfile.Encode(good)
	fatal(t, err)
	for _, tt := range []struct {
		name    string
		b       []byte
		check   error
		moved   bool
		wantErr fault.Code
	}{
		{"none", nil, nil, false, ""},
		{"valid", encoded, nil, false, ""},
		{"a flipped byte", append([]byte("x"), encoded[1:]...), nil, true, ""},
		{"rejected by the check", encoded, fault.New(fault.ConfigInvalid, "no"), true, ""},
		{"of a later version", encoded, fault.New(fault.StoreNewer, "no"), false, fault.StoreNewer},
	} {
		files, _ := base(t)
		if tt.b != nil {
			files["config.json"] = tt.b
		}
		f := diskWith(t, files)
		s, err := process(f, 1)
		fatal(t, err)
		r := ports.ControlRepair{File: file, By: event.Actor{Kind: event.Human}, AtMs: repairMs, DryRun: true}
		check := func(ports.Control) error { return tt.check }
		planned, err := s.RepairControl(ctx, r, check)
		if tt.wantErr != "" {
			if !fault.Is(err, tt.wantErr) {
				t.Errorf("%s: %v", tt.name, err)
			}
			continue
		}
		fatal(t, err)
		if !maps.EqualFunc(files, f.Files(), bytes.Equal) {
			t.Errorf("%s: the dry run changed a file", tt.name)
		}
		r.DryRun = false
		done, err := s.RepairControl(ctx, r, check)
		fatal(t, err)
		if !slices.Equal(done.Steps, planned.Steps) || tt.moved != (len(done.Steps) == 1) {
			t.Errorf("%s: planned %+v, did %+v", tt.name, planned, done)
		}
		fatal(t, checkNothingLost(files, f.Files()))
		if _, exists := f.Files()["config.json"]; tt.b != nil && exists == tt.moved {
			t.Errorf("%s: config.json still exists: %v", tt.name, exists)
		}
	}
}
