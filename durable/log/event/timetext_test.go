package event_test

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/waybill/waybill/durable/log/event"
)

// TimeText agrees with package time.
func TestTimeTextMatchesPackageTime(t *testing.T) {
	spelled := func(ms int64) string { return time.UnixMilli(ms).UTC().Format("2006-01-02T15:04:05.000Z") }
	first, last := time.Date(0, 1, 1, 0, 0, 0, 0, time.UTC).UnixMilli(), time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC).
		UnixMilli()-1
	for _, ms := range []int64{0, -1, 1, 999, first, last, 951_782_400_000, 951_868_799_999, 4_107_542_399_999,
		-62_162_035_200_001} {
		if got := event.TimeText(ms); got != spelled(ms) {
			t.Errorf("%d: %s, want %s", ms, got, spelled(ms))
		}
	}
	for ms, want := range map[int64]string{first - 1: spelled(first), -1 << 63: spelled(first), last + 1: spelled(last),
		1<<63 - 1: spelled(last)} {
		if got := event.TimeText(ms); got != want {
			t.Errorf("%d: %s, want %s", ms, got, want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		ms := rapid.Int64Range(first, last).Draw(t, "ms")
		if got := event.TimeText(ms); got != spelled(ms) {
			t.Fatalf("%d: %s, want %s", ms, got, spelled(ms))
		}
		if back, err := time.Parse(time.RFC3339, event.TimeText(ms)); err != nil || back.UnixMilli() != ms {
			t.Fatalf("%d: read back as %v, %v", ms, back, err)
		}
	})
}
