package projections

import (
	"errors"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/manifest"
)

// SavedFormat is the number of the form in which folds are saved. It is raised with
// every change of what a fold holds or how it is folded: a state of one form that is
// gone on with in another would be a wrong answer. The test of the form says when.
const SavedFormat = 1

// savedMin is the smallest window worth saving: below it nearly every question is
// a miss.
const savedMin = 2 * 8

// saved is a fold as it is written: contexts, which most nodes share, stand once,
// and each node's context is the place of its own among them.
type saved struct {
	Contexts []canon.Value `json:"contexts"`
	Head     manifest.Head `json:"head"`
	Last     int64         `json:"last"`
	Session  *Session      `json:"session"`
}

// Save spells a window of the fold in at most most bytes of JCS: as wide a one as
// fits. ok is false when none does, or when too much is open; the fold is what it
// was. With it comes the window itself, to go on with instead of the fold.
func (f *Fold) Save(most int) (data []byte, window *Fold, ok bool) {
	if f.Missed() || f.Head.IsZero() {
		return nil, nil, false
	}
	for newest := WindowNodes; newest >= savedMin; newest /= 2 {
		w, ok := f.Window(newest)
		if !ok {
			return nil, nil, false
		}
		data, err := canon.Marshal(share(f, w))
		if err == nil && len(data) <= most {
			return data, &Fold{Session: w, Head: f.Head, Last: f.Last}, true
		}
	}
	return nil, nil, false
}

// share takes contexts out of a window's nodes.
func share(f *Fold, w *Session) saved {
	out := saved{Contexts: []canon.Value{}, Head: f.Head, Last: f.Last}
	bare := *w
	bare.Runs = make(map[id.Run]*Run, len(w.Runs))
	for runID, r := range w.Runs {
		run := *r
		run.Nodes = make(map[id.Node]*Node, len(r.Nodes))
		at := map[id.Node]int{}
		for _, nodeID := range r.Order {
			n := *r.Nodes[nodeID]
			place := -1
			if parent := r.above(&n); parent != nil && n.Context.Equal(parent.Context) {
				place = at[parent.ID]
			} else {
				place = len(out.Contexts)
				out.Contexts = append(out.Contexts, n.Context)
			}
			at[nodeID], n.Context = place, canon.OfInt(int64(place))
			run.Nodes[nodeID] = &n
		}
		bare.Runs[runID] = &run
	}
	out.Session = &bare
	return out
}

// LoadFold reads what Save wrote. What is not of this form is an error; that the
// state is the one of its log is for the caller to make sure of.
func LoadFold(data []byte) (*Fold, error) {
	var in saved
	if err := canon.Unmarshal(data, &in); err != nil {
		return nil, err
	}
	if in.Session == nil || in.Head.IsZero() || in.Session.Next != in.Head.Next {
		return nil, errors.New("projections: no saved fold")
	}
	for _, r := range in.Session.Runs {
		if err := r.unshare(in.Contexts); err != nil {
			return nil, err
		}
	}
	return &Fold{Session: in.Session, Head: in.Head, Last: in.Last}, nil
}

func (r *Run) unshare(contexts []canon.Value) error {
	if r == nil || len(r.Order) != len(r.Nodes) {
		return errors.New("projections: a saved run whose nodes are not those of its order")
	}
	for _, nodeID := range r.Order {
		n := r.Nodes[nodeID]
		if n == nil {
			return errors.New("projections: a saved run without one of its nodes")
		}
		place := n.Context.Float()
		if n.Context.Kind() != canon.Number || place < 0 || place >= float64(len(contexts)) {
			return errors.New("projections: a saved node without its context")
		}
		n.Context = contexts[int(place)]
	}
	return nil
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
