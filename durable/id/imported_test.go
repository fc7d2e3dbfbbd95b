package id_test

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/waybill/waybill/durable/id"
)

func TestRawRoundTrip(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		var raw [16]byte
		copy(raw[:], rapid.SliceOfN(rapid.Byte(), 16, 16).Draw(rt, "raw"))
		n := id.Node{}.OfRaw(raw)
		if again, err := id.ParseNode(n.String()); err != nil || again != n || n.Raw() != raw {
			rt.Fatalf("%x gives %s, %v, %x", raw, n, err, n.Raw())
		}
	})
	if (id.Gap{}).Raw() != [16]byte{} {
		t.Error("the zero id has bytes that are not zero")
	}
}

// Imported ids differ for another store, another log or another old id.
func TestImportedIDsDependOnAllInputs(t *testing.T) {
	a, b := id.NewStore(id.Seed{1}), id.NewStore(id.Seed{2})
	n := id.RootNode(id.NewRun(id.Seed{1}))
	seen := map[id.Node]bool{n: true}
	for _, made := range []id.Node{n.Imported(a, "h"), n.Imported(b, "h"), n.Imported(a, "i"),
		id.RootNode(id.NewRun(id.Seed{2})).Imported(a, "h")} {
		if seen[made] {
			t.Errorf("%s twice", made)
		}
		seen[made] = true
	}
	r := id.NewRun(id.Seed{1})
	if r.Imported(a, "h") != id.ImportedRun(a, "h", r) {
		t.Error("Run.Imported and ImportedRun differ")
	}
}
