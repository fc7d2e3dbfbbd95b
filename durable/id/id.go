// Package id defines the identifiers of durable facts (docs/design.md#ids): one type per kind,
// parsed from text in one place, and the derivations by which a retried call computes the ids
// of the records that it already wrote.
//
// An id is a prefix, "_" and 26 lowercase base32 characters of 16 bytes. The zero id exists
// only in memory and cannot be marshaled. The package draws no entropy; the caller passes a
// Seed. Start reading at ID, then kinds.go and derivations.go.
package id

import (
	"encoding/base32"
	"errors"
	"strings"
)

// kind is the type parameter that distinguishes id types. Its prefix is stored: never renamed.
type kind interface {
	~struct{}
	prefix() string
}

// ID is an identifier of kind K. Use its aliases: Session, Run, Node, …
type ID[K kind] struct {
	_ [0]K // makes the fields of two kinds differ: without it, Go converts a Node to a Run
	s string
}

var encoding = base32.NewEncoding("abcdefghijklmnopqrstuvwxyz234567").WithPadding(base32.NoPadding)

// encodedLen is the length of 16 bytes in base32 without padding.
const encodedLen = 26

// fromBytes returns the id with these 16 bytes.
func fromBytes[K kind](raw [16]byte) ID[K] {
	var k K
	return ID[K]{s: k.prefix() + "_" + encoding.EncodeToString(raw[:])}
}

// Parse parses the text of an id of kind K. The error names the prefix and the form that are
// expected, for messages to a person.
func Parse[K kind](s string) (ID[K], error) {
	var out ID[K]
	err := out.UnmarshalText([]byte(s))
	return out, err
}

// String returns the text of the id as it is stored, "" for the zero id.
func (i ID[K]) String() string { return i.s }

// Own returns the id with memory of its own. A decoded one shares that of the text that it was in.
func (i ID[K]) Own() ID[K] { return ID[K]{s: strings.Clone(i.s)} }

// IsZero reports the zero id. canon.Marshal leaves such a field out where its tag has omitzero.
func (i ID[K]) IsZero() bool { return i.s == "" }

// MarshalText returns the text of the id, and an error for the zero id, so that none is stored.
func (i ID[K]) MarshalText() ([]byte, error) {
	if i.s == "" {
		var k K
		return nil, errors.New("id: zero " + k.prefix() + " id")
	}
	return []byte(i.s), nil
}

// UnmarshalText parses b as Parse does. On an error the id is unchanged.
func (i *ID[K]) UnmarshalText(b []byte) error { return i.UnmarshalString(string(b)) }

// UnmarshalString is UnmarshalText without a copy of the text: logs have millions of ids.
func (i *ID[K]) UnmarshalString(text string) error {
	var k K
	raw, ok := strings.CutPrefix(text, k.prefix())
	if ok && len(raw) == 1+encodedLen && raw[0] == '_' && isBase32Of16(raw[1:]) {
		i.s = text
		return nil
	}
	return errors.New("want " + k.prefix() + "_ and 26 characters of a-z2-7")
}

// isBase32Of16 reports whether raw, of 26 characters, is base32 of 16 bytes. 26 characters carry two
// bits more than 16 bytes, which must be zero: otherwise four texts would decode to one id. So
// only every fourth character of the alphabet is valid at the end.
func isBase32Of16(raw string) bool {
	return isBase32(raw) && strings.IndexByte("aeimquy4", raw[len(raw)-1]) >= 0
}

// isBase32 reports whether all characters are of the alphabet of ids.
func isBase32(raw string) bool {
	other := false
	for j := range len(raw) {
		other = other || outside[raw[j]]
	}
	return !other
}

// outside marks the bytes that are not in the alphabet of ids.
var outside = func() (out [256]bool) {
	for c := range out {
		out[c] = (c < 'a' || c > 'z') && (c < '2' || c > '7')
	}
	return out
}()
