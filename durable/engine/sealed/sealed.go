// Package sealed writes and opens lines of caches that carry a keyed digest. A
// line that was not written by this store, or not for this purpose, does not
// open; the reader of the cache then computes the content again.
//
// The package reads no cache and writes none.
package sealed

import (
	"context"
	"crypto/subtle"
	"encoding/hex"

	"github.com/waybill/waybill/durable/derive"
	"github.com/waybill/waybill/durable/run/token"
	"github.com/waybill/waybill/ports"
)

// Key is the key that seals caches: the current signing key. It is nil without a
// usable keyring; no cache is valid then, and none after a rotation.
func Key(ctx context.Context, k ports.Keyring) *token.Key {
	keys, err := k.Keys(ctx, ports.ReadOnly)
	if err != nil {
		return nil
	}
	return &keys.Current
}

// Overhead is the number of bytes that a line has beside its document.
const Overhead = 2*derive.SealBytes + 2

// Append appends "<seal> <doc>\n". The seal is a keyed digest of the document in
// its context.
func Append(dst []byte, context string, key *token.Key, doc []byte) []byte {
	seal := derive.Seal(context, key[:], doc)
	dst = append(hex.AppendEncode(dst, seal[:]), ' ')
	return append(append(dst, doc...), '\n')
}

// Open returns the document of a sealed line; ok is false if the seal was not
// made with this key and context. The comparison takes constant time.
func Open(line []byte, context string, key *token.Key) (doc []byte, ok bool) {
	const start = 2*derive.SealBytes + 1
	// A line that was cut off by a crash has no newline.
	if len(line) < start+1 || line[start-1] != ' ' || line[len(line)-1] != '\n' {
		return nil, false
	}
	doc = line[start : len(line)-1]
	seal := derive.Seal(context, key[:], doc)
	return doc, subtle.ConstantTimeCompare(hex.AppendEncode(nil, seal[:]), line[:start-1]) == 1
}
