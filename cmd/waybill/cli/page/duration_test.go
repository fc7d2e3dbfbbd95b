package page

import (
	"testing"
	"time"
)

func TestDuration(t *testing.T) {
	for ms, want := range map[int]string{0: "0s", 7: "7ms", 999: "999ms", 1000: "1s", 1049: "1.0s", 59_960: "59.9s",
		60_000:    "1m00s",
		3_599_000: "59m59s", 3_600_000: "1h00m", 90_061_000: "25h01m"} {
		if got := Duration(time.Duration(ms) * time.Millisecond); got != want {
			t.Errorf("%d ms: %s, want %s", ms, got, want)
		}
	}
}
