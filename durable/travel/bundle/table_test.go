package bundle

import (
	"bytes"
	"strings"
	"testing"

	"github.com/waybill/waybill/durable/canon"
)

func TestReferences(t *testing.T) {
	good := canon.Sum([]byte("x"))
	if ref, ok := parseReference([]byte(good.String())); !ok || ref != good.Raw() {
		t.Error(ref, ok)
	}
	for _, bad := range []string{"", "sha256:", good.String()[1:], good.String() + "0", strings.ToUpper(good.String()),
		strings.Replace(good.String(), ":", "_", 1),
		good.String()[:70] + "g", good.String()[:70] + "A", "SHA256" + good.String()[6:]} {
		if _, ok := parseReference([]byte(bad)); ok {
			t.Errorf("%q accepted", bad)
		}
	}
}

// TestTable: every added reference is found, and embedded ones are sorted.
func TestTable(t *testing.T) {
	tab := newTable("snapshot")
	const n = 5000
	for i := range n {
		r, at := tab.get(canon.Sum([]byte{byte(i), byte(i >> 8)}).Raw())
		if at != uint32(i) || r.marks != 0 {
			t.Fatalf("%d: %d %v", i, at, r)
		}
		r.marks, r.at = embedded, uint32(i)
	}
	for i := range n {
		if r, at := tab.get(canon.Sum([]byte{byte(i), byte(i >> 8)}).Raw()); at != uint32(i) || r.at != uint32(i) {
			t.Fatalf("%d: %d %v", i, at, r)
		}
	}
	tab.get(reference{}) // needed, not embedded
	tab.sortEmbedded()
	for i, at := range tab.order {
		if i > 0 && bytes.Compare(tab.row(tab.order[i-1]).ref[:], tab.row(at).ref[:]) >= 0 {
			t.Fatalf("unsorted at %d", i)
		}
	}
	if _, ok := tab.find(reference{}); ok || len(tab.order) != n {
		t.Errorf("%d rows in order", len(tab.order))
	}
}
