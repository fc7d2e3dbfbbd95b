package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"

	"github.com/waybill/waybill/ports/porttest/big"
)

// streams compares commands that show the history of one long session with a plain read of the files that they read,
// and prints the memory of every command that reads whole stores, at a million events.
func streams(_ int, dir string) error {
	bin := filepath.Join(dir, "waybill")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	if err := build(filepath.Join("..", ".."), bin, "./cmd/waybill"); err != nil {
		return err
	}
	for _, per := range []int64{0, 5_000} {
		if err := historyOf(bin, filepath.Join(dir, fmt.Sprint("of-", per)), per); err != nil {
			return err
		}
	}
	return memories(bin, filepath.Join(dir, "million"))
}

// historyOf measures the views of 100,000 events in segments of about per, 0: in those of one append.
func historyOf(bin, at string, per int64) error {
	s, err := big.Write(at, 100_000, per)
	if err != nil {
		return err
	}
	// As every session that the program wrote, it has a head cache.
	if err := exec.Command(bin, "--store", at, "checkpoint", "--run", "@last", "--notes", "x").Run(); err != nil {
		return err
	}
	log, err := filesIn(filepath.Join(at, "sessions"))
	if err != nil {
		return err
	}
	snapshots, err := filesIn(filepath.Join(at, "snapshots"))
	if err != nil {
		return err
	}
	all := append(log[:len(log):len(log)], snapshots...)
	title := fmt.Sprintf("history: %d events in %d segments", s.Head.Next, s.Segments)
	for _, view := range []struct {
		args  string
		files []string
	}{{"runs events", log}, {"runs events --json", log}, {"runs timeline", all}, {"runs timeline --json", all},
		{"runs graph", all}} {
		command, plain := &series{name: "waybill " + view.args}, &series{name: "plain read of the same files"}
		args := append([]string{"--store", at}, strings.Fields(view.args)...)
		for range verifyRounds {
			if err := plain.time(func() error { return readAll(view.files) }); err != nil {
				return err
			}
			if err := command.time(func() error { return exec.Command(bin, args...).Run() }); err != nil {
				return err
			}
		}
		rss, err := memoryOf(bin, args...)
		if err != nil {
			return err
		}
		table(title, plain, command, plain)
		bar(view.args+" / plain read, p50", ratio(command, plain), 2)
		bar("MiB of "+view.args, float64(rss)/1024, 64)
	}
	return nil
}

// memories prints the largest resident set of each command at a million events.
func memories(bin, at string) error {
	s, err := big.Write(at, 1_000_000, 5_000)
	if err != nil {
		return err
	}
	fmt.Printf("\nmemory: %d events in %d segments, %d objects\n", s.Head.Next, s.Segments, s.Objects)
	bundle := at + ".wbundle"
	for _, args := range [][]string{{"verify"}, {"export", s.Session.String(), "-o", bundle}, {"bundle", "verify", bundle},
		{"runs", "list"}, {"runs", "show"}, {"runs", "show", "--json"}, {"artifacts", "list", "@last"}, {"runs", "logs"}, {"inbox"}, {"du"}, {"gc"}, {"doctor"}, {"runs", "events"}, {"runs", "events", "--json"},
		{"runs", "timeline"}, {"runs", "timeline", "--json"}, {"runs", "graph"}, {"runs", "graph", "--json"}} {
		rss, err := memoryOf(bin, append([]string{"--store", at}, args...)...)
		if err != nil {
			return fmt.Errorf("%s: %w", strings.Join(args, " "), err)
		}
		bar("MiB of "+strings.Join(args[:min(2, len(args))], " "), float64(rss)/1024, 64)
	}
	return nil
}

// measuring is the argument with which this program runs a command and prints its largest resident set.
const measuring = "measure-memory"

// memoryOf runs a command without its output and returns its largest resident set in KiB. The kernel counts the memory
// of the process that starts another one as its least, and this process wrote a store: a small one starts the command.
func memoryOf(bin string, args ...string) (int64, error) {
	out, err := exec.Command(os.Args[0], append([]string{measuring, bin}, args...)...).Output()
	if err != nil {
		return 0, err
	}
	return strconv.ParseInt(strings.TrimSpace(string(out)), 10, 64)
}

// measure runs a command and prints what memoryOf returns, 0 on systems that count other units. doctor may report
// findings of the machine.
func measure(command []string) error {
	cmd := exec.Command(command[0], command[1:]...)
	if err := cmd.Run(); err != nil && (cmd.ProcessState == nil || command[3] != "doctor") {
		return err
	}
	used, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage)
	if !ok || runtime.GOOS != "linux" {
		used = &syscall.Rusage{}
	}
	fmt.Println(used.Maxrss)
	return nil
}

// readAll reads files one after the other.
func readAll(files []string) error {
	buffer := make([]byte, 128<<10)
	for _, path := range files {
		f, err := os.Open(path)
		if err != nil {
			return err
		}
		for err == nil {
			_, err = f.Read(buffer)
		}
		f.Close()
	}
	return nil
}
