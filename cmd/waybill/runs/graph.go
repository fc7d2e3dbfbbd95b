package runs

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/waybill/waybill/cmd/waybill/cli"
	"github.com/waybill/waybill/cmd/waybill/cli/page"
	"github.com/waybill/waybill/cmd/waybill/cli/render"
	"github.com/waybill/waybill/cmd/waybill/cli/stream"
	"github.com/waybill/waybill/durable/engine/views"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/projections/runs"
)

// newGraph returns "runs graph". --mermaid changes the text for people; it does not affect the
// document of --json.
func newGraph(a *cli.App) *cobra.Command {
	var mermaid bool
	return cli.WithOptions(&cobra.Command{
		Use:   "graph [RUN]",
		Short: "Show a run as a graph of steps, branches and checkpoints",
		Long: `Show a run as a graph. Each acknowledged step leads to a node; continuing from an earlier
node creates a branch; a checkpoint is a node next to its step. Without RUN, show the
latest run. --mermaid prints a Mermaid diagram, which many Markdown viewers display.
Nothing is changed.`,
		Example: "  waybill runs graph\n  waybill runs graph k3j2a7 --mermaid > run.mmd",
		Args:    cli.AtMost("RUN"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.WithStore(cmd.Context(), func(ctx context.Context, o *cli.Store) error {
				defer cli.LimitHeapAt(graphBytes)()
				g, err := views.ReadGraph(ctx, o.Views, cli.RunArg(args))
				if err != nil {
					return err
				}
				if a.Flags.JSON {
					return documentGraph(a, g)
				}
				p, out := a.NewPage(a.Out), stream.New(a.Write, &a.Unfinished)
				if mermaid { // the diagram replaces the drawing; the document is the same
					err = diagram(p, out, g)
				} else {
					err = draw(p, out, g)
				}
				if err != nil {
					return err
				}
				return out.End(p.Bytes())
			})
		},
	},
		cli.Opt(&mermaid, "mermaid", "print a Mermaid diagram"))
}

// graphBytes is the soft memory limit of a graph, which keeps a row of each node beside the segments that are read ahead.
const graphBytes = 36 << 20

// documentGraph prints the document "graph", one row after the other.
func documentGraph(a *cli.App, g *views.GraphReading) error {
	return stream.New(a.WriteJSON, &a.Unfinished).Document("graph", g.Head(),
		stream.List{Name: "edges", Each: func(add func(any) error) error {
			return g.Edges(func(e views.GraphEdge) error { return add(e) })
		}},
		stream.List{Name: "nodes", Each: func(add func(any) error) error {
			return g.Nodes(func(n views.GraphNode) error { return add(n) })
		}})
}

// drawing prints a graph as lines while it is walked.
type drawing struct {
	p      *page.Page
	out    *stream.Stream
	g      *views.GraphReading
	tree   *views.Tree
	status runs.Status
}

// draw draws the nodes of a run as a tree. The path to the last child goes straight down;
// branches and checkpoints are indented.
func draw(p *page.Page, out *stream.Stream, g *views.GraphReading) error {
	head := g.Head()
	d := drawing{p, out, g, g.Tree(), head.Status}
	p.StyledText(render.Mark(p, head.Status)+" ", head.Title+"  "+render.Status(head.Status), p.Bold)
	// Usually the only root is the node of the first step.
	for _, n := range d.tree.Roots {
		if err := d.below(n, ""); err != nil {
			return err
		}
	}
	// Nodes of another program are drawn as far as they are understood.
	if head.Health == manifest.UnknownVersion {
		p.Text(p.Warn(render.ForeignMark+" "), render.ForeignNote)
	}
	if head.Health != manifest.Healthy {
		p.Text(p.Bad("! "), "The log of the session is "+render.Health(head.Health)+": later nodes are not shown.")
	}
	return nil
}

// below draws a node and its descendants after lead, which contains the lines of the branches
// to the left. The last child that is a step continues straight down; other branches and
// checkpoints are indented. The path is followed in a loop and only branches recurse, since a
// run may have more nodes than the stack allows.
func (d drawing) below(n int, lead string) error {
	for {
		d.node(n, lead)
		if err := d.out.Page(d.p); err != nil {
			return err
		}
		// The last child that is not a checkpoint continues the path.
		straight := -1
		for c := range d.tree.Children(n) {
			if d.g.Node(c).NodeKind != event.CheckpointNode {
				straight = c
			}
		}
		for c := range d.tree.Children(n) {
			if c == straight {
				continue
			}
			d.p.Line("%s%s", lead, d.p.Dim("├─╮"))
			// A branch is drawn completely before the path continues.
			if err := d.below(c, lead+d.p.Dim("│ ")); err != nil {
				return err
			}
		}
		if straight < 0 {
			return nil
		}
		n = straight
	}
}

// node draws one node: its mark, the title of the step, its short id, and facts about it. On a
// narrow terminal the title is truncated and the facts are printed on the next line, so that
// the lines of the drawing are not broken.
func (d drawing) node(at int, lead string) {
	p, n := d.p, d.g.Node(at)
	mark := render.NodeMark(p, n, d.status)
	// The title of a checkpoint would repeat that of its step.
	title := n.Title
	if n.NodeKind == event.CheckpointNode {
		title = "checkpoint"
	}
	// Facts are in words, so that readers need not know the marks.
	var facts []string
	for _, fact := range []struct {
		holds bool
		text  string
	}{
		{n.NodeKind != event.CheckpointNode && n.NodeKind != event.StepNode,
			strings.ReplaceAll(page.OneLine(string(n.NodeKind)), "_", " ")},
		// The rounds of a step in a loop.
		{strings.Contains(n.StepInstanceKey, "::"), render.Key(n.StepInstanceKey)},
		{n.Attempts > 1, page.Plural(n.Attempts, "attempt")},
		{n.OpenGaps > 0, page.Plural(n.OpenGaps, "open gap")},
		{d.tree.IsBranch(at), "branch"},
		// The preferred tip has a mark of its own.
		{n.Tip && !n.PreferredTip, "tip"},
	} {
		if fact.holds {
			facts = append(facts, fact.text)
		}
	}
	// On a narrow terminal the title is truncated and the facts are printed below it, where too little is left with the id:
	// the terminal must not wrap the lines of the drawing.
	const gap = "  "
	line, room := page.OneLine(title), p.Width-page.TextWidth(lead)-2
	name := page.ShortNode(n.NodeID)
	about := strings.Join(append([]string{name}, strings.Join(facts, ", ")), gap)
	switch about = strings.TrimRight(about, " "); {
	case p.Width == 0 || page.TextWidth(line+gap+about) <= room:
		facts = nil
		line += gap + p.Dim(about)
	case room >= page.ShortRunLen+page.TextWidthMin/2+len(gap):
		line = page.Cut(line, room-len(gap)-page.ShortRunLen) + gap + p.Dim(name)
	default:
		line = page.Cut(line, max(room, 1))
		facts = append([]string{name}, facts...)
	}
	p.Line("%s%s %s", lead, mark, line)
	if facts == nil {
		return
	}
	// The line of the path continues to the left of the facts.
	below := lead + "  "
	for range d.tree.Children(at) {
		below = lead + p.Dim("│") + " "
		break
	}
	p.Line("%s%s", below, p.Dim(page.Cut(strings.Join(facts, ", "), max(room, page.ShortRunLen))))
}

// graphRows are the rows of a graph, such as those of a views.GraphReading.
type graphRows interface {
	Nodes(each func(views.GraphNode) error) error
	Edges(each func(views.GraphEdge) error) error
}

// diagram prints the graph as a Mermaid diagram. Nodes are named by their short ids, and titles are quoted.
func diagram(p *page.Page, out *stream.Stream, g graphRows) error {
	line := func(format string, args ...any) error {
		p.Print(page.Clean(fmt.Sprintf(format, args...)))
		return out.Page(p)
	}
	if err := line("graph TD\n"); err != nil {
		return err
	}
	tip := ""
	if err := g.Nodes(func(n views.GraphNode) error {
		// Mermaid shapes: rounded for a complete run, hexagon for a checkpoint.
		open, shut := "[", "]"
		switch {
		case n.NodeKind == event.CheckpointNode:
			open, shut = "{{", "}}"
		case n.Complete:
			open, shut = "([", "])"
		}
		if n.PreferredTip {
			tip = page.ShortNode(n.NodeID)
		}
		return line("  %s%s\"%s\"%s\n", page.ShortNode(n.NodeID), open, mermaidText(n), shut)
	}); err != nil {
		return err
	}
	// Dotted arrows lead to checkpoints; branches have a label.
	if err := g.Edges(func(e views.GraphEdge) error {
		arrow := "-->"
		switch e.Cause {
		case event.CheckpointCreated:
			arrow = "-.->"
		case event.NonTipAdvance:
			arrow = "-->|branch|"
		}
		return line("  %s %s %s\n", page.ShortNode(e.From), arrow, page.ShortNode(e.To))
	}); err != nil || tip == "" {
		return err
	}
	// The preferred tip has a thick border.
	return line("  style %s stroke-width:3px\n", tip)
}

// mermaidText returns the text of a node in a diagram, which cannot become Mermaid syntax, a directive (%%{…}%%) or
// HTML: of ASCII all but letters, digits, spaces and a few signs are written as entities. In Mermaid an entity is the
// only spelling of a quote.
func mermaidText(n views.GraphNode) string {
	text := n.Title
	if n.NodeKind == event.CheckpointNode {
		text = "checkpoint: " + text
	}
	if strings.Contains(n.StepInstanceKey, "::") {
		text += " (" + render.Key(n.StepInstanceKey) + ")"
	}
	var b strings.Builder
	isPlain := func(r rune) bool {
		return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' ||
			strings.ContainsRune(mermaidSigns, r) || r > '~' && !strings.ContainsRune(mermaidMarks, r)
	}
	for _, r := range page.OneLine(text) {
		if isPlain(r) {
			b.WriteRune(r)
		} else {
			fmt.Fprintf(&b, "#%d;", r)
		}
	}
	return b.String()
}

const (
	// mermaidSigns are the characters of ASCII besides letters and digits that have no meaning in a quoted text.
	mermaidSigns = " .,:()-_/'!?+="
	// mermaidMarks are those with which Mermaid marks entities in its own working text.
	mermaidMarks = "ﬂ¶"
)
