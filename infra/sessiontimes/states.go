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
	"sync"
	"time"

	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/ports"
)

// commitFiles are the files of a session's directory that decide what lists show of it (docs/design.md#index):
// every commit makes one of the manifests longer, and the marks (keep, suspect, imported) are names in the directory
// itself, which change its time.
var commitFiles = [...]string{manifest.FileName, "annotations/" + manifest.FileName, "."}

var _ ports.SessionStates = Times{}

// fileState is what the file system says of a file: zero for one that is missing.
type fileState struct {
	device, inode       uint64
	size                int64
	modifiedNs, inodeNs int64 // 0 where the platform has no time of the inode
}

// States implements ports.SessionStates: a stat of each of commitFiles. The error is STORE_IO.
func (t Times) States(ctx context.Context) ([]ports.SessionState, int64, error) {
	began := time.Now().UnixNano()
	dir := filepath.Join(t.store, "sessions")
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, began, nil
	}
	if err != nil {
		return nil, began, fault.Wrap(err, fault.StoreIO, "the sessions of the store cannot be listed: %v", err)
	}
	out := make([]ports.SessionState, 0, len(entries))
	for _, e := range entries {
		if s, err := id.ParseSession(e.Name()); err == nil && e.IsDir() {
			out = append(out, ports.SessionState{Session: s})
		}
	}
	look := looker{dir}
	var all sync.WaitGroup
	parts := max(1, min(runtime.GOMAXPROCS(0), len(out)/statesPerWorker))
	for part := range parts {
		all.Go(func() {
			for i := part * len(out) / parts; i < (part+1)*len(out)/parts && ctx.Err() == nil; i++ {
				out[i].State, out[i].ChangedNs = stateOf(look, out[i].Session.String())
			}
		})
	}
	all.Wait()
	if err := ctx.Err(); err != nil {
		return nil, began, err
	}
	return out, began, nil
}

// statesPerWorker is the number of sessions from which on another goroutine observes them: its start costs less.
const statesPerWorker = 256

// stateOf observes one session. The state is zero if one of its files could not be observed.
func stateOf(look looker, session string) (state [16]byte, changedNs int64) {
	var buf [len(commitFiles) * 40]byte
	for i, name := range commitFiles {
		f, err := look.stat(session, name)
		if err != nil {
			return [16]byte{}, 0
		}
		at := buf[i*40:]
		binary.BigEndian.PutUint64(at, f.device)
		binary.BigEndian.PutUint64(at[8:], f.inode)
		binary.BigEndian.PutUint64(at[16:], uint64(f.size))
		binary.BigEndian.PutUint64(at[24:], uint64(f.modifiedNs))
		binary.BigEndian.PutUint64(at[32:], uint64(f.inodeNs))
		changedNs = max(changedNs, f.modifiedNs, f.inodeNs)
	}
	sum := sha256.Sum256(buf[:])
	return [16]byte(sum[:16]), changedNs
}
