package compile

import (
	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/problem"
	"github.com/waybill/waybill/durable/workflow/promptref"
	"github.com/waybill/waybill/durable/workflow/source"
)

// Library holds what a workflow may use besides its own file. It is read-only, and the zero
// Library is empty.
type Library struct {
	// Routines are the workflows that steps may call, in order of precedence: a name is looked
	// up in each group completely before the next one, so that the routines beside a file come
	// before all others (docs/design.md#workflow-sources).
	Routines []Routines
	// Bindings are the project's bindings of extension points: workflow id → slot id →
	// routine id.
	Bindings map[string]map[string]string
	// Complete reports that Routines has all workflows that a file may name, so that a binding of
	// another one is a mistake.
	Complete bool
	// Prompts holds the templates to which steps may refer.
	Prompts promptref.Library
}

// Routines are workflows that steps may call, by their ids. They also contain those that are not
// valid, so that Compile can report that at the call.
type Routines map[string]source.Source

// File is FileWith with an empty Library.
func File(name string, kind source.SourceKind, data []byte) (source.Source, Compiled, []source.Problem) {
	return FileWith(name, kind, data, Library{})
}

// FileWith parses and compiles a workflow file and returns the problems of both, in file
// order. Compiled is the zero value if one of them is an error.
func FileWith(name string, kind source.SourceKind, data []byte, with Library) (source.Source, Compiled,
	[]source.Problem) {
	src, found := source.Parse(name, kind, data)
	if !src.Valid {
		return src, Compiled{}, found
	}
	c, more := Compile(src, with)
	return src, c, source.Locate(name, data, append(found, more...))
}

// Compile compiles a valid source; the result depends on the arguments only. It reports the
// problems that package source cannot find: names that do not resolve, and deviations from
// the source. Compiled is usable only if no problem is an error; a source that is not valid
// is an error.
func Compile(src source.Source, with Library) (Compiled, []source.Problem) {
	b := newBuilder(with)
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
	if err := d.checkLimits(); err != nil {
		b.report.Error(src.Root, "Shorten or split it.", "the compiled workflow cannot be run: %s", err)
		return Compiled{}, b.found
	}
	c, err := prepare(d)
	if err != nil {
		b.report.Error(src.Root, "Report this as a bug of Waybill.", "the workflow cannot be compiled: %s", err)
	} else if err := checkSize(c.Bytes()); err != nil {
		b.report.Error(src.Root, "Split the workflow, or call fewer routines.", "the compiled workflow cannot be run: %s",
			err)
	} else if v, err := canon.Parse(c.Bytes()); err != nil {
		// The compiled form nests some parts one level deeper than the source and could
		// exceed the depth limit of the parser: the pinned document must be readable.
		b.report.Error(src.Root, "Nest conditions and criteria less deeply.",
			"the compiled workflow cannot be parsed: %s", err)
	} else if err := checkTexts(v); err != nil {
		b.report.Error(src.Root, "Shorten it.", "the compiled workflow cannot be run: %s", err)
	}
	problem.Sort(b.found)
	return c, b.found
}
