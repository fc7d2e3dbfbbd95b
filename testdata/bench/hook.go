package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"
)

// hookSessions is how many runs of one repository the store of the measurement has.
const hookSessions = 10_000

// hooks compares 'guard hook' after a compaction with the start of an empty cobra program, in a store of many sessions.
// Every tenth hook follows a change of a run.
func hooks(n int, dir string) error {
	repo, store := filepath.Join(dir, "repo"), filepath.Join(dir, "store")
	if err := os.MkdirAll(filepath.Join(repo, ".git"), 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(repo, ".git", "HEAD"), []byte("ref: refs/heads/main\n"), 0o644); err != nil {
		return err
	}
	bin, empty := filepath.Join(dir, "waybill"), filepath.Join(dir, "emptycobra")
	if err := build(filepath.Join("..", ".."), bin, "./cmd/waybill"); err != nil {
		return err
	}
	if err := build(".", empty, "./emptycobra"); err != nil {
		return err
	}
	file := filepath.Join(repo, "bench.json")
	if err := writeSource(file, 3); err != nil {
		return err
	}
	in := func(args ...string) *exec.Cmd {
		cmd := exec.Command(bin, append(args, "--store", store)...)
		cmd.Dir = repo
		return cmd
	}
	if err := startMany(in, file); err != nil {
		return err
	}
	input, err := json.Marshal(map[string]string{"session_id": "s", "cwd": repo, "hook_event_name": "SessionStart",
		"source": "compact"})
	if err != nil {
		return err
	}
	hook := func() error {
		cmd := in("guard", "hook", "SessionStart")
		cmd.Stdin = strings.NewReader(string(input))
		out, err := cmd.Output()
		if err == nil && !strings.Contains(string(out), "Its pending step is") {
			err = fmt.Errorf("the hook shows no step: %q", out)
		}
		return err
	}
	for range 60 { // the first hooks make the list, half a second at a time
		if err := hook(); err != nil {
			return err
		}
	}
	a, b := &series{name: fmt.Sprintf("guard hook, %d sessions", hookSessions)}, &series{name: "an empty cobra program"}
	for i := range max(n, 1000) {
		if i%10 == 0 {
			if out, err := in("continue", "--run", "@last", "--done").CombinedOutput(); err != nil {
				if out, err = in("start", file).CombinedOutput(); err != nil {
					return fmt.Errorf("%w: %s", err, out)
				}
			}
		}
		if err := a.time(hook); err != nil {
			return err
		}
		if err := b.time(exec.Command(empty).Run); err != nil {
			return err
		}
	}
	table("guard hook", b, a, b)
	fmt.Printf("  p99: %s and %s\n", round(a.at(99)), round(b.at(99)))
	bar("p99 over that of an empty cobra program, ms", float64(a.at(99)-b.at(99))/float64(time.Millisecond), 20)
	return nil
}

// startMany starts the runs, two at a time.
func startMany(in func(args ...string) *exec.Cmd, file string) error {
	var started atomic.Int64
	var group errgroup.Group
	for range 2 {
		group.Go(func() error {
			for started.Add(1) <= hookSessions {
				if out, err := in("start", file).CombinedOutput(); err != nil {
					return fmt.Errorf("%w: %s", err, out)
				}
			}
			return nil
		})
	}
	return group.Wait()
}
