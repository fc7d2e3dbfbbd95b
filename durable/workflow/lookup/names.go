// Package lookup finds the names in a workflow file that do not resolve, without compiling the file: those
// of a file with other errors, and workflows that fill extension points.
//
// It decides nothing about a file that compiles: package compile reports the same names as errors, and
// bindings are warnings. Start reading at UnknownNames and Bindings.
package lookup

import (
	"slices"
	"strings"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/problem"
	"github.com/waybill/waybill/durable/workflow/builtin"
	"github.com/waybill/waybill/durable/workflow/compile"
	"github.com/waybill/waybill/durable/workflow/contract"
	"github.com/waybill/waybill/durable/workflow/source"
)

// UnknownNames reports the names of a file with errors that do not resolve: features, contracts,
// references, templates and routines. Compile finds them too, but only in a valid file; an author
// should not have to correct one kind of error to see the other. Names that are not well formed are
// reported by package source.
func UnknownNames(src source.Source, with compile.Library) []problem.Problem {
	var found []problem.Problem
	n := names{with, func(p problem.Problem) { found = append(found, p) }}
	for _, at := range src.Root.Member("features").Items() {
		n.known("feature", at, builtin.Features())
	}
	n.steps(src.Root.Member("steps"), limits.LoopDepthMax)
	problem.Sort(found)
	return found[:min(len(found), namesListed)]
}

// namesListed bounds the list: the file has other errors too.
const namesListed = 100

// names looks up the names of one file.
type names struct {
	with   compile.Library
	report problem.Report
}

// known reports a text that is not one of a list. what is its kind, in words.
func (n names) known(what string, at problem.SourceValue, known []string) {
	if name := at.Value.Text(); name != "" && !slices.Contains(known, name) {
		n.report.Error(at, compile.Suggest(name, known), "%s %q does not exist", what, name)
	}
}

// steps looks up the names of a list of steps, and of the loops among them.
func (n names) steps(list problem.SourceValue, depth int) {
	for _, at := range list.Items() {
		for _, c := range []problem.SourceValue{source.ContractAt(at), at.Member("synthesis").Member("outputContract")} {
			if ref := c.Member("contractRef"); strings.HasPrefix(ref.Value.Text(), "wr.contracts.") {
				n.known("contract", ref, contract.Refs())
			}
		}
		n.refs(at.Member("promptBlocks"), depth)
		n.template(at.Member("templateCall").Member("templateId"))
		if depth > 0 {
			n.steps(at.Member("body"), depth-1)
		}
	}
}

// refs looks up the references of prompt blocks.
func (n names) refs(at problem.SourceValue, depth int) {
	if ref := at.Member("refId"); strings.HasPrefix(ref.Value.Text(), "wr.refs.") {
		n.known("reference", ref, builtin.Refs())
		return
	}
	if depth == 0 || at.Value.Kind() == canon.String {
		return
	}
	for _, item := range at.Items() {
		n.refs(item, depth-1)
	}
	for _, name := range at.Names() {
		n.refs(at.Member(name), depth-1)
	}
}

// template looks up the template of a call.
func (n names) template(at problem.SourceValue) {
	id := at.Value.Text()
	name, routine := strings.CutPrefix(id, compile.RoutineTemplatePrefix)
	switch _, found := n.with.Routine(name); {
	case id == "" || id == builtin.ProbeTemplate || routine && found:
	case routine:
		n.report.Error(at, compile.Suggest(id, n.with.Templates()), "routine %q does not exist", name)
	default:
		n.report.Error(at, compile.Suggest(id, n.with.Templates()), "template %q does not exist", id)
	}
}
