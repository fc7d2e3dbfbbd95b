// Command bench measures Waybill next to its baselines in one interleaved run:
// the machine is noisy, so a time alone says little and a ratio says something.
// It prints counts first, then ratios against the bars of docs/performance.md.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
)

func main() {
	if len(os.Args) > 4 && os.Args[1] == measuring {
		if err := measure(os.Args[2:]); err != nil {
			fmt.Fprintln(os.Stderr, "bench:", err)
			os.Exit(1)
		}
		return
	}
	n := flag.Int("n", 400, "rounds of each interleaved measurement")
	dir := flag.String("dir", "", "where to write (default: a temporary folder on the disk that holds this repository)")
	only := flag.String("only", "", "one part: counts, append, cpu, step, process, run, growth, verify, streams, hook, serve, lists, commits, driver or database")
	flag.Parse()
	if err := run(*n, *dir, *only); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(n int, dir, only string) error {
	if dir == "" {
		base := filepath.Join("..", "..", "bin")
		if err := os.MkdirAll(base, 0o755); err != nil {
			return err
		}
		made, err := os.MkdirTemp(base, "bench-")
		if err != nil {
			return err
		}
		defer os.RemoveAll(made)
		dir = made
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return err
	}
	parts := []struct {
		name string
		run  func(n int, dir string) error
	}{{"counts", counts}, {"append", appends}, {"cpu", cpu}, {"step", steps}, {"process", processes},
		{"run", runCommand}, {"growth", growth}, {"verify", verifications}, {"streams", streams},
		{"hook", hooks}, {"serve", serving}, {"lists", lists}, {"commits", commits}, {"driver", driver},
		{"database", database}}
	for _, p := range parts {
		if only != "" && only != p.name {
			continue
		}
		if err := p.run(n, filepath.Join(dir, p.name)); err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
	}
	return nil
}
