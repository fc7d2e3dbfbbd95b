package filestore_test

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/run/token"
	"github.com/waybill/waybill/ports"
	"github.com/waybill/waybill/ports/porttest/crashfs"
	"github.com/waybill/waybill/ports/porttest/sample"
	"github.com/waybill/waybill/ports/porttest/suite"
)

// TestRotationCrashesLoseNoKey: in every state that a power cut can leave, the keyring is the old
// one or the new one, the new one after Rotate has returned nil, and a damaged keyring is at its
// path or in the quarantine.
func TestRotationCrashesLoseNoKey(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	files, _ := base(t)
	whole := diskWith(t, files)
	s, err := process(whole, 3)
	fatal(t, err)
	old, err := s.Keys(ctx, ports.MayCreate)
	fatal(t, err)
	files = whole.Files()
	damaged := diskWith(t, files).Files()
	damaged["keys/keyring.json"] = []byte(`{"data":{}}`)
	for name, tt := range map[string]struct {
		files map[string][]byte
		from  *token.Key
	}{"valid": {files, &old.Current}, "damaged": {damaged, nil}} {
		base := diskWith(t, tt.files)
		before := base.Files()
		var acked error
		var now token.Keys
		count := crashfs.Explore(base, crashfs.ExploreOptions{Limit: 256, Cases: sample.All(t)}, func(f *crashfs.FS) {
			s, err := process(f, 1)
			fatal(t, err)
			r, err := s.Rotate(ctx, ports.Rotation{By: event.Actor{Kind: event.Human}, AtMs: repairMs, From: tt.from})
			acked, now = err, r.Keys
		}, func(state crashfs.State, done bool) bool {
			s, err := process(state.FS, 2)
			fatal(t, err)
			keys, err := s.Keys(ctx, ports.ReadOnly)
			after := state.FS.Files()
			switch {
			case done && (acked != nil || err != nil || keys.Current != now.Current):
				t.Errorf("%s, %s: an acknowledged rotation is lost: %v, %v", name, state.Name, acked, err)
			case tt.from != nil &&
				(err != nil || keys.Current != old.Current && (keys.Previous == nil || *keys.Previous != old.Current)):
				t.Errorf("%s, %s: the key is lost: %v", name, state.Name, err)
			case tt.from == nil && err != nil && !bytes.Equal(after["keys/keyring.json"], before["keys/keyring.json"]):
				t.Errorf("%s, %s: neither the old keyring nor a new one: %v", name, state.Name, err)
			}
			if tt.from == nil {
				if gone := checkNothingLost(before, after); gone != nil {
					t.Errorf("%s, %s: %v", name, state.Name, gone)
				}
			}
			return !t.Failed()
		})
		t.Logf("%s: %d operations, %d states", name, count.Ops, count.States)
	}
}

// TestRotateRejectsNewerKeyringAndForeignStore: neither is damaged.
func TestRotateRejectsNewerKeyringAndForeignStore(t *testing.T) {
	t.Parallel()
	files, _ := base(t)
	files["keys/keyring.json"] = []byte(
		`{"data":{},"kind":"keyring","sha256":"sha256:44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a","v":2}`)
	f := diskWith(t, files)
	s, err := process(f, 1)
	fatal(t, err)
	if _, err := s.Rotate(context.Background(), ports.Rotation{AtMs: 1}); !fault.Is(err, fault.StoreNewer) {
		t.Errorf("a keyring of a later version: %v; want STORE_NEWER", err)
	}
	if !bytes.Equal(f.Files()["keys/keyring.json"], files["keys/keyring.json"]) {
		t.Error("the newer keyring was replaced")
	}
	foreign := diskWith(t, map[string][]byte{"sessions/sess_01JH/manifest.jsonl": []byte("x")})
	if s, err = process(foreign, 1); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Rotate(context.Background(), ports.Rotation{AtMs: 1}); !fault.Is(err, fault.StoreForeign) {
		t.Errorf("in a store of another program: %v; want STORE_FOREIGN", err)
	}
}

// TestLostManifestKeepsSegments: the note of an interrupted writer and a missing manifest together
// do not make a lock discard the segments.
func TestLostManifestKeepsSegments(t *testing.T) {
	t.Parallel()
	files, _ := base(t)
	log := suite.NewSessionFixture(1).Log
	delete(files, log.Root+"/manifest.jsonl")
	record := append([]byte("\x001 boot/open"), bytes.Repeat([]byte{' '}, 256)...)[:257]
	record[256] = '\n'
	files[log.Root+"/.lock"] = record
	f := diskWith(t, files)
	s, err := process(f, 1)
	fatal(t, err)
	unlock, err := s.Lock(context.Background(), log)
	fatal(t, err)
	fatal(t, unlock())
	left := 0
	for name := range f.Files() {
		if strings.HasPrefix(name, log.Root+"/"+manifest.SegmentDir) {
			left++
		}
	}
	if left != 3 {
		t.Errorf("%d of 3 segments exist", left)
	}
}
