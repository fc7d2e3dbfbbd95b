package diagnose

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/waybill/waybill/durable/store/doctor"
	"github.com/waybill/waybill/infra/lock"
	"github.com/waybill/waybill/infra/osfs"
)

// probePrefix is that of temporary files, which readers of a store ignore: a cleanup removes a
// probe that a killed process left.
const probePrefix = ".tmp-doctor-"

// The cost of a sync is measured with as many bytes as a step writes, and often enough that one
// slow sync has little weight.
const (
	probeBytes = 4 << 10
	probeSyncs = 9
)

// Probe creates a directory in dir and tries in it what a store relies on. Each field of the result
// is the error text of one operation, "" when it worked. It stops after an error of writing or when
// ctx ends, and removes the directory; Unremoved names it when that failed.
//
// The operations are tried in this order: files, locks, renames, the mode of new files, timed
// syncs. Why is set instead when the directory cannot be created, for example without permission in
// dir.
func Probe(ctx context.Context, dir string) doctor.Probes {
	g := doctor.Probes{Dir: dir}
	describeFilesystem(&g)
	raw := make([]byte, 8)
	_, _ = rand.Read(raw) // never fails
	at := filepath.Join(dir, probePrefix+hex.EncodeToString(raw))
	if err := os.Mkdir(at, 0o700); err != nil {
		g.Why = reason(err)
		return g
	}
	d := osfs.NewDir(at)
	began := time.Now()
	p := probe{d: d, g: &g}
	for _, try := range []struct {
		failure *string // of an operation that has no field of its own; the first one counts
		run     func() error
	}{{&g.Write, p.files}, {&g.Lock, func() error { return p.locks(ctx) }}, {&g.RenameError, p.renames},
		{new(string), p.umask}, {&g.Sync, p.syncs}} {
		if g.Write == "" && ctx.Err() == nil {
			*try.failure = cmp.Or(*try.failure, errorText(try.run()))
		}
	}
	// Round removes the monotonic clock: the difference is the drift of the wall clock.
	now := time.Now()
	g.WallDriftMs = now.Round(0).Sub(began.Round(0)).Milliseconds() - now.Sub(began).Milliseconds()
	_ = d.Close()
	if err := os.RemoveAll(at); err != nil {
		g.Unremoved = filepath.Base(at) + ": " + reason(err)
	}
	return g
}

// filesystemNames are the names of filesystems that Linux identifies by a number.
var filesystemNames = map[string]string{
	"0x1021994": "tmpfs", "0x858458f6": "ramfs", "0xef53": "ext4", "0x58465342": "xfs", "0x9123683e": "btrfs",
	"0x794c7630": "overlay", "0x2fc12fc1": "zfs", "0xf2f52010": "f2fs", "0x4d44": "vfat", "0x5346544e": "ntfs",
}

// describeFilesystem sets the type of the filesystem and its free space.
//
// Network filesystems and those in memory are marked, since a store on them is not safe or not
// durable.
func describeFilesystem(g *doctor.Probes) {
	if v, err := osfs.NewDir(g.Dir).Volume(); err == nil {
		g.Filesystem, g.Network = v.Type, v.Network
		if name, ok := filesystemNames[v.Type]; ok {
			g.Filesystem = name
		}
		g.Memory = g.Filesystem == "tmpfs" || g.Filesystem == "ramfs"
	}
	if free, err := osfs.Space(g.Dir); err == nil {
		g.FreeBytes, g.SpaceKnown = free, true
	}
}

// probe performs the tries in the directory d and records results in g.
type probe struct {
	d *osfs.Dir
	g *doctor.Probes
}

// errorText is the system's text for an error, "" for nil.
func errorText(err error) string {
	if err == nil {
		return ""
	}
	return reason(err)
}

// writeFile creates a file with the bytes b, and leaves it open.
func (p probe) writeFile(name string, b []byte) (osfs.File, error) {
	f, err := p.d.Open(name, osfs.New)
	if err != nil {
		return nil, err
	}
	if _, err := f.Write(b); err != nil {
		_ = f.Close()
		return nil, err
	}
	return f, nil
}

// files writes, syncs and reads a file, and syncs the directory.
//
// An error of writing is Write and ends the probe; Sync, SyncDir and Read are recorded separately.
func (p probe) files() error {
	want := bytes.Repeat([]byte("waybill\n"), probeBytes/8)
	f, err := p.writeFile("written", want)
	if err != nil {
		return err
	}
	p.g.Sync = errorText(f.Sync(osfs.Durable))
	_ = f.Close()
	p.g.SyncDir = errorText(p.d.SyncDir(".", osfs.Durable))
	have, err := os.ReadFile(filepath.Join(p.d.Path(), "written"))
	p.g.Read = errorText(err)
	if err == nil && !bytes.Equal(have, want) {
		p.g.Read = "the bytes differ from those that were written"
	}
	return nil
}

// locks takes one lock twice, as two processes would: each has its own open file.
//
// Excludes is true when the second attempt is refused. Lock is the error of an operation, or
// reports that a released lock cannot be taken again.
func (p probe) locks(ctx context.Context) error {
	acquire := func() (*lock.Held, error) { return lock.Files(p.d).Acquire(ctx, ".lock", lock.Exclusive, 0) }
	first, err := acquire()
	if err != nil {
		return err
	}
	second, failure := acquire()
	var busy *lock.Busy
	if p.g.Excludes = errors.As(failure, &busy); p.g.Excludes {
		failure = nil
	} else if failure == nil {
		_ = second.Unlock()
	}
	if err := first.Unlock(); failure == nil {
		failure = err
	}
	again, err := acquire()
	if err == nil {
		_ = again.Unlock()
	} else if failure == nil {
		failure = errors.New("a released lock is still held")
	}
	return failure
}

// renames moves a file to a free name, and another to a name that is taken.
//
// RenameKeepsExisting is true when the taken name is refused and its file is unchanged.
func (p probe) renames() error {
	for _, name := range []string{"one", "two"} {
		f, err := p.writeFile(name, []byte(name))
		if err != nil {
			return err
		}
		_ = f.Close()
	}
	if err := p.d.Place("one", "three"); err != nil {
		return err
	}
	err := p.d.Place("two", "three")
	b, readErr := os.ReadFile(filepath.Join(p.d.Path(), "three"))
	if errors.Is(err, fs.ErrExist) {
		p.g.RenameKeepsExisting = readErr == nil && string(b) == "one"
		return nil
	}
	return err
}

// umask reads the mode of a new file: reading the umask itself would change it for a moment.
func (p probe) umask() error {
	f, err := os.OpenFile(filepath.Join(p.d.Path(), "open"), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o666)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err == nil {
		p.g.Umask, p.g.UmaskKnown = umaskOf(info.Mode())
	}
	return err
}

// syncs measures the time of repeated syncs, in milliseconds.
//
// SyncMs has one entry per sync. An error ends the series; it is recorded unless an earlier sync
// failed.
func (p probe) syncs() error {
	f, err := p.writeFile("synced", nil)
	if err != nil {
		return nil // files has tried to write
	}
	defer f.Close()
	b := make([]byte, probeBytes)
	for range probeSyncs {
		began := time.Now()
		if _, err := f.Write(b); err != nil {
			return nil
		}
		if err := f.Sync(osfs.Durable); err != nil {
			return err
		}
		p.g.SyncMs = append(p.g.SyncMs, float64(time.Since(began).Microseconds())/1000)
	}
	return nil
}

// InUse reports whether a process holds the use lock of a store exclusively, and its process id
// where it is known. It never creates the lock file.
//
// A store without a lock file is not in use. Other errors count as not in use.
func InUse(ctx context.Context, dir string) (held bool, pid int) {
	d := osfs.NewDir(dir)
	defer d.Close()
	got, err := lock.Files(d).Acquire(ctx, ".use.lock", lock.SharedIfExists, 0)
	var busy *lock.Busy
	if errors.As(err, &busy) {
		return true, busy.PID
	}
	if err == nil {
		_ = got.Unlock()
	}
	return false, 0
}
