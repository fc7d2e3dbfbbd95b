package pages

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/waybill/waybill/durable/engine/report"
	"github.com/waybill/waybill/durable/engine/views"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/projections/markup"
	"github.com/waybill/waybill/projections/runs"
)

// drawn is a row of the drawing: a node in a lane, or several that were drawn as one.
type drawn struct {
	node   views.GraphNode
	cause  event.CauseKind // of the edge that leads to it
	lane   int
	parent int // row of the parent, -1 for a root
	hidden int // nodes that were drawn as this row, 0 for one node
}

// What a drawing shows.
const (
	laneWidth  = 20
	rowHeight  = 34
	labelWidth = 300
	labelMax   = 38 // characters of a title
	factsMax   = 48 // characters of the line below it
	lanesMax   = 12 // deeper branches are drawn in the last lane
	// A chain of plain nodes longer than chainMax is drawn by its ends, in a drawing of more than rowsPlain rows.
	chainMax  = 8
	chainEnd  = 3
	rowsPlain = 60
	// rowsMax bounds the rows.
	rowsMax = 600
)

// layout orders the nodes as 'runs graph' draws them: the last child that is no checkpoint goes straight down, the
// other ones are drawn before it, each in a lane further to the right.
type layout struct {
	children map[id.Node][]views.GraphNode
	causes   map[id.Node]event.CauseKind
	rows     []drawn
}

// layoutOf returns the rows of a graph.
func layoutOf(g views.Graph) []drawn {
	l := layout{children: map[id.Node][]views.GraphNode{}, causes: map[id.Node]event.CauseKind{}}
	shown := map[id.Node]bool{}
	for _, n := range g.Nodes {
		shown[n.NodeID] = true
	}
	var roots []views.GraphNode
	for _, n := range g.Nodes {
		if n.ParentNodeID == nil || !shown[*n.ParentNodeID] {
			roots = append(roots, n)
			continue
		}
		l.children[*n.ParentNodeID] = append(l.children[*n.ParentNodeID], n)
	}
	for _, e := range g.Edges {
		l.causes[e.To] = e.Cause
	}
	for _, n := range roots {
		l.below(n, 0, -1)
	}
	return l.rows
}

// below adds a node and what is below it. The path is followed in a loop: only branches recurse.
func (l *layout) below(n views.GraphNode, lane, parent int) {
	for {
		at := len(l.rows)
		l.rows = append(l.rows, drawn{node: n, cause: l.causes[n.NodeID], lane: min(lane, lanesMax), parent: parent})
		rest := l.children[n.NodeID]
		straight := -1
		for i, c := range rest {
			if c.NodeKind != event.CheckpointNode {
				straight = i
			}
		}
		for i, c := range rest {
			if i != straight {
				l.below(c, lane+1, at)
			}
		}
		if straight < 0 {
			return
		}
		n, parent = rest[straight], at
	}
}

// shortened draws long chains of plain nodes by their ends.
func shortened(rows []drawn) []drawn {
	if len(rows) <= rowsPlain {
		return rows
	}
	var out []drawn
	place := make([]int, len(rows)) // of each row in out
	for i := 0; i < len(rows); {
		end := i
		for end < len(rows) && isPlain(rows, end) && (end == i || rows[end].parent == end-1 &&
			rows[end].lane == rows[i].lane) {
			end++
		}
		if end-i <= chainMax {
			end = max(end, i+1)
			for ; i < end; i++ {
				place[i] = len(out)
				out = append(out, rows[i])
			}
			continue
		}
		for j := i; j < end; j++ {
			switch {
			case j < i+chainEnd || j >= end-chainEnd:
				place[j] = len(out)
				out = append(out, rows[j])
			case j == i+chainEnd:
				place[j] = len(out)
				out = append(out, drawn{lane: rows[j].lane, parent: rows[j].parent, hidden: end - i - 2*chainEnd})
			default:
				place[j] = place[j-1]
			}
		}
		i = end
	}
	for i := range out {
		if out[i].parent >= 0 {
			out[i].parent = place[out[i].parent]
		}
	}
	return out
}

// isPlain reports a row without facts to show.
func isPlain(rows []drawn, i int) bool {
	n := rows[i].node
	return n.NodeKind == event.StepNode && n.Attempts <= 1 && n.OpenGaps == 0 && !n.Tip && n.ParentNodeID != nil
}

// Graph returns a run as a drawing, with a table that says the same. left is what was left out, nil for nothing.
func Graph(g views.Graph, left *report.LeftOut) Section {
	rows := shortened(layoutOf(g))
	out := markup.Group{}
	if left != nil {
		out = append(out, leftOut(*left, "node"))
	}
	if more := len(rows) - rowsMax; more > 0 {
		rows = rows[:rowsMax]
		out = append(out, note(info, markup.Text(count(more, "row")+" of the drawing left out. All of it: "), typed("runs",
			"graph", g.RunID.String())))
	}
	out = append(out, markup.E(markup.Div, markup.Cls("scroll"), markup.Num(markup.TabIndex, 0), markup.Set(markup.Role,
		"group"),
		markup.Set(markup.AriaLabel, "Drawing of the run"), drawing(g, rows)), graphTable(g, rows))
	return Section{"graph", "Graph", out.Node()}
}

// drawing returns the rows as SVG.
func drawing(g views.Graph, rows []drawn) *markup.Node {
	lanes := 0
	for _, r := range rows {
		lanes = max(lanes, r.lane)
	}
	width, height := (lanes+1)*laneWidth+labelWidth, len(rows)*rowHeight+8
	title, desc := "g-title", "g-desc"
	items := []*markup.Node{markup.Cls("graph"), markup.Set(markup.Role, "img"), markup.Set(markup.AriaLabelledBy, title+
		" "+desc),
		markup.Num(markup.Width, width), markup.Num(markup.Height, height), markup.Set(markup.ViewBox,
			fmt.Sprintf("0 0 %d %d", width, height)),
		markup.E(markup.Title, markup.Set(markup.ID, title), markup.Text("Graph of "+sentence(g.Title))),
		markup.E(markup.Desc, markup.Set(markup.ID, desc), markup.Text(count(len(g.Nodes), "node")+
			"; the run is "+plain(g.Status)+
			". The table below lists the nodes."))}
	for i, r := range rows {
		if r.parent >= 0 {
			items = append(items, edge(rows, i))
		}
	}
	for i, r := range rows {
		items = append(items, nodeSign(g.Status, i, r), nodeLabel(i, r, (lanes+1)*laneWidth))
	}
	return markup.E(markup.SVG, items...)
}

// place returns the middle of a row.
func place(i int, r drawn) (x, y int) {
	return r.lane*laneWidth + laneWidth/2, i*rowHeight + rowHeight/2
}

// edge is the line from the parent of a row.
func edge(rows []drawn, i int) *markup.Node {
	x, y := place(i, rows[i])
	px, py := place(rows[i].parent, rows[rows[i].parent])
	class, path := "edge", fmt.Sprintf("M%d %dV%d", px, py, y)
	if x != px {
		path = fmt.Sprintf("M%d %dV%dQ%d %d %d %dH%d", px, py, y-8, px, y, px+8, y, x)
	}
	if rows[i].cause == event.CheckpointCreated {
		class += " side"
	}
	return markup.E(markup.Path, markup.Cls(class), markup.Set(markup.D, path))
}

// nodeSign is the sign of a row.
func nodeSign(status runs.Status, i int, r drawn) *markup.Node {
	x, y := place(i, r)
	if r.hidden > 0 {
		return markup.E(markup.Path, markup.Cls("edge"), markup.Set(markup.D, fmt.Sprintf("M%d %dh8M%d %dh8", x-4, y-3, x-4,
			y+3)))
	}
	if r.node.NodeKind == event.CheckpointNode {
		return markup.E(markup.Path, markup.Cls("node"), markup.Set(markup.D, fmt.Sprintf("M%d %dl6 6l-6 6l-6 -6z", x, y-6)))
	}
	sign := markup.E(markup.Circle, markup.Cls("node "+string(nodeTone(status, r.node))), markup.Num(markup.Cx, x),
		markup.Num(markup.Cy, y), markup.Num(markup.R, 6))
	if !r.node.PreferredTip {
		return sign
	}
	return markup.Group{sign, markup.E(markup.Circle, markup.Cls("here"), markup.Num(markup.Cx, x), markup.Num(markup.Cy,
		y), markup.Num(markup.R, 9))}.Node()
}

// nodeTone returns the tone of a node: the node at which the run continues has that of the run, one that was passed is
// done, and an open one of another branch is empty.
func nodeTone(status runs.Status, n views.GraphNode) tone {
	switch {
	case n.PreferredTip:
		return toneOf(status)
	case n.NodeKind == event.BlockedAttemptNode:
		return warn
	case n.Tip && !n.Complete, n.NodeKind == event.CheckpointNode:
		return idle
	}
	return good
}

// nodeLabel is the title of a row and the facts about it.
func nodeLabel(i int, r drawn, x int) *markup.Node {
	_, y := place(i, r)
	text := clipped(rowTitle(r), labelMax)
	facts := clipped(nodeFacts(r), factsMax)
	label := markup.E(markup.SVGText, markup.Num(markup.X, x+4), markup.Num(markup.Y, y+4), markup.Text(text))
	if facts == "" {
		return label
	}
	return markup.Group{markup.E(markup.SVGText, markup.Num(markup.X, x+4), markup.Num(markup.Y, y-2), markup.Text(text)),
		markup.E(markup.SVGText, markup.Cls("sub"), markup.Num(markup.X, x+4), markup.Num(markup.Y, y+12),
			markup.Text(facts))}.Node()
}

// clipped returns at most so many characters of a text; the table has all of it.
func clipped(text string, most int) string {
	if utf8.RuneCountInString(text) <= most {
		return text
	}
	return string([]rune(text)[:most-1]) + "…"
}

// rowTitle names a row.
func rowTitle(r drawn) string {
	switch {
	case r.hidden > 0:
		return count(r.hidden, "more node")
	case r.node.NodeKind == event.CheckpointNode:
		return "checkpoint"
	}
	return sentence(r.node.Title)
}

// nodeFacts are the facts about a node in words.
func nodeFacts(r drawn) string {
	if r.hidden > 0 {
		return ""
	}
	n := r.node
	var out []string
	for _, fact := range []struct {
		holds bool
		text  string
	}{{n.NodeKind != event.CheckpointNode && n.NodeKind != event.StepNode, plain(n.NodeKind)},
		{strings.Contains(n.StepInstanceKey, "::"), keyWords(n.StepInstanceKey)}, {n.Attempts > 1, count(n.Attempts,
			"attempt")},
		{n.OpenGaps > 0, count(n.OpenGaps, "open gap")}, {r.cause == event.NonTipAdvance, "branch"},
		{n.PreferredTip && !n.Complete, "the run is here"}, {n.Tip && !n.PreferredTip && n.NodeKind != event.CheckpointNode,
			"tip"}} {
		if fact.holds {
			out = append(out, fact.text)
		}
	}
	return strings.Join(out, ", ")
}

// graphTable says in words what the drawing shows.
func graphTable(g views.Graph, rows []drawn) *markup.Node {
	t := table{caption: "Nodes in the order of the drawing", columns: []string{"Step", "Facts", "Created", "Node",
		"After"}}
	for _, r := range rows {
		if r.hidden > 0 {
			t.row(nil, cell{markup.Text(rowTitle(r))}, cell{markup.Text("in one line")}, cell{}, cell{}, cell{})
			continue
		}
		n := r.node
		after := cell{markup.Text("the beginning")}
		if n.ParentNodeID != nil {
			after = cell{mono(n.ParentNodeID.String())}
		}
		t.row([]*markup.Node{markup.Data("graph-node", n.NodeID.String()), markup.Data("kind", string(n.NodeKind)),
			markup.Data("tip", strconv.FormatBool(n.PreferredTip))}, cell{markup.Text(rowTitle(r))},
			cell{markup.Text(nodeFacts(r))},
			cell{when(n.CreatedAtMs)}, cell{mono(n.NodeID.String())}, after)
	}
	return folded(false, "The same as a table: "+count(len(g.Nodes), "node"), t.node())
}
