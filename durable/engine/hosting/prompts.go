package hosting

import (
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/paging"
	"github.com/waybill/waybill/durable/workflow/promptref"
)

// Prompts returns the templates that a host has: those of the program, and the installed ones. An installed template
// does not become one of the program by saying so; it takes precedence over one with its id.
func Prompts(own, installed []promptref.Template) promptref.Library {
	var all []promptref.Template
	for _, t := range installed {
		if t.Origin() != promptref.OfPack {
			t = t.From(promptref.OfUser)
		}
		all = append(all, t)
	}
	for _, t := range own {
		all = append(all, t.From(promptref.OfHost))
	}
	return promptref.NewLibrary(all).Sorted()
}

// PromptPage returns a page of templates, bounded by their number and by their bytes.
func PromptPage(all promptref.Library, f promptref.Filter, cursor string, limit int) promptref.Page {
	var size paging.Size
	return all.List(f, cursor, limit, func(t promptref.Template) bool { return size.Fits(t) })
}

// Prompt returns the template that a reference names. TARGET_NOT_FOUND for one that there is not, VALIDATION_ERROR where
// several packs have it.
func Prompt(all promptref.Library, ref promptref.Ref) (promptref.Template, error) {
	t, refused := all.Find(ref)
	switch {
	case refused == nil:
		return t, nil
	case all.Ambiguous(ref):
		return t, fault.New(fault.ValidationError, "several packs have this prompt template: name one as libraryId")
	}
	return t, fault.New(fault.TargetNotFound, "no prompt template has this id and version")
}
