// Package derive computes BLAKE3 values that stay on one machine: the bytes of ids, seals of
// cache files, and short hashes for comparing texts (docs/design.md#hashes).
//
// It computes nothing that is sent elsewhere or verified by another program; those digests are
// SHA-256 (package canon).
package derive

import (
	"encoding/binary"
	"sync"

	"github.com/zeebo/blake3"
)

// hashers pools initialized hashers by context. Making one allocates ten kilobytes and hashes
// the context, which costs more than a derivation.
var hashers sync.Map // string → *sync.Pool

func poolFor(context string) *sync.Pool {
	if p, ok := hashers.Load(context); ok {
		return p.(*sync.Pool)
	}
	p, _ := hashers.LoadOrStore(context, &sync.Pool{New: func() any { return blake3.NewDeriveKey(context) }})
	return p.(*sync.Pool)
}

// Bytes16 derives 16 bytes from parts under a versioned context string, in BLAKE3's derive-key
// mode. Parts are length-prefixed: ("ab","c") and ("a","bc") differ. Contexts must be constants
// of the program: the hasher pool of every context is kept until the process ends. It is safe
// for concurrent use.
func Bytes16(context string, parts ...string) (out [16]byte) {
	var material []byte
	for _, p := range parts {
		material = binary.LittleEndian.AppendUint64(material, uint64(len(p)))
		material = append(material, p...)
	}
	pool := poolFor(context)
	h := pool.Get().(*blake3.Hasher)
	h.Reset()
	_, _ = h.Write(material) // never fails
	_, _ = h.Digest().Read(out[:])
	pool.Put(h)
	return out
}
