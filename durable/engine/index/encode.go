package index

import (
	"encoding/binary"

	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/ports"
)

// Format is the number of the form of the index. It is raised with every change of the form, of the rows, or of the
// rules by which rows are computed: each version of the program has a file of its own.
const Format = 1

// saved is the content of the index.
type saved struct {
	beganNs int64   // when the observation of the sessions began
	entries []entry // in the order of their ids
}

// entry is a session with the state in which it was read.
type entry struct {
	session   id.Session
	state     [16]byte
	changedNs int64
	runs      []Run
}

// holds reports that an entry is of the state that is observed now. An entry of a session that changed shortly before
// the index was begun is not believed: a second change may have left the times as they are.
func (s saved) holds(e entry, now ports.SessionState) bool {
	return e.state == now.State && e.state != [16]byte{} && e.changedNs < s.beganNs-limits.IndexSettleNs
}

// encode writes the index: numbers as varints, ids as their 16 bytes, texts behind their lengths.
func encode(s saved) []byte {
	size := 64
	for _, e := range s.entries {
		size += 64
		for _, r := range e.runs {
			size += 64 + len(r.Row) + len(r.Extra)
		}
	}
	out := binary.AppendVarint(make([]byte, 0, size), s.beganNs)
	out = binary.AppendUvarint(out, uint64(len(s.entries)))
	for _, e := range s.entries {
		raw := e.session.Raw()
		out = append(append(out, raw[:]...), e.state[:]...)
		out = binary.AppendVarint(out, e.changedNs)
		out = binary.AppendUvarint(out, uint64(len(e.runs)))
		for _, r := range e.runs {
			run, tip := r.ID.Raw(), r.Tip.Raw()
			out = append(append(out, run[:]...), tip[:]...)
			out = binary.AppendVarint(out, r.LastAtMs)
			out = binary.AppendVarint(out, r.LastIndex)
			for _, text := range [][]byte{r.Row, r.Extra} {
				out = append(binary.AppendUvarint(out, uint64(len(text))), text...)
			}
		}
	}
	return out
}

// reader takes the parts of an encoded index; failed after the first that is missing.
type reader struct {
	rest   []byte
	failed bool
}

func (r *reader) take(n int) []byte {
	if r.failed || n < 0 || n > len(r.rest) {
		r.failed = true
		return nil
	}
	out := r.rest[:n:n]
	r.rest = r.rest[n:]
	return out
}

func (r *reader) raw() (out [16]byte) {
	copy(out[:], r.take(len(out)))
	return out
}

func (r *reader) varint() int64 {
	v, n := binary.Varint(r.rest)
	if n <= 0 {
		r.failed = true
		return 0
	}
	r.take(n)
	return v
}

// count takes a number of things that take at least each bytes.
func (r *reader) count(each int) int {
	v, n := binary.Uvarint(r.rest)
	if n <= 0 || v > uint64(len(r.rest)/each) {
		r.failed = true
		return 0
	}
	r.take(n)
	return int(v)
}

// decode reads an index; ok is false for one that is malformed. The rows share data.
func decode(data []byte) (s saved, ok bool) {
	r := &reader{rest: data}
	s.beganNs = r.varint()
	s.entries = make([]entry, r.count(34))
	for i := range s.entries {
		e := &s.entries[i]
		e.session, e.state, e.changedNs = id.Session{}.OfRaw(r.raw()), r.raw(), r.varint()
		e.runs = make([]Run, r.count(36))
		for k := range e.runs {
			run := &e.runs[k]
			run.ID = id.Run{}.OfRaw(r.raw())
			if tip := r.raw(); tip != [16]byte{} {
				run.Tip = id.Node{}.OfRaw(tip)
			}
			run.LastAtMs, run.LastIndex = r.varint(), r.varint()
			run.Row, run.Extra = r.take(r.count(1)), r.take(r.count(1))
		}
	}
	return s, !r.failed && len(r.rest) == 0
}
