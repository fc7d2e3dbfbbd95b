package source

import (
	"bytes"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/problem"
	"github.com/waybill/waybill/durable/workflow/yaml"
)

// Parse reads a workflow file and finds everything that is wrong with it. The name
// is never opened; it chooses the language (.json, .yaml, .yml), and with any other
// name the first character does. Source.Valid tells whether the file can be
// compiled. Problems are in the order of the file.
func Parse(name string, kind SourceKind, data []byte) (Source, []Problem) {
	root, err := read(name, data)
	if err != nil {
		var found collector
		at := problem.Place{}
		var pe *canon.ParseError
		if errors.As(err, &pe) {
			at.Pointer, at.Value = pe.Pointer, at.Value.AtLine(pe.Line)
			err = errors.New(pe.Reason)
		}
		problem.Report(found.add).
			Error(at, "Correct the text there; nothing behind it was read.", "the file cannot be read: %s", err)
		return Source{Kind: kind}, found.list()
	}
	return Of(kind, problem.Place{Value: root})
}

// Of is Parse for a workflow that was read already and may stand inside another
// document, such as a pack: problems point from the root of that document.
func Of(kind SourceKind, root problem.Place) (Source, []Problem) {
	var found collector
	report := problem.Report(found.add)
	src := Source{Kind: kind, Root: root}
	workflowShape.Check(src.Root, report)
	checkRules(src, report)
	if !found.errors {
		if err := takeOver(root.Value, &src); err != nil {
			// The shapes let through what the structs do not hold: a bug of ours,
			// which must not turn into a workflow with parts left out.
			report.Error(src.Root, "Report this as a bug of Waybill.", "the file cannot be taken over: %s", err)
		}
	}
	src.Valid = !found.errors
	src.ID = src.Root.Member("id").Value.Text()
	src.Name = src.Root.Member("name").Value.Text()
	src.Description = src.Root.Member("description").Value.Text()
	return src, found.list()
}

// takeOver fills the structs. The bodies of loops stay values in them, and are tried
// here, so that whoever reads them later can rely on it.
func takeOver(root canon.Value, src *Source) error {
	if err := canon.Decode(root, src); err != nil {
		return err
	}
	var failed error
	eachLoop(src.Root.Member("steps"), problem.Place{}, func(loop, _ problem.Place) {
		for _, item := range loop.Member("body").Items() {
			var step Step
			if err := canon.Decode(item.Value, &step); err != nil && failed == nil {
				failed = err
			}
		}
	})
	return failed
}

// problemsMax bounds the list for one file: a person mends the first hundred, and a
// hostile file could have a million.
const problemsMax = 500

type collector struct {
	found  []Problem
	errors bool
	more   int
}

// add keeps the problem, or counts it; whether one was an error is never lost.
func (c *collector) add(p Problem) {
	c.errors = c.errors || p.Severity == problem.Error
	if len(c.found) == problemsMax {
		c.more++
		return
	}
	c.found = append(c.found, p)
}

// list is sorted by place. The count of what was dropped stands last and is an
// error exactly when an error may have been dropped.
func (c *collector) list() []Problem {
	all := slices.Clone(c.found)
	c.found = slices.DeleteFunc(c.found, func(p Problem) bool { return hidden(p, all) })
	problem.Sort(c.found)
	if c.more > 0 {
		rest := Problem{Severity: problem.Warning, Message: fmt.Sprintf("%d more problems are not listed", c.more),
			Fix: "Mend those listed first."}
		if c.errors {
			rest.Severity = problem.Error
		}
		c.found = append(c.found, rest)
	}
	return c.found
}

// hidden are warnings about what cannot be used anyway: an error stands at the same
// place or in it, and correcting it will say whether the warning still holds.
func hidden(p Problem, all []Problem) bool {
	return p.Severity == problem.Warning && slices.ContainsFunc(all, func(e Problem) bool {
		rest, inside := strings.CutPrefix(e.Pointer, p.Pointer)
		return e.Severity == problem.Error && inside && (rest == "" || rest[0] == '/')
	})
}

// read chooses the language. A text that starts with a brace is JSON: YAML would read
// most of it too, but less strictly.
func read(name string, data []byte) (canon.Value, error) {
	if len(data) > limits.SourceBytesMax {
		return canon.Value{}, fmt.Errorf("it has %d bytes, at most %d are accepted", len(data), limits.SourceBytesMax)
	}
	switch strings.ToLower(path.Ext(name)) {
	case ".json":
		return canon.Parse(data)
	case ".yaml", ".yml":
		return yaml.Parse(data)
	}
	if start := bytes.TrimLeft(data, " \t\r\n"); len(start) > 0 && start[0] == '{' {
		return canon.Parse(data)
	}
	return yaml.Parse(data)
}
