package catalog

import (
	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/workflow/compile"
	"github.com/waybill/waybill/durable/workflow/promptref"
	"github.com/waybill/waybill/durable/workflow/source"
)

// Library is what workflows draw on beside their own files: the routines of every
// source, what a project puts into extension points, and the prompt templates at hand.
type Library struct {
	files    map[string]File // by id, in the order of the sources; the first counts
	ids      []string
	parsed   map[string]source.Source
	bindings map[string]map[string]string
	prompts  promptref.Library
}

// NewLibrary is a library over files, the nearest to the calls of routines last:
// a routine that comes with Waybill is not replaced by a file of its name.
func NewLibrary(files []File, bindings Bindings) *Library {
	l := &Library{files: map[string]File{}, parsed: map[string]source.Source{}, bindings: bindings.byWorkflow}
	for _, f := range files {
		if f.Err != nil {
			continue
		}
		src, _ := source.Parse(f.Ref, f.Kind, f.Data)
		if src.ID == "" {
			continue
		}
		if _, taken := l.files[src.ID]; taken {
			continue
		}
		if !src.Valid && f.Kind != source.SourceBundled {
			// A copy of a bundled file may lie beside its caller; its id is no reason not to
			// read it as what it says it is.
			src, _ = source.Parse(f.Ref, source.SourceBundled, f.Data)
		}
		l.files[src.ID], l.parsed[src.ID] = f, src
		l.ids = append(l.ids, src.ID)
	}
	return l
}

// WithPrompts is the library with prompt templates, and no others, that steps may refer
// to; of two with one id and version the first counts. l itself stays as it was, and
// may be nil.
func (l *Library) WithPrompts(templates []promptref.Template) *Library {
	if l == nil {
		l = NewLibrary(nil, Bindings{})
	}
	out := *l
	out.prompts = promptref.NewLibrary(templates)
	return &out
}

// Options are what the compilation of the workflow with an id may draw on.
func (l *Library) Options(workflowID string) compile.Options {
	if l == nil {
		return compile.Options{}
	}
	return compile.Options{
		Routine:    func(id string) (source.Source, bool) { src, ok := l.parsed[id]; return src, ok },
		RoutineIDs: l.ids,
		Bindings:   l.bindings[workflowID],
		Prompts:    l.prompts,
	}
}

// Bindings are a project's choices for extension points: workflow id → slot →
// routine id.
type Bindings struct {
	Ref        string // where they were read, relative
	byWorkflow map[string]map[string]string
}

// ReadBindings reads a bindings file: an object of workflow ids, each with an object
// of slots and the routines that fill them.
func ReadBindings(ref string, data []byte) (Bindings, error) {
	out := Bindings{Ref: ref}
	v, err := canon.Parse(data)
	if err != nil {
		return out, err
	}
	err = canon.Decode(v, &out.byWorkflow)
	return out, err
}
