package canon

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// TestCaseCollisionsOfManyKeys: two keys that differ only in case are found among any number of keys,
// wherever they are, by the parser and by the checker of canonical text.
func TestCaseCollisionsOfManyKeys(t *testing.T) {
	for _, n := range []int{2, 8, 16, 17, 64, 1_000, 20_000} {
		for _, pair := range [][2]string{{"Pair", "pair"}, {"zZ", "zz"}, {"\u00c9t\u00e9", "\u00e9t\u00e9"}, {"K", "\u212a"}} {
			for _, at := range []int{0, n / 2, n - 2} {
				keys := make([]string, n-2)
				for i := range keys {
					keys[i] = fmt.Sprintf("Key%05d", i)
				}
				text := object(keys)
				if _, err := Parse([]byte(text)); err != nil {
					t.Fatalf("%d keys: %v", n, err)
				}
				with := slices.Insert(keys, min(at, len(keys)), pair[0])
				with = append(with, pair[1])
				if _, err := Parse([]byte(object(with))); err == nil || !strings.Contains(err.Error(), "differ only in case") {
					t.Errorf("%d keys with %q at %d: %v", n, pair, at, err)
				}
				slices.SortFunc(with, CompareKeys)
				canonical := object(with)
				var c Checker
				if _, o := c.Value([]byte(canonical), 64, nil); o == Canonical {
					t.Errorf("%d keys with %q: the checker accepts them", n, pair)
				}
			}
		}
	}
}

// object returns an object of these keys, each 0.
func object(keys []string) string {
	parts := make([]string, len(keys))
	for i, k := range keys {
		parts[i] = `"` + k + `":0`
	}
	return "{" + strings.Join(parts, ",") + "}"
}
