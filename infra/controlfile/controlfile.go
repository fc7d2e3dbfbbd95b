// Package controlfile is the codec of the small documents of a store that are replaced as a whole
// (store, keyring, trust, config and others). A file is canonical JSON with the members data, kind,
// sha256 and v, where sha256 covers the canonical JSON of data (docs/design.md#lines-and-files).
// The package reads and writes no files, and does not know the members of data. Start with Encode
// and Decode.
package controlfile

import (
	"errors"
	"fmt"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/limits"
)

// Document is one control file: its kind, its format number and its data. Data remains a value, so
// that members that a newer version added are preserved; each owner reads the members that it
// knows.
type Document struct {
	Kind string
	V    int64
	Data canon.Value
}

// file is the stored form.
type file struct {
	Data   canon.Value  `json:"data"`
	Kind   string       `json:"kind"`
	SHA256 canon.Digest `json:"sha256"`
	V      int64        `json:"v"`
}

// ErrDamaged reports bytes that are not a control file, or that were changed after writing.
var ErrDamaged = errors.New("the control file is damaged")

// New makes a document from the members of a struct.
func New(kind string, v int64, data any) (Document, error) {
	value, err := canon.ValueOf(data)
	return Document{Kind: kind, V: v, Data: value}, err
}

// Encode returns the only accepted spelling of a document. It fails above
// limits.ControlFileBytesMax.
func Encode(d Document) ([]byte, error) {
	data, err := canon.Marshal(d.Data)
	if err != nil {
		return nil, err
	}
	b, err := canon.Marshal(file{Data: d.Data, Kind: d.Kind, SHA256: canon.Sum(data), V: d.V})
	if err == nil && len(b) > limits.ControlFileBytesMax {
		err = fmt.Errorf("control file of %d bytes: want at most %d", len(b), limits.ControlFileBytesMax)
	}
	return b, err
}

// Decode is the inverse of Encode, for a document of the given kind and any format number. Bytes
// that Encode would not produce are ErrDamaged: a control file that was edited by hand would
// otherwise change the behavior of every later process. The format number is not covered by the
// digest; callers check it.
func Decode(b []byte, kind string) (Document, error) {
	var f file
	if len(b) > limits.ControlFileBytesMax {
		return Document{}, fmt.Errorf("%w: more than %d bytes", ErrDamaged, limits.ControlFileBytesMax)
	}
	if err := canon.UnmarshalExact(b, &f); err != nil {
		return Document{}, fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	data, err := canon.Marshal(f.Data)
	switch {
	case err != nil:
		return Document{}, fmt.Errorf("%w: %w", ErrDamaged, err)
	case canon.Sum(data) != f.SHA256:
		return Document{}, fmt.Errorf("%w: its data does not match its sha256", ErrDamaged)
	case f.Kind != kind:
		return Document{}, fmt.Errorf("%w: it is of kind %q, want %q", ErrDamaged, f.Kind, kind)
	}
	return Document{Kind: f.Kind, V: f.V, Data: f.Data}, nil
}
