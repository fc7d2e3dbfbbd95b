package runs

import (
	"html"
	"regexp"
	"strings"
	"testing"

	"github.com/waybill/waybill/cmd/waybill/cli/page"
	"github.com/waybill/waybill/cmd/waybill/cli/stream"
	"github.com/waybill/waybill/durable/engine/views"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/event"
)

// mermaidLine is each line that a diagram may have: the beginning, a node with a quoted title, an edge, or a style. A title
// has no character with a meaning in Mermaid or HTML but in entities.
var mermaidLine = regexp.MustCompile(`^(graph TD|  [a-z2-7]{8}(\["[^"]*"\]|\(\["[^"]*"\]\)|\{\{"[^"]*"\}\})|` +
	`  [a-z2-7]{8} (-->|-\.->|-->\|branch\|) [a-z2-7]{8}|  style [a-z2-7]{8} stroke-width:3px)$`)

// TestMermaidTitles: no title becomes syntax, a directive or HTML, and each is readable in the diagram.
func TestMermaidTitles(t *testing.T) {
	node := func(c string) id.Node {
		n, err := id.ParseNode("node_" + strings.Repeat(c, 25) + "a")
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	for _, title := range []string{"Look", `a"]; b --> c`, "a\n  c --> d", "%%{init: {'theme':'x'}}%%", "<img src=x onerror=alert(1)>", "&#34;]",
		"#quot;", "#34;", "`**x**`", `\"`, "end", "subgraph x", "a|b|c", "click x href", "style x:#35;y;", "}}", "])", "ﬂ°lt¶ß", "日本語 🚀 é ß",
		"---\ntitle: x\n---", "\x1b[2J\u202e\u2028", "a;b", "x@{ shape: rect }", "A:::big", "$$x$$", "fa:fa-ban"} {
		a, b := node("b"), node("c")
		p := page.New(false, 0)
		if err := diagram(p, stream.New(nil, nil), rows{views.Graph{Title: title, Nodes: []views.GraphNode{
			{NodeID: a, NodeKind: event.StepNode, Title: title, StepInstanceKey: "s"},
			{NodeID: node("d"), NodeKind: event.CheckpointNode, Title: title, ParentNodeID: &a},
			{NodeID: b, NodeKind: event.StepNode, Title: title, ParentNodeID: &a, Complete: true, PreferredTip: true}},
			Edges: []views.GraphEdge{{From: a, To: b, Cause: event.NonTipAdvance}}}}); err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(strings.TrimSuffix(p.String(), "\n"), "\n")
		if len(lines) != 6 {
			t.Errorf("%q: %d lines:\n%s", title, len(lines), p)
		}
		for _, line := range lines {
			if !mermaidLine.MatchString(line) {
				t.Errorf("%q: %q", title, line)
			}
		}
		label := strings.Split(lines[1], `"`)[1]
		if strings.ContainsAny(entities.ReplaceAllString(label, ""), "\"`<>&#%{}[]|;\\@$*ﬂ¶") {
			t.Errorf("%q: %q", title, label)
		}
		shown := html.UnescapeString(entities.ReplaceAllString(label, "&#$1;"))
		if want := strings.Join(strings.Fields(title), " "); !strings.ContainsAny(title, "\x1b\n") && shown != want {
			t.Errorf("%q is shown as %q", title, shown)
		}
	}
}

// rows are the rows of a graph in memory.
type rows struct{ g views.Graph }

func (r rows) Nodes(each func(views.GraphNode) error) error { return eachOf(r.g.Nodes, each) }
func (r rows) Edges(each func(views.GraphEdge) error) error { return eachOf(r.g.Edges, each) }

func eachOf[T any](list []T, each func(T) error) (err error) {
	for i := 0; i < len(list) && err == nil; i++ {
		err = each(list[i])
	}
	return err
}

// entities matches the entities of Mermaid.
var entities = regexp.MustCompile(`#([0-9]+);`)
