package compile

import (
	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/problem"
	"github.com/waybill/waybill/durable/workflow/promptref"
	"github.com/waybill/waybill/durable/workflow/source"
)

// Options is what a compilation draws on beside the source: what other files and
// the project say. The zero Options knows none of it.
type Options struct {
	// Routine finds a routine by its workflow id, wherever it comes from. A routine
	// that does not validate is handed over too: its call then says so. nil knows none.
	Routine func(id string) (source.Source, bool)
	// RoutineIDs are the ids that Routine knows, for suggestions only; their order
	// does not matter.
	RoutineIDs []string
	// Bindings are the project's choices for extension points: slot → routine id.
	Bindings map[string]string
	// Prompts are the templates that steps may refer to.
	Prompts promptref.Library
}

// File is FileWith with nothing to draw on.
func File(name string, kind source.SourceKind, data []byte) (source.Source, Compiled, []source.Problem) {
	return FileWith(name, kind, data, Options{})
}

// FileWith parses and compiles a workflow file in one go and returns the problems
// of both, in the order of the file. Compiled is usable when none of them is an error.
func FileWith(name string, kind source.SourceKind, data []byte, o Options) (source.Source, Compiled, []source.Problem) {
	src, found := source.Parse(name, kind, data)
	if !src.Valid {
		return src, Compiled{}, found
	}
	c, more := Compile(src, o)
	found = append(found, more...)
	problem.Sort(found)
	return src, c, found
}

// Compile turns a valid source into its compiled form: a pure function of both. It
// adds the problems that only show here: what is named and not there, and what is
// carried out otherwise than the source says.
func Compile(src source.Source, o Options) (Compiled, []source.Problem) {
	b := newBuilder(o)
	if !src.Valid {
		b.report.Error(src.Root, "Correct the problems of the file first.", "the workflow does not validate")
		return Compiled{}, b.found
	}
	d := b.document(src)
	if b.tooBig != "" {
		b.report.Error(src.Root, "Split the workflow, or call fewer routines.", "the compiled workflow would have %s",
			b.tooBig)
	}
	problem.Sort(b.found)
	if problem.HasErrors(b.found) {
		return Compiled{}, b.found
	}
	c, err := prepare(d)
	if err != nil {
		b.report.Error(src.Root, "Report this as a bug of Waybill.", "the workflow cannot be compiled: %s", err)
	} else if _, err := canon.Parse(c.Bytes()); err != nil {
		// The compiled form wraps some parts once more: what is pinned must be readable.
		b.report.Error(src.Root, "Nest conditions and criteria less deeply.",
			"the compiled workflow could not be read again: %s", err)
	}
	problem.Sort(b.found)
	return c, b.found
}
