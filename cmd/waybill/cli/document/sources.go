package document

import (
	"github.com/waybill/waybill/durable/store/sources"
	"github.com/waybill/waybill/durable/workflow/catalog"
	"github.com/waybill/waybill/durable/workflow/source"
)

// Sources is the document "sources": the attached folders of this machine. Confirmed is false where
// they are not the ones that a person confirmed, so that none is used.
type Sources struct {
	Confirmed bool        `json:"confirmed"`
	Sources   []SourceRow `json:"sources"`
}

// SourceRow is one attached folder. Dir is its path on this machine.
type SourceRow struct {
	Name         string            `json:"name"`
	Source       string            `json:"source"`
	SourceKind   source.SourceKind `json:"sourceKind"`
	Dir          string            `json:"dir"`
	AttachedBy   string            `json:"attachedBy,omitzero"`
	AttachedAtMs int64             `json:"attachedAtMs"`
	// Workflows are the files that can be used by their ids, Unusable the others.
	Workflows int `json:"workflows"`
	Unusable  int `json:"unusable"`
	// Problem is why the folder cannot be read, "" if it can.
	Problem string `json:"problem,omitzero"`
}

// SourcesOf returns the document for a list of folders, with what the catalog has of each.
func SourcesOf(list sources.List, confirmed bool, entries []catalog.Entry) Sources {
	doc := Sources{Confirmed: confirmed, Sources: []SourceRow{}}
	for _, f := range list.Folders {
		row := SourceRow{Name: f.Name, Source: catalog.File{Kind: source.SourcePlugin, Attached: f.Name}.Source(),
			SourceKind: source.SourcePlugin, Dir: f.Dir, AttachedBy: f.Actor.Ref, AttachedAtMs: f.AtMs}
		for _, e := range entries {
			switch {
			case e.Attached != f.Name:
			case e.Ref == f.Name: // the folder itself, which no file is named as
				row.Problem = e.Err.Error()
			case e.Usable() == nil && e.ShadowedBy == "" && len(e.Duplicates) == 0:
				row.Workflows++
			default:
				row.Unusable++
			}
		}
		doc.Sources = append(doc.Sources, row)
	}
	return doc
}
