// Package payloadcache keeps the payloads that were printed for signing in one file of the cache directory
// of a store, so that a signature made elsewhere finds the text that it is over. The file is a cache: it may
// be lost or forged, and its reader checks each text like one from outside. It does not know what a
// payload is.
package payloadcache

import (
	"bytes"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/infra/osfs"
)

// fileName is the name in the cache directory: one canonical JSON text a line, the newest last.
const fileName = "payloads-1"

// fileBytesMax bounds what is read of the file.
const fileBytesMax = limits.ConsentPayloadsMax * limits.PayloadBytesMax

// Payloads are those of one store.
type Payloads struct{ store string }

// New returns the payloads of the store in a directory, which need not exist.
func New(store string) Payloads { return Payloads{store} }

// Save appends a text without line ends. It creates no store. Of two processes that save at the same moment
// one text may be lost.
func (p Payloads) Save(text []byte) error {
	if _, err := os.Lstat(filepath.Join(p.store, "store.json")); err != nil {
		return err
	}
	dir := osfs.NewDir(filepath.Join(p.store, "cache"))
	defer dir.Close()
	if err := dir.Mkdir("."); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	all, err := read(dir)
	if err != nil {
		return err
	}
	slices.Reverse(all)
	all = append(all, text)
	all = all[max(0, len(all)-limits.ConsentPayloadsMax):]
	return replace(dir, append(bytes.Join(all, []byte("\n")), '\n'))
}

// List returns the texts, the newest first; none if there is no file.
func (p Payloads) List() ([][]byte, error) {
	dir := osfs.NewDir(filepath.Join(p.store, "cache"))
	defer dir.Close()
	return read(dir)
}

// read is List for an open directory.
func read(dir *osfs.Dir) ([][]byte, error) {
	file, err := dir.Open(fileName, osfs.Read)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer file.Close()
	data, err := io.ReadAll(io.NewSectionReader(file, 0, fileBytesMax))
	if err != nil {
		return nil, err
	}
	all := slices.DeleteFunc(bytes.Split(data, []byte("\n")), func(line []byte) bool { return len(line) == 0 })
	slices.Reverse(all)
	return all, nil
}

// replace writes a private file and moves it to its name. Nothing is synced.
func replace(dir *osfs.Dir, data []byte) error {
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
		err = dir.Replace(temp, fileName)
	}
	if err != nil {
		_ = dir.Remove(temp)
	}
	return err
}
