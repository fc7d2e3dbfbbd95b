package promptref

import (
	"fmt"
	"slices"

	"github.com/waybill/waybill/durable/sorting"
	"github.com/waybill/waybill/durable/workflow/nearest"
)

// Library holds the templates that references can resolve to. The zero Library is empty.
type Library struct {
	byID map[string][]Template // newest first
	ids  []string              // sorted
}

// NewLibrary returns a library of exactly these templates. When several have one id,
// version and pack, the first is used, so callers pass them in order of precedence.
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
		sorting.Stable(versions, func(a, b Template) int { return CompareVersions(b.Version, a.Version) })
	}
	slices.Sort(l.ids)
	return l
}

// Refusal explains why a reference cannot be resolved, and how to correct it.
type Refusal struct {
	Message string
	Fix     string
}

// refuse returns a Refusal with a formatted message.
func refuse(fix, format string, args ...any) *Refusal {
	return &Refusal{fmt.Sprintf(format, args...), fix}
}

// Find resolves a reference: to the version that it names, else to the newest. The Refusal
// is nil if the template was found.
func (l Library) Find(ref Ref) (Template, *Refusal) {
	if len(l.byID[ref.TemplateID]) == 0 {
		return Template{}, l.unknown(ref.TemplateID)
	}
	found, refused := l.candidates(ref)
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
		fix = fmt.Sprintf("Did you mean %s? Without a version the newest is used.",
			Ref{TemplateID: ref.TemplateID, Version: near})
	}
	return Template{}, refuse(fix, "prompt template %q has no version %q", ref.TemplateID, ref.Version)
}

// candidates returns the versions that a reference can resolve to, newest first. A template
// that was installed by itself takes precedence over templates of packs. When two packs
// contain the id, the reference has to name one of them (docs/design.md#prompt-templates).
func (l Library) candidates(ref Ref) ([]Template, *Refusal) {
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
			"prompt template %q is in several packs, so the reference is ambiguous", ref.TemplateID)
	}
	return all, nil
}

// unknown returns the refusal for an unknown template id, with a similar id if there is one.
func (l Library) unknown(id string) *Refusal {
	fix := nearest.Suggest(id, l.ids, "Did you mean %q?", "Installed are "+listed(l.ids)+".")
	if len(l.ids) == 0 {
		fix = "Install it first: no prompt template is installed here."
	}
	return refuse(fix, "prompt template %q does not exist", id)
}

// packsOf returns the names of the packs that contain the templates, each once, sorted.
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

// Ambiguous reports a reference to a template that several packs have, and that does not name one of them.
func (l Library) Ambiguous(ref Ref) bool {
	if len(l.byID[ref.TemplateID]) == 0 || ref.LibraryID != "" {
		return false
	}
	_, refused := l.candidates(ref)
	return refused != nil
}
