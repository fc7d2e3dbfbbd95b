package filestore

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"

	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/infra/osfs"
)

const quarantineDir = "quarantine"

// tidy removes what a crash or a failed disk left of an append that never was
// acknowledged, before anything else is written (R6, R7, R9).
func (a *appending) tidy() error {
	if dir := path.Dir(a.log.Root); a.at.IsZero() && strings.HasPrefix(dir, "sessions/") {
		// A side log that begins now has no mark of its own yet.
		if err := a.s.settleArrival(dir); err != nil {
			return err
		}
	}
	suspect, err := a.s.isSuspect(a.log, a.found)
	switch {
	case err != nil:
		return err
	case suspect:
		// The copy leaves out the tail as well: cutting it first would sync a file
		// whose syncs prove nothing.
		err = a.renew()
	case a.tail > 0:
		err = a.cut()
	}
	if err != nil || a.found != "" && a.found == a.s.tidyNote(a.at.Digest) {
		return err
	}
	return a.quarantineOrphans()
}

// cut shortens the manifest to its last group. Until that is durable nothing may
// be written behind it: a crash could mix sectors of two groups, which no reader
// could tell from damage.
func (a *appending) cut() error {
	if err := a.manifest.Truncate(a.at.Bytes); err != nil {
		return err
	}
	if err := a.manifest.Sync(osfs.Order); err != nil {
		a.doubtful = true
		a.s.markSuspect(a.log)
		return err
	}
	return nil
}

func (a *appending) renew() error {
	a.doubtful = true
	if err := a.s.renew(a.log, a.at.Bytes); err != nil {
		return err
	}
	return a.reopen()
}

// reopen takes the file that the name stands for now.
func (a *appending) reopen() error {
	_ = a.manifest.Close()
	a.manifest = nil
	return a.open()
}

// quarantineOrphans moves segments that no group commits out of the way, and
// removes what was on its way to the folder: only this log's writer writes there.
func (a *appending) quarantineOrphans() error {
	names, err := a.s.segmentNames(a.log)()
	if err != nil {
		return err
	}
	var orphans []string
	for _, name := range names {
		if strings.HasPrefix(name, tempPrefix) && !a.mine(name) {
			_ = a.s.fs.Remove(path.Join(a.events(), name))
		}
		first, _, ok := manifest.ParseSegmentName(name)
		switch {
		case !ok || first < a.at.Next:
		case first > a.at.Next:
			// It proves that more was committed than the manifest shows (R9).
			return fault.New(fault.SessionUnhealthy,
				"%s holds %s beyond event %d: what was committed before it is lost", a.log.Owner, name, a.at.Next)
		default:
			orphans = append(orphans, name)
		}
	}
	return a.quarantine(orphans)
}

// mine tells the segment that this append itself has staged: leftovers may also be
// looked for between staging and placing.
func (a *appending) mine(name string) bool {
	for _, in := range a.incoming {
		if in.temp != "" && path.Base(in.temp) == name {
			return true
		}
	}
	return false
}

func (a *appending) quarantine(orphans []string) error {
	if len(orphans) == 0 {
		return nil
	}
	if _, err := a.s.mkdirs(quarantineDir); err != nil {
		return err
	}
	// A move, not a removal: it may be all that is left of work that a person wants
	// back, and whether it was acknowledged nobody here can know (R9).
	for _, name := range orphans {
		if err := a.moveAside(name); err != nil {
			return err
		}
	}
	// Moved files are kept, not only gone from where they were.
	return a.s.fs.Together(
		func() error { return a.s.fs.SyncDir(quarantineDir, osfs.Order) },
		func() error { return a.s.fs.SyncDir(a.events(), osfs.Order) },
	)
}

// moveAside finds a free name: one log may leave several orphans of one range.
func (a *appending) moveAside(name string) (err error) {
	base := strings.ReplaceAll(a.log.Root, "/", ".") + "." + name
	for n := 0; n < 1000; n++ {
		to := path.Join(quarantineDir, base)
		if n > 0 {
			to = fmt.Sprintf("%s.%d", to, n)
		}
		if err = a.s.fs.Place(path.Join(a.events(), name), to); !errors.Is(err, fs.ErrExist) {
			return err
		}
	}
	return err
}
