package projections

import (
	"bytes"
	"errors"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/manifest"
)

// SavedFormat is the number of the form in which folds are saved. It is raised with
// every change of what a fold holds or how it is folded: a state of one form that is
// gone on with in another would be a wrong answer. The test of the form says when.
const SavedFormat = 1

// savedMin is the smallest window worth saving: below it nearly every question is
// a miss.
const savedMin = 16

// saved is the first line of a saved fold: all but the nodes, whose lines follow.
// Contexts, which most nodes share, stand once; a node names the place of its own.
type saved struct {
	Contexts []canon.Value `json:"contexts"`
	Head     manifest.Head `json:"head"`
	Last     int64         `json:"last"`
	Session  *Session      `json:"session"`
}

// Save spells a window of the fold in at most most bytes: as wide a one as fits. ok
// is false when none does, or when too much is open; the fold is what it was. With
// it comes the window itself, to go on with instead of the fold.
func (f *Fold) Save(most int) (data []byte, window *Fold, ok bool) {
	if f.Missed() || f.Head.IsZero() {
		return nil, nil, false
	}
	for newest := WindowNodes; newest >= savedMin; newest /= 2 {
		w, ok := f.Window(newest)
		if !ok {
			return nil, nil, false
		}
		out := &Fold{Session: w, Head: f.Head, Last: f.Last, Loaded: true}
		if data, err := out.spell(); err == nil && len(data) <= most {
			return data, out, true
		}
	}
	return nil, nil, false
}

func (f *Fold) spell() ([]byte, error) {
	var nodes []byte
	var err error
	doc := saved{Contexts: []canon.Value{}, Head: f.Head, Last: f.Last}
	bare := *f.Session
	bare.Runs = make(map[id.Run]*Run, len(f.Runs))
	for place, runID := range f.Order {
		r := f.Runs[runID]
		at := make(map[id.Node]int, len(r.Nodes))
		for _, nodeID := range r.Order {
			n := r.Nodes[nodeID]
			if parent := r.above(n); parent != nil && n.Context.Equal(parent.Context) {
				at[nodeID] = at[parent.ID]
			} else {
				at[nodeID] = len(doc.Contexts)
				doc.Contexts = append(doc.Contexts, n.Context)
			}
			if nodes, err = appendNode(nodes, place, n, at[nodeID]); err != nil {
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

// LoadFold reads what Save wrote. What is not of this form is an error; that the
// state is the one of its log is for the caller to make sure of.
func LoadFold(data []byte) (*Fold, error) {
	var in saved
	line, rest, _ := bytes.Cut(data, []byte{'\n'})
	if err := canon.Unmarshal(line, &in); err != nil {
		return nil, err
	}
	if in.Session == nil || in.Head.IsZero() || in.Session.Next != in.Head.Next {
		return nil, errors.New("projections: no saved fold")
	}
	runs := make([]*Run, len(in.Session.Order))
	for i, runID := range in.Session.Order {
		if runs[i] = in.Session.Runs[runID]; runs[i] == nil || len(runs[i].Nodes) > 0 {
			return nil, errors.New("projections: a saved session whose runs are not those of its order")
		}
	}
	for len(rest) > 0 {
		line, rest, _ = bytes.Cut(rest, []byte{'\n'})
		place, n, context, err := parseNode(line)
		if err != nil {
			return nil, err
		}
		if uint(place) >= uint(len(runs)) || uint(context) >= uint(len(in.Contexts)) {
			return nil, errNodeLine
		}
		n.Context = in.Contexts[context]
		r := runs[place]
		r.Nodes[n.ID] = n
		r.Order = append(r.Order, n.ID)
	}
	return &Fold{Session: in.Session, Head: in.Head, Last: in.Last, Loaded: true}, nil
}

// Brief is what finding a run needs of a session.
type Brief struct {
	SessionID string        `json:"sessionId"`
	Head      manifest.Head `json:"head"`
	Runs      []BriefRun    `json:"runs"` // as started
}

// BriefRun is one run of a Brief.
type BriefRun struct {
	RunID     id.Run  `json:"runId"`
	Tip       id.Node `json:"tip,omitzero"`
	LastAtMs  int64   `json:"lastAtMs"`
	LastIndex int64   `json:"lastIndex"`
}

// Brief sums the fold up.
func (f *Fold) Brief() Brief {
	out := Brief{SessionID: f.ID, Head: f.Head, Runs: []BriefRun{}}
	for _, runID := range f.Order {
		r := f.Runs[runID]
		out.Runs = append(out.Runs, BriefRun{runID, r.Tip, r.LastAtMs, r.LastIndex})
	}
	return out
}
