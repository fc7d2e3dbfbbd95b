package runs

import (
	"bytes"
	"errors"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/manifest"
)

// SavedFormat is the number of the form of saved folds. It is raised with every change of the
// members of a fold or of the folding itself: continuing a state of one form in another would give
// wrong answers. TestSavedFoldForm reports when the members change.
const SavedFormat = 8

// savedNodesMin is the smallest window that is saved: with fewer nodes nearly every question would
// need the whole log.
const savedNodesMin = 16

// savedHeader is the first line of a saved fold: everything but the nodes, whose lines follow.
// Contexts are stored once, since most nodes share theirs with the parent; a node's line holds the
// index of its own.
type savedHeader struct {
	Contexts []canon.Value `json:"contexts"`
	Head     manifest.Head `json:"head"`
	Last     int64         `json:"last"`
	Session  *Session      `json:"session"`
}

// Save returns a window of the fold in at most bytesMax bytes: WindowNodes nodes of each run,
// halved until it fits. ok is false if no window of at least savedNodesMin nodes fits, if too many
// nodes are open (see Session.Window), if the log is empty, or if the fold is incomplete (see
// Missed). The fold is not modified. The returned window shares its nodes; the caller continues
// with either of them, not with both.
func (f *Fold) Save(bytesMax int) (data []byte, window *Fold, ok bool) {
	if f.Missed() || f.Head.IsZero() {
		return nil, nil, false
	}
	for newest := WindowNodes; newest >= savedNodesMin; newest /= 2 {
		w, ok := f.Window(newest)
		if !ok {
			return nil, nil, false
		}
		out := &Fold{Session: w, Head: f.Head, Last: f.Last, segment: f.segment, Loaded: true}
		if data, err := out.encode(); err == nil && len(data) <= bytesMax {
			return data, out, true
		}
	}
	return nil, nil, false
}

// encode writes header and nodes, runs in the order of their start and nodes in the order of their
// creation, without a final newline.
func (f *Fold) encode() ([]byte, error) {
	var nodes []byte
	var err error
	doc := savedHeader{Contexts: []canon.Value{}, Head: f.Head, Last: f.Last}
	bare := *f.Session
	bare.Runs = make(map[id.Run]*Run, len(f.Runs))
	for runIndex, runID := range f.Order {
		r := f.Runs[runID]
		at := make(map[id.Node]int, len(r.Nodes))
		for _, nodeID := range r.Order {
			n := r.Nodes[nodeID]
			// Order lists parents before children, so the parent's context has its index.
			if parent := r.above(n); parent != nil && n.Context.Equal(parent.Context) {
				at[nodeID] = at[parent.ID]
			} else {
				at[nodeID] = len(doc.Contexts)
				doc.Contexts = append(doc.Contexts, n.Context)
			}
			if nodes, err = appendNode(nodes, runIndex, n, at[nodeID]); err != nil {
				return nil, err
			}
		}
		run := *r
		run.Nodes, run.Order = map[id.Node]*Node{}, []id.Node{}
		bare.Runs[runID] = &run
	}
	doc.Session = &bare
	out, err := canon.Marshal(doc)
	return bytes.TrimSuffix(append(append(out, '\n'), nodes...), []byte{'\n'}), err
}

// LoadFold reads what Save wrote. Data of another form is an error. The caller has to make sure
// that Head is on the chain of the log: a state of another log would give wrong answers.
func LoadFold(data []byte) (*Fold, error) {
	var in savedHeader
	line, rest, _ := bytes.Cut(data, []byte{'\n'})
	if err := canon.Unmarshal(line, &in); err != nil {
		return nil, err
	}
	if in.Session == nil || in.Head.IsZero() || in.Session.Next != in.Head.Next {
		return nil, errors.New("projections: not a saved fold")
	}
	runs := make([]*Run, len(in.Session.Order))
	for i, runID := range in.Session.Order {
		if runs[i] = in.Session.Runs[runID]; runs[i] == nil || len(runs[i].Nodes) > 0 {
			return nil, errors.New("projections: runs and order of a saved session differ")
		}
	}
	for len(rest) > 0 {
		line, rest, _ = bytes.Cut(rest, []byte{'\n'})
		runIndex, n, context, err := parseNode(line)
		if err != nil {
			return nil, err
		}
		if uint64(runIndex) >= uint64(len(runs)) || uint64(context) >= uint64(len(in.Contexts)) {
			return nil, errNodeLine
		}
		n.Context = in.Contexts[context]
		r := runs[runIndex]
		r.Nodes[n.ID] = n
		r.Order = append(r.Order, n.ID)
	}
	return &Fold{Session: in.Session, Head: in.Head, Last: in.Last, Loaded: true}, nil
}

// Brief is what finding a run or a node needs of a session; it is cached beside the fold and must
// keep its member names.
type Brief struct {
	SessionID string        `json:"sessionId"`
	Head      manifest.Head `json:"head"`
	Runs      []BriefRun    `json:"runs"` // in the order of their start
}

// BriefRun is one run of a Brief.
type BriefRun struct {
	RunID     id.Run  `json:"runId"`
	Tip       id.Node `json:"tip,omitzero"`
	LastAtMs  int64   `json:"lastAtMs"`
	LastIndex int64   `json:"lastIndex"`
}

// Brief returns the brief of the folded session.
func (f *Fold) Brief() Brief {
	out := Brief{SessionID: f.ID, Head: f.Head, Runs: []BriefRun{}}
	for _, runID := range f.Order {
		r := f.Runs[runID]
		out.Runs = append(out.Runs, BriefRun{runID, r.Tip, r.LastAtMs, r.LastIndex})
	}
	return out
}
