package index

import (
	"maps"
	"slices"
)

// Facts is what searches and filters compare of a run.
type Facts struct {
	WorkflowID, WorkflowName string
	Title, Goal              string   // those that were given at the start
	Heads, Branches          []string // on which the session was recorded, the latest last
	Labels                   map[string]int64
}

// encode encodes the facts.
func (f Facts) encode() string {
	var w Writer
	for _, text := range []string{f.WorkflowID, f.WorkflowName, f.Title, f.Goal} {
		w.Text(text)
	}
	w.Texts(f.Heads)
	w.Texts(f.Branches)
	w.Count(len(f.Labels))
	for _, label := range slices.Sorted(maps.Keys(f.Labels)) {
		w.Text(label)
		w.Int(f.Labels[label])
	}
	return string(w.Bytes())
}

// WithFacts returns the run with what is compared of it.
func (r Run) WithFacts(f Facts) Run {
	r.facts = f.encode()
	return r
}

// Facts returns what is compared of the run.
func (r Run) Facts() (f Facts) {
	in := NewReader(r.facts)
	f.WorkflowID, f.WorkflowName, f.Title, f.Goal = in.Text(), in.Text(), in.Text(), in.Text()
	f.Heads, f.Branches = in.Texts(), in.Texts()
	if n := in.Count(2); n > 0 {
		f.Labels = make(map[string]int64, n)
		for range n {
			label := in.Text()
			f.Labels[label] = in.Int()
		}
	}
	return f
}
