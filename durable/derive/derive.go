// Package derive computes the local BLAKE3 values of R2: ids, never anything
// that travels or is verified elsewhere (that is SHA-256, package canon).
package derive

import (
	"encoding/binary"

	"github.com/zeebo/blake3"
)

// Bytes16 derives 16 bytes from parts under a versioned context string, in
// BLAKE3's derive-key mode. Parts are length-prefixed: ("ab","c") and ("a","bc")
// differ.
func Bytes16(context string, parts ...string) (out [16]byte) {
	var material []byte
	for _, p := range parts {
		material = binary.LittleEndian.AppendUint64(material, uint64(len(p)))
		material = append(material, p...)
	}
	blake3.DeriveKey(context, material, out[:])
	return out
}
