package catalog

import (
	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/workflow/compile"
	"github.com/waybill/waybill/durable/workflow/promptref"
	"github.com/waybill/waybill/durable/workflow/source"
)

// Library holds what compilation may use besides the workflow's own file: the routines of
// every source, the project's bindings of extension points, and the prompt templates. It is
// read-only once made, and the nil Library is empty.
type Library struct {
	files    map[string]File // by workflow id; the first file with an id
	ids      []string        // the keys of files, in the order of the files
	parsed   map[string]source.Source
	bindings map[string]map[string]string // workflow id → slot id → routine id
	prompts  promptref.Library
}

// NewLibrary returns a library of files and bindings. When several files have one id, the
// first is used: callers pass bundled workflows first, so that a project's file cannot
// replace a routine of Waybill. Files that could not be read are skipped.
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
			// A project may contain a copy of a bundled file. Its reserved id would be an
			// error in a project's file, so it is parsed as a bundled one.
			src, _ = source.Parse(f.Ref, source.SourceBundled, f.Data)
		}
		l.files[src.ID], l.parsed[src.ID] = f, src
		l.ids = append(l.ids, src.ID)
	}
	return l
}

// WithPrompts returns a copy of the library whose prompt templates are exactly the given
// ones. When several have one id, version and pack, the first is used. l is not modified
// and may be nil.
func (l *Library) WithPrompts(templates []promptref.Template) *Library {
	if l == nil {
		l = NewLibrary(nil, Bindings{})
	}
	out := *l
	out.prompts = promptref.NewLibrary(templates)
	return &out
}

// Options returns the options with which the workflow with an id is compiled.
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

// Bindings holds a project's choices for extension points.
type Bindings struct {
	Ref        string                       // the relative path of the file
	byWorkflow map[string]map[string]string // workflow id → slot id → routine id
}

// ReadBindings parses a bindings file: an object of workflow ids, each with an object of
// slot ids and the ids of the routines that fill them. Whether the ids exist is not
// checked. It fails if data is not JSON or has another structure.
func ReadBindings(ref string, data []byte) (Bindings, error) {
	out := Bindings{Ref: ref}
	v, err := canon.Parse(data)
	if err != nil {
		return out, err
	}
	err = canon.Decode(v, &out.byWorkflow)
	return out, err
}
