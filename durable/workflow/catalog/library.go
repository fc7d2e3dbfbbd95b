package catalog

import (
	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/workflow/compile"
	"github.com/waybill/waybill/durable/workflow/promptref"
	"github.com/waybill/waybill/durable/workflow/source"
)

// Bindings holds a project's choices for extension points: workflow id → slot id → routine
// id.
type Bindings map[string]map[string]string

// ReadBindings parses a bindings file: an object of workflow ids, each with an object of
// slot ids and the ids of the routines that fill them. Whether the ids exist is not
// checked. It fails if data is not JSON or has another structure.
func ReadBindings(data []byte) (out Bindings, err error) {
	v, err := canon.Parse(data)
	if err != nil {
		return nil, err
	}
	return out, canon.Decode(v, &out)
}

// NewLibrary returns what a workflow may use besides its own file: the workflows of files as
// routines, the project's bindings, and prompt templates. When several files have one id, the
// first is used: callers pass bundled workflows first, so that a project's file cannot replace
// a routine of Waybill. Of several templates with one id, version and pack, the first is used.
// Files that could not be read are skipped.
func NewLibrary(files []File, bindings Bindings, prompts []promptref.Template) compile.Library {
	return library(parse(files), bindings, prompts)
}

// library is NewLibrary of parsed files.
func library(files []parsed, bindings Bindings, prompts []promptref.Template) compile.Library {
	routines := map[string]source.Source{}
	for _, f := range files {
		src := f.src
		if _, taken := routines[src.ID]; taken || src.ID == "" {
			continue
		}
		if !src.Valid && f.Kind != source.SourceBundled {
			// A project may contain a copy of a bundled file. Its reserved id would be an
			// error in a project's file, so it is parsed as a bundled one.
			src, _ = source.Parse(f.Ref, source.SourceBundled, f.Data)
		}
		routines[src.ID] = src
	}
	return compile.Library{Routines: routines, Bindings: bindings, Prompts: promptref.NewLibrary(prompts)}
}
