package upkeep

import (
	"crypto/sha256"

	"github.com/waybill/waybill/durable/engine/index"
)

// namedByLog is what the disk usage needs of a session's log: the runs, and every digest in its text.
type namedByLog struct {
	runs    []RunName
	digests map[[sha256.Size]byte]struct{}
	// settled reports that it remains the same as long as the log does not change.
	settled bool
}

// namedMax bounds the digests that are kept of a log. A log with more of them is read each time.
const namedMax = 2048

// add adds a digest, and one more than is kept.
func (n *namedByLog) add(raw [sha256.Size]byte) {
	if len(n.digests) <= namedMax {
		n.digests[raw] = struct{}{}
	}
}

// encode encodes what is kept in the index.
func (n *namedByLog) encode() []byte {
	var w index.Writer
	w.Count(len(n.runs))
	for _, r := range n.runs {
		w.Text(r.RunID.String())
		w.Text(r.WorkflowID)
		w.Text(r.Title)
	}
	w.Count(len(n.digests))
	for raw := range n.digests {
		w.Text(string(raw[:]))
	}
	return w.Bytes()
}

// decodeNamed decodes it, and passes each digest to named.
func decodeNamed(text string, named func(raw [sha256.Size]byte)) (names []RunName, ok bool) {
	in := index.NewReader(text)
	names = make([]RunName, in.Count(3))
	for i := range names {
		r := &names[i]
		if r.RunID.UnmarshalString(in.Text()) != nil {
			return nil, false
		}
		r.WorkflowID, r.Title = in.Text(), in.Text()
	}
	var raw [sha256.Size]byte
	for range in.Count(sha256.Size) {
		if copy(raw[:], in.Text()) != len(raw) {
			return nil, false
		}
		named(raw)
	}
	return names, in.Done()
}
