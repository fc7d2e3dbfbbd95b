package source

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/problem"
	"github.com/waybill/waybill/durable/reason"
	"github.com/waybill/waybill/durable/workflow/places"
	"github.com/waybill/waybill/durable/workflow/yaml"
)

// Parse parses and validates a workflow file. The name is not opened; its extension
// selects the language (.json, .yaml, .yml), otherwise the first character does: a brace
// means JSON. Source.Valid reports whether the file can be compiled. Problems are in file
// order, at most problemsMax of them; a file that is not JSON or YAML has exactly one.
func Parse(name string, kind SourceKind, data []byte) (Source, []Problem) {
	rest := excess{}
	root, err := read(name, data, &rest)
	if err != nil {
		found := Problem{Severity: problem.Error, Fix: "Correct the text there; the rest of the file was not read."}
		// A ParseError has a place; other errors concern the whole file.
		var pe *canon.ParseError
		if errors.As(err, &pe) {
			found.Pointer, found.Line, found.Column = pe.Pointer, pe.Line, pe.Column
			err = errors.New(pe.Reason)
		}
		found.Message = "the file cannot be read: " + reason.Truncate(err.Error(), limits.MessageBytesMax)
		return Source{Kind: kind}, []Problem{found}
	}
	src, found := of(kind, problem.SourceValue{Value: root}, rest)
	return src, Locate(name, data, found)
}

// Locate returns problems of a file that Parse has read with the places of their keys in its text.
func Locate(name string, data []byte, found []Problem) []Problem {
	data = canon.WithoutBOM(data)
	return places.Locate(data, IsJSON(name, data), found)
}

// excess is what a file holds beyond the values that are read of it.
type excess struct {
	values int // of the whole file, 0 if all are read
	line   int // at which it has more than are accepted
	keys   int // unknown keys of the workflow among them
}

// more counts a key of the workflow that is not read.
func (e *excess) more(name string) {
	if !slices.ContainsFunc(workflowShape.Fields, func(f field) bool { return f.Name == name }) {
		e.keys++
	}
}

// Of validates a workflow that is already parsed and may be part of another document,
// such as a pack: the pointers of problems start at the root of that document.
func Of(kind SourceKind, root problem.SourceValue) (Source, []Problem) {
	return of(kind, root, excess{})
}

// of is Of for a file of which rest is not read: its workflow is never valid, and what the
// parts that are read lack may be in the rest.
func of(kind SourceKind, root problem.SourceValue, rest excess) (Source, []Problem) {
	var found collector
	report := problem.Report(found.add)
	src := Source{Kind: kind, Root: root}
	if rest.values > 0 {
		whole := problem.Report(func(p Problem) {
			if p.Pointer != "" {
				report(p)
			}
		})
		place := problem.SourceValue{Value: src.Root.Value.AtLine(rest.line)}
		report.Error(place, "Split the workflow, or remove what it does not need.",
			"the file has up to %d values, at most %d are accepted; the rest of it was not read", rest.values,
			limits.WorkflowValuesMax)
		workflowShape.CheckMore(src.Root, rest.keys, whole)
		src.ID, src.Name = root.Member("id").Value.Text(), root.Member("name").Value.Text()
		return src, found.list()
	}
	workflowShape.Check(src.Root, report)
	named := resolveNamedBodies(root)
	checkRules(src, named, report)
	if !found.errors {
		if err := src.decode(named); err != nil {
			// The shapes accepted a value that the structs cannot hold. That is a bug in
			// this package; the file must not become a workflow with members missing.
			report.Error(src.Root, "Report this as a bug of Waybill.", "the file cannot be decoded: %s", err)
		}
	}
	// Set from the raw values, so that they are also available for a file with errors.
	src.Valid = !found.errors
	src.ID = src.Root.Member("id").Value.Text()
	src.Name = src.Root.Member("name").Value.Text()
	src.Description = src.Root.Member("description").Value.Text()
	return src, found.list()
}

// decode fills the fields of s from its root, which has no errors.
func (s *Source) decode(named namedBodies) (err error) {
	if err = canon.Decode(s.Root.Value.Without("steps"), s); err == nil {
		s.Steps, err = s.place(named.main(s.Root), named)
	}
	return err
}

// place decodes a list of steps, and the steps that the loops among them repeat.
func (s *Source) place(list []problem.SourceValue, named namedBodies) ([]PlacedStep, error) {
	out := make([]PlacedStep, len(list))
	for i, at := range list {
		step := &out[i]
		step.At = at
		if err := cmp.Or(canon.Decode(at.Value, &step.Step), step.setAction()); err != nil {
			return nil, err
		}
		if step.Type == templateCallType {
			step.Type = ""
		}
		loop, ok := s.LoopAt(at)
		if !ok {
			continue
		}
		step.Loop = &loop
		body, err := s.place(named.bodyOf(at), named)
		if err != nil {
			return nil, err
		}
		step.Body = body
	}
	return out, nil
}

// problemsMax bounds the list for one file: a person fixes the first hundred, and a
// hostile file could have a million.
const problemsMax = 500

// collector collects the problems of one file, up to problemsMax.
type collector struct {
	found  []Problem
	errors bool // a problem was an error, listed or not
	more   int  // problems beyond problemsMax, not listed
}

// add appends the problem, or only counts it when the list is full. errors is set in both
// cases, so that a file with a dropped error never counts as valid.
func (c *collector) add(p Problem) {
	c.errors = c.errors || p.Severity == problem.Error
	if len(c.found) == problemsMax {
		c.more++
		return
	}
	c.found = append(c.found, p)
}

// list returns the problems sorted by place. The count of dropped problems comes last; it
// is an error exactly when an error was found and so may have been dropped.
func (c *collector) list() []Problem {
	all := slices.Clone(c.found)
	c.found = slices.DeleteFunc(c.found, func(p Problem) bool { return superseded(p, all) })
	problem.Sort(c.found)
	if c.more > 0 {
		rest := Problem{Severity: problem.Warning, Message: fmt.Sprintf("%d more problems are not listed", c.more),
			Fix: "Fix the listed problems first."}
		if c.errors {
			rest.Severity = problem.Error
		}
		c.found = append(c.found, rest)
	}
	return c.found
}

// superseded reports whether p is a warning at a place that also has an error, at the
// place itself or below it. Correcting the error decides whether the warning still
// applies.
func superseded(p Problem, all []Problem) bool {
	return p.Severity == problem.Warning && slices.ContainsFunc(all, func(e Problem) bool {
		rest, inside := strings.CutPrefix(e.Pointer, p.Pointer)
		return e.Severity == problem.Error && inside && (rest == "" || rest[0] == '/')
	})
}

// read parses data in the language that the name's extension selects. A text that starts
// with a brace is JSON: YAML would accept most of it too, but less strictly. It fails with
// a *canon.ParseError for a syntax error, and for more than limits.SourceBytesMax bytes
// before parsing anything.
//
// A file of too many values is read in part: memory for all of them is never taken. rest
// counts the others.
func read(name string, data []byte, rest *excess) (canon.Value, error) {
	if len(data) > limits.SourceBytesMax {
		return canon.Value{}, fmt.Errorf("it has %d bytes, at most %d are accepted", len(data), limits.SourceBytesMax)
	}
	data = canon.WithoutBOM(data)
	parse, first, n := yaml.Parse, yaml.ParseFirst, yaml.CountValues
	if IsJSON(name, data) {
		parse, first, n = canon.Parse, canon.ParseFirst, canon.CountValues
	}
	if values := n(data); values > limits.WorkflowValuesMax {
		rest.values, rest.line = values, lineOf(data, n, limits.WorkflowValuesMax)
		root, err := first(data, partMax, rest.more)
		if err != nil && strings.ToLower(path.Ext(name)) != ".json" {
			// The cut may be the cause.
			err = &canon.ParseError{Line: rest.line,
				Reason: fmt.Sprintf("it has up to %d values, at most %d are accepted", values, limits.WorkflowValuesMax)}
		}
		return root, err
	}
	return parse(data)
}

// IsJSON reports the language of a file: that of its extension, or JSON for a text that begins with a
// brace.
func IsJSON(name string, data []byte) bool {
	start := bytes.TrimLeft(canon.WithoutBOM(data), " \t\r\n")
	ext := strings.ToLower(path.Ext(name))
	return ext == ".json" || ext != ".yaml" && ext != ".yml" && len(start) > 0 && start[0] == '{'
}

// lineOf returns the 1-based line of a text up to whose end count finds more than most values.
func lineOf(data []byte, count func([]byte) int, most int) int {
	from, to := 0, bytes.Count(data, []byte{'\n'})+1 // lines that hold at most and more than that
	ends := make([]int, 1, to+1)
	for i, c := range data {
		if c == '\n' {
			ends = append(ends, i)
		}
	}
	ends = append(ends, len(data))
	for to-from > 1 {
		if middle := from + (to-from)/2; count(data[:ends[middle]]) > most {
			to = middle
		} else {
			from = middle
		}
	}
	return to
}

// partMax is the number of values that are read of a file with too many.
const partMax = 2_000
