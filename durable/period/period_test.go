package period

import (
	"strings"
	"testing"
	"time"

	"github.com/waybill/waybill/durable/limits"
)

// TestParse: the grammar of periods, and its one order of units.
func TestParse(t *testing.T) {
	const s, m, h, d = 1000, 60_000, 3_600_000, 86_400_000
	for text, want := range map[string]int64{
		"90s": 90 * s, "1s": s, "1h30m": h + 30*m, "2d": 2 * d, "1d2h3m4s": d + 2*h + 3*m + 4*s, "3600s": h, "366d": 366 * d,
	} {
		if got, err := Parse(text); err != nil || got != want {
			t.Errorf("Parse(%q) = %d, %v; want %d", text, got, err, want)
		}
	}
	for _, text := range []string{"", "0s", "0", "1", "s", "1h0m", "01h", "30m1h", "1h1h", "1.5h", "-1h", "+1h", " 1h", "1h ", "1 h",
		"1H", "1w", "1ms", "367d", "366d1s", "99999999999d", "99999999999999999999999s", "1h\x00", "１h"} {
		if got, err := Parse(text); err == nil {
			t.Errorf("Parse(%q) = %d, want an error", text, got)
		}
	}
	if _, err := Parse("367d"); err == nil || !strings.Contains(err.Error(), "366d") {
		t.Errorf("the error of a long period does not name the longest: %v", err)
	}
}

// TestText: what Text writes, Parse reads.
func TestText(t *testing.T) {
	for ms, want := range map[int64]string{0: "0s", 999: "0s", 1000: "1s", 90_000: "1m30s", 90_500: "1m30s", 3_600_000: "1h",
		limits.PeriodSecondsMax * 1000: "366d"} {
		if got := Text(ms); got != want {
			t.Errorf("Text(%d) = %q, want %q", ms, got, want)
		}
	}
	for ms := int64(1000); ms <= limits.PeriodSecondsMax*1000; ms = ms*7/3 + 1000 {
		if got, err := Parse(Text(ms)); err != nil || got != ms/1000*1000 {
			t.Fatalf("Parse(Text(%d)) = %d, %v", ms, got, err)
		}
	}
}

// TestParseInstant compares with package time, for one moment of every fourth day of the calendar,
// and tells what is refused.
func TestParseInstant(t *testing.T) {
	for at := time.Date(0, 1, 1, 0, 0, 0, 0, time.UTC); at.Year() < 10_000; at = at.Add(97*time.Hour + 13*time.Second) {
		if got, err := ParseInstant(at.Format(time.RFC3339)); err != nil || got != at.UnixMilli() {
			t.Fatalf("ParseInstant(%s) = %d, %v; want %d", at.Format(time.RFC3339), got, err, at.UnixMilli())
		}
	}
	for text, want := range map[string]int64{
		"1970-01-01T00:00:00Z": 0, "1970-01-01T01:00:00+01:00": 0, "1969-12-31T16:30:00-07:30": 0,
		"1970-01-01T00:00:00.5Z": 500, "1970-01-01T00:00:00.0001Z": 1, "1970-01-01T00:00:00.999999999Z": 1000,
		"2024-02-29T00:00:00Z": time.Date(2024, 2, 29, 0, 0, 0, 0, time.UTC).UnixMilli(),
	} {
		if got, err := ParseInstant(text); err != nil || got != want {
			t.Errorf("ParseInstant(%q) = %d, %v; want %d", text, got, err, want)
		}
	}
	for _, text := range []string{"", "2026-12-01", "2026-12-01T09:00:00", "2026-12-01T09:00Z", "2026-12-01 09:00:00Z",
		"2026-12-01t09:00:00z", "2026-13-01T09:00:00Z", "2026-00-01T09:00:00Z", "2026-02-29T09:00:00Z", "2026-04-31T09:00:00Z",
		"2026-12-00T09:00:00Z", "2026-12-01T24:00:00Z", "2026-12-01T09:60:00Z", "2026-12-01T09:00:60Z", "2026-12-01T09:00:00+24:00",
		"2026-12-01T09:00:00+01:60", "2026-12-01T09:00:00+0100", "2026-12-01T09:00:00.Z", "2026-12-01T09:00:00.0000000000Z",
		"2026-12-01T09:00:00Z\n", "+2026-12-01T09:00:00Z", "12026-12-01T09:00:00Z", "1900-02-29T00:00:00Z"} {
		if got, err := ParseInstant(text); err == nil {
			t.Errorf("ParseInstant(%q) = %d, want an error", text, got)
		}
	}
}

// FuzzParse: both parsers return a value or an error for any text, and a period is within its limit.
func FuzzParse(f *testing.F) {
	for _, text := range []string{"1h30m", "2d", "99999999999d", "0s", "2026-12-01T09:00:00Z"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if ms, err := Parse(text); err == nil && (ms < 1000 || ms > limits.PeriodSecondsMax*1000) {
			t.Fatalf("Parse(%q) = %d", text, ms)
		}
		_, _ = ParseInstant(text)
	})
}
