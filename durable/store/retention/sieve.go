package retention

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/log/manifest"
)

// Object is a stored object.
type Object struct {
	Kind   manifest.ObjectKind
	Ref    canon.Digest
	Bytes  int64
	Erased bool // it lies beside its tombstone: nobody can need it
}

// Sieve starts with every stored object and drops those that something names; what is
// left, nobody needs. What is stored later was never in it, so that an object that is
// brought while the logs are read is none that could go.
//
// Whatever digest stands anywhere in a log keeps its object, of whatever kind: the
// snapshots that manifests pin, what events refer to, and what side logs and kinds of
// events that this version does not know may mean by it.
type Sieve struct {
	objects []Object
	at      map[[sha256.Size]byte][]int
	named   []bool // or gone
}

// NewSieve takes all objects in.
func NewSieve(objects []Object) *Sieve {
	s := &Sieve{objects: objects, at: make(map[[sha256.Size]byte][]int, len(objects)),
		named: make([]bool, len(objects))}
	for i, o := range objects {
		if !o.Erased {
			raw := o.Ref.Raw()
			s.at[raw] = append(s.at[raw], i)
		}
	}
	return s
}

// Keep drops whatever a text names.
func (s *Sieve) Keep(text []byte) {
	Named(text, func(raw [sha256.Size]byte) {
		for _, i := range s.at[raw] {
			s.named[i] = true
		}
		delete(s.at, raw)
	})
}

// Left are the objects that nothing has named, in the order in which they came.
func (s *Sieve) Left() []Object { return s.pick(len(s.objects), false) }

// Take is Left, of at most so many, which are no more left then.
func (s *Sieve) Take(most int) []Object { return s.pick(most, true) }

func (s *Sieve) pick(most int, gone bool) (out []Object) {
	for i, o := range s.objects {
		if len(out) < most && !s.named[i] {
			out = append(out, o)
			s.named[i] = gone
		}
	}
	return out
}

// prefix is what digests begin with; in names of files another sign follows it.
const prefix = "sha256"

// Named calls found with every digest that stands in a text, spelled as in logs or as
// in names of files.
func Named(text []byte, found func(raw [sha256.Size]byte)) {
	const length = 2 * sha256.Size
	for {
		at := bytes.Index(text, []byte(prefix))
		if at < 0 || len(text) < at+len(prefix)+1+length {
			return
		}
		text = text[at+len(prefix):]
		if text[0] != ':' && text[0] != '_' {
			continue
		}
		var raw [sha256.Size]byte
		if _, err := hex.Decode(raw[:], text[1:1+length]); err == nil {
			found(raw)
		}
	}
}
