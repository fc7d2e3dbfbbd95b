package discovery

import (
	"embed"
	"io/fs"
	"path"
	"strings"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/workflow/catalog"
	"github.com/waybill/waybill/durable/workflow/promptref"
	"github.com/waybill/waybill/durable/workflow/source"
)

// fixtureFiles are the workflows of the conformance scenarios, of host steps only.
//
//go:embed fixtures/*.yaml fixtures/seams/*.yaml fixtures/prompts/*.json
var fixtureFiles embed.FS

// fixtureFolder is the folder of the references of fixtures, which are stored with runs.
const fixtureFolder = "fixtures/"

// Fixtures returns the workflows of the conformance scenarios (docs/design.md#host-steps), sorted by
// their ids. No Finder finds them: a server adds them to what is found, if it is started with
// them. They are no bundled workflows, so that none of them takes an id from another file: an id that both have is
// ambiguous.
func Fixtures() []catalog.File { return fixturesIn("fixtures/*.yaml") }

// SeamWorkflows returns the workflows of the runs that a server with test seams makes itself.
func SeamWorkflows() []catalog.File { return fixturesIn("fixtures/seams/*.yaml") }

// fixturesIn returns the workflows whose files match a pattern.
func fixturesIn(pattern string) []catalog.File {
	names, _ := fs.Glob(fixtureFiles, pattern) // fails for an invalid pattern only
	out := make([]catalog.File, len(names))
	for i, name := range names {
		data, err := fixtureFiles.ReadFile(name)
		out[i] = catalog.File{Kind: source.SourceProject, Ref: fixtureFolder + path.Base(name), Folder: fixtureFolder, Data: data, Err: err}
	}
	return out
}

// FixtureIDs returns the ids of the fixtures, sorted.
func FixtureIDs() []string {
	var out []string
	for _, f := range Fixtures() {
		out = append(out, strings.TrimSuffix(path.Base(f.Ref), ".yaml"))
	}
	return out
}

// FixturePrompts returns the prompt templates of the conformance scenarios, sorted by their files.
func FixturePrompts() []promptref.Template {
	names, _ := fs.Glob(fixtureFiles, "fixtures/prompts/*.json")
	out := make([]promptref.Template, len(names))
	for i, name := range names {
		data, _ := fixtureFiles.ReadFile(name)
		value, err := canon.Parse(data)
		if err == nil {
			out[i], err = promptref.TemplateOf(value)
		}
		if err != nil {
			panic("discovery: " + name + ": " + err.Error()) // a test reads them all
		}
	}
	return out
}
