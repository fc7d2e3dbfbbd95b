package main

import (
	"fmt"
	"slices"
	"time"
)

// series collects one measurement's times.
type series struct {
	name  string
	times []time.Duration
}

func (s *series) time(f func() error) error {
	start := time.Now()
	err := f()
	s.times = append(s.times, time.Since(start))
	return err
}

func (s *series) p50() time.Duration { return s.at(50) }

func (s *series) at(percent int) time.Duration {
	sorted := slices.Sorted(slices.Values(s.times))
	return sorted[min(len(sorted)-1, len(sorted)*percent/100)]
}

// table prints each series against a baseline.
func table(title string, unit *series, all ...*series) {
	fmt.Printf("\n%s (%d interleaved rounds)\n", title, len(unit.times))
	fmt.Printf("  %-44s %10s %10s %8s\n", "", "p50", "p90", "ratio")
	for _, s := range all {
		fmt.Printf("  %-44s %10s %10s %8.2f\n", s.name, round(s.p50()), round(s.at(90)),
			float64(s.p50())/float64(unit.p50()))
	}
}

func round(d time.Duration) time.Duration { return d.Round(time.Microsecond) }

// bar prints one bar of the design with what was measured.
func bar(what string, got, most float64) {
	verdict := "reached"
	if got > most {
		verdict = "NOT REACHED"
	}
	fmt.Printf("  bar: %s: %.2f, at most %.2f: %s\n", what, got, most, verdict)
}

func ratio(a, b *series) float64 { return float64(a.p50()) / float64(b.p50()) }
