// Package id holds the identifiers of durable facts (R3): each its own type with
// one way in from text, and the derivations that make a retry find what it wrote.
//
// An id is a prefix and 26 lowercase base32 characters of 16 bytes. The zero id
// exists only in memory: it refuses to marshal.
package id

import (
	"encoding/base32"
	"errors"
	"strings"
)

// kind is what tells two id types apart; its prefix is for ever.
type kind interface {
	~struct{}
	prefix() string
}

// ID is an identifier of kind K. Use its aliases: Session, Run, Node, …
type ID[K kind] struct {
	_ [0]K // without it, Go would convert a Node to a Run: their fields were the same
	s string
}

var encoding = base32.NewEncoding("abcdefghijklmnopqrstuvwxyz234567").WithPadding(base32.NoPadding)

// encodedLen is the length of 16 bytes in base32 without padding.
const encodedLen = 26

func make16[K kind](raw [16]byte) ID[K] {
	var k K
	return ID[K]{s: k.prefix() + "_" + encoding.EncodeToString(raw[:])}
}

// Parse is the one way from text to an id of kind K.
func Parse[K kind](s string) (ID[K], error) {
	var out ID[K]
	err := out.UnmarshalText([]byte(s))
	return out, err
}

// String is the id as it is stored, empty for the zero id.
func (i ID[K]) String() string { return i.s }

// IsZero reports an id that names nothing; encoding omits such fields.
func (i ID[K]) IsZero() bool { return i.s == "" }

// MarshalText refuses the zero id, so that none is ever stored.
func (i ID[K]) MarshalText() ([]byte, error) {
	if i.s == "" {
		var k K
		return nil, errors.New("id: zero " + k.prefix() + " id")
	}
	return []byte(i.s), nil
}

// UnmarshalText accepts exactly the one spelling of an id of kind K.
func (i *ID[K]) UnmarshalText(b []byte) error { return i.UnmarshalString(string(b)) }

// UnmarshalString is UnmarshalText without a copy: logs are read by the million lines.
func (i *ID[K]) UnmarshalString(text string) error {
	var k K
	raw, ok := strings.CutPrefix(text, k.prefix())
	if ok && len(raw) == 1+encodedLen && raw[0] == '_' && spelled(raw[1:]) {
		i.s = text
		return nil
	}
	return errors.New("want " + k.prefix() + "_ and 26 characters of a-z2-7")
}

// spelled reports base32 of 16 bytes. 26 characters carry two bits too many, which
// are zero: only every fourth character of the alphabet may stand at the end.
func spelled(raw string) bool {
	for j := range len(raw) {
		if c := raw[j]; (c < 'a' || c > 'z') && (c < '2' || c > '7') {
			return false
		}
	}
	return strings.IndexByte("aeimquy4", raw[len(raw)-1]) >= 0
}
