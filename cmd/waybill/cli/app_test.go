package cli

import (
	"testing"
	"time"

	"github.com/waybill/waybill/durable/run/command"
)

func TestWordQuotesForShell(t *testing.T) {
	for word, want := range map[string]string{"": "''", "a-b_c.d/e:f=g@h%i+j,k": "a-b_c.d/e:f=g@h%i+j,k",
		"a b": "'a b'", "it's": `'it'\''s'`, "$HOME": "'$HOME'", "…": "'…'", "~": "'~'"} {
		if got := command.Word(word); got != want {
			t.Errorf("%q: %s", word, got)
		}
	}
}

func TestAgo(t *testing.T) {
	now := time.UnixMilli(10_000_000_000)
	a := &App{Process: Process{Clock: func() time.Time { return now }}}
	for d, want := range map[time.Duration]string{0: "now", -time.Hour: "now", 59 * time.Second: "now",
		time.Minute: "1 min", 59*time.Minute + 59*time.Second: "59 min",
		time.Hour: "1 h", 47 * time.Hour: "47 h", 48 * time.Hour: "2 days", 1000 * time.Hour: "41 days"} {
		if got := a.Ago(now.Add(-d).UnixMilli()); got != want {
			t.Errorf("%s: %q, want %q", d, got, want)
		}
	}
	if a.Ago(0) != "" {
		t.Error("want no age for an unknown time")
	}
}
