package steplist

import (
	"slices"

	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/projections/runs"
)

// Pass is a second reading of the log: it says which stops can be shown, and takes nodes that are not needed any more
// out of the fold.
type Pass struct {
	plan    *Plan
	created int // nodes that the reading has met
	seen    int // nodes of the fold that were met
	next    int // in plan.ready
	live    map[id.Node]int32
	full    int // number of nodes at which some are taken out
}

// Pass begins a reading.
func (p *Plan) Pass() *Pass { return &Pass{plan: p, live: map[id.Node]int32{}} }

// fewNodes is the number of nodes at which none is looked for that is not needed.
const fewNodes = 256

// Ready returns the next stop about which no event at or behind an index is.
func (p *Pass) Ready(index int64) (s Stop, ok bool) {
	if p.next == len(p.plan.ready) || p.plan.stops[p.plan.ready[p.next]].ready >= index {
		return s, false
	}
	p.next++
	return p.plan.stopAt(p.plan.ready[p.next-1]), true
}

// Release takes the nodes out of the fold of the run that no event at or behind an index is about, and that no stop
// needs that was not shown. It passes each to gone.
func (p *Pass) Release(run *runs.Run, index int64, gone func(id.Node)) {
	for _, n := range run.Order[p.seen:] {
		p.live[n] = int32(p.created)
		p.created++
	}
	if p.seen = len(run.Order); p.seen <= p.full {
		return
	}
	run.Order = slices.DeleteFunc(run.Order, func(n id.Node) bool {
		if p.plan.nodes.all.At(int(p.live[n])).last >= index {
			return false
		}
		delete(run.Nodes, n)
		delete(p.live, n)
		gone(n)
		return true
	})
	p.seen = len(run.Order)
	p.full = max(fewNodes, 2*p.seen)
}
