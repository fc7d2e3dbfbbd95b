package canon

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"strings"
)

// Digest is the SHA-256 of some bytes, written "sha256:<64 lowercase hex>"
// (docs/design.md#hashes). Digests are comparable with ==. The zero Digest refers to nothing
// and cannot be marshaled.
type Digest struct{ s string }

const digestPrefix = "sha256:"

// Sum returns the digest of b, byte for byte. It does not canonicalize: a caller that digests
// a document passes the bytes of Marshal or JCS.
func Sum(b []byte) Digest {
	h := sha256.Sum256(b)
	return DigestOf(h)
}

// IsOf reports whether d is the digest of b.
func (d Digest) IsOf(b []byte) bool { return !d.IsZero() && sha256.Sum256(b) == d.Raw() }

// DigestOf returns the Digest of a SHA-256 that was computed elsewhere, such as while
// streaming a file.
func DigestOf(h [sha256.Size]byte) Digest {
	var text [len(digestPrefix) + 2*sha256.Size]byte // one allocation: a verification makes one per file
	copy(text[:], digestPrefix)
	hex.Encode(text[len(digestPrefix):], h[:])
	return Digest{string(text[:])}
}

// ParseDigest parses the text form of a Digest. Upper case digits, other algorithms and
// surrounding space are errors: a digest has one spelling.
func ParseDigest(s string) (Digest, error) {
	raw, ok := strings.CutPrefix(s, digestPrefix)
	if !ok || len(raw) != 2*sha256.Size {
		return Digest{}, errors.New("want sha256: and 64 lowercase hexadecimal digits")
	}
	for i := range len(raw) {
		if hexValues[raw[i]]&isHex == 0 {
			return Digest{}, errors.New("want sha256: and 64 lowercase hexadecimal digits")
		}
	}
	return Digest{s}, nil
}

// hexValues is the value of each hexadecimal digit, with the bit isHex. It is a table because the digits of digests are
// random: no branch on them can be predicted.
var hexValues = [256]byte{'0': isHex, '1': isHex | 1, '2': isHex | 2, '3': isHex | 3, '4': isHex | 4, '5': isHex | 5,
	'6': isHex | 6, '7': isHex | 7, '8': isHex | 8, '9': isHex | 9, 'a': isHex | 10, 'b': isHex | 11, 'c': isHex | 12,
	'd': isHex | 13, 'e': isHex | 14, 'f': isHex | 15}

const isHex = 1 << 4

// String returns "sha256:<hex>", and "" for the zero Digest.
func (d Digest) String() string { return d.s }

// IsZero reports the zero Digest. Marshal leaves such a field out where its tag has omitzero.
func (d Digest) IsZero() bool { return d.s == "" }

// Raw returns the 32 bytes of the digest, a smaller map key than the text; DigestOf is its
// inverse. The zero Digest gives 32 zero bytes.
func (d Digest) Raw() (raw [sha256.Size]byte) {
	if d.s != "" {
		digits := d.s[len(digestPrefix):] // ParseDigest checked them
		for i := range raw {
			raw[i] = hexValues[digits[2*i]]<<4 | hexValues[digits[2*i+1]]&^isHex
		}
	}
	return raw
}

// FileName returns the file name of the object with this digest, without suffix:
// "sha256_<hex>", since a colon is not valid in file names on every platform.
func (d Digest) FileName() string { return strings.Replace(d.s, ":", "_", 1) }

// ParseFileName is the inverse of FileName. A name with a suffix is an error: the caller
// removes it first.
func ParseFileName(name string) (Digest, error) {
	raw, ok := strings.CutPrefix(name, "sha256_")
	if !ok {
		return Digest{}, errors.New("want a name that starts with sha256_")
	}
	return ParseDigest(digestPrefix + raw)
}

// MarshalText returns the text of d, and an error for the zero Digest, so that no empty
// reference is stored.
func (d Digest) MarshalText() ([]byte, error) {
	if d.s == "" {
		return nil, errors.New("canon: zero digest")
	}
	return []byte(d.s), nil
}

// UnmarshalText parses b with ParseDigest.
func (d *Digest) UnmarshalText(b []byte) error { return d.UnmarshalString(string(b)) }

// UnmarshalString is UnmarshalText without the copy of the text: Exact calls it for every
// digest of every line.
func (d *Digest) UnmarshalString(text string) (err error) {
	*d, err = ParseDigest(text)
	return err
}
