package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/waybill/waybill/ports/porttest/big"
)

// listed is a command over a store of many sessions, and what it may take beside the baseline.
type listed struct {
	name string
	args []string
	most time.Duration
	only bool // most is all that it may take
}

// lists compares whole processes that list and search 10,000 sessions with the least that finds out what changed: the
// directory read once, and one stat a session.
func lists(n int, dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	bin := filepath.Join(dir, "waybill")
	if err := build(filepath.Join("..", ".."), bin, "./cmd/waybill"); err != nil {
		return err
	}
	for _, steps := range []int{4, 20} {
		store := filepath.Join(dir, fmt.Sprintf("steps-%d", steps))
		if err := big.WriteMany(store, 10_000, steps); err != nil {
			return err
		}
		if err := listing(min(n, 15), bin, store, steps); err != nil {
			return err
		}
	}
	return nil
}

func listing(rounds int, bin, store string, steps int) error {
	all := []listed{
		{"runs list", []string{"runs", "list"}, 10 * time.Millisecond, false},
		{"runs list --json", []string{"runs", "list", "--json"}, 10 * time.Millisecond, false},
		{"runs list --limit 20", []string{"runs", "list", "--limit", "20"}, 5 * time.Millisecond, false},
		{"runs show @last", []string{"runs", "show", "@last"}, 5 * time.Millisecond, false},
		{"resume", []string{"resume"}, 30 * time.Millisecond, false},
		{"resume session-4711", []string{"resume", "session-4711"}, 30 * time.Millisecond, false},
		{"resume failing job", []string{"resume", "failing", "job"}, 30 * time.Millisecond, false},
		{"runs search session-4711", []string{"runs", "search", "session-4711"}, 300 * time.Millisecond, true},
		{"runs search failing job", []string{"runs", "search", "failing job"}, 300 * time.Millisecond, true},
		{"runs search absent", []string{"runs", "search", "absent"}, 300 * time.Millisecond, true},
	}
	base, times := &series{name: "readdir + one stat a session"}, make([]*series, len(all))
	time.Sleep(3 * time.Second) // the index keeps what did not change in the last two seconds
	for round := range rounds + 1 {
		if round == 1 { // the first writes the index
			base.times = nil
		}
		if err := base.time(func() error { return statEach(filepath.Join(store, "sessions")) }); err != nil {
			return err
		}
		for i, c := range all {
			if round <= 1 {
				times[i] = &series{name: c.name}
			}
			if err := times[i].time(func() error { return quiet(bin, store, c.args) }); err != nil {
				return err
			}
		}
	}
	table(fmt.Sprintf("10,000 sessions of %d steps, whole processes", steps), base, append([]*series{base}, times...)...)
	for i, c := range all {
		may := base.p50()*3/2 + c.most
		if c.only {
			may = c.most
		}
		bar(fmt.Sprintf("%s, ms", c.name), ms(times[i].p50()), ms(may))
	}
	return nil
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// quiet runs a command and reads what it prints.
func quiet(bin, store string, args []string) error {
	cmd := exec.Command(bin, append(args, "--store", store)...)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%v: %w: %s", args, err, out.String())
	}
	return nil
}

// statEach reads a directory and observes one file in each of its directories.
func statEach(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if _, err := os.Lstat(dir + "/" + e.Name() + "/manifest.jsonl"); err != nil {
			return err
		}
	}
	return nil
}
