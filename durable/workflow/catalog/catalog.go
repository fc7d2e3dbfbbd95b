// Package catalog says which workflows there are, given the files that were
// found: what each is called, whether it can be used, and that no two share an id
// (locks section 7). It searches no folders and reads no files.
package catalog

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/waybill/waybill/durable/problem"
	"github.com/waybill/waybill/durable/workflow/compile"
	"github.com/waybill/waybill/durable/workflow/source"
)

// File is one workflow file as it was found.
type File struct {
	Kind source.SourceKind
	Ref  string // where it lies, relative; it is stored with runs
	Data []byte
	Err  error // why it could not be read; Data is nil then
}

// Entry is one workflow of the catalog, usable or not.
type Entry struct {
	Compiled    compile.Compiled
	Data        []byte
	ID          string // "" where none could be read
	Name        string
	Description string
	Version     string
	Kind        source.SourceKind
	Ref         string
	IDStatus    string // namespaced, legacy, or ""
	SuggestedID string // for a legacy id
	Problems    []source.Problem
	Twins       []string // refs of the other files with this id
}

// Valid reports that a run can be started from the entry's file.
func (e Entry) Valid() bool { return !source.HasErrors(e.Problems) }

// Read is the entry of one file by itself, compiled with what the library has.
func Read(f File, with *Library) Entry {
	e := Entry{Kind: f.Kind, Ref: f.Ref, Data: f.Data}
	if f.Err != nil {
		e.Problems = []source.Problem{{Severity: problem.Error, Message: f.Err.Error(),
			Fix: "Make the file readable, or take it away."}}
		return e
	}
	src, problems := source.Parse(f.Ref, f.Kind, f.Data)
	if src.Valid {
		compiled, more := compile.Compile(src, with.Options(src.ID))
		e.Compiled, problems = compiled, append(problems, more...)
		problem.Sort(problems)
	}
	e.Problems = problems
	e.ID, e.Name, e.Description = src.ID, src.Name, src.Description
	e.Version = src.Root.Member("version").Value.Text()
	if e.IDStatus = source.IDStatus(e.ID); e.IDStatus == "legacy" {
		e.SuggestedID = source.SuggestID(f.Kind, e.ID)
	}
	return e
}

// Catalog is all workflows that were found.
type Catalog struct {
	Entries []Entry // by id, then source, then place
}

// Of reads the files and compares them with each other.
func Of(files []File, with *Library) Catalog {
	c := Catalog{Entries: make([]Entry, len(files))}
	for i, f := range files {
		c.Entries[i] = Read(f, with)
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
	c.markTwins(byID)
	c.settleSuggestions(byID)
	return c
}

// markTwins notes on each of several files with one id where the others lie. No
// source shadows another, so none of them can be named by the id.
func (c Catalog) markTwins(byID map[string][]int) {
	for _, twins := range byID {
		for _, i := range twins {
			for _, j := range twins {
				if i != j {
					c.Entries[i].Twins = append(c.Entries[i].Twins, c.Entries[j].place())
				}
			}
		}
	}
}

// settleSuggestions keeps two files from being told the same new id, and one from
// being told an id that is taken: the digest of the source tells them apart, and
// never a time (locks section 7).
func (c Catalog) settleSuggestions(byID map[string][]int) {
	wanted := map[string]int{}
	for _, e := range c.Entries {
		wanted[e.SuggestedID]++
	}
	for i := range c.Entries {
		e := &c.Entries[i]
		if e.SuggestedID != "" && (wanted[e.SuggestedID] > 1 || len(byID[e.SuggestedID]) > 0) {
			e.SuggestedID = source.SuggestApart(e.SuggestedID, e.Data)
		}
	}
}

func (e Entry) place() string { return fmt.Sprintf("%s (%s)", e.Ref, e.Kind) }
