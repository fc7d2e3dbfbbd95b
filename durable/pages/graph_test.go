package pages

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/waybill/waybill/durable/engine/views"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/ports/porttest/pagetest"
	"github.com/waybill/waybill/projections/markup"
)

// chain returns a graph of n nodes in a line; each node of branches has a second child, whose id follows.
func chain(n int, branches ...int) views.Graph {
	node := func(i int) id.Node { return id.Node{}.OfRaw([16]byte{1, byte(i >> 8), byte(i)}) }
	g := views.Graph{Title: "T"}
	add := func(i, parent int, tip bool) {
		row := views.GraphNode{NodeID: node(i), NodeKind: event.StepNode, Title: fmt.Sprint("step ", i), Tip: tip, PreferredTip: tip}
		if parent >= 0 {
			p := node(parent)
			row.ParentNodeID = &p
			g.Edges = append(g.Edges, views.GraphEdge{From: p, To: row.NodeID})
		}
		g.Nodes = append(g.Nodes, row)
	}
	for i := range n {
		add(i, i-1, i == n-1)
		for j, at := range branches {
			if at == i {
				add(n+j, i, true)
			}
		}
	}
	return g
}

func TestLongChainsAreDrawnByTheirEnds(t *testing.T) {
	for _, c := range []struct {
		n        int
		branches []int
		rows     int
		hidden   int
	}{{1, nil, 1, 0}, {60, nil, 60, 0}, {61, nil, 1 + 3 + 1 + 3 + 1, 53}, {2000, nil, 9, 1992}, {200, []int{100}, 0, 0}} {
		g := chain(c.n, c.branches...)
		rows := shortened(layoutOf(g))
		shown, hidden := 0, 0
		for i, r := range rows {
			hidden += r.hidden
			if r.hidden == 0 {
				shown++
			}
			if r.parent >= i || r.parent < 0 && i > 0 {
				t.Errorf("%d: row %d has the parent %d", c.n, i, r.parent)
			}
		}
		if shown+hidden != len(g.Nodes) {
			t.Errorf("%d: %d shown and %d hidden of %d", c.n, shown, hidden, len(g.Nodes))
		}
		if c.rows > 0 && (len(rows) != c.rows || hidden != c.hidden) {
			t.Errorf("%d: %d rows, %d hidden; want %d, %d", c.n, len(rows), hidden, c.rows, c.hidden)
		}
		if len(c.branches) > 0 && (len(rows) > 30 || rows[len(rows)-1].lane != 0) {
			t.Errorf("%d rows with a branch", len(rows))
		}
	}
}

// TestDeepBranchesAreDrawn: a graph in which each node is a branch of the one before.
func TestDeepBranchesAreDrawn(t *testing.T) {
	g := chain(3000)
	for i := range g.Nodes {
		g.Nodes[i].NodeKind = event.CheckpointNode
	}
	var b bytes.Buffer
	if err := markup.Render(&b, Shell{Title: "t", Kicker: "k", Sections: []Section{Graph(g, nil)}, End: markup.Text("e")}.Node()); err != nil {
		t.Fatal(err)
	}
	page := pagetest.Read(t, b.Bytes())
	page.Structure(t)
	if got := len(page.Values("data-graph-node")); got != rowsMax {
		t.Errorf("%d rows", got)
	}
}
