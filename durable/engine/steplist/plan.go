package steplist

import (
	"cmp"
	"slices"

	"github.com/waybill/waybill/durable/engine/compact"
)

// Plan is the list of the steps of a run's path, without their content.
type Plan struct {
	nodes *Nodes
	path  []int32 // nodes, from the root
	stops []stop
	added int32 // nodes of the path that have a stop
	// groups are those of the stops, noGroup for none; nil after Order.
	groups []int32
	// last is the stop of the latest step, -1 before the first one, and key the key of its step.
	last int
	key  string
	// loops numbers the loops in which steps were pending.
	loops map[string]int32
	// ready are the stops in the order in which their rows can be made.
	ready   []int32
	rows    []int32 // a stop, or below 0 the complement of a group without one
	inOrder bool
}

// stop is one step on the path, or a node of it without a step.
type stop struct {
	ready uint32 // index of the last event about it
	first int32  // node of the path; the last one is the one before the next stop
	row   int32  // noRow for one that the list does not have
	loop  int32  // in loops, 0 for none
}

const (
	noGroup = -1
	noRow   = -1
)

// Step adds the node behind those that were added, at which a step is pending: its key, the outermost loop in which it
// is, "" for none, its group of the list, below 0 for none, and whether the list has it. A refused attempt that another
// program recorded as a node is one more attempt at the step before.
func (p *Plan) Step(key, loop string, group int, listed bool) {
	if n := p.nodes.all.At(int(p.path[p.added])); n.parent&isRefused != 0 && p.last >= 0 && p.key == key {
		p.added++
		p.stops, p.groups = p.stops[:p.last+1], p.groups[:p.last+1]
		return
	}
	if p.loops == nil {
		p.loops = map[string]int32{"": 0}
	}
	at, ok := p.loops[loop]
	if !ok {
		at = int32(len(p.loops))
		p.loops[loop] = at
	}
	p.last, p.key = len(p.stops), key
	row := int32(noRow)
	if listed && group >= 0 {
		row = 0 // until Order
	}
	p.add(stop{first: p.added, loop: at, row: row}, int32(max(group, noGroup)))
}

// NoStep adds the node behind those that were added, at which no step is pending.
func (p *Plan) NoStep() { p.add(stop{first: p.added, row: noRow}, noGroup) }

func (p *Plan) add(s stop, group int32) {
	p.stops, p.groups = append(p.stops, s), append(p.groups, group)
	p.added++
}

// end returns the node of the path behind a stop.
func (p *Plan) end(i int) int32 {
	if i+1 < len(p.stops) {
		return p.stops[i+1].first
	}
	return p.added
}

// Visited reports which of so many groups have a step.
func (p *Plan) Visited(groups int) []bool {
	out := make([]bool, groups)
	for _, g := range p.groups {
		if g >= 0 {
			out[g] = true
		}
	}
	return out
}

// Order ends the plan. The list has the groups one after the other: the listed steps of a group in the order of the path,
// and one row for a listed group without any. Of more than most rows, those at the beginning are left out,
// and their number is returned; 0: none are.
func (p *Plan) Order(groups []bool, most int) (omitted int) {
	p.nodes.snapshots = compact.List[[32]byte]{}
	byGroup := make([]int32, 0, len(p.stops))
	for i := range p.stops {
		if p.stops[i].row != noRow {
			byGroup = append(byGroup, int32(i))
		}
	}
	slices.SortStableFunc(byGroup, func(a, b int32) int { return cmp.Compare(p.groups[a], p.groups[b]) })
	p.rows = make([]int32, 0, len(byGroup)+len(groups))
	for g, listed := range groups {
		own := 0
		for own < len(byGroup) && p.groups[byGroup[own]] == int32(g) {
			own++
		}
		if p.rows = append(p.rows, byGroup[:own]...); own == 0 && listed {
			p.rows = append(p.rows, ^int32(g))
		}
		byGroup = byGroup[own:]
	}
	p.groups = nil
	if most > 0 {
		omitted = max(0, len(p.rows)-most)
		p.rows = p.rows[omitted:]
	}
	for i := range p.stops {
		p.stops[i].row = noRow
	}
	for i, at := range p.rows {
		if at >= 0 {
			p.stops[at].row = int32(i)
		}
	}
	p.schedule()
	return omitted
}

// schedule finds out from which event on each row can be made, and until which event each node is needed: for its own
// row, for that of the step before, which it was the outcome of, and for that of the step that it is a checkpoint of.
func (p *Plan) schedule() {
	all := &p.nodes.all
	for i := all.Len() - 1; i >= 0; i-- { // a checkpoint is behind its parent
		if n := all.At(i); n.parent&isCheckpoint != 0 && n.parentOf() >= 0 {
			at := all.At(int(n.parentOf()))
			at.last = max(at.last, n.last)
		}
	}
	p.ready = make([]int32, len(p.stops))
	for i := range p.stops {
		s := &p.stops[i]
		for _, at := range p.path[s.first:p.end(i)] {
			s.ready = max(s.ready, all.At(int(at)).last)
		}
		p.ready[i] = int32(i)
	}
	for i := range p.stops {
		s := &p.stops[i]
		for _, at := range p.path[s.first:min(int(p.end(i))+1, len(p.path))] {
			n := all.At(int(at))
			n.last = max(n.last, s.ready)
		}
	}
	for i := range all.Len() {
		if n := all.At(i); n.parent&isCheckpoint != 0 && n.parentOf() >= 0 {
			n.last = max(n.last, all.At(int(n.parentOf())).last)
		}
	}
	slices.SortStableFunc(p.ready, func(a, b int32) int { return cmp.Compare(p.stops[a].ready, p.stops[b].ready) })
	p.inOrder = true
	before := int32(noRow)
	for _, at := range p.ready {
		if row := p.stops[at].row; row != noRow {
			p.inOrder = p.inOrder && row > before
			before = row
		}
	}
}

// Len is the number of rows.
func (p *Plan) Len() int { return len(p.rows) }

// InOrder reports that the rows are made in the order of the list.
func (p *Plan) InOrder() bool { return p.inOrder }

// Unvisited returns the group of a row without a step, false for a row that has one.
func (p *Plan) Unvisited(row int) (group int, ok bool) {
	at := p.rows[row]
	return int(^at), at < 0
}

// Loop is the number of the outermost loop in which the step of a row was pending, 0 for none.
func (p *Plan) Loop(row int) int {
	if at := p.rows[row]; at >= 0 {
		return int(p.stops[at].loop)
	}
	return 0
}

// Stop is one step on the path, or a node of it without a step.
type Stop struct {
	// Number counts the stops of the path from 0.
	Number int
	// Row is that of the list, below 0 for a stop that has none.
	Row int
	// First and End are the nodes of the path, End without.
	First, End int
}

// stopAt returns a stop.
func (p *Plan) stopAt(i int32) Stop {
	s := p.stops[i]
	return Stop{int(i), int(s.row), int(s.first), int(p.end(int(i)))}
}
