package layout

import (
	"testing"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/manifest"
)

// TestNamesAreParsedInOneSpelling: a name that is parsed is the one that is made of the result.
func TestNamesAreParsedInOneSpelling(t *testing.T) {
	t.Parallel()
	session, ref := id.NewSession(id.Seed{1}), canon.Sum([]byte("x"))
	name := TrashName(session, 1_760_000_000_000)
	if s, at, ok := ParseTrashName(name); !ok || s != session || at != 1_760_000_000_000 {
		t.Errorf("%s: %v, %d, %v", name, s, at, ok)
	}
	for _, wrong := range []string{"", session.String(), session.String() + ".", session.String() + ".01",
		session.String() + ".1.2", "x.1", name + " "} {
		if _, _, ok := ParseTrashName(wrong); ok {
			t.Errorf("%q is the name of a session in the trash", wrong)
		}
	}
	for _, kind := range manifest.ObjectKinds() {
		name := manifest.ObjectName(kind, ref)
		if got, ok := ParseObjectName(kind, name); !ok || got != ref {
			t.Errorf("%s: %v, %v", name, got, ok)
		}
		if _, ok := ParseObjectName(kind, name+erasedSuffix); ok {
			t.Errorf("a tombstone is the name of a stored %s", kind)
		}
	}
	name = manifest.ObjectName(manifest.Artifact, ref)
	if got, ok := ParseTombstoneName(name + erasedSuffix); !ok || got != ref {
		t.Errorf("tombstone of %s: %v, %v", name, got, ok)
	}
	if _, ok := ParseTombstoneName(name); ok {
		t.Errorf("an artifact is a tombstone")
	}
}

// TestRemovableControlFiles: store.json stays, and no name leaves the store's directory.
func TestRemovableControlFiles(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]bool{"config.json": true, "trust.json": true, StoreFile: false, KeyringFile: false,
		HTTPKeysFile: true, "../config.json": false, "keys/../http.json": false, "": false} {
		if IsRemovable(name) != want {
			t.Errorf("%q is removable: %v", name, !want)
		}
	}
}
