package disk

import (
	"errors"
	"io/fs"
	"path"

	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/infra/controlfile"
	"github.com/waybill/waybill/infra/osfs"
)

// ReadControl reads and decodes the control file at a path inside the store. kind is the expected
// kind of its envelope.
func (d *Disk) ReadControl(name, kind string) (doc controlfile.Document, ok bool, err error) {
	b, err := d.ReadFile(name, limits.ControlFileBytesMax)
	if errors.Is(err, fs.ErrNotExist) {
		return doc, false, nil
	}
	if err != nil {
		return doc, false, ReadFault(err)
	}
	if doc, err = controlfile.Decode(b, kind); err != nil {
		return doc, false, Corrupt(name, "%v", err)
	}
	return doc, true, nil
}

// PutControl writes a document to a temporary file, syncs it, moves it to name and syncs the
// directory: readers see the old document or the new one. move is Place, which fails with
// fs.ErrExist for a taken name, or Replace.
//
// After an error of writing or moving the old document is unchanged. After a failed sync of the
// directory either document may be durable, so the new one is written again: a later sync of the
// directory then makes it durable.
func (d *Disk) PutControl(name string, doc controlfile.Document, move func(from, to string) error) error {
	b, err := controlfile.Encode(doc)
	if err != nil {
		return err
	}
	temp, err := d.TempName(path.Dir(name))
	if err != nil {
		return err
	}
	if err := d.WriteTemp(temp, b); err != nil {
		_ = d.Remove(temp)
		return err
	}
	if err := move(temp, name); err != nil {
		_ = d.Remove(temp)
		return err
	}
	err = d.SyncDir(path.Dir(name), osfs.Durable)
	if err != nil {
		d.RewriteBytes(name, b) // see markUnsynced
	}
	return err
}
