package discovery

import (
	"embed"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/workflow/catalog"
	"github.com/waybill/waybill/durable/workflow/compile"
	"github.com/waybill/waybill/durable/workflow/source"
)

// bundledFiles are the bundled workflows: an introduction, a template to copy, and routines that
// steps of other workflows can call.
//
//go:embed bundled/*.yaml
var bundledFiles embed.FS

// aliases are the former ids of bundled workflows. A published collection of workflows uses these
// ids for its own (docs/design.md#workflow-sources).
var aliases = map[string][]string{
	"wr.routine-design-from-tensions": {"wr.routine-tension-driven-design"},
	"wr.routine-review-a-design":      {"wr.routine-design-review"},
}

// bundled returns the workflow files in the binary. Each is named after its id.
func bundled() []catalog.File {
	names, _ := fs.Glob(bundledFiles, "bundled/*.yaml") // fails for an invalid pattern only
	names = slices.DeleteFunc(names, IsTests)
	out := make([]catalog.File, len(names))
	for i, name := range names {
		data, err := bundledFiles.ReadFile(name)
		id := strings.TrimSuffix(path.Base(name), ".yaml")
		out[i] = catalog.File{Kind: source.SourceBundled, Ref: id, Data: data, Err: err, Aliases: aliases[id]}
	}
	return out
}

// Routines returns the template ids of the bundled routines, sorted.
func Routines() []string {
	var out []string
	for _, f := range bundled() {
		for _, id := range append([]string{f.Ref}, f.Aliases...) {
			if template := compile.RoutineTemplate(id); template != "" {
				out = append(out, template)
			}
		}
	}
	slices.Sort(out)
	return out
}

// Bundled returns the library of the bundled workflows alone.
func Bundled() compile.Library { return catalog.Sources{Files: bundled()}.Library() }

// IsBundled reports the version of a workflow that comes with this binary. Only the file of that id
// is compiled.
func IsBundled(workflowID string, hash canon.Digest) bool {
	all := catalog.Sources{Files: bundled()}
	for _, f := range all.Files {
		if f.Ref == workflowID {
			return all.Compile(f).Compiled.Hash() == hash
		}
	}
	return false
}
