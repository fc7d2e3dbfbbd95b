// Package catalog builds the list of available workflows from files that the caller has
// read: the id and name of each, its problems, and other files with the same id
// (docs/design.md#workflow-ids). It also resolves what compilation needs besides the file
// itself: routines, extension-point bindings and prompt templates (Sources).
//
// No source is preferred to another, with three exceptions: a bundled workflow to an attached one,
// any file to the alias of a bundled one, and an installed workflow to the file that it replaces.
//
// The package does not search directories or read files, and it does not decide whether a
// workflow's commands are trusted. Start reading at Of and Catalog.Find.
package catalog

import (
	"cmp"
	"fmt"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/problem"
	"github.com/waybill/waybill/durable/redact"
	"github.com/waybill/waybill/durable/redact/faults"
	"github.com/waybill/waybill/durable/sorting"
	"github.com/waybill/waybill/durable/workflow/compile"
	"github.com/waybill/waybill/durable/workflow/lookup"
	"github.com/waybill/waybill/durable/workflow/source"
)

// File is one workflow file that was found.
type File struct {
	Kind source.SourceKind
	Ref  string // the relative path; it is stored with runs
	Data []byte
	Err  error // why the file could not be read; Data is nil then

	// Attached is the name of the attached folder that contains the file, "" for other sources.
	Attached string
	// Folder identifies the folder that was searched: files with one Folder are beside each
	// other, so that a file's references find them first. "" for none.
	Folder string
	// Aliases are former ids of a bundled file. They give way to any file that has the id.
	Aliases []string
	// Replaces are what an installed workflow is used instead of, and Proposal what installed it.
	Replaces []Replaced
	Proposal string
}

// Source identifies the source of a file where an id is shown (docs/design.md#workflow-sources):
// plugin:NAME for an attached folder, else the kind.
func (f File) Source() string {
	if f.Attached != "" {
		return string(f.Kind) + ":" + f.Attached
	}
	return string(f.Kind)
}

// Entry is one workflow of the catalog, valid or not.
type Entry struct {
	File
	Compiled    compile.Compiled // the zero Compiled if the file has errors
	ID          string           // "" if the file has no readable id
	Name        string
	Description string
	Version     string
	NamedAs     string           // the alias by which Find found it, "" for its own id
	IDStatus    string           // namespaced, legacy, or ""; see source.IDStatus
	SuggestedID string           // a namespaced id, for a legacy id only
	Problems    []source.Problem // sorted by place
	// Duplicates are the other files with this id among which none is preferred, as
	// "ref (source)": a run cannot be started by the id.
	Duplicates []string
	// ShadowedBy is the bundled file that the id means instead of this one, "" for none. Shadows
	// are the files that this bundled one is preferred to.
	ShadowedBy string
	Shadows    []string
	// ReplacedBy is the installed workflow that the id means instead of this file, "" for none.
	ReplacedBy string
}

// Valid reports whether a run can be started from the entry's file. An id that other files
// share does not make an entry invalid; Catalog.Find reports it.
//
//go:noinline
func (e Entry) Valid() bool { return !source.HasErrors(e.Problems) }

// IsAnotherVersion reports whether the entry's file is another version of a workflow than the one with a hash. A file
// without a readable id is a broken version; one of another id is another workflow.
func (e Entry) IsAnotherVersion(id string, hash canon.Digest) bool {
	return (e.ID == id || e.ID == "") && !(e.Valid() && e.Compiled.Hash() == hash)
}

// CanonicalID returns the id of an entry that was found by an alias, "" for another one.
func (e Entry) CanonicalID() string {
	if e.NamedAs == "" {
		return ""
	}
	return e.ID
}

// parsed is a file with its source.
type parsed struct {
	File
	src      source.Source // the zero Source if the file could not be read
	problems []source.Problem
}

// parse parses files, each once. The reason why a file could not be read is its only problem.
func parse(files []File) []parsed {
	out := make([]parsed, len(files))
	for i, f := range files {
		out[i].File = f
		if f.Err != nil {
			out[i].problems = []source.Problem{{Severity: problem.Error, Message: f.Err.Error(),
				Fix: "Make the file readable, or remove it."}}
			continue
		}
		out[i].src, out[i].problems = source.Parse(f.Ref, f.Kind, f.Data)
	}
	return out
}

// compile returns the entry of a file.
func (f parsed) compile(with compile.Library) Entry {
	src := f.src
	e := Entry{File: f.File, ID: src.ID, Name: src.Name, Description: src.Description,
		Version: src.Root.Member("version").Value.Text(), Problems: f.problems}
	more := lookup.Bindings(src, with)
	if src.Valid {
		compiled, found := compile.Compile(src, with)
		e.Compiled, more = compiled, append(more, found...)
	} else {
		more = append(more, lookup.UnknownNames(src, with)...)
	}
	if len(more) > 0 {
		e.Problems = source.Locate(f.Ref, f.Data, append(e.Problems, more...))
	}
	e.Problems = faults.Problems(e.Problems) // they quote the file
	switch e.IDStatus = source.IDStatus(e.ID); e.IDStatus {
	case "legacy":
		e.SuggestedID = source.SuggestID(f.Kind, e.ID)
	case "": // it is only shown
		e.ID = redact.Text(e.ID, nil)
	}
	return e
}

// Catalog holds all workflows that were found.
type Catalog struct {
	Entries []Entry // sorted by id, then kind, then ref
	// Unread is why a source was not read, nil if all were. Find returns it for an id that no other
	// source has.
	Unread error

	sources Sources
}

// Of builds the catalog of all files: one Entry per file, with shadowed and duplicate ids marked
// and suggested ids made unique. Each workflow is compiled with what it may use of the sources.
func Of(s Sources) Catalog {
	all := parse(s.Files)
	routines := s.index(all)
	c := Catalog{Entries: make([]Entry, len(all)), sources: s}
	for i, f := range all {
		c.Entries[i] = f.compile(routines.library(f.File))
	}
	sorting.Stable(c.Entries, func(a, b Entry) int {
		return cmp.Or(cmp.Compare(a.ID, b.ID), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Ref, b.Ref))
	})
	byID := map[string][]int{}
	for i, e := range c.Entries {
		if e.ID != "" {
			byID[e.ID] = append(byID[e.ID], i)
		}
	}
	c.markShadowed(byID)
	c.markReplaced(byID)
	c.markDuplicates(byID)
	c.makeSuggestionsUnique(byID)
	return c
}

// As compiles the file of an entry again, by the rules of another kind of source.
func (c Catalog) As(e Entry, kind source.SourceKind) Entry {
	f := e.File
	f.Kind = kind
	return c.sources.Compile(f)
}

// markShadowed records that a bundled workflow is preferred to an attached one with its id.
func (c Catalog) markShadowed(byID map[string][]int) {
	for _, same := range byID {
		for _, i := range same {
			for _, j := range same {
				if own, other := &c.Entries[i], &c.Entries[j]; own.Kind == source.SourceBundled && other.Attached != "" {
					own.Shadows = append(own.Shadows, other.place())
					other.ShadowedBy = own.place()
					other.Problems = append(other.Problems, shadowed(other.ID))
				}
			}
		}
	}
}

// shadowed is the warning about the id of an attached file that a bundled one has too.
func shadowed(id string) source.Problem {
	return source.Problem{Severity: problem.Warning, Pointer: "/id", Message: fmt.Sprintf(
		"a workflow with the id %q is bundled, and the id means that one", id),
		Fix: "Copy the file under another id with 'workflows new ID --from FILE'."}
}

// markDuplicates records in each entry the other files with the same id. No source is preferred to
// another but those of package doc, so a run cannot be started by such an id.
func (c Catalog) markDuplicates(byID map[string][]int) {
	for _, same := range byID {
		same = c.contenders(same)
		for _, i := range same {
			for _, j := range same {
				if i != j {
					c.Entries[i].Duplicates = append(c.Entries[i].Duplicates, c.Entries[j].place())
				}
			}
		}
	}
}

// contenders returns the entries of one id that it may mean. An attached file that is not valid
// does not count where another one is valid, and neither does a file whose source may not have the
// id where one of another source may: a bad file must not affect a good one.
func (c Catalog) contenders(same []int) []int {
	best := 0
	ranks := make([]int, len(same))
	for n, i := range same {
		e := c.Entries[i]
		switch {
		case e.ShadowedBy != "", e.ReplacedBy != "":
		case source.Reserved(e.ID) && !source.MayReserve(e.Kind):
			ranks[n] = 1
		case e.Attached != "" && !e.Valid():
			ranks[n] = 2
		default:
			ranks[n] = 3
		}
		best = max(best, ranks[n])
	}
	var out []int
	for n, i := range same {
		if ranks[n] == best {
			out = append(out, i)
		}
	}
	return out
}

// makeSuggestionsUnique changes suggested ids that are suggested for several files or
// already in use. The suffix is derived from the file's content, never from a time, so
// that suggestions are reproducible (docs/design.md#workflow-ids).
func (c Catalog) makeSuggestionsUnique(byID map[string][]int) {
	wanted := map[string]int{}
	for _, e := range c.Entries {
		wanted[e.SuggestedID]++
	}
	for i := range c.Entries {
		e := &c.Entries[i]
		if e.SuggestedID != "" && (wanted[e.SuggestedID] > 1 || len(byID[e.SuggestedID]) > 0) {
			e.SuggestedID = source.SuggestUniqueID(e.SuggestedID, e.Data)
		}
	}
}

// place identifies the entry's file in messages.
func (e Entry) place() string { return fmt.Sprintf("%s (%s)", e.Ref, e.Source()) }
