// Package lock implements lock files that keep the writers of one log apart
// (docs/design.md#commit-protocol). Locks are acquired with a bounded wait; the file of an
// exclusive lock records the process id of its holder and a note for the next one. Files locks
// through the operating system, Memory within one process for tests. The package knows nothing
// about logs; the meaning of notes is defined by its callers. Start with Locks.Acquire.
package lock

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/waybill/waybill/infra/osfs"
)

// Mode is the mode of a lock.
type Mode int

// The modes. Exclusive excludes every other holder, the shared ones exclude exclusive holders.
const (
	Exclusive      Mode = iota
	Shared              // creates the file when it is missing
	SharedIfExists      // does not create a missing lock file: without one there is no writer
)

// Busy is the error for a lock that another process holds; PID is 0 when the holder is unknown.
type Busy struct{ PID int }

// Error names the process that holds the lock.
func (b *Busy) Error() string {
	if b.PID == 0 {
		return "the lock is held by another process"
	}
	return fmt.Sprintf("the lock is held by process %d", b.PID)
}

// exclusion excludes holders: the operating system, or a map in memory.
type exclusion interface {
	// try locks an existing file; ok is false when another holder excludes it.
	try(name string, exclusive bool) (g lockedFile, ok bool, err error)
}

// lockedFile is a lock that is held.
type lockedFile interface {
	// fileInfo describes the locked file, to compare it with the file at the name.
	fileInfo() (osfs.Info, error)
	release() error
}

// Locks creates and acquires the lock files of one directory tree. It is safe for concurrent use.
type Locks struct {
	fs        osfs.FS
	exclusion exclusion
	pid       int
}

// Held is an acquired lock. It is used by one goroutine.
type Held struct {
	locked lockedFile
	file   osfs.File // of an exclusive lock, for notes
	pid    int
	note   string // that was found, or set since
}

// The pause between two tries grows, so that a short hold costs little waiting
// and a long one little work.
const (
	pauseMin = 500 * time.Microsecond
	pauseMax = 20 * time.Millisecond
)

// Acquire takes the lock file name, waiting for at most wait (0: not at all). Errors: *Busy when
// another process holds it, fs.ErrNotExist for a missing directory, ErrMoved, the context's error,
// or an error of the disk. An exclusive holder's pid is recorded in the file.
func (l *Locks) Acquire(ctx context.Context, name string, how Mode, wait time.Duration) (*Held, error) {
	// Polled, not blocked: a blocking lock would outlive the caller's context, and the holder may
	// be a process that is stopped.
	deadline := time.Now().Add(wait)
	for pause := pauseMin; ; pause = min(2*pause, pauseMax) {
		held, ok, err := l.try(ctx, name, how)
		if ok || err != nil {
			return held, err
		}
		left := time.Until(deadline)
		if left <= 0 {
			pid, _ := l.record(name)
			return nil, &Busy{PID: pid}
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(min(pause, left)):
		}
	}
}

// ErrMoved reports that the locked inode is never the one linked at its path: the directory was
// moved while it was open, and another directory is at its path.
var ErrMoved = errors.New("the directory was moved or replaced while it was in use")

// triesMax bounds how often an acquisition starts over. Each removal of the file by a cleanup costs
// one try; so many have another cause.
const triesMax = 100

// try locks the file and then compares it with the file at the name: a cleanup may have removed it
// in between, and a lock on a removed file excludes no process (docs/design.md#commit-protocol).
func (l *Locks) try(ctx context.Context, name string, how Mode) (*Held, bool, error) {
	for range triesMax {
		if err := ctx.Err(); err != nil {
			return nil, false, err
		}
		g, ok, err := l.exclusion.try(name, how == Exclusive)
		if errors.Is(err, fs.ErrNotExist) {
			if how == SharedIfExists {
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
		held := &Held{locked: g, pid: l.pid}
		same, err := l.attach(held, name, how)
		if same && err == nil {
			return held, true, nil
		}
		// Another file is at the name, or none: start over with that.
		_ = held.Unlock()
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, false, err
		}
	}
	return nil, false, fmt.Errorf("lock %s: %w", name, ErrMoved)
}

// attach opens the file of an exclusive lock, reads the record of its last holder and writes its
// own. same is false when the locked file is not the one at the name.
func (l *Locks) attach(h *Held, name string, how Mode) (same bool, err error) {
	locked, err := h.locked.fileInfo()
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
	// Only after the comparison: an earlier write could change a file outside this tree.
	pid, note := readRecord(h.file)
	h.note = note
	if pid != l.pid {
		// Ignored: a full disk must not prevent locking, and the pid is only informative.
		_ = h.write()
	}
	return true, nil
}

// make creates the file with osfs, which makes it private and follows no link; the locking library
// does neither.
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

// record reads the record of a lock file; zero values for a missing or damaged one.
func (l *Locks) record(name string) (pid int, note string) {
	f, err := l.fs.Open(name, osfs.Read)
	if err != nil {
		return 0, ""
	}
	defer f.Close()
	return readRecord(f)
}

// Note is the note of the last exclusive holder, for callers that hold the lock shared; "" when it
// is unknown.
func (l *Locks) Note(name string) string {
	_, note := l.record(name)
	return note
}

// Note is the note that the last exclusive holder left, or the one set since.
func (h *Held) Note() string { return h.note }

// IsLocked reports a lock that excludes others; false for SharedIfExists without a lock file.
func (h *Held) IsLocked() bool { return h.locked != nil }

// SetNote records a note for the next holder: one word of less than 256 bytes with the pid, else
// fs.ErrInvalid. It is written but not synced: a power cut may lose it or restore an older one,
// which its meaning must tolerate. A shared lock has no note: fs.ErrClosed.
func (h *Held) SetNote(note string) error {
	if h.file == nil {
		return fs.ErrClosed
	}
	h.note = note
	return h.write()
}

// Unlock releases the lock. Further calls, and a call on the zero Held, do nothing.
func (h *Held) Unlock() error {
	var err error
	if h.file != nil {
		err = h.file.Close()
		h.file = nil
	}
	if h.locked != nil {
		err = errors.Join(err, h.locked.release())
		h.locked = nil
	}
	return err
}

// Set is a set of held locks that are released together.
type Set []*Held

// Add adds the lock that an acquisition returned, and returns its error.
func (s *Set) Add(h *Held, err error) error {
	if err == nil {
		*s = append(*s, h)
	}
	return err
}

// Unlock releases the locks, the last one first, and empties the set.
func (s *Set) Unlock() {
	for _, h := range slices.Backward(*s) {
		_ = h.Unlock()
	}
	*s = nil
}

// The record is one line of fixed length inside one sector, so it is never torn: the pid, a space,
// the note, padding. It starts at the second byte: Windows denies access to the first while it is
// locked.
const (
	recordAt    = 1
	recordBytes = 256
)

// write writes the whole record in place: a shorter note must not leave the end of a longer one,
// and truncating first could leave no record.
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

// readRecord reads a record without trusting it: a file that a crash cut short, or that another
// program wrote, has no pid and no note.
func readRecord(f osfs.File) (pid int, note string) {
	record := make([]byte, recordBytes)
	n, err := f.ReadAt(record, recordAt)
	if err != nil && !errors.Is(err, io.EOF) || n < recordBytes {
		return 0, ""
	}
	first, note, _ := strings.Cut(strings.TrimSpace(string(record)), " ")
	if pid, err = strconv.Atoi(first); err != nil || pid < 0 {
		return 0, ""
	}
	return pid, note
}
