// Package catalog builds the list of available workflows from files that the caller has
// read: the id and name of each, its problems, and other files with the same id
// (docs/design.md#workflow-ids). It also resolves what compilation needs besides the file
// itself: routines, extension-point bindings and prompt templates (NewLibrary).
//
// The package does not search directories or read files, and it does not decide whether a
// workflow's commands are trusted. Start reading at Of and Catalog.Find.
package catalog

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/waybill/waybill/durable/problem"
	"github.com/waybill/waybill/durable/workflow/compile"
	"github.com/waybill/waybill/durable/workflow/promptref"
	"github.com/waybill/waybill/durable/workflow/source"
)

// File is one workflow file that was found.
type File struct {
	Kind source.SourceKind
	Ref  string // the relative path; it is stored with runs
	Data []byte
	Err  error // why the file could not be read; Data is nil then
}

// Entry is one workflow of the catalog, valid or not.
type Entry struct {
	Compiled    compile.Compiled // the zero Compiled if the file has errors
	Data        []byte           // the content of the file
	ID          string           // "" if the file has no readable id
	Name        string
	Description string
	Version     string
	Kind        source.SourceKind
	Ref         string           // the relative path of the file
	IDStatus    string           // namespaced, legacy, or ""; see source.IDStatus
	SuggestedID string           // a namespaced id, for a legacy id only
	Problems    []source.Problem // sorted by place
	Duplicates  []string         // the other files with this id, as "ref (kind)"
}

// Valid reports whether a run can be started from the entry's file. An id that other files
// share does not make an entry invalid; Catalog.Find reports it.
func (e Entry) Valid() bool { return !source.HasErrors(e.Problems) }

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

// Read parses and compiles one file with the given library. Errors of reading, parsing and
// compiling become Problems of the entry. It does not compare the file with others; see Of.
func Read(f File, with compile.Library) Entry { return parse([]File{f})[0].compile(with) }

// compile returns the entry of a file.
func (f parsed) compile(with compile.Library) Entry {
	src := f.src
	e := Entry{Data: f.Data, ID: src.ID, Name: src.Name, Description: src.Description,
		Version: src.Root.Member("version").Value.Text(), Kind: f.Kind, Ref: f.Ref, Problems: f.problems}
	if src.Valid {
		compiled, more := compile.Compile(src, with)
		e.Compiled, e.Problems = compiled, append(e.Problems, more...)
		problem.Sort(e.Problems)
	}
	if e.IDStatus = source.IDStatus(e.ID); e.IDStatus == "legacy" {
		e.SuggestedID = source.SuggestID(f.Kind, e.ID)
	}
	return e
}

// Catalog holds all workflows that were found.
type Catalog struct {
	Entries []Entry // sorted by id, then kind, then ref
}

// Of builds the catalog of files: one Entry per file, with duplicate ids marked and
// suggested ids made unique. Each workflow is compiled with the library of all files; see
// NewLibrary.
func Of(files []File, bindings Bindings, prompts []promptref.Template) Catalog {
	all := parse(files)
	with := library(all, bindings, prompts)
	c := Catalog{Entries: make([]Entry, len(all))}
	for i, f := range all {
		c.Entries[i] = f.compile(with)
	}
	slices.SortStableFunc(c.Entries, func(a, b Entry) int {
		return cmp.Or(cmp.Compare(a.ID, b.ID), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Ref, b.Ref))
	})
	byID := map[string][]int{}
	for i, e := range c.Entries {
		if e.ID != "" {
			byID[e.ID] = append(byID[e.ID], i)
		}
	}
	c.markDuplicates(byID)
	c.makeSuggestionsUnique(byID)
	return c
}

// markDuplicates records in each entry the other files with the same id. No source kind
// takes precedence over another, so a run cannot be started by such an id.
func (c Catalog) markDuplicates(byID map[string][]int) {
	for _, same := range byID {
		for _, i := range same {
			for _, j := range same {
				if i != j {
					c.Entries[i].Duplicates = append(c.Entries[i].Duplicates, c.Entries[j].place())
				}
			}
		}
	}
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
func (e Entry) place() string { return fmt.Sprintf("%s (%s)", e.Ref, e.Kind) }
