package sessiontimes

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/infra/osfs"
	"github.com/waybill/waybill/ports"
)

// commitFiles are the files of a session's directory that decide what lists show of it (docs/design.md#index):
// every commit makes one of the manifests longer, and the marks (keep, suspect, imported) are names in the directory
// itself, which change its time.
var commitFiles = [...]string{folder: "", events: "/" + manifest.FileName,
	annotations: "/" + annotationsDir + "/" + manifest.FileName}

// The positions in commitFiles, and the directory of the annotations.
const (
	folder = iota
	events
	annotations

	annotationsDir = "annotations"
)

var _ ports.SessionStates = Times{}

// States implements ports.SessionStates: the directory is read once, and each of commitFiles is observed. The error is
// STORE_IO.
func (t Times) States(ctx context.Context, known func(int, id.Session) [8]byte) (ports.SessionsState, error) {
	out := ports.SessionsState{AtNs: time.Now().UnixNano()}
	dir := filepath.Join(t.store, "sessions")
	look, err := osfs.Observe(dir)
	if err == nil {
		defer look.Close()
		err = list(dir, &out)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return out, nil
	}
	if err != nil {
		return out, fault.Wrap(err, fault.StoreIO, "the sessions of the store cannot be listed: %v", err)
	}
	var all sync.WaitGroup
	n := len(out.Sessions)
	parts := max(1, min(runtime.GOMAXPROCS(0), n/statesPerWorker))
	for part := range parts {
		all.Go(func() {
			o := observing{look: look}
			for i := part * n / parts; i < (part+1)*n/parts && ctx.Err() == nil; i++ {
				o.observe(&out.Sessions[i], known(i, out.Sessions[i].Session))
			}
		})
	}
	all.Wait()
	out.Sessions = slices.DeleteFunc(out.Sessions, func(s ports.SessionState) bool { return s.Session.IsZero() })
	return out, ctx.Err()
}

// list adds what is named like a session in a directory, in the order of their ids. Whether it is a directory is observed with
// its time: entries with their kinds would take twice the memory.
func list(dir string, out *ports.SessionsState) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer f.Close()
	names, err := f.Readdirnames(-1)
	ids := make([]id.Session, 0, len(names))
	for _, name := range names {
		s, err := id.ParseSession(name)
		if err == nil {
			ids = append(ids, s)
		} else if other, err := os.Lstat(filepath.Join(dir, name)); err == nil && other.IsDir() {
			out.Others = true
		}
	}
	id.Sort(ids)
	out.Sessions = make([]ports.SessionState, len(ids))
	for i, s := range ids {
		out.Sessions[i].Session = s
	}
	return err
}

// statesPerWorker is the number of sessions from which on another goroutine observes them: its start costs less.
const statesPerWorker = 256

// observing observes sessions one after the other.
type observing struct {
	look osfs.Observer
	name []byte // of the file that is observed
}

// state returns the state of a file of a session. The name is valid during the call, which copies it.
func (o *observing) state(s id.Session, file string) (osfs.State, error) {
	name, err := s.AppendText(o.name[:0])
	o.name = append(name, file...)
	if err != nil {
		return osfs.State{}, err
	}
	return o.look.State(canon.SharedText(o.name))
}

// observe observes a session. Its state is zero if one of its files could not be observed, and its id if it is no directory.
func (o *observing) observe(s *ports.SessionState, known [8]byte) {
	var files [len(commitFiles)]osfs.State
	var of [8]byte
	for i := range commitFiles {
		if i == annotations {
			if of = folderOf(files[folder]); of == known {
				continue // its directory would have changed if it had annotations now
			}
		}
		var err error
		if files[i], err = o.state(s.Session, commitFiles[i]); err != nil {
			return
		}
		if i == folder && !files[i].Directory && files[i] != (osfs.State{}) {
			s.Session = id.Session{}
			return
		}
	}
	if files[annotations] == (osfs.State{}) {
		if s.Folder = of; of != known {
			if at, err := o.state(s.Session, "/"+annotationsDir); err != nil || at != (osfs.State{}) {
				s.Folder = [8]byte{}
			}
		}
	}
	var buf [len(commitFiles) * fileBytes]byte
	for i, f := range files {
		put(buf[i*fileBytes:], f)
		s.ChangedNs = max(s.ChangedNs, f.ModifiedNs, f.InodeNs)
	}
	sum := sha256.Sum256(buf[:])
	s.State = [16]byte(sum[:16])
}

// fileBytes is the size of the state of a file.
const fileBytes = 40

func put(at []byte, f osfs.State) {
	binary.BigEndian.PutUint64(at, f.Device)
	binary.BigEndian.PutUint64(at[8:], f.Inode)
	binary.BigEndian.PutUint64(at[16:], uint64(f.Size))
	binary.BigEndian.PutUint64(at[24:], uint64(f.ModifiedNs))
	binary.BigEndian.PutUint64(at[32:], uint64(f.InodeNs))
}

// folderOf is a digest of the state of a directory, zero for a missing one.
func folderOf(f osfs.State) (out [8]byte) {
	if f == (osfs.State{}) {
		return out
	}
	var buf [fileBytes]byte
	put(buf[:], f)
	sum := sha256.Sum256(buf[:])
	return [8]byte(sum[:8])
}
