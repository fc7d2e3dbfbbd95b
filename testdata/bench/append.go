package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/waybill/waybill/ports"
)

// appends compares one append with SQLite's commit of the same rows and with one
// write + fdatasync.
func appends(n int, dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	s, err := open(filepath.Join(dir, "store"))
	if err != nil {
		return err
	}
	defer s.Close()
	if _, err := s.StoreID(context.Background(), ports.MayCreate); err != nil {
		return err
	}
	ours, err := newAppender(s)
	if err != nil {
		return err
	}
	theirs, err := openSQLite(filepath.Join(dir, "base.db"))
	if err != nil {
		return err
	}
	defer theirs.db.Close()
	rows := *ours
	f, err := os.Create(filepath.Join(dir, "one"))
	if err != nil {
		return err
	}
	defer f.Close()
	one := &oneWrite{f}
	a, b, c := &series{name: "append: 3 events + a new snapshot"}, &series{name: "SQLite WAL FULL, the same rows"},
		&series{name: "one write + fdatasync"}
	for range n {
		for _, round := range []struct {
			s *series
			f func() error
		}{{a, ours.append}, {b, func() error { return theirs.commit(&rows) }}, {c, one.commit}} {
			if err := round.s.time(round.f); err != nil {
				return err
			}
		}
	}
	table("append", c, a, b, c)
	bar("append / SQLite commit, p50", ratio(a, b), 3)
	return nil
}

// cpu is the processor time of an append where no disk waits: tmpfs.
func cpu(n int, _ string) error {
	base := "/dev/shm"
	if _, err := os.Stat(base); err != nil {
		fmt.Println("\ncpu: skipped, there is no /dev/shm")
		return nil
	}
	dir, err := os.MkdirTemp(base, "waybill-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	s, err := open(filepath.Join(dir, "store"))
	if err != nil {
		return err
	}
	defer s.Close()
	ours, err := newAppender(s)
	if err != nil {
		return err
	}
	for range n {
		if err := ours.append(); err != nil {
			return err
		}
	}
	before, start := used(), time.Now()
	rounds := 5 * n
	for range rounds {
		if err := ours.append(); err != nil {
			return err
		}
	}
	each := float64((used() - before).Microseconds()) / float64(rounds)
	fmt.Printf("\ncpu of an append on tmpfs (%d appends): %.0f us of processor time, %s of the clock\n", rounds, each,
		round(time.Since(start)/time.Duration(rounds)))
	bar("microseconds of processor time", each, 150)
	return nil
}

func used() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
