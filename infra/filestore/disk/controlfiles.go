package disk

import (
	"errors"
	"io/fs"

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

// PutControl is WriteFile for a document, followed by the sync of the directory.
//
// After an error of writing or moving the old document is unchanged. After a failed sync of the
// directory either document may be durable, so the new one is written again: a later sync of the
// directory then makes it durable.
func (d *Disk) PutControl(name string, doc controlfile.Document, move func(from, to string) error) error {
	if err := d.WriteFile(name, Document(doc), move); err != nil {
		return err
	}
	return d.SyncOrRewrite(name, Document(doc))
}

// Document is the content of a control file.
func Document(doc controlfile.Document) Content {
	return func(f osfs.File) error {
		b, err := controlfile.Encode(doc)
		if err == nil {
			_, err = f.Write(b)
		}
		return err
	}
}
