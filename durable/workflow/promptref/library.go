package promptref

import (
	"fmt"
	"slices"

	"github.com/waybill/waybill/durable/workflow/nearest"
)

// Library is the templates at hand. The zero Library has none.
type Library struct {
	byID map[string][]Template // newest first
	ids  []string              // sorted
}

// NewLibrary holds exactly these. Of two with one id, version and pack the first
// counts: whoever hands them over puts what is nearer in front.
func NewLibrary(templates []Template) Library {
	l := Library{byID: map[string][]Template{}}
	for _, t := range templates {
		if _, known := l.byID[t.ID]; !known {
			l.ids = append(l.ids, t.ID)
		}
		same := func(o Template) bool { return o.Version == t.Version && o.LibraryID() == t.LibraryID() }
		if !slices.ContainsFunc(l.byID[t.ID], same) {
			l.byID[t.ID] = append(l.byID[t.ID], t)
		}
	}
	for _, versions := range l.byID {
		slices.SortStableFunc(versions, func(a, b Template) int { return CompareVersions(b.Version, a.Version) })
	}
	slices.Sort(l.ids)
	return l
}

// Refusal says why a reference leads to no template, and what to write instead.
type Refusal struct {
	Message string
	Fix     string
}

func refuse(fix, format string, args ...any) *Refusal {
	return &Refusal{fmt.Sprintf(format, args...), fix}
}

// Find is the template that a reference means: of the version that it names exactly,
// else the newest. A nil Refusal says that it was found.
func (l Library) Find(ref Ref) (Template, *Refusal) {
	if len(l.byID[ref.TemplateID]) == 0 {
		return Template{}, l.unknown(ref.TemplateID)
	}
	found, refused := l.meant(ref)
	switch {
	case refused != nil:
		return Template{}, refused
	case ref.Version == "":
		return found[0], nil
	}
	var versions []string
	for _, t := range found {
		if t.Version == ref.Version {
			return t, nil
		}
		versions = append(versions, t.Version)
	}
	fix := "Installed are " + listed(versions) + "."
	if near := nearest.Of(ref.Version, versions); near != "" {
		fix = fmt.Sprintf("Did you mean %s? Without a version the newest is taken.",
			Ref{TemplateID: ref.TemplateID, Version: near})
	}
	return Template{}, refuse(fix, "prompt template %q has no version %q", ref.TemplateID, ref.Version)
}

// meant are the versions in the library that the reference names. A template that was
// installed by itself is meant before those of packs; where two packs have one of the
// id the reference has to say which (RFC 0028 B).
func (l Library) meant(ref Ref) ([]Template, *Refusal) {
	all := l.byID[ref.TemplateID]
	found := slices.DeleteFunc(slices.Clone(all), func(t Template) bool { return t.LibraryID() != ref.LibraryID })
	if len(found) > 0 {
		return found, nil
	}
	packs := packsOf(all)
	switch {
	case ref.LibraryID != "":
		fix := "Leave libraryId out."
		if len(packs) > 0 {
			fix = "It is in " + listed(packs) + "."
		}
		return nil, refuse(fix, "library %q has no prompt template %q", ref.LibraryID, ref.TemplateID)
	case len(packs) > 1:
		return nil, refuse(fmt.Sprintf(`Write {"templateId": %q, "libraryId": …} with one of %s.`, ref.TemplateID,
			listed(packs)),
			"prompt template %q is in several packs, so that it is not clear which is meant", ref.TemplateID)
	}
	return all, nil
}

// unknown guesses at what was meant.
func (l Library) unknown(id string) *Refusal {
	fix := "Installed are " + listed(l.ids) + "."
	if near := nearest.Of(id, l.ids); near != "" {
		fix = fmt.Sprintf("Did you mean %q?", near)
	} else if len(l.ids) == 0 {
		fix = "Install it first: no prompt template is installed here."
	}
	return refuse(fix, "there is no prompt template %q", id)
}

// packsOf names the packs that templates came in, each once.
func packsOf(found []Template) []string {
	var out []string
	for _, t := range found {
		if name := t.LibraryID(); name != "" && !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out
}
