package main

import (
	"fmt"
	"os"
	"path/filepath"
)

// steps compares one step of the engine in this process (look up, decide, append,
// render) with the bare append.
func steps(n int, dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	s, err := open(filepath.Join(dir, "store"))
	if err != nil {
		return err
	}
	defer s.Close()
	w, err := linear(min(n+2, 2000))
	if err != nil {
		return err
	}
	bare, err := newAppender(s)
	if err != nil {
		return err
	}
	r, err := newEngineRun(s, w, 7)
	if err != nil {
		return err
	}
	a, b := &series{name: "one step in process"}, &series{name: "bare append: 3 events + a new snapshot"}
	for range min(n, 1999) {
		if err := a.time(r.step); err != nil {
			return err
		}
		if err := b.time(bare.append); err != nil {
			return err
		}
	}
	table("step", b, a, b)
	bar("step / bare append, p50", ratio(a, b), 1.3)
	return nil
}

// growth compares late steps with early ones in one process.
func growth(_ int, dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	s, err := open(filepath.Join(dir, "store"))
	if err != nil {
		return err
	}
	defer s.Close()
	w, err := linear(2000)
	if err != nil {
		return err
	}
	r, err := newEngineRun(s, w, 9)
	if err != nil {
		return err
	}
	early, late := &series{name: "steps 100 to 300"}, &series{name: "steps 1,780 to 1,980"}
	for i := range 1980 {
		into := &series{}
		switch {
		case i >= 100 && i < 300:
			into = early
		case i >= 1780:
			into = late
		}
		if err := into.time(r.step); err != nil {
			return err
		}
	}
	table("growth in one process", early, late, early)
	bar("late / early, p50", ratio(late, early), 1.2)
	fmt.Println("  (a linear run's snapshot names every completed step: 1,900 of them here)")
	return nil
}
