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

// hooks compares 'guard hook' after a compaction, and one that refuses the end of a turn and records that, with the
// start of an empty cobra program, in a store of many sessions. Every tenth round follows a change of a run.
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
	calls := hookCalls{in: in, repo: repo}
	hook, refusal := calls.of("SessionStart", "Its pending step is"), calls.of("Stop", "This is refusal 1 of")
	for range 60 { // the first hooks make the list, half a second at a time
		if err := hook(); err != nil {
			return err
		}
	}
	a, b := &series{name: fmt.Sprintf("guard hook, %d sessions", hookSessions)}, &series{name: "an empty cobra program"}
	c := &series{name: "guard hook with a refusal"}
	for i := range max(n, 1000) {
		if i%10 == 0 { // a step has the chats of ten rounds, and no run is complete
			change := in("continue", "--run", "@last", "--done")
			if i%30 == 0 {
				change = in("start", file)
			}
			if out, err := change.CombinedOutput(); err != nil {
				return fmt.Errorf("%w: %s", err, out)
			}
		}
		if err := a.time(hook); err != nil {
			return err
		}
		if err := c.time(refusal); err != nil {
			return err
		}
		if err := b.time(exec.Command(empty).Run); err != nil {
			return err
		}
	}
	table("guard hook", b, a, c, b)
	fmt.Printf("  p99: %s, with a refusal %s, and %s; %d turns were let go\n", round(a.at(99)), round(c.at(99)),
		round(b.at(99)), calls.letGo)
	bar("p99 over that of an empty cobra program, ms", float64(a.at(99)-b.at(99))/float64(time.Millisecond), 20)
	return nil
}

// hookCalls calls hooks, each in another chat: one is refused at most twice at a step.
type hookCalls struct {
	in   func(args ...string) *exec.Cmd
	repo string
	chat int
	// letGo counts the ends of turns that were not refused: the hook was too slow, or a step had too many chats.
	letGo int
}

// of returns the call of a hook, whose answer has a text.
func (h *hookCalls) of(event, says string) func() error {
	return func() error {
		h.chat++
		input, err := json.Marshal(map[string]string{"session_id": fmt.Sprint(h.chat), "cwd": h.repo,
			"hook_event_name": event})
		if err != nil {
			return err
		}
		cmd := h.in("guard", "hook", event)
		cmd.Stdin = strings.NewReader(string(input))
		out, err := cmd.Output()
		if err == nil && len(out) == 0 && event == "Stop" {
			h.letGo++
			return nil
		}
		if err == nil && !strings.Contains(string(out), says) {
			err = fmt.Errorf("the hook %s answers %q", event, out)
		}
		return err
	}
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
