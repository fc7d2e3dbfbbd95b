// Package id defines the identifiers of durable facts (docs/design.md#ids): one type per kind,
// parsed from text in one place, and the derivations by which a retried call computes the ids
// of the records that it already wrote.
//
// An id is a prefix, "_" and 26 lowercase base32 characters of 16 bytes. The zero id exists
// only in memory and cannot be marshaled. The package draws no entropy; the caller passes a
// Seed. Start reading at ID, then kinds.go and derivations.go.
package id

import (
	"errors"
	"strings"
)

// kind is the type parameter that distinguishes id types. Its prefix is stored: never renamed.
type kind interface {
	~struct{}
	prefix() string
}

// ID is an identifier of kind K. Use its aliases: Session, Run, Node, … Ids are comparable with ==. They hold bytes and not
// their text: a history has millions of them, which are compared and looked up more often than they are shown.
type ID[K kind] struct {
	_ [0]K // makes the fields of two kinds differ: without it, Go converts a Node to a Run
	// raw is the 16 bytes, and 1 behind them; the zero id has 0 there.
	raw [17]byte
}

// fromBytes returns the id with these 16 bytes.
func fromBytes[K kind](raw [16]byte) (out ID[K]) {
	copy(out.raw[:], raw[:])
	out.raw[16] = 1
	return out
}

// Parse parses the text of an id of kind K. The error names the prefix and the form that are
// expected, for messages to a person.
func Parse[K kind](s string) (out ID[K], err error) {
	err = out.UnmarshalString(s)
	return out, err
}

// String returns the text of the id as it is stored, "" for the zero id.
func (i ID[K]) String() string {
	if i.IsZero() {
		return ""
	}
	var text [longestPrefix + 1 + TextLen]byte
	return string(i.appendTo(text[:0]))
}

// appendTo appends the text of an id that is not zero.
func (i ID[K]) appendTo(dst []byte) []byte {
	var k K
	return appendBase32(append(append(dst, k.prefix()...), '_'), [16]byte(i.raw[:]))
}

// IsZero reports the zero id. canon.Marshal leaves such a field out where its tag has omitzero.
func (i ID[K]) IsZero() bool { return i.raw[16] == 0 }

// AppendText appends the text of the id, and returns an error for the zero id, so that none is stored.
func (i ID[K]) AppendText(dst []byte) ([]byte, error) {
	if i.IsZero() {
		var k K
		return dst, errors.New("id: zero " + k.prefix() + " id")
	}
	return i.appendTo(dst), nil
}

// MarshalText returns the text of the id, with the error of AppendText.
func (i ID[K]) MarshalText() ([]byte, error) { return i.AppendText(nil) }

// UnmarshalText parses b as Parse does. On an error the id is unchanged.
func (i *ID[K]) UnmarshalText(b []byte) error { return i.UnmarshalString(string(b)) }

// UnmarshalString is UnmarshalText for a string.
func (i *ID[K]) UnmarshalString(text string) error {
	var k K
	if s, ok := strings.CutPrefix(text, k.prefix()); ok && len(s) == 1+TextLen && s[0] == '_' {
		if raw, ok := decodeBase32(s[1:]); ok {
			*i = fromBytes[K](raw)
			return nil
		}
	}
	return errors.New("want " + k.prefix() + "_ and 26 characters of a-z2-7")
}
