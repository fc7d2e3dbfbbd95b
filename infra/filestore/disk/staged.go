package disk

import (
	"errors"
	"io/fs"
	"path"

	"github.com/waybill/waybill/infra/osfs"
)

// Staged is a file of a commit. It is written to a temporary name, synced together with others, and then placed at its
// final name.
//
// The states are: not created (no File), created (File is open), and placed or dropped.
type Staged struct {
	osfs.File
	Name string               // final name, relative to the store
	Same func() (bool, error) // compares the file that is stored at Name with this one; nil: there must be none

	temp    string // "" for a file that has its final name already
	replace bool   // the stored bytes are wrong, or may be lost by a power cut
}

// Stored reports that the right bytes are stored at Name already. They are not if unsynced is set, or when their
// directory may have failed to sync: the entry may exist in memory only, and another sync of the same directory would
// not report that (docs/design.md#failed-sync). Then the file is replaced.
func (f *Staged) Stored(d *Disk, unsynced bool) (bool, error) {
	same, err := f.Same()
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	f.replace = !same || unsynced || d.MayBeUnsynced(f.Name)
	return !f.replace, err
}

// Create creates the temporary file. A directory of the skeleton may be missing, since tools that copy stores omit
// empty directories. It is created again, and its entries are added to those that the commit relies on.
func (f *Staged) Create(d *Disk, relied *Relied) (err error) {
	if f.temp, err = d.TempName(path.Dir(f.Name)); err != nil {
		return err
	}
	f.File, err = d.Open(f.temp, osfs.New)
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	made, err := d.Mkdirs(path.Dir(f.Name))
	if err != nil {
		return err
	}
	relied.Add(made...)
	f.File, err = d.Open(f.temp, osfs.New)
	return err
}

// Place gives a synced object its final name, unless another writer has stored the same object in between.
func (f *Staged) Place(d *Disk) error {
	move := d.Place
	if f.replace {
		move = d.Replace
	}
	err := move(f.temp, f.Name)
	if errors.Is(err, fs.ErrExist) && f.Same != nil && !f.replace {
		if kept, err := f.Same(); kept || err != nil {
			return err
		}
		err = d.Replace(f.temp, f.Name)
	}
	if err == nil {
		f.temp = ""
	}
	return err
}

// IsAt reports that the temporary file is at a path.
func (f *Staged) IsAt(name string) bool { return f.temp == name }

// Drop closes the file and removes it if it was not placed. One that cannot be removed is left to gc: readers ignore
// such names.
func (f *Staged) Drop(d *Disk) {
	if f.File != nil {
		_ = f.Close()
		f.File = nil
	}
	if f.temp != "" {
		_ = d.Remove(f.temp)
		f.temp = ""
	}
}

// SyncFiles syncs open files in parallel: the disk accepts them together, and as many flushes as there are files cost
// little more than one.
func SyncFiles[F osfs.File](d *Disk, files []F) error {
	var syncs []func() error
	for _, f := range files {
		syncs = append(syncs, func() error { return f.Sync(osfs.Order) })
	}
	return d.SyncAll(syncs...)
}
