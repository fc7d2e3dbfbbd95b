// Package controlfile is the codec of a store's few small documents that are
// replaced as a whole (store, keyring, trust, config): {kind, v, data, sha256},
// where sha256 covers the JCS bytes of data (R4). It reads and writes no files.
package controlfile

import (
	"errors"
	"fmt"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/limits"
)

// Document is one control file. Data stays a value here: what a newer version
// put in is kept as it is, and each owner reads the members that it knows.
type Document struct {
	Kind string
	V    int64
	Data canon.Value
}

type file struct {
	Data   canon.Value  `json:"data"`
	Kind   string       `json:"kind"`
	SHA256 canon.Digest `json:"sha256"`
	V      int64        `json:"v"`
}

// ErrDamaged says that bytes are no control file, or are not what was written.
var ErrDamaged = errors.New("the control file is damaged")

// New is a document around the members of a struct.
func New(kind string, v int64, data any) (Document, error) {
	value, err := canon.ValueOf(data)
	return Document{Kind: kind, V: v, Data: value}, err
}

// Encode is the one spelling of a document.
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

// Decode undoes Encode for a document of the kind, of any version. What is not
// exactly a spelling of Encode is ErrDamaged: a control file that was edited by
// hand would otherwise change what every later process believes.
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
