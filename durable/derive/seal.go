package derive

import "github.com/zeebo/blake3"

// SealBytes is the length of a seal.
const SealBytes = 32

// Seal is the keyed digest of data under a key of its own: derived from a secret
// under a versioned context string, so that one secret serves several purposes and
// no seal says anything about another. It shows that whoever wrote data knew the
// secret, on this machine; it never travels (R2).
func Seal(context string, secret, data []byte) (out [SealBytes]byte) {
	var key [32]byte
	blake3.DeriveKey(context, secret, key[:])
	h, err := blake3.NewKeyed(key[:])
	if err != nil {
		panic("derive: " + err.Error()) // a key of 32 bytes is one
	}
	_, _ = h.Write(data) // a hash takes what it is given
	h.Sum(out[:0])
	return out
}
