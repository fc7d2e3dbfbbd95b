package installable

import (
	"strings"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/problem"
	"github.com/waybill/waybill/durable/workflow/shape"
)

// Chain is the part of a workflow chain that lists show. Chains do not run: editors expand
// them into the workflows that they write (docs/design.md#proposals).
type Chain struct {
	ID          string `json:"chainId"`
	Version     string `json:"version"`
	Label       string `json:"label"`
	Description string `json:"description"`
}

// chainPackShape is OpenWOP's chain pack manifest without additional members.
func chainPackShape() shape.Object {
	return shape.Object{What: "a workflow-chain pack", Fields: packKeys(packName,
		shape.Field{"kind", shape.Words{"workflow-chain"}, required},
		shape.Field{"engines", shape.AnyObject, required},
		shape.Field{"chains", shape.List{Of: chainShape, Min: 1, Key: "chainId"}, required})}
}

// chainShape is one chain of a pack. Its parameters are a JSON Schema, which only editors
// interpret.
var chainShape = shape.Object{What: "a chain", Fields: []shape.Field{
	{"chainId", typeName, required},
	{"version", version, required},
	{"label", nonEmpty, required},
	{"description", anyText, required},
	// Parameters are not validated as JSON Schema here.
	{"parameters", shape.AnyObject, required},
	{"dag", shape.Object{What: "a chain's graph", Fields: []shape.Field{
		{"nodes", shape.List{Of: nodeShape, Min: 1, Key: "id"}, required},
		{"edges", shape.List{Of: edgeShape}, optional}}}, required},
	{"outputs", shape.Dictionary{Value: shape.Object{What: "an output", Fields: []shape.Field{
		{"type", anyText, required},
		{"description", anyText, required}}}}, optional},
	{"capabilities", shape.List{Of: shape.Words{"streamable", "cacheable", "side-effectful", "mcp-exportable"},
		Unique: true}, optional}}}

// nodeShape is a node of a chain's graph. The members of config and inputs depend on its
// type.
var nodeShape = shape.Object{What: "a node", Fields: []shape.Field{
	{"id", nonEmpty, required},
	{"typeId", typeName, required},
	{"name", anyText, optional},
	{"position", shape.Object{What: "a position", Fields: []shape.Field{{"x", number, optional}, {"y", number, optional}}}, optional},
	{"config", shape.AnyObject, optional},
	{"inputs", shape.AnyObject, optional}}}

// edgeShape connects two nodes of a chain's graph, or ports of them.
var edgeShape = shape.Object{What: "an edge", Fields: []shape.Field{
	{"from", anyText, required},
	{"to", anyText, required},
	{"condition", anyText, optional}}}

// number is any JSON number, such as a coordinate.
var number = shape.OneKind{Kind: canon.Number, Text: "a number"}

// checkChains checks a chain pack's shape and the rules that the published schema states only
// in prose: every edge connects nodes of the graph.
func checkChains(at problem.SourceValue, report problem.Report) {
	chainPackShape().Check(at, report)
	// The rules across members can only be checked once all node ids of a graph are known.
	checkEngines(at.Member("engines"), report)
	for _, chain := range at.Member("chains").Items() {
		graph, nodes := chain.Member("dag"), map[string]bool{}
		for _, node := range graph.Member("nodes").Items() {
			nodes[node.Member("id").Value.Text()] = true
		}
		if len(nodes) > 1 && !graph.Has("edges") {
			report.Error(graph, `Add "edges": how the nodes follow each other.`,
				"a graph of several nodes needs edges, got none")
		}
		for _, edge := range graph.Member("edges").Items() {
			for _, end := range []problem.SourceValue{edge.Member("from"), edge.Member("to")} {
				if name := end.Value.Text(); name != "" && !leads(nodes, name) {
					report.Error(end, "Name one of "+strings.Join(shape.Names(nodes), ", ")+".",
						"the graph has no node %q", name)
				}
			}
		}
	}
}

// leads reports whether the end of an edge is a node's id, or a node's id followed by a dot
// and a port. Ids may contain dots themselves, so every prefix is tried.
func leads(nodes map[string]bool, end string) bool {
	for i := range len(end) {
		if end[i] == '.' && nodes[end[:i]] {
			return true
		}
	}
	return nodes[end]
}

// Chains decodes the chains of an installed artifact, in its order.
func Chains(artifact canon.Value) ([]Chain, error) {
	return decodeEach[Chain]("chain", problem.SourceValue{Value: artifact}.Member("chains").Items())
}
