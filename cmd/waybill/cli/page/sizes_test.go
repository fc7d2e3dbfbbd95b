package page

import (
	"testing"
)

func TestSizes(t *testing.T) {
	for bytes, want := range map[int64]string{0: "0 B", 999: "999 B", 1000: "1.0 kB", 1234: "1.2 kB", 9949: "9.9 kB",
		9950: "10 kB", 12_345: "12 kB",
		999_499: "999 kB", 999_500: "1.0 MB", 1_234_567: "1.2 MB", 5_000_000_000: "5.0 GB",
		2_000_000_000_000_000: "2000 TB"} {
		if got := Size(bytes); got != want {
			t.Errorf("%d: %q, want %q", bytes, got, want)
		}
	}
}
