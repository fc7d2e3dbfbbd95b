package catalog

import (
	"fmt"
	"slices"
	"strings"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/problem"
	"github.com/waybill/waybill/durable/workflow/nearest"
	"github.com/waybill/waybill/durable/workflow/source"
)

// Find returns the only workflow with an id, or the bundled one that had it and has another id now.
// It fails with WORKFLOW_NOT_FOUND, which suggests a similar id, WORKFLOW_AMBIGUOUS, which lists
// all files with the id, or WORKFLOW_INVALID (see Usable).
func (c Catalog) Find(id string) (Entry, error) {
	var same []int
	alias := -1
	for i, e := range c.Entries {
		if e.ID == id {
			same = append(same, i)
		} else if slices.Contains(e.Aliases, id) {
			alias = i
		}
	}
	var found []Entry
	for _, i := range c.contenders(same) {
		found = append(found, c.Entries[i])
	}
	// A file that may not have the id does not take it from the alias.
	if alias >= 0 && !slices.ContainsFunc(found, func(e Entry) bool { return source.MayReserve(e.Kind) }) {
		found = []Entry{c.Entries[alias]}
		found[0].NamedAs = id
	}
	switch len(found) {
	case 0:
		if c.Unread != nil {
			return Entry{}, c.Unread
		}
		return Entry{}, c.notFound(id)
	case 1:
		return found[0], found[0].Usable()
	}
	return Entry{}, ambiguous(id, found)
}

// SourceOf returns the source of the workflow with a hash as it is shown beside its id, "" if no file
// found is that version. If several are, it is the source that the id means first.
func (c Catalog) SourceOf(hash canon.Digest) (name string) {
	for _, e := range c.Entries {
		if !e.Valid() || e.Compiled.Hash() != hash {
			continue
		}
		if e.Kind == source.SourceBundled || name == "" {
			name = e.Source()
		}
	}
	return name
}

// Attached returns the entry of a file of an attached folder, by its reference.
func (c Catalog) Attached(ref string) (Entry, bool) {
	i := slices.IndexFunc(c.Entries, func(e Entry) bool { return e.Attached != "" && e.Ref == ref })
	if i < 0 {
		return Entry{}, false
	}
	return c.Entries[i], true
}

// Errors returns the problems for which the entry is not valid, in their order.
func (e Entry) Errors() []source.Problem {
	return slices.DeleteFunc(slices.Clone(e.Problems),
		func(p source.Problem) bool { return p.Severity != problem.Error })
}

// Usable returns nil for a valid entry, else WORKFLOW_INVALID. The message has the first
// error; the detail "problems" lists the errors with pointer, line, message and fix.
func (e Entry) Usable() error {
	if e.Valid() {
		return nil
	}
	errs := e.Errors()
	first := errs[0].Message
	if at := errs[0]; at.Pointer != "" && at.Line > 0 {
		first = fmt.Sprintf("%s, line %s: %s", at.Pointer, at.Position(), at.Message)
	}
	if len(errs) > 1 {
		first += fmt.Sprintf(" (and %d more)", len(errs)-1)
	}
	f := fault.New(fault.WorkflowInvalid, "%s is not a valid workflow: %s", e.Ref, first)
	if errs[0].Fix != "" && len(errs) == 1 {
		f.Suggest("%s %s explains it.", errs[0].Fix, GuidePage(errs[0].Pointer))
	} else {
		f.Suggest("%s shows all problems and what to write instead.", fault.Command{"workflows", "validate", e.Ref})
	}
	// Details are plain data, because package fault does not depend on package problem.
	list := make([]any, 0, len(errs))
	for _, p := range errs[:min(len(errs), problemsMax)] {
		one := map[string]any{"pointer": p.Pointer, "line": p.Line, "message": p.Message, "fix": p.Fix}
		if p.Column > 0 {
			one["column"] = p.Column
		}
		list = append(list, one)
	}
	return f.With("problems", list)
}

// problemsMax bounds the details of an error (docs/design.md#errors).
const problemsMax = 20

// notFound returns WORKFLOW_NOT_FOUND. The suggestion prefers an id whose part after the
// namespace is equal to id, then the most similar id.
func (c Catalog) notFound(id string) error {
	if f := mistaken(id); f != nil {
		return f
	}
	f := fault.New(fault.WorkflowNotFound, "no workflow has the id %q", id)
	var ids []string
	for _, e := range c.Entries {
		if e.ID == "" {
			continue
		}
		ids = append(ids, e.ID)
		if _, name, _ := strings.Cut(e.ID, "."); name == id {
			return f.Suggest("Did you mean %s? %s shows all.", e.ID, fault.Command{"workflows", "list"})
		}
	}
	if near := nearest.Of(id, ids); near != "" {
		f.Suggest("Did you mean %s? %s shows all.", near, fault.Command{"workflows", "list"})
	}
	return f
}

// mistaken returns WORKFLOW_NOT_FOUND for the id of a run, or of another thing that is no workflow; nil for other texts.
func mistaken(ref string) error {
	ref = id.Typed(ref)
	f := fault.WrongKind(fault.WorkflowNotFound, ref, id.Noun(ref), "a workflow")
	if f == nil {
		return nil
	}
	if id.Noun(ref) == "a run" {
		f.Suggest("Continue it with %s, or show it with %s.", fault.Command{"run", "--run", ref},
			fault.Command{"runs", "show", ref})
	}
	return f
}
