package manifest

import (
	"bytes"
	"testing"
)

// torn, for every length of a group of five sectors, every combination of lost sectors, and every
// class of offsets: too many cases to read a log for each.
func TestTornRule(t *testing.T) {
	group := bytes.Repeat([]byte("0123456789abcdef\n"), 130)
	for _, at := range []int64{0, 1, 200, 511, 512, 1000} {
		for n := 1; n <= len(group); n += 1 + n%3 {
			var parts [][]byte
			have := bytes.Clone(group[:n])
			for start := 0; start < n; {
				end := min(n, start+SectorBytes-int((at+int64(start))%SectorBytes))
				parts = append(parts, have[start:end])
				start = end
			}
			for mask := range 1 << len(parts) {
				copy(have, group)
				for i, part := range parts {
					if mask&(1<<i) != 0 {
						clear(part)
					}
				}
				if !torn(have, group, at) {
					t.Fatalf("offset %d, %d bytes, parts %b lost: not torn", at, n, mask)
				}
				// A crash does not leave half a sector.
				if i := mask % len(parts); len(parts[i]) > 1 {
					copy(parts[i], group[len(group)-n%7-len(parts[i]):])
					parts[i][0] = 0
					parts[i][1] = 'x'
					if torn(have, group, at) {
						t.Fatalf("offset %d, %d bytes: half a part %d is torn", at, n, i)
					}
				}
			}
		}
	}
	if torn(append(group, 0), group, 0) {
		t.Error("bytes longer than the group are reported as torn")
	}
}
