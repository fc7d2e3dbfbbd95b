package runs

import (
	"context"

	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/waybill/waybill/cmd/waybill/cli"
	"github.com/waybill/waybill/cmd/waybill/cli/page"
	"github.com/waybill/waybill/cmd/waybill/cli/render"
	"github.com/waybill/waybill/durable/engine"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/infra/terminal"
)

// newGraph makes "runs graph". --mermaid changes what people get; with --json
// the document is the same.
func newGraph(a *cli.App) *cobra.Command {
	var mermaid bool
	cmd := &cobra.Command{
		Use:   "graph [RUN]",
		Short: "Draw the nodes of a run: its steps, branches and checkpoints",
		Long: `Draw a run as the graph that it is. Every acknowledged step leads to a node; going on
from an earlier node opens a branch, and a checkpoint stands beside its step. Without
RUN, of the latest run. --mermaid prints a diagram that many Markdown viewers draw.`,
		Example: "  waybill runs graph\n  waybill runs graph k3j2a7 --mermaid > run.mmd",
		Args:    cli.AtMost("RUN"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return cli.Show(a, cmd, "graph",
				func(ctx context.Context, o *cli.Store) (engine.Graph, error) { return o.Graph(ctx, cli.RunArg(args)) },
				func(p *page.Page, g engine.Graph) {
					// A diagram is text for people as well: the document
					// does not change.
					if mermaid {
						p.WriteString(mermaidOf(g))
						return
					}
					showGraph(p, g)
					if g.Health != manifest.Healthy {
						p.Text(p.Bad("! "), "The session is "+render.Health(g.Health)+
							": what stands behind is not drawn.")
					}
				})
		},
	}
	cmd.Flags().BoolVar(&mermaid, "mermaid", false, "print a Mermaid diagram")
	return cmd
}

// drawing is what is needed to print a graph as lines: the children of each
// node, and the edge that leads to it.
type drawing struct {
	// where the lines go
	p        *page.Page
	children map[id.Node][]engine.GraphNode
	edges    map[id.Node]engine.GraphEdge // by where they lead
}

// showGraph draws the nodes of a run as a tree. The path of a run goes straight
// down, and only a branch or a checkpoint moves to the right.
func showGraph(p *page.Page, g engine.Graph) {
	d := drawing{p, map[id.Node][]engine.GraphNode{}, map[id.Node]engine.GraphEdge{}}
	var roots []engine.GraphNode
	for _, n := range g.Nodes {
		// A node without a parent is where a run begins.
		if n.ParentNodeID == nil {
			roots = append(roots, n)
			continue
		}
		d.children[*n.ParentNodeID] = append(d.children[*n.ParentNodeID], n)
	}
	for _, e := range g.Edges {
		d.edges[e.To] = e
	}
	p.Painted("", g.Title, p.Bold)
	for _, n := range roots {
		d.below(n, "")
	}
	if g.Health == manifest.UnknownVersion {
		p.Text(p.Warn(render.ForeignMark+" "), render.ForeignNote)
	}
}

// below draws a node and what follows it, behind lead, which has the lines of
// the branches to the left. The last step below a node continues straight down;
// branches and checkpoints before it are set off. It walks along the run in a
// loop and recurses only into branches: a run may be longer than a stack is
// deep.
func (d drawing) below(n engine.GraphNode, lead string) {
	for {
		d.node(n, lead)
		rest := d.children[n.NodeID]
		// The last step is the path that goes on; checkpoints never are.
		straight := -1
		for i, c := range rest {
			if c.NodeKind != event.CheckpointNode {
				straight = i
			}
		}
		for i, c := range rest {
			if i != straight {
				d.p.Line("%s%s", lead, d.p.Dim("├─╮"))
				// A branch is drawn whole before the path continues.
				d.below(c, lead+d.p.Dim("│ "))
			}
		}
		if straight < 0 {
			return
		}
		n = rest[straight]
	}
}

// node draws one node: its mark, the title of the step, the beginning of its
// id, and facts about it. Where it is narrow, the title is cut and the facts go
// below it, so that the lines on the left stay whole.
//
// The mark is that of the node and not of the run: an ended branch keeps the
// mark of its last step. The preferred tip is where the run continues without a
// choice.
func (d drawing) node(n engine.GraphNode, lead string) {
	p := d.p
	mark := "○"
	switch {
	case n.NodeKind == event.CheckpointNode:
		mark = p.Dim("◇")
	case n.Complete:
		mark = p.Good("✓")
	case n.NodeKind == event.BlockedAttemptNode:
		mark = p.Warn("!")
	case n.PreferredTip:
		mark = p.Bold("●")
	}
	title := n.Title
	if n.NodeKind == event.CheckpointNode {
		title = "checkpoint"
	}
	// Facts are in words, for readers who do not know the signs.
	var facts []string
	if n.NodeKind != event.CheckpointNode && n.NodeKind != event.StepNode {
		facts = append(facts, strings.ReplaceAll(page.Clean(string(n.NodeKind)), "_", " "))
	}
	if n.StepInstanceKey != "" && strings.Contains(n.StepInstanceKey, "::") {
		facts = append(facts, n.StepInstanceKey)
	}
	if n.Attempts > 1 {
		facts = append(facts, page.Plural(n.Attempts, "attempt"))
	}
	if n.OpenGaps > 0 {
		facts = append(facts, page.Plural(n.OpenGaps, "open gap"))
	}
	if d.edges[n.NodeID].Cause == event.NonTipAdvance {
		facts = append(facts, "branch")
	}
	if n.Tip && !n.PreferredTip {
		facts = append(facts, "tip")
	}
	// Where it is narrow the title is cut and the facts go below it: the lines on the
	// left, which are the drawing, must not be broken.
	used, about := terminal.TextWidth(lead)+2, strings.Join(facts, ", ")
	if p.Width > 0 {
		title = terminal.Cut(page.Clean(title), max(p.Width-used-2-page.ShortRunLen, page.TextWidthMin/2))
	}
	line := page.Clean(title) + "  " + p.Dim(page.ShortNode(n.NodeID))
	if about != "" && p.Width > 0 && used+terminal.TextWidth(line+"  "+about) > p.Width {
		p.Line("%s%s %s", lead, mark, line)
		below := lead + "  "
		if len(d.children[n.NodeID]) > 0 {
			below = lead + p.Dim("│") + " "
		}
		p.Line("%s%s", below, p.Dim(terminal.Cut(about, max(p.Width-used, page.TextWidthMin/2))))
		return
	}
	if about != "" {
		line += p.Dim("  " + about)
	}
	p.Line("%s%s %s", lead, mark, line)
}

// mermaidOf is the graph as a Mermaid diagram. Texts are in quotes and what
// would end them is replaced, so that a title cannot become syntax. Nodes are
// named by the beginnings of their ids.
func mermaidOf(g engine.Graph) string {
	var b strings.Builder
	b.WriteString("graph TD\n")
	for _, n := range g.Nodes {
		// The shapes of Mermaid: rounded for the end, six corners for a
		// checkpoint.
		open, shut := "[", "]"
		switch {
		case n.NodeKind == event.CheckpointNode:
			open, shut = "{{", "}}"
		case n.Complete:
			open, shut = "([", "])"
		}
		fmt.Fprintf(&b, "  %s%s%q%s\n", page.ShortNode(n.NodeID), open, mermaidText(n), shut)
	}
	for _, e := range g.Edges {
		arrow := "-->"
		switch e.Cause {
		case event.CheckpointCreated:
			arrow = "-.->"
		case event.NonTipAdvance:
			arrow = "-->|branch|"
		}
		fmt.Fprintf(&b, "  %s %s %s\n", page.ShortNode(e.From), arrow, page.ShortNode(e.To))
	}
	for _, n := range g.Nodes {
		// Where the run continues without a choice gets a thick border.
		if n.PreferredTip {
			fmt.Fprintf(&b, "  style %s stroke-width:3px\n", page.ShortNode(n.NodeID))
		}
	}
	return b.String()
}

// mermaidText is the text of a node in a diagram. Mermaid has no escape for a
// quote but an entity.
func mermaidText(n engine.GraphNode) string {
	text := n.Title
	if n.NodeKind == event.CheckpointNode {
		text = "checkpoint: " + text
	}
	if strings.Contains(n.StepInstanceKey, "::") {
		text += " (" + n.StepInstanceKey + ")"
	}
	return strings.NewReplacer(`"`, "#quot;", "\n", " ", "\\", "/", "`", "'").Replace(page.Clean(text))
}
