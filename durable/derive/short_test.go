package derive_test

import (
	"fmt"
	"testing"

	"github.com/waybill/waybill/durable/derive"
)

// Sum returns pinned values: stored values are compared with new ones.
func TestShorts(t *testing.T) {
	s := derive.NewShortHasher("waybill test")
	seen := map[uint64]bool{}
	for _, row := range []struct {
		kind   byte
		within uint64
		text   string
		want   string
	}{
		{0, 0, "", "14b280339f35753f"}, {'a', 0, "", "52e099186c1afe4f"}, {0, 1, "", "4c91592c12c7b0f8"},
		{0, 0, "a", "6684b986c03cb1fd"}, {0, 0, "a\x00", "cebe5fecc838482f"}, {'a', 1, "bc", "6483175b7c35b616"},
	} {
		got := s.Sum(row.kind, row.within, []byte(row.text))
		if fmt.Sprintf("%016x", got) != row.want {
			t.Errorf("%q %d %q: got %016x, want %s", row.kind, row.within, row.text, got, row.want)
		}
		if seen[got] {
			t.Errorf("%q %d %q: %016x is the result for other arguments", row.kind, row.within, row.text, got)
		}
		seen[got] = true
		if again := s.Sum(row.kind, row.within, []byte(row.text)); again != got {
			t.Errorf("%q %d %q: %016x the second time", row.kind, row.within, row.text, again)
		}
		if other := derive.NewShortHasher("waybill other test").
			Sum(row.kind, row.within, []byte(row.text)); other == got {
			t.Errorf("%q %d %q: the same under another context", row.kind, row.within, row.text)
		}
	}
}
