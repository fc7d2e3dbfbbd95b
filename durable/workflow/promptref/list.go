package promptref

import (
	"cmp"
	"slices"
	"strings"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/sorting"
)

// The origins of templates, as their meta states them.
const (
	OfHost = "host" // part of the program
	OfPack = "pack"
	OfUser = "user"
)

// Origin is where a template comes from: of a pack, or else of a user.
func (t Template) Origin() string {
	source, _ := t.Meta.Get("source")
	return cmp.Or(source.Text(), OfUser)
}

// From returns the template with an origin in place of what it says about itself.
func (t Template) From(origin string) Template {
	if t.Meta.IsNull() {
		t.Meta = canon.OfMembers()
	}
	t.Meta = t.Meta.With("source", canon.OfString(origin))
	return t
}

// Filter selects templates. Its zero value selects all.
type Filter struct{ Kind, Origin, Tag, ModelClass string }

// Selects reports whether a template has what the filter names.
func (f Filter) Selects(t Template) bool {
	class, _ := t.ModelHints.Get("modelClass")
	return (f.Kind == "" || f.Kind == string(t.Kind)) && (f.Origin == "" || f.Origin == t.Origin()) &&
		(f.Tag == "" || slices.Contains(t.Tags, f.Tag)) && (f.ModelClass == "" || f.ModelClass == class.Text())
}

// Page is a part of a list of templates.
type Page struct {
	Items []Template `json:"items"`
	// NextCursor continues the list behind Items, "" at its end.
	NextCursor string `json:"nextCursor,omitzero"`
}

// List returns at most limit of the templates of a library that a filter selects, behind a cursor: sorted by id,
// the newest version first. fits reports whether one more template may be added to the page; it is asked for
// each but the first. A cursor of another list is valid, as it is nothing but a place in the order.
func (l Library) List(f Filter, cursor string, limit int, fits func(Template) bool) Page {
	out := Page{Items: []Template{}}
	for _, id := range l.ids {
		for _, t := range l.byID[id] {
			if !f.Selects(t) || cursor != "" && !behind(t, cursor) {
				continue
			}
			if n := len(out.Items); n > 0 && (n >= limit || !fits(t)) {
				out.NextCursor = place(out.Items[n-1])
				return out
			}
			out.Items = append(out.Items, t)
		}
	}
	return out
}

// place names a template in the order of List.
func place(t Template) string { return t.ID + "@" + t.Version + "@" + t.LibraryID() }

// behind reports a template that List has behind a place.
func behind(t Template, cursor string) bool {
	parts := append(strings.SplitN(cursor, "@", 3), "", "")
	return cmp.Or(cmp.Compare(t.ID, parts[0]), CompareVersions(parts[1], t.Version), cmp.Compare(t.LibraryID(), parts[2])) > 0
}

// Sorted returns the library with the versions of each id in the order of List: equal versions by their packs.
func (l Library) Sorted() Library {
	out := Library{byID: map[string][]Template{}, ids: l.ids}
	for id, versions := range l.byID {
		versions = slices.Clone(versions)
		sorting.Stable(versions, func(a, b Template) int {
			return cmp.Or(CompareVersions(b.Version, a.Version), cmp.Compare(a.LibraryID(), b.LibraryID()))
		})
		out.byID[id] = versions
	}
	return out
}
