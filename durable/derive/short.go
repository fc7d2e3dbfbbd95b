package derive

import (
	"encoding/binary"

	"github.com/zeebo/blake3"
)

// Shorts derives many short values under one context: what Bytes16 does a few times, for
// texts that are cut into a million pieces. It is for one goroutine.
type Shorts struct {
	h   *blake3.Hasher
	out [32]byte
}

// NewShorts is ready to derive under a versioned context string, a constant of ours.
func NewShorts(context string) *Shorts { return &Shorts{h: blake3.NewDeriveKey(context)} }

// Sum derives eight bytes from a kind, another sum and a text: only the text has a length of
// its own, so that no two of them run together.
func (s *Shorts) Sum(kind byte, within uint64, text []byte) uint64 {
	head := [9]byte{kind}
	binary.LittleEndian.PutUint64(head[1:], within)
	s.h.Reset()
	_, _ = s.h.Write(head[:]) // a hash takes what it is given
	_, _ = s.h.Write(text)
	s.h.Sum(s.out[:0])
	return binary.LittleEndian.Uint64(s.out[:])
}
