// Package derive computes the local BLAKE3 values of R2: ids, never anything
// that travels or is verified elsewhere (that is SHA-256, package canon).
package derive

import (
	"encoding/binary"
	"sync"

	"github.com/zeebo/blake3"
)

// hashers keeps, by context, hashers that are ready for it: making one costs ten
// kilobytes and the digest of the context, more than a whole derivation.
var hashers sync.Map // string → *sync.Pool

func poolFor(context string) *sync.Pool {
	if p, ok := hashers.Load(context); ok {
		return p.(*sync.Pool)
	}
	p, _ := hashers.LoadOrStore(context, &sync.Pool{New: func() any { return blake3.NewDeriveKey(context) }})
	return p.(*sync.Pool)
}

// Bytes16 derives 16 bytes from parts under a versioned context string, in
// BLAKE3's derive-key mode. Parts are length-prefixed: ("ab","c") and ("a","bc")
// differ. Contexts are constants of ours: each one used is kept for good.
func Bytes16(context string, parts ...string) (out [16]byte) {
	var material []byte
	for _, p := range parts {
		material = binary.LittleEndian.AppendUint64(material, uint64(len(p)))
		material = append(material, p...)
	}
	pool := poolFor(context)
	h := pool.Get().(*blake3.Hasher)
	h.Reset()
	_, _ = h.Write(material) // a hash takes what it is given
	_, _ = h.Digest().Read(out[:])
	pool.Put(h)
	return out
}
