package catalog

import (
	"fmt"
	"slices"
	"strings"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/workflow/source"
)

// Replaced names a file of the user or of the project, or a workflow that is installed, which another
// installed workflow is used instead of (docs/design.md#replacing).
type Replaced struct {
	Kind   source.SourceKind
	Ref    string // of a file; "" for an installed workflow
	Digest canon.Digest
}

// String describes what is replaced, as lists show it.
func (r Replaced) String() string {
	if r.Ref == "" {
		return string(r.Kind)
	}
	return fmt.Sprintf("%s (%s)", r.Ref, r.Kind)
}

// Origin names the files that an installed workflow replaced, whether they still exist or not, "" for none.
func (e Entry) Origin() string {
	var files []string
	for _, r := range e.Replaces {
		if r.Ref != "" {
			files = append(files, r.String())
		}
	}
	return strings.Join(files, ", ")
}

// isReplaceable reports a source whose workflows can be replaced.
func isReplaceable(k source.SourceKind) bool {
	return k == source.SourceUser || k == source.SourceProject || k == source.SourceInstalled
}

// Replaced returns what names the file: by its place, if it is one, and by its bytes.
func (f File) Replaced() Replaced {
	r := Replaced{Kind: f.Kind, Ref: f.Ref, Digest: canon.Sum(f.Data)}
	if f.Kind == source.SourceInstalled {
		r.Ref = ""
	}
	return r
}

// gaveWay reports whether an installed file is used instead of another file with its id: that is at the place
// which the installed one names, and has the bytes that it had when it was replaced.
func (f File) gaveWay(other File) bool {
	return f.Kind == source.SourceInstalled && other.Err == nil && f.Ref != other.Ref && isReplaceable(other.Kind) &&
		slices.Contains(f.Replaces, other.Replaced())
}

// markReplaced records which files installed workflows are used instead of.
func (c Catalog) markReplaced(byID map[string][]int) {
	for _, same := range byID {
		for _, i := range same {
			for _, j := range same {
				if own, other := &c.Entries[i], &c.Entries[j]; i != j && own.gaveWay(other.File) {
					other.ReplacedBy = own.place()
				}
			}
		}
	}
}

// changedSince returns the installed one among entries of one id, and the one at a place that it replaced, whose
// file has other bytes than then; ok is false without such a pair.
func changedSince(found []Entry) (installed, changed Entry, ok bool) {
	for _, e := range found {
		for _, r := range e.Replaces {
			at := func(other Entry) bool { return r.Ref != "" && other.Kind == r.Kind && other.Ref == r.Ref }
			if i := slices.IndexFunc(found, at); i >= 0 {
				return e, found[i], true
			}
		}
	}
	return installed, changed, false
}

// ambiguous is WORKFLOW_AMBIGUOUS for the entries that an id may mean.
func ambiguous(id string, found []Entry) error {
	places := make([]string, len(found))
	for i, e := range found {
		places[i] = e.place()
	}
	f := fault.New(fault.WorkflowAmbiguous, "%d files contain a workflow with the id %q: %s", len(found), id,
		strings.Join(places, ", ")).
		With("sources", places)
	if installed, changed, ok := changedSince(found); ok {
		f.Message += fmt.Sprintf("; %s changed after the installed workflow replaced it", changed.Ref)
		f.Suggest("%s runs the file. %s proposes to install the changed file. %s uninstalls the other one.",
			fault.Command{"start", "FILE"}, fault.Command{"proposals", "create", "FILE"},
			fault.Command{"proposals", "rollback", installed.Proposal}).
			With("changed", changed.place()).With("proposalId", installed.Proposal)
	}
	return f
}

// Replaceable returns the workflow that a proposed one with an id is to replace: the one that the id means, or the only
// file with it. ref names one of several, by its place or as "installed"; self is the digest of the proposed file, and
// one with these bytes counts only if no other has the id. ok is false if there is nothing to replace. Errors:
// WORKFLOW_AMBIGUOUS, WORKFLOW_NOT_FOUND for a ref that names none.
func (c Catalog) Replaceable(id, ref string, self canon.Digest) (e Entry, ok bool, err error) {
	var all, files, others []Entry
	for _, e := range c.Entries {
		if e.ID != id || e.Err != nil || !isReplaceable(e.Kind) {
			continue
		}
		if all = append(all, e); e.Kind != source.SourceInstalled && e.ReplacedBy == "" {
			files = append(files, e)
		}
	}
	if ref != "" {
		return oneOf(all, id, ref)
	}
	for _, e := range files {
		if canon.Sum(e.Data) != self {
			others = append(others, e)
		}
	}
	// A file that did not give way is what makes the id ambiguous. Without one, the id means what is installed.
	installed := slices.DeleteFunc(slices.Clone(all), func(e Entry) bool { return e.Kind != source.SourceInstalled })
	for _, some := range [][]Entry{others, files, installed} {
		switch {
		case len(some) == 1:
			return some[0], true, nil
		case len(some) > 1:
			err := ambiguous(id, some)
			return e, false, fault.Of(err).Suggest("Name the one that is replaced with --replaces, or none with --replaces none.")
		}
	}
	return e, false, nil
}

// oneOf returns the one of some entries that ref names.
func oneOf(all []Entry, id, ref string) (e Entry, ok bool, err error) {
	var found []Entry
	for _, e := range all {
		if e.Ref == ref || e.Kind == source.SourceInstalled && ref == string(source.SourceInstalled) {
			found = append(found, e)
		}
	}
	switch len(found) {
	case 1:
		return found[0], true, nil
	case 0:
		return e, false, fault.New(fault.WorkflowNotFound, "%s is no file of the user or of the project, and nothing installed, "+
			"with the workflow %q", ref, id).Suggest("%s shows what there is.", fault.Command{"workflows", "list"})
	}
	return e, false, ambiguous(id, found)
}

// Named returns what a proposal names to be replaced, by its digest and, if it is given, by its place; ok is false
// unless exactly one exists.
func (c Catalog) Named(id string, r Replaced) (e Entry, ok bool) {
	n := 0
	for _, one := range c.Entries {
		is := one.Replaced()
		if one.ID == id && one.Err == nil && is.Kind == r.Kind && is.Digest == r.Digest && (r.Ref == "" || is.Ref == r.Ref) {
			e, n = one, n+1
		}
	}
	return e, n == 1
}
