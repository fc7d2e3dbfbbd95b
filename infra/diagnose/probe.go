package diagnose

import (
	"bytes"
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

// probePrefix is that of files on their way, which no reader of a store looks at: one
// that a kill leaves over is taken away by a cleanup.
const probePrefix = ".tmp-doctor-"

// What is written to learn what a sync costs: as much as a step writes, often enough
// that one slow sync says little.
const (
	probeBytes = 4 << 10
	probeSyncs = 9
)

// Probe tries in a folder of its own, made in dir, what a store relies on.
func Probe(ctx context.Context, dir string) doctor.Ground {
	g := doctor.Ground{Dir: dir}
	surround(&g)
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
	for _, try := range []func(){p.files, func() { p.locks(ctx) }, p.names, p.umask, p.syncs} {
		if g.Write == "" && ctx.Err() == nil {
			try()
		}
	}
	// Round takes the clock that never jumps out of a time: what is left is the other's.
	now := time.Now()
	g.WallDriftMs = now.Round(0).Sub(began.Round(0)).Milliseconds() - now.Sub(began).Milliseconds()
	_ = d.Close()
	if err := os.RemoveAll(at); err != nil {
		g.Left = filepath.Base(at) + ": " + reason(err)
	}
	return g
}

// names of filesystems that the system tells by a number.
var names = map[string]string{
	"0x1021994": "tmpfs", "0x858458f6": "ramfs", "0xef53": "ext4", "0x58465342": "xfs", "0x9123683e": "btrfs",
	"0x794c7630": "overlay", "0x2fc12fc1": "zfs", "0xf2f52010": "f2fs", "0x4d44": "vfat", "0x5346544e": "ntfs",
}

func surround(g *doctor.Ground) {
	if v, err := osfs.NewDir(g.Dir).Volume(); err == nil {
		g.Filesystem, g.Network = v.Type, v.Network
		if name, ok := names[v.Type]; ok {
			g.Filesystem = name
		}
		g.Memory = g.Filesystem == "tmpfs" || g.Filesystem == "ramfs"
	}
	if free, err := osfs.Space(g.Dir); err == nil {
		g.FreeBytes, g.SpaceKnown = free, true
	}
}

type probe struct {
	d *osfs.Dir
	g *doctor.Ground
}

// say is the system's word for an error, "" for none.
func say(err error) string {
	if err == nil {
		return ""
	}
	return reason(err)
}

// put writes a file, and leaves it open.
func (p probe) put(name string, b []byte) (osfs.File, error) {
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

func (p probe) files() {
	want := bytes.Repeat([]byte("waybill\n"), probeBytes/8)
	f, err := p.put("written", want)
	if err != nil {
		p.g.Write = say(err)
		return
	}
	p.g.Sync = say(f.Sync(osfs.Durable))
	_ = f.Close()
	p.g.SyncDir = say(p.d.SyncDir(".", osfs.Durable))
	f, err = p.d.Open("written", osfs.Read)
	if err != nil {
		p.g.Read = say(err)
		return
	}
	defer f.Close()
	have := make([]byte, len(want))
	if n, err := f.ReadAt(have, 0); n < len(have) {
		p.g.Read = say(err)
	} else if !bytes.Equal(have, want) {
		p.g.Read = "other bytes than were written"
	}
}

// locks takes one twice, as two processes would: each has a file of its own.
func (p probe) locks(ctx context.Context) {
	first, err := lock.Files(p.d).Acquire(ctx, ".lock", lock.Exclusive, 0)
	if err != nil {
		p.g.Lock = say(err)
		return
	}
	second, err := lock.Files(p.d).Acquire(ctx, ".lock", lock.Exclusive, 0)
	var busy *lock.Busy
	p.g.Excludes = errors.As(err, &busy)
	if err == nil {
		_ = second.Unlock()
	} else if !p.g.Excludes {
		p.g.Lock = say(err)
	}
	if err := first.Unlock(); err != nil && p.g.Lock == "" {
		p.g.Lock = say(err)
	}
	again, err := lock.Files(p.d).Acquire(ctx, ".lock", lock.Exclusive, 0)
	if err != nil {
		if p.g.Lock == "" {
			p.g.Lock = "a lock that was let go stays held"
		}
		return
	}
	_ = again.Unlock()
}

// names moves a file to a free name and another to a name that is taken.
func (p probe) names() {
	for _, name := range []string{"one", "two"} {
		f, err := p.put(name, []byte(name))
		if err != nil {
			p.g.Place = say(err)
			return
		}
		_ = f.Close()
	}
	if err := p.d.Place("one", "three"); err != nil {
		p.g.Place = say(err)
		return
	}
	err := p.d.Place("two", "three")
	if err != nil && !errors.Is(err, fs.ErrExist) {
		p.g.Place = say(err)
	}
	b, readErr := os.ReadFile(filepath.Join(p.d.Path(), "three"))
	p.g.Keeps = errors.Is(err, fs.ErrExist) && readErr == nil && string(b) == "one"
}

// umask is seen by what becomes of a file: asking for it would change it meanwhile.
func (p probe) umask() {
	f, err := os.OpenFile(filepath.Join(p.d.Path(), "open"), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o666)
	if err != nil {
		return
	}
	defer f.Close()
	if info, err := f.Stat(); err == nil {
		p.g.Umask, p.g.UmaskKnown = umaskOf(info.Mode())
	}
}

func (p probe) syncs() {
	f, err := p.put("synced", nil)
	if err != nil {
		return
	}
	defer f.Close()
	b := make([]byte, probeBytes)
	for range probeSyncs {
		began := time.Now()
		if _, err := f.Write(b); err != nil {
			return
		}
		if err := f.Sync(osfs.Durable); err != nil {
			if p.g.Sync == "" {
				p.g.Sync = say(err)
			}
			return
		}
		p.g.SyncMs = append(p.g.SyncMs, float64(time.Since(began).Microseconds())/1000)
	}
}

// InUse reports that somebody keeps writers out of a store, and which process.
func InUse(ctx context.Context, dir string) (held bool, pid int) {
	d := osfs.NewDir(dir)
	defer d.Close()
	got, err := lock.Files(d).Acquire(ctx, ".use.lock", lock.SharedIfThere, 0)
	var busy *lock.Busy
	if errors.As(err, &busy) {
		return true, busy.PID
	}
	if err == nil {
		_ = got.Unlock()
	}
	return false, 0
}
