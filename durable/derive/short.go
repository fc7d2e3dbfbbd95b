package derive

import (
	"encoding/binary"

	"github.com/zeebo/blake3"
)

// ShortHasher derives many 64-bit values under one context, with one hasher and without allocations.
// It is for one goroutine.
type ShortHasher struct {
	h   *blake3.Hasher
	out [32]byte
}

// NewShortHasher returns a ShortHasher for a versioned context string, a constant of the program.
func NewShortHasher(context string) *ShortHasher {
	return &ShortHasher{h: blake3.NewDeriveKey(context)}
}

// Sum derives 64 bits from a kind, another sum and a text. Kind and sum have a fixed length, so
// that different arguments are never hashed as the same bytes.
func (s *ShortHasher) Sum(kind byte, within uint64, text []byte) uint64 {
	head := [9]byte{kind}
	binary.LittleEndian.PutUint64(head[1:], within)
	s.h.Reset()
	_, _ = s.h.Write(head[:]) // never fails
	_, _ = s.h.Write(text)
	s.h.Sum(s.out[:0])
	return binary.LittleEndian.Uint64(s.out[:])
}
