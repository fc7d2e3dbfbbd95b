// Package sessiontimes asks the file system when the logs of a store's sessions changed. It implements ports.SessionTimes,
// opens no file and takes no lock. What it returns is a hint and no evidence: file times are copied and set.
package sessiontimes

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/ports"
)

// Times are the times of one store.
type Times struct{ store string }

var _ ports.SessionTimes = Times{}

// New returns the times of the store in a directory, which need not exist.
func New(store string) Times { return Times{store} }

// LatestFirst implements ports.SessionTimes, with the time of each manifest, which every commit makes longer. Sessions with
// equal times are in the order of their ids. The error is STORE_IO.
func (t Times) LatestFirst(ctx context.Context) ([]ports.SessionTime, error) {
	dir := filepath.Join(t.store, "sessions")
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fault.Wrap(err, fault.StoreIO, "the sessions of the store cannot be listed: %v", err)
	}
	out := make([]ports.SessionTime, 0, len(entries))
	for _, e := range entries {
		s, err := id.ParseSession(e.Name())
		if err != nil || !e.IsDir() {
			continue
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		info, err := os.Lstat(filepath.Join(dir, e.Name(), manifest.FileName))
		if err != nil {
			continue // a session without a manifest has no run
		}
		out = append(out, ports.SessionTime{Session: s, ChangedMs: info.ModTime().UnixMilli()})
	}
	slices.SortStableFunc(out, func(a, b ports.SessionTime) int { return cmp.Compare(b.ChangedMs, a.ChangedMs) })
	return out, nil
}
