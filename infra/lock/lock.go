// Package lock keeps writers of one log apart (locks section 15; R6): file locks
// that are waited for a while, whose file tells who holds it and what the last
// holder left to say. It decides nothing about the logs themselves.
package lock

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strconv"
	"strings"
	"time"

	"github.com/waybill/waybill/infra/osfs"
)

// How says what a lock excludes.
type How int

// The ways to lock.
const (
	Exclusive     How = iota
	Shared            // makes the file when it is not there
	SharedIfThere     // a lock file that is not there is not made: nobody writes then
)

// Busy says that somebody else holds the lock; PID is 0 when it is not known.
type Busy struct{ PID int }

// Error names the holder.
func (b *Busy) Error() string {
	if b.PID == 0 {
		return "the lock is held by another process"
	}
	return fmt.Sprintf("the lock is held by process %d", b.PID)
}

// exclusion is what keeps holders apart: the operating system, or memory.
type exclusion interface {
	// try locks the file of a name that is there; ok is false when it is held.
	try(name string, exclusive bool) (g grip, ok bool, err error)
}

type grip interface {
	// of tells which file is locked, to compare with what the name stands for now.
	of() (osfs.Info, error)
	release() error
}

// Locks gives the lock files of one directory tree.
type Locks struct {
	fs   osfs.FS
	keep exclusion
	pid  int
}

// Held is a lock that is held until Unlock.
type Held struct {
	grip grip
	file osfs.File // of an exclusive lock, to write notes into
	pid  int
	note string
}

// The pause between two tries grows, so that a short hold costs little waiting
// and a long one little work.
const (
	pauseMin = 500 * time.Microsecond
	pauseMax = 20 * time.Millisecond
)

// Acquire takes the lock of a file, waiting for at most wait (0: not at all).
// Somebody else's is *Busy; a missing directory is fs.ErrNotExist. An exclusive
// holder's pid stands in the file for those who wait.
func (l *Locks) Acquire(ctx context.Context, name string, how How, wait time.Duration) (*Held, error) {
	// Polled, not blocked: a blocking lock would outlive the caller's context, and the
	// holder may be a process that is stopped.
	deadline := time.Now().Add(wait)
	for pause := pauseMin; ; pause = min(2*pause, pauseMax) {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		held, ok, err := l.try(ctx, name, how)
		if ok || err != nil {
			return held, err
		}
		left := time.Until(deadline)
		if left <= 0 {
			return nil, &Busy{PID: l.holder(name)}
		}
		timer := time.NewTimer(min(pause, left))
		select {
		case <-ctx.Done():
			timer.Stop()
			return nil, ctx.Err()
		case <-timer.C:
		}
	}
}

// ErrMoved says that the file that is locked never is the one that the tree holds:
// the folder was moved away while it was open, and another stands at its path.
var ErrMoved = errors.New("the folder was moved or replaced while it was in use")

// startsOver bounds how often a lock is started over. A cleanup that removes the
// file costs one; so many are no cleanup's.
const startsOver = 100

// try locks and then looks whether the name still stands for what was locked: a
// cleanup may have removed the file in between, and a lock on a removed file
// excludes nobody (R6).
func (l *Locks) try(ctx context.Context, name string, how How) (*Held, bool, error) {
	for range startsOver {
		if err := ctx.Err(); err != nil {
			return nil, false, err
		}
		g, ok, err := l.keep.try(name, how == Exclusive)
		if errors.Is(err, fs.ErrNotExist) {
			if how == SharedIfThere {
				return &Held{}, true, nil
			}
			if err := l.make(name); err != nil {
				return nil, false, err
			}
			continue
		}
		if err != nil || !ok {
			return nil, false, err
		}
		held := &Held{grip: g, pid: l.pid}
		same, err := l.attach(held, name, how)
		if same && err == nil {
			return held, true, nil
		}
		// The name stands for another file, or for none: start over with that.
		_ = held.Unlock()
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, false, err
		}
	}
	return nil, false, fmt.Errorf("lock %s: %w", name, ErrMoved)
}

// attach opens the file of an exclusive lock, reads what its last holder left
// and writes who holds it now.
func (l *Locks) attach(h *Held, name string, how How) (same bool, err error) {
	locked, err := h.grip.of()
	if err != nil {
		return false, err
	}
	if how != Exclusive {
		now, err := l.fs.Stat(name)
		return err == nil && osfs.SameFile(locked, now), err
	}
	if h.file, err = l.fs.Open(name, osfs.Update); err != nil {
		return false, err
	}
	now, err := h.file.Stat()
	if err != nil || !osfs.SameFile(locked, now) {
		return false, err
	}
	// Only now: what is written before the comparison could land in a file that is
	// not this tree's.
	pid, note := readRecord(h.file)
	h.note = note
	if pid != l.pid {
		// A full disk must not keep anyone from trying: the pid is a courtesy.
		_ = h.write()
	}
	return true, nil
}

// make makes the file through the seam, which keeps it private and follows no link;
// the locking library would do neither.
func (l *Locks) make(name string) error {
	f, err := l.fs.Open(name, osfs.New)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return f.Close()
}

// holder is the pid in the file, 0 where none can be read.
func (l *Locks) holder(name string) int {
	pid, _ := l.record(name)
	return pid
}

func (l *Locks) record(name string) (pid int, note string) {
	f, err := l.fs.Open(name, osfs.Read)
	if err != nil {
		return 0, ""
	}
	defer f.Close()
	return readRecord(f)
}

// Note is what the last exclusive holder left to say, for those who hold the lock
// shared; "" when nothing can be known.
func (l *Locks) Note(name string) string {
	_, note := l.record(name)
	return note
}

// Note is what the last exclusive holder left to say, or what was set since.
func (h *Held) Note() string { return h.note }

// SetNote leaves a note for the next holder. It is written, not synced: a power
// cut may lose it or bring an older one back, which its meaning must survive.
func (h *Held) SetNote(note string) error {
	if h.file == nil {
		return fs.ErrClosed
	}
	h.note = note
	return h.write()
}

// Unlock lets go. The zero Held, which locked nothing, has nothing to let go of.
func (h *Held) Unlock() error {
	var err error
	if h.file != nil {
		err = h.file.Close()
		h.file = nil
	}
	if h.grip != nil {
		err = errors.Join(err, h.grip.release())
		h.grip = nil
	}
	return err
}

// The record is one line of fixed length, within one sector so that it is never
// torn. It starts at the second byte: Windows lets nobody else touch the first
// while it is locked.
const (
	recordAt    = 1
	recordBytes = 256
)

// write writes the whole record in place: a shorter note must not leave the end of
// a longer one, and truncating first could leave none.
func (h *Held) write() error {
	line := strconv.Itoa(h.pid) + " " + h.note
	if len(line) >= recordBytes || strings.ContainsAny(h.note, " \n") {
		return fs.ErrInvalid
	}
	record := bytes.Repeat([]byte{' '}, recordBytes)
	copy(record, line)
	record[recordBytes-1] = '\n'
	_, err := h.file.WriteAt(record, recordAt)
	return err
}

// readRecord believes nothing: a file that a crash cut short, or that another
// program wrote, names nobody and says nothing.
func readRecord(f osfs.File) (pid int, note string) {
	record := make([]byte, recordBytes)
	n, err := f.ReadAt(record, recordAt)
	if err != nil && !errors.Is(err, io.EOF) || n < recordBytes {
		return 0, ""
	}
	fields := strings.Fields(string(record))
	if len(fields) == 0 {
		return 0, ""
	}
	if pid, err = strconv.Atoi(fields[0]); err != nil || pid < 0 {
		return 0, ""
	}
	if len(fields) > 1 {
		note = fields[1]
	}
	return pid, note
}
