// Package guardcache keeps the files of the hooks in the cache directory of a store, and asks the file system which
// sessions changed. It implements ports.GuardFiles, and does not know what the files contain. It creates no store.
package guardcache

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/infra/osfs"
	"github.com/waybill/waybill/ports"
)

// listName is the name of a list in the cache directory.
const listName = "guard-%s-2"

// racy is the time within which a file may change again without another time.
const racy = 2 * time.Second

// Files are the files of one store.
type Files struct {
	store string
	racy  time.Duration
}

var _ ports.GuardFiles = Files{}

// New returns the files of the store in a directory, which need not exist.
func New(store string) Files { return Files{store, racy} }

// Stamps implements ports.GuardFiles: size and time of each manifest, which every commit makes longer.
func (f Files) Stamps(ctx context.Context) ([]ports.SessionStamp, error) {
	dir := filepath.Join(f.store, "sessions")
	entries, err := list(dir)
	if err != nil {
		return nil, err
	}
	// Two halves: the time is that of the calls of the system.
	half := len(entries) / 2
	var first []ports.SessionStamp
	var firstErr error
	done := make(chan struct{})
	go func() {
		defer close(done)
		first, firstErr = stamps(ctx, dir, entries[:half])
	}()
	second, err := stamps(ctx, dir, entries[half:])
	<-done
	return append(first, second...), errors.Join(firstErr, err)
}

// list returns the entries of a directory in no order; none of a missing one.
func list(dir string) ([]fs.DirEntry, error) {
	open, err := os.Open(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer open.Close()
	return open.ReadDir(-1)
}

// stamps returns the stamps of some of the sessions.
func stamps(ctx context.Context, dir string, entries []fs.DirEntry) ([]ports.SessionStamp, error) {
	out := make([]ports.SessionStamp, 0, len(entries))
	for _, e := range entries {
		s, err := id.ParseSession(e.Name())
		if err != nil || !e.IsDir() {
			continue
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		info, err := os.Lstat(dir + string(filepath.Separator) + e.Name() + string(filepath.Separator) + manifest.FileName)
		if err != nil {
			continue // a session without a manifest has no run
		}
		at := info.ModTime()
		out = append(out, ports.SessionStamp{Session: s, ChangedMs: at.UnixMilli(),
			Stamp: strconv.FormatInt(info.Size(), 36) + "." + strconv.FormatInt(at.UnixNano(), 36)})
	}
	return out, nil
}

// cache is the cache directory; the caller closes it.
func (f Files) cache() *osfs.Dir { return osfs.NewDir(filepath.Join(f.store, "cache")) }

// Saved implements ports.GuardFiles.
func (f Files) Saved(_ context.Context, l ports.GuardList, most int64) ([]byte, error) {
	dir := f.cache()
	defer dir.Close()
	return read(dir, fmt.Sprintf(listName, l), most)
}

// Save implements ports.GuardFiles. Nothing is synced: a list that a power cut tears is computed again.
func (f Files) Save(_ context.Context, l ports.GuardList, data []byte) error {
	dir, err := f.toWrite()
	if err != nil {
		return err
	}
	defer dir.Close()
	return replace(dir, fmt.Sprintf(listName, l), data)
}

// toWrite returns the cache directory of a store that exists, which is created if it is missing.
func (f Files) toWrite() (*osfs.Dir, error) {
	if _, err := os.Lstat(filepath.Join(f.store, "store.json")); err != nil {
		return nil, err
	}
	dir := f.cache()
	if err := dir.Mkdir("."); err != nil && !errors.Is(err, fs.ErrExist) {
		_ = dir.Close()
		return nil, err
	}
	return dir, nil
}

// read returns a file, nil for a missing one.
func read(dir *osfs.Dir, name string, most int64) ([]byte, error) {
	file, err := dir.Open(name, osfs.Read)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return io.ReadAll(io.NewSectionReader(file, 0, most))
}

// replace writes a private file and moves it to its name.
func replace(dir *osfs.Dir, name string, data []byte) error {
	var random [8]byte
	if _, err := rand.Read(random[:]); err != nil {
		return err
	}
	temp := ".tmp-" + hex.EncodeToString(random[:])
	file, err := dir.Open(temp, osfs.New)
	if err != nil {
		return err
	}
	_, err = file.Write(data)
	if closeErr := file.Close(); err == nil {
		err = closeErr
	}
	if err == nil {
		err = dir.Replace(temp, name)
	}
	if err != nil {
		_ = dir.Remove(temp)
	}
	return err
}
