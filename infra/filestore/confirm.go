package filestore

import (
	"context"
	"errors"
	"io/fs"
	"path"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/infra/lock"
	"github.com/waybill/waybill/infra/osfs"
	"github.com/waybill/waybill/ports"
)

// Confirm implements ports.Logs. The writer synced everything but the group
// before it wrote that, so the manifest alone is synced here; under the shared
// lock, so that the writer has either done so or failed and said so. It must not
// be called inside the gate of the same log: it would wait for itself.
func (s *Store) Confirm(ctx context.Context, log manifest.Log, head manifest.Head) error {
	if head.IsZero() {
		return nil // nothing was read, so nothing can be lost
	}
	held, err := s.locks.Acquire(ctx, lockName(log), lock.SharedIfThere, s.o.LockWait)
	if err != nil {
		return s.busyLog(err, log)
	}
	suspect, err := s.isSuspect(log, s.locks.Note(lockName(log)))
	if err == nil && !suspect {
		err = s.syncUpTo(log, head)
	}
	if unlockErr := held.Unlock(); err == nil && unlockErr != nil {
		err = unlockErr
	}
	// The shared lock is let go first: the copy wants the exclusive one, and two
	// processes that both kept theirs would wait for each other.
	if err != nil || !suspect {
		return readFault(err)
	}
	return s.confirmSuspect(ctx, log, head)
}

func (s *Store) syncUpTo(log manifest.Log, head manifest.Head) error {
	f, err := s.fs.Open(path.Join(log.Root, manifest.FileName), osfs.Read)
	if errors.Is(err, fs.ErrNotExist) {
		return manifest.ErrNotOnChain
	}
	if err != nil {
		return err
	}
	defer f.Close()
	if err := onChain(f, head); err != nil {
		return err
	}
	if err := f.Sync(osfs.Durable); err != nil {
		// What this sync lost, the next one would not find (R7).
		s.markSuspect(log)
		return err
	}
	return nil
}

// onChain checks that head's last group stands where head says.
func onChain(f osfs.File, head manifest.Head) error {
	group := make([]byte, head.Bytes-head.GroupAt)
	// A short file is another history, not trouble with the disk.
	n, err := f.ReadAt(group, head.GroupAt)
	if n < len(group) {
		if info, statErr := f.Stat(); statErr == nil && info.Size < head.Bytes {
			return manifest.ErrNotOnChain
		}
		return err
	}
	if canon.Sum(group) != head.Digest {
		return manifest.ErrNotOnChain
	}
	return nil
}

// confirmSuspect: after a failed sync no later one proves anything about the same
// file (R7), so what is valid is written to a new one, as the next writer would.
func (s *Store) confirmSuspect(ctx context.Context, log manifest.Log, head manifest.Head) error {
	unlock, err := s.Lock(ctx, log)
	if err != nil {
		return err
	}
	defer func() { _ = unlock() }()
	held, _ := s.holding(log)
	verdict, err := s.Read(ctx, ports.Reading{Log: log, From: head, Locked: true}, ignore{})
	if err != nil {
		return err
	}
	if verdict.Damaged() {
		// A copy would throw away what a person may still want to look at.
		return ports.Unhealthy(log, verdict)
	}
	if err := s.renew(log, verdict.Head.Bytes); err != nil {
		return writeFault(err)
	}
	_ = held.SetNote("") // it only saves the next one the same work
	return nil
}

// ignore visits nothing.
type ignore struct{}

func (ignore) Reset()                                      {}
func (ignore) Visit(manifest.Segment, manifest.Head) error { return nil }
