package workflowtest

import (
	"errors"
	"fmt"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/problem"
	"github.com/waybill/waybill/durable/reason"
	"github.com/waybill/waybill/durable/workflow/compile"
	"github.com/waybill/waybill/durable/workflow/places"
	"github.com/waybill/waybill/durable/workflow/source"
	"github.com/waybill/waybill/durable/workflow/yaml"
)

// Problem is something in a file of tests that cannot be true, with its place.
type Problem struct {
	Pointer string `json:"pointer"` // RFC 6901
	Line    int    `json:"line"`    // from 1; 0 for a file that could not be read
	Column  int    `json:"column"`  // from 1, in characters; 0 where it is not known
	Message string `json:"message"`
	Fix     string `json:"fix"`
}

// problemsMax bounds the list of problems of a file.
const problemsMax = 100

// Parse reads a file of tests of a workflow. The extension of the name selects the language, as for
// workflow files. All problems are reported, in the order of the file, at most problemsMax; a file with
// any has no cases.
func Parse(name string, data []byte, w compile.Compiled) (File, []Problem) {
	data = canon.WithoutBOM(data)
	root, err := read(name, data)
	if err != nil {
		p := Problem{Message: "the file cannot be read: " + reason.Clip(err.Error(), limits.MessageBytesMax),
			Fix: "Correct the text there; the rest of the file was not read."}
		var at *canon.ParseError
		if errors.As(err, &at) {
			p.Pointer, p.Line, p.Column = at.Pointer, at.Line, 1
			p.Message = "the file cannot be read: " + reason.Clip(at.Reason, limits.MessageBytesMax)
		}
		return File{}, []Problem{p}
	}
	var found []problem.Problem
	more := 0
	report := func(p problem.Problem) {
		if len(found) == problemsMax {
			more++
			return
		}
		found = append(found, p)
	}
	at := problem.SourceValue{Value: root}
	fileShape.Check(at, report)
	f := File{}
	if cases := at.Member("cases"); cases.Value.Kind() == canon.Array {
		for _, c := range cases.Items() {
			f.Cases = append(f.Cases, caseOf(c, w, report))
		}
	}
	if len(found) == 0 {
		return f, nil
	}
	return File{}, placed(places.Locate(data, source.IsJSON(name, data), found), more)
}

// placed returns problems in the order of the file, in which they are.
func placed(found []problem.Problem, more int) []Problem {
	out := make([]Problem, len(found))
	for i, p := range found {
		out[i] = Problem{Pointer: p.Pointer, Line: max(p.Line, 1), Column: max(p.Column, 1), Message: p.Message, Fix: p.Fix}
	}
	if more > 0 {
		out = append(out, Problem{Message: fmt.Sprintf("%d more problems are not listed", more), Fix: "Correct the listed ones first."})
	}
	return out
}

// read parses the text. Its size and the number of its values are bounded before memory is taken for them.
func read(name string, data []byte) (canon.Value, error) {
	if len(data) > limits.SourceBytesMax {
		return canon.Value{}, fmt.Errorf("it has %d bytes, at most %d are accepted", len(data), limits.SourceBytesMax)
	}
	parse, count := yaml.Parse, yaml.CountValues
	if source.IsJSON(name, data) {
		parse, count = canon.Parse, canon.CountValues
	}
	if n := count(data); n > limits.WorkflowValuesMax {
		return canon.Value{}, fmt.Errorf("it has up to %d values, at most %d are accepted", n, limits.WorkflowValuesMax)
	}
	return parse(data)
}
