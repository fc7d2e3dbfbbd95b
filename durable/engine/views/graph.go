package views

import (
	"cmp"
	"context"
	"errors"
	"math"

	"github.com/waybill/waybill/durable/engine/compact"
	"github.com/waybill/waybill/durable/engine/session"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/workflow/compile"
	"github.com/waybill/waybill/projections/runs"
)

// Graph is the document "graph": the nodes of a run in the order of their
// creation, and the edges between them (docs/design.md#preferred-tip).
type Graph struct {
	RunID     id.Run      `json:"runId"`
	SessionID id.Session  `json:"sessionId"`
	Title     string      `json:"title"`
	Status    runs.Status `json:"status"` // at the preferred tip
	Nodes     []GraphNode `json:"nodes"`
	Edges     []GraphEdge `json:"edges"`
	// Health is the health of the run's session, or unknown_version if a
	// snapshot or the workflow was written by another program.
	Health manifest.Health `json:"health"`
	// Partial reports that the session is damaged: these are the nodes of its valid beginning.
	Partial bool `json:"partial,omitzero"`
}

// GraphNode is one node of a run. Tip marks every leaf, PreferredTip the one
// where the run continues.
type GraphNode struct {
	NodeID       id.Node        `json:"nodeId"`
	NodeKind     event.NodeKind `json:"nodeKind"`
	ParentNodeID *id.Node       `json:"parentNodeId,omitzero"`
	// StepInstanceKey is that of the pending step, absent at the end.
	StepInstanceKey string `json:"stepInstanceKey,omitzero"`
	Title           string `json:"title"`
	// Complete marks a node at which the run ended.
	Complete     bool `json:"complete,omitzero"`
	Tip          bool `json:"tip,omitzero"`
	PreferredTip bool `json:"preferredTip,omitzero"`
	// Attempts and OpenGaps are counts at this node alone.
	Attempts    int   `json:"attempts"`
	OpenGaps    int   `json:"openGaps"`
	CreatedAtMs int64 `json:"createdAtMs"`
}

// endTitle names the node at which a run ended.
const endTitle = "The end"

// GraphEdge is an edge between two nodes, with the reason why it was created.
type GraphEdge struct {
	From id.Node        `json:"fromNodeId"`
	To   id.Node        `json:"toNodeId"`
	Kind event.EdgeKind `json:"edgeKind"`
	// Cause is the operation that created the edge.
	Cause event.CauseKind `json:"cause"`
}

// GraphReading is a run as its graph, as one pass over the log found it: a record of about a hundred bytes for
// each node and edge, from which the rows of the document are made one at a time.
type GraphReading struct {
	head  Graph // without nodes and edges
	nodes compact.List[nodeRecord]
	edges compact.List[edgeRecord]
	// strange are the ids of nodes that the run did not have when another node or an edge referred to them.
	strange compact.List[id.Node]
	tip     id.Node
	kinds   compact.Words[event.NodeKind]
	means   compact.Words[event.EdgeKind]
	cause   compact.Words[event.CauseKind]
	// texts are titles and step instance keys; those that few nodes have in common are not searched for.
	texts compact.Words[string]
}

// nodeRecord is one node. The fields are in the order that takes the least memory: there may be hundreds of thousands.
type nodeRecord struct {
	node        id.Node
	complete    bool
	leaf        bool
	parent      int32 // a place
	createdAtMs int64
	attempts    int32
	openGaps    int32
	title, key  int32 // in texts
	kind        int32 // in kinds
}

// edgeRecord is one edge. An edge to a node that the run does not have is not shown.
type edgeRecord struct {
	from, to    int32 // places
	kind, cause int32 // in means and cause
}

// A place is the index of a node in GraphReading.nodes, noPlace for none, or for a node that the run did not have when it was
// referred to, below noPlace, that of its id in GraphReading.strange.
const noPlace = -1

// strangePlace returns the place of an id in GraphReading.strange, and the index in it of such a place.
func strangePlace(i int32) int32 { return noPlace - 1 - i }

// ReadGraph reads a run as its graph, in one pass over the log of its session. ref is a run id, a unique prefix
// of one, or @last. Errors: RUN_NOT_FOUND, RUN_AMBIGUOUS, and those of session.Unavailable.
func ReadGraph(ctx context.Context, o *Views, ref string) (*GraphReading, error) {
	found, err := session.Find(ctx, o.r, ref)
	if err != nil {
		return nil, err
	}
	p, before := &graphPass{v: o, found: found, nodesMax: session.FoldNodesMax}, o.store.Failures()
	g, err := p.read(ctx)
	if errors.Is(err, errMissedNode) {
		p.nodesMax = math.MaxInt
		g, err = p.read(ctx)
	}
	return g, cmp.Or(err, session.Unavailable(o.store, before))
}

// graphPass is one reading of a log into a GraphReading.
type graphPass struct {
	v        *Views
	found    session.Found
	nodesMax int // of fold
	fold     *runs.Fold
	obs      *observer
	workflow *compile.View
	g        *GraphReading
	// index is where the nodes of the fold are in g.nodes, edges are those since the last record, and unmet are the places in
	// g, by the node, that refer to one that the run did not have then.
	index map[id.Node]int
	edges []rawEdge
	unmet map[id.Node][]reference
}

// read reads the log. errMissedNode: a window of nodesMax nodes does not suffice.
func (p *graphPass) read(ctx context.Context) (*GraphReading, error) {
	p.fold, p.obs, p.workflow = runs.NewFold(), &observer{v: p.v}, nil
	p.g, p.index, p.edges, p.unmet = &GraphReading{}, map[id.Node]int{}, nil, map[id.Node][]reference{}
	v, err := session.EachNode(ctx, p.v.r, p.found.Session, func(seg manifest.Segment, head manifest.Head) error {
		p.addEdges(seg)
		_ = p.fold.Visit(seg, head) // always nil
		if session.NodeCount(p.fold) <= p.nodesMax {
			return nil
		}
		if err := p.record(ctx); err != nil {
			return err
		}
		p.nodesMax = session.Reduce(p.fold, p.nodesMax)
		p.forget()
		return nil
	})
	if err == nil {
		err = p.record(ctx)
	}
	if err != nil {
		return nil, err
	}
	run := p.fold.Runs[p.found.Run]
	if run == nil || run.Tip.IsZero() {
		return nil, p.found.NotRead()
	}
	status, err := p.obs.status(ctx, run)
	if err != nil {
		return nil, err
	}
	p.g.tip = run.Tip
	p.g.head = Graph{RunID: run.ID, SessionID: p.found.Session,
		Title: cmp.Or(run.Started.Name(), p.workflow.Name(), run.Started.WorkflowID), Status: status, Nodes: []GraphNode{},
		Edges: []GraphEdge{}, Health: p.obs.health(v.Health), Partial: v.Damaged()}
	return p.g, nil
}

// rawEdge is an edge as the log has it.
type rawEdge struct {
	from, to    id.Node
	kind, cause int32
}

// reference is a place that refers to a node: the parent of the node at an index, or an end of the edge at an index.
type reference struct {
	what  func(g *GraphReading, index int) *int32
	index int
}

func parentAt(g *GraphReading, i int) *int32 { return &g.nodes.At(i).parent }
func fromAt(g *GraphReading, i int) *int32   { return &g.edges.At(i).from }
func toAt(g *GraphReading, i int) *int32     { return &g.edges.At(i).to }

// addEdges keeps the edges of a segment for the next record.
func (p *graphPass) addEdges(seg manifest.Segment) {
	for _, e := range seg.Events {
		if edge, ok := e.Data.(event.EdgeCreated); ok && ofRun(e, p.found.Run) {
			p.edges = append(p.edges, rawEdge{edge.FromNodeID, edge.ToNodeID,
				p.g.means.Of(edge.EdgeKind, false), p.g.cause.Of(edge.Cause.Kind, false)})
		}
	}
}

// refer sets the place r to that of a node, also later if the run does not have it yet.
func (p *graphPass) refer(r reference, node id.Node) {
	at, known := p.index[node]
	if !known {
		at = int(strangePlace(int32(p.g.strange.Len())))
		p.g.strange.Add(node)
		p.unmet[node] = append(p.unmet[node], r)
	}
	*r.what(p.g, r.index) = int32(at)
}

// record records the nodes of the fold as they are now. A node that is left out of the fold afterwards does not
// change any more.
func (p *graphPass) record(ctx context.Context) error {
	if p.fold.Missed() {
		return errMissedNode
	}
	run := p.fold.Runs[p.found.Run]
	if run == nil {
		return nil
	}
	if p.workflow == nil {
		w, err := p.obs.workflow(ctx, run.Started.WorkflowHash)
		if err != nil {
			return err
		}
		p.workflow = &w
	}
	for _, nodeID := range run.Order {
		n := run.Node(nodeID)
		row, err := p.row(ctx, n)
		if err != nil {
			return err
		}
		if i, known := p.index[row.node]; known {
			row.parent = p.g.nodes.At(i).parent
			*p.g.nodes.At(i) = row
			continue
		}
		at := p.g.nodes.Len()
		p.index[row.node] = at
		p.g.nodes.Add(row)
		if n.Parent != nil {
			p.refer(reference{parentAt, at}, *n.Parent)
		}
		for _, r := range p.unmet[row.node] {
			*r.what(p.g, r.index) = int32(at)
		}
		delete(p.unmet, row.node)
	}
	for _, edge := range p.edges {
		at := p.g.edges.Len()
		p.g.edges.Add(edgeRecord{kind: edge.kind, cause: edge.cause})
		p.refer(reference{fromAt, at}, edge.from)
		p.refer(reference{toAt, at}, edge.to)
	}
	p.edges = p.edges[:0]
	return nil
}

// forget keeps in the index only the nodes of the fold: the others do not change any more, and an edge to one of them
// would be a node that the fold missed.
func (p *graphPass) forget() {
	run := p.fold.Runs[p.found.Run]
	if run == nil {
		return
	}
	kept := make(map[id.Node]int, len(run.Order))
	for _, nodeID := range run.Order {
		kept[nodeID] = p.index[nodeID]
	}
	p.index = kept
}

// row returns the record of a node.
func (p *graphPass) row(ctx context.Context, n *runs.Node) (nodeRecord, error) {
	state, err := p.obs.snapshot(ctx, n.SnapshotRef)
	row := nodeRecord{node: n.ID, parent: noPlace, createdAtMs: n.CreatedAtMs, attempts: int32(len(n.Attempts)),
		openGaps: int32(len(n.OpenGaps)), kind: p.g.kinds.Of(n.Kind, false), complete: state.IsComplete(),
		leaf: n.IsLeaf()}
	title, key, ownTitle, ownKey := endTitle, "", false, false
	if pending := state.PendingStep(); pending != nil {
		title, key = titleAt(*p.workflow, *pending, n), pending.Key()
		ownTitle, ownKey = title != p.workflow.Title(pending.StepID), len(pending.LoopPath) > 0
	} else if !state.IsComplete() {
		title = unreadableStep
	}
	row.title, row.key = p.g.texts.Of(title, ownTitle), p.g.texts.Of(key, ownKey)
	return row, err
}

// Head returns the document without its nodes and edges.
func (g *GraphReading) Head() Graph { return g.head }

// Nodes calls each for the nodes in the order of their creation.
func (g *GraphReading) Nodes(each func(GraphNode) error) error {
	for i := range g.nodes.Len() {
		if err := each(g.Node(i)); err != nil {
			return err
		}
	}
	return nil
}

// Node returns the node at an index of Tree.
func (g *GraphReading) Node(i int) GraphNode {
	r := g.nodes.At(i)
	row := GraphNode{NodeID: r.node, NodeKind: g.kinds.Text(r.kind), StepInstanceKey: g.texts.Text(r.key),
		Title: g.texts.Text(r.title), Complete: r.complete, Tip: r.leaf, PreferredTip: r.node == g.tip,
		Attempts: int(r.attempts), OpenGaps: int(r.openGaps), CreatedAtMs: r.createdAtMs}
	if r.parent != noPlace {
		parent := g.nodeAt(r.parent)
		row.ParentNodeID = &parent
	}
	return row
}

// nodeAt returns the id of the node at a place.
func (g *GraphReading) nodeAt(place int32) id.Node {
	if place < noPlace {
		return *g.strange.At(int(strangePlace(place)))
	}
	return g.nodes.At(int(place)).node
}

// Tree is the nodes of a GraphReading by their parents. A node is its index in the order of creation.
type Tree struct {
	compact.Tree
	branch []bool
}

// Tree returns the nodes by their parents. A node whose parent is not of the run is in no list of children.
func (g *GraphReading) Tree() *Tree {
	n := g.nodes.Len()
	t := &Tree{compact.NewTree(n, func(i int) int { return int(g.nodes.At(i).parent) }), make([]bool, n)}
	for i := range g.edges.Len() {
		if e := g.edges.At(i); e.to >= 0 {
			t.branch[e.to] = g.cause.Text(e.cause) == event.NonTipAdvance
		}
	}
	return t
}

// IsBranch reports a node to which a continuation from an earlier node leads.
func (t *Tree) IsBranch(node int) bool { return t.branch[node] }

// Edges calls each for the edges in the order of the log.
func (g *GraphReading) Edges(each func(GraphEdge) error) error {
	for i := range g.edges.Len() {
		r := g.edges.At(i)
		if r.to < 0 {
			continue // no node of the run
		}
		if err := each(GraphEdge{g.nodeAt(r.from), g.nodeAt(r.to), g.means.Text(r.kind),
			g.cause.Text(r.cause)}); err != nil {
			return err
		}
	}
	return nil
}
