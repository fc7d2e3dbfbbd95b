package installable

import (
	"fmt"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/pattern"
	"github.com/waybill/waybill/durable/problem"
	"github.com/waybill/waybill/durable/workflow/promptref"
	"github.com/waybill/waybill/durable/workflow/shape"
)

// Agent is the part of an installed agent that lists show. Waybill runs no agents; it offers
// their ids to the caller that performs a run.
type Agent struct {
	ID          string `json:"agentId"`
	Persona     string `json:"persona"`
	ModelClass  string `json:"modelClass"`
	Label       string `json:"label,omitzero"` // shown instead of Persona unless empty
	Description string `json:"description,omitzero"`
}

// Manifests returns the manifests of an installed artifact of agents, in either form.
func Manifests(artifact canon.Value) (out []canon.Value) {
	if list, ok := artifact.Get("agents"); ok {
		for i := range list.Len() {
			out = append(out, list.Item(i))
		}
		return out
	}
	return []canon.Value{artifact}
}

// agentShape is OpenWOP's agent manifest without additional members.
var agentShape = shape.Object{What: "an agent", Fields: []shape.Field{
	{"agentId", shape.Text{Min: 3, Max: 256,
		Pattern: pattern.New(`^(core|vendor|community|private|local)\.[a-z][a-z0-9_-]*(\.[a-z][a-zA-Z0-9_-]*)+$`),
		Like:    `the id of an agent such as "local.team.reviewer"`}, required},
	{"persona", shape.Text{Min: 1, Max: 200}, required},
	{"modelClass", shape.Words{"reasoning", "writing", "coding", "research", "classification", "general"}, required},
	{"systemPrompt", nonEmpty, optional},
	{"systemPromptRef", nonEmpty, optional},
	{"evalSuiteRef", nonEmpty, optional},
	{"toolAllowlist", shape.List{Of: nonEmpty}, optional},
	{"requiresCapabilities", shape.List{Of: nonEmpty, Unique: true}, optional},
	{"memoryShape", shape.Object{What: "a memory shape", Fields: []shape.Field{
		{"scratchpad", shape.Boolean, optional},
		{"conversation", shape.Boolean, optional},
		{"longTerm", shape.Boolean, optional}}}, optional},
	{"confidence", shape.Object{What: "a confidence", Fields: []shape.Field{
		{"defaultThreshold", shape.Amount{Min: 0, Max: 1}, optional}}}, optional},
	{"handoff", shape.Object{What: "a handoff", Fields: []shape.Field{
		{"taskSchemaRef", nonEmpty, optional},
		{"returnSchemaRef", nonEmpty, optional}}}, optional},
	{"label", shape.Text{Min: 1, Max: 100}, optional},
	{"description", shape.Text{Max: 500}, optional},
	{"promptLibraryRef", promptref.IDShape, optional},
	{"promptOverrides", overrides{}, optional}}}

// overrides is an object with a prompt reference for each kind of prompt, all optional.
type overrides struct{}

func (overrides) shape() shape.Object {
	out := shape.Object{What: "prompt overrides"}
	for _, kind := range promptref.Kinds() {
		out.Fields = append(out.Fields, shape.Field{kind, promptref.RefShape, optional})
	}
	return out
}

// Want describes the object.
func (o overrides) Want() string { return o.shape().Want() }

// Check checks the references.
func (o overrides) Check(at problem.SourceValue, report problem.Report) { o.shape().Check(at, report) }

// Schema is the schema of the object.
func (o overrides) Schema(describe shape.Describe) canon.Value { return o.shape().Schema(describe) }

// agentPackShape is a pack of agents. The published form may also contain code; it is refused
// here, since nothing would run it.
func agentPackShape() shape.Object {
	return shape.Object{What: "an agent pack", Fields: packKeys(ownPackName,
		shape.Field{"engines", shape.AnyObject, optional},
		shape.Field{"agents", shape.List{Of: agentShape, Min: 1, Key: "agentId"}, required})}
}

// checkAgents checks either form: one agent, or a pack of agents.
func checkAgents(at problem.SourceValue, report problem.Report) {
	switch form(at, report, "agentId", "agents") {
	case "agentId":
		agentShape.Check(at, report)
		checkSystemPrompt(at, report)
	case "agents":
		agentPackShape().Check(at, report)
		checkEngines(at.Member("engines"), report)
		for _, agent := range at.Member("agents").Items() {
			checkSystemPrompt(agent, report)
		}
	}
}

// checkSystemPrompt requires exactly one of systemPrompt and systemPromptRef.
func checkSystemPrompt(at problem.SourceValue, report problem.Report) {
	switch inline, ref := at.Has("systemPrompt"), at.Has("systemPromptRef"); {
	case at.Value.Kind() != canon.Object: // reported by the shape
	case inline && ref:
		report.Error(at.Member("systemPromptRef"), "Keep one of the two.",
			"an agent has systemPrompt or systemPromptRef, not both")
	case !inline && !ref:
		report.Error(at, `Add "systemPrompt": who the agent is and how it works.`,
			"an agent needs systemPrompt or systemPromptRef, got none")
	}
}

// Agents decodes the agents of an installed artifact, in its order. An error names the agent by
// its number from 1.
func Agents(artifact canon.Value) ([]Agent, error) {
	at := problem.SourceValue{Value: artifact}
	if !at.Has("agents") { // a single agent
		return decodeEach[Agent]("agent", []problem.SourceValue{at})
	}
	return decodeEach[Agent]("agent", at.Member("agents").Items())
}

// decodeEach decodes the parts of an installed artifact. Members that T does not have are skipped:
// only lists read the result.
func decodeEach[T any](what string, parts []problem.SourceValue) ([]T, error) {
	out := make([]T, len(parts))
	for i, at := range parts {
		if err := canon.DecodeKnown(at.Value, &out[i]); err != nil {
			return nil, fmt.Errorf("%s %d: %w", what, i+1, err)
		}
	}
	return out, nil
}
