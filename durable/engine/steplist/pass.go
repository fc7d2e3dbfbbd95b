package steplist

import (
	"slices"

	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/projections/runs"
)

// Pass is a second reading of the log: it says which stops can be shown, and takes nodes that are not needed any more
// out of the fold.
type Pass struct {
	plan *Plan
	seen int // nodes of the fold that were met
	next int // in plan.ready
	// nodes are those of the fold, by their number in the order of creation, and created is how many were met.
	nodes   map[int32]*runs.Node
	created int32
	full    int // number of nodes at which some are taken out
}

// Pass begins a reading.
func (p *Plan) Pass() *Pass { return &Pass{plan: p, nodes: map[int32]*runs.Node{}} }

// Meet takes the nodes into account that a segment has added to the fold.
func (p *Pass) Meet(run *runs.Run) {
	for _, n := range run.Order[p.seen:] {
		p.nodes[p.created] = run.Node(n)
		p.created++
	}
	p.seen = len(run.Order)
}

// Node returns a node of the path, nil behind its end. It is in the fold while a stop needs it.
func (p *Pass) Node(at int) *runs.Node {
	if at >= len(p.plan.path) {
		return nil
	}
	return p.nodes[p.plan.path[at]]
}

// fewNodes is the number of nodes at which none is looked for that is not needed.
const fewNodes = 256

// Ready returns the next stop about which no event at or behind an index is.
func (p *Pass) Ready(index int64) (s Stop, ok bool) {
	if p.next == len(p.plan.ready) || p.plan.stops[p.plan.ready[p.next]].ready >= uint32(index) {
		return s, false
	}
	p.next++
	return p.plan.stopAt(p.plan.ready[p.next-1]), true
}

// Release takes the nodes out of the fold of the run that no event at or behind an index is about, and that no stop
// needs that was not shown. It passes each to gone.
func (p *Pass) Release(run *runs.Run, index int64, gone func(id.Node)) {
	if p.seen <= p.full {
		return
	}
	for i, n := range p.nodes {
		if p.plan.nodes.all.At(int(i)).last < uint32(index) {
			delete(p.nodes, i)
			delete(run.Nodes, n.ID)
			gone(n.ID)
		}
	}
	run.Order = slices.DeleteFunc(run.Order, func(n id.Node) bool { return run.Nodes[n] == nil })
	p.seen = len(run.Order)
	p.full = max(fewNodes, 2*p.seen)
}
