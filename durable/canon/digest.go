package canon

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"strings"
)

// Digest names bytes by their SHA-256, written "sha256:<64 lowercase hex>"
// (locks section 11; R2). The zero Digest names nothing and refuses to marshal.
type Digest struct{ s string }

const digestPrefix = "sha256:"

// Sum is the digest of b as it stands: callers canonicalize first.
func Sum(b []byte) Digest {
	h := sha256.Sum256(b)
	return DigestOf(h)
}

// DigestOf wraps a SHA-256 that was computed while streaming.
func DigestOf(h [sha256.Size]byte) Digest {
	var text [len(digestPrefix) + 2*sha256.Size]byte // one allocation: a verification makes as many as there are files
	copy(text[:], digestPrefix)
	hex.Encode(text[len(digestPrefix):], h[:])
	return Digest{string(text[:])}
}

// ParseDigest is the one way from text to a Digest.
func ParseDigest(s string) (Digest, error) {
	raw, ok := strings.CutPrefix(s, digestPrefix)
	if !ok || len(raw) != 2*sha256.Size {
		return Digest{}, errors.New("want sha256: and 64 lowercase hexadecimal digits")
	}
	for i := range len(raw) {
		if c := raw[i]; (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return Digest{}, errors.New("want sha256: and 64 lowercase hexadecimal digits")
		}
	}
	return Digest{s}, nil
}

// String is "sha256:<hex>", empty for the zero Digest.
func (d Digest) String() string { return d.s }

// IsZero reports whether d names nothing; encoding omits such fields.
func (d Digest) IsZero() bool { return d.s == "" }

// Raw is the digest as bytes, for those who hold many; DigestOf undoes it. That of the
// zero Digest is all zeros.
func (d Digest) Raw() (raw [sha256.Size]byte) {
	if d.s != "" {
		_, _ = hex.Decode(raw[:], []byte(d.s[len(digestPrefix):])) // no Digest holds anything else
	}
	return raw
}

// FileName is the name of a file in a content-addressed folder:
// "sha256_<hex>", since a colon is no file name character everywhere.
func (d Digest) FileName() string { return strings.Replace(d.s, ":", "_", 1) }

// ParseFileName undoes FileName.
func ParseFileName(name string) (Digest, error) {
	raw, ok := strings.CutPrefix(name, "sha256_")
	if !ok {
		return Digest{}, errors.New("want a name that starts with sha256_")
	}
	return ParseDigest(digestPrefix + raw)
}

// MarshalText refuses the zero Digest, so that no empty reference is ever stored.
func (d Digest) MarshalText() ([]byte, error) {
	if d.s == "" {
		return nil, errors.New("canon: zero digest")
	}
	return []byte(d.s), nil
}

// UnmarshalText parses as ParseDigest does.
func (d *Digest) UnmarshalText(b []byte) error { return d.UnmarshalString(string(b)) }

// UnmarshalString is UnmarshalText without a copy.
func (d *Digest) UnmarshalString(text string) (err error) {
	*d, err = ParseDigest(text)
	return err
}
