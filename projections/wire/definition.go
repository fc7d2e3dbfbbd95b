package wire

import (
	"slices"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/openwop"
	"github.com/waybill/waybill/durable/redact"
	"github.com/waybill/waybill/durable/workflow/compile"
	"github.com/waybill/waybill/durable/workflow/source"
)

// Definition describes a workflow as the protocol does: a node for each step, with those of loops, and an edge from each
// step to the next one. Conditions and rounds are not edges: which step follows is decided when one is left. Prompts are not
// in it: they may quote what is confidential, and are a part of the run.
func Definition(w compile.Compiled) canon.Value {
	d := definition{w: w}
	d.sequence(w.Sequence(""))
	inputs := w.Inputs
	for _, s := range d.steps {
		inputs = append(inputs[:len(inputs):len(inputs)], s.Inputs...)
	}
	out := object("id", canon.OfString(w.WorkflowID), "name", canon.OfString(w.Name), "version", canon.OfString(w.Version),
		"description", canon.OfString(w.Description), "nodes", canon.OfList(d.nodes...), "edges", canon.OfList(d.edges...),
		"triggers", canon.OfList(object("id", canon.OfString("request"), "type", canon.OfString("manual"))),
		"variables", variables(inputs), "metadata", object(
			"customProperties", object("workflowHash", canon.OfString(w.Hash().String()))), "settings", object())
	if declared := Declared(w); len(declared) > 0 {
		out = out.With("configurableSchema", openwop.ConfigurableSchema(declared))
	}
	return out
}

// Declared are the keys that a run of a workflow can be configured with: its declared inputs, each once, in order.
func Declared(w compile.Compiled) (out []openwop.Choice) {
	inputs := slices.Clone(w.Inputs)
	for _, s := range w.Steps {
		inputs = append(inputs, s.Inputs...)
	}
	for _, l := range w.Loops {
		for _, s := range l.Body {
			inputs = append(inputs, s.Inputs...)
		}
	}
	for _, in := range inputs {
		if !slices.ContainsFunc(out, func(c openwop.Choice) bool { return c.Key == in.ContextKey }) {
			out = append(out, openwop.Choice{Key: in.ContextKey, Choices: in.Choices})
		}
	}
	return out
}

// definition collects the nodes and edges of a workflow.
type definition struct {
	w     compile.Compiled
	steps []compile.Step
	nodes []canon.Value
	edges []canon.Value
}

// sequence adds steps that follow each other, and those of the loops among them.
func (d *definition) sequence(steps []compile.Step) {
	for i, s := range steps {
		d.steps = append(d.steps, s)
		d.nodes = append(d.nodes, object("id", canon.OfString(s.StepID), "typeId", canon.OfString(typeIn(&d.w, s.StepID)),
			"name", canon.OfString(s.Title), "position", object("x", canon.OfInt(0), "y", canon.OfInt(int64(len(d.nodes)))),
			"config", object(), "inputs", object()))
		if i > 0 {
			from := steps[i-1].StepID
			d.edges = append(d.edges, object("id", canon.OfString(from+"->"+s.StepID),
				"sourceNodeId", canon.OfString(from), "targetNodeId", canon.OfString(s.StepID)))
		}
		if s.Type == compile.LoopStep {
			d.sequence(d.w.Sequence(s.StepID))
		}
	}
}

// variables are the declared inputs, each name once.
func variables(inputs []source.Input) canon.Value {
	var out []canon.Value
	seen := map[string]bool{}
	for _, in := range inputs {
		if seen[in.ContextKey] {
			continue
		}
		seen[in.ContextKey] = true
		out = append(out, object("name", canon.OfString(in.ContextKey), "type", canon.OfString("string"),
			"description", canon.OfString(redact.Text(in.Description, nil)), "required", canon.OfBool(true)))
	}
	return canon.OfList(out...)
}

// object is an object of names and values in turn.
func object(members ...any) canon.Value {
	var out []canon.Member
	for i := 0; i < len(members); i += 2 {
		out = append(out, canon.Member{Name: members[i].(string), Value: members[i+1].(canon.Value)})
	}
	return canon.OfMembers(out...)
}
