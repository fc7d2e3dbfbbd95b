package compile

import (
	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/problem"
	"github.com/waybill/waybill/durable/workflow/promptref"
	"github.com/waybill/waybill/durable/workflow/source"
)

// Options holds the inputs of a compilation besides the source. The zero Options has no
// routines, bindings or templates.
type Options struct {
	// Routine returns a routine by its workflow id; nil if there are none. It also returns
	// routines that are not valid, so that Compile can report that at the call.
	Routine func(id string) (source.Source, bool)
	// RoutineIDs are the ids that Routine accepts, in any order, for suggestions only.
	RoutineIDs []string
	// Bindings are the project's bindings of extension points: slot id → routine id.
	Bindings map[string]string
	// Prompts holds the templates to which steps may refer.
	Prompts promptref.Library
}

// File is FileWith with zero Options.
func File(name string, kind source.SourceKind, data []byte) (source.Source, Compiled, []source.Problem) {
	return FileWith(name, kind, data, Options{})
}

// FileWith parses and compiles a workflow file and returns the problems of both, in file
// order. Compiled is the zero value if one of them is an error.
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

// Compile compiles a valid source; the result depends on the arguments only. It reports the
// problems that package source cannot find: names that do not resolve, and deviations from
// the source. Compiled is usable only if no problem is an error; a source that is not valid
// is an error.
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
		// The compiled form nests some parts one level deeper than the source and could
		// exceed the depth limit of the parser: the pinned document must be readable.
		b.report.Error(src.Root, "Nest conditions and criteria less deeply.",
			"the compiled workflow cannot be parsed: %s", err)
	}
	problem.Sort(b.found)
	return c, b.found
}
