package discovery

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/workflow/catalog"
	"github.com/waybill/waybill/durable/workflow/source"
)

// Beside implements ports.Workflows. It looks into the file's own folder and its
// routines only, not below: a file in a home directory has all of it beside it.
func (f *Finder) Beside(_ context.Context, path string) ([]catalog.File, error) {
	at := path
	if !filepath.IsAbs(at) {
		at = filepath.Join(f.at.From, at)
	}
	dir := filepath.Dir(at)
	out := folder{kind: source.SourceProject, dir: dir, prefix: relative(f.base(), dir) + "/", flat: true}.files()
	routines := filepath.Join(dir, "routines")
	return append(out, folder{kind: source.SourceProject, dir: routines, prefix: relative(f.base(), routines) + "/",
		flat: true}.files()...), nil
}

// bindingsFiles are where a directory of a project may say what fills extension
// points; the second is where WorkRail's lies.
var bindingsFiles = []string{".waybill/bindings.json", ".workrail/bindings.json"}

// Bindings implements ports.Workflows.
func (f *Finder) Bindings(context.Context) (catalog.Bindings, error) {
	for _, dir := range f.upwards() {
		for _, sub := range bindingsFiles {
			at := filepath.Join(dir, filepath.FromSlash(sub))
			file, err := os.Open(at)
			if errors.Is(err, fs.ErrNotExist) {
				continue
			}
			ref := relative(f.base(), at)
			if err != nil {
				return catalog.Bindings{}, refuse(ref, err)
			}
			data, err := readAll(file)
			_ = file.Close()
			if err != nil {
				return catalog.Bindings{}, refuse(ref, err)
			}
			b, err := catalog.ReadBindings(ref, data)
			if err != nil {
				return b, fault.Wrap(err, fault.WorkflowInvalid, "%s cannot be used: %s", ref, err).
					Suggest(`Write {"workflow.id": {"slot": "routine-id"}}, or take the file away.`)
			}
			return b, nil
		}
	}
	return catalog.Bindings{}, nil
}

// Routine finds a bundled routine by its id.
func Routine(id string) (source.Source, bool) {
	return catalog.NewLibrary(bundled(), catalog.Bindings{}).Options("").Routine(id)
}
