package discovery

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"

	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/workflow/catalog"
	"github.com/waybill/waybill/durable/workflow/source"
	"github.com/waybill/waybill/infra/osfs"
)

// SiblingFiles implements ports.Workflows. It reads the file's directory and its subdirectory routines,
// but no other subdirectories: a file in a home directory would otherwise include all of it.
//
// path may be relative to the working directory. The results have source kind project, and the
// Folder of the file itself.
func (f *Finder) SiblingFiles(_ context.Context, path string) ([]catalog.File, error) {
	at := path
	if !filepath.IsAbs(at) {
		at = filepath.Join(f.at.From, at)
	}
	dir := filepath.Dir(at)
	var out []catalog.File
	for _, dir := range []string{dir, filepath.Join(dir, "routines")} {
		files, err := directory{kind: source.SourceProject, dir: dir, prefix: relative(f.base(), dir) + "/",
			folder: named, flat: true}.files()
		if err != nil {
			return nil, err
		}
		out = append(out, files...)
	}
	return out, nil
}

// named is the Folder of files that a caller named by their paths, and of those beside them.
const named = "named"

// bindingsFiles are the files of a project directory that bind routines to extension points; the
// second is the one of WorkRail.
var bindingsFiles = []string{".waybill/bindings.json", ".workrail/bindings.json"}

// Bindings implements ports.Workflows. The first file from the working directory upwards is used;
// without one there are no bindings. A file that cannot be used is WORKFLOW_INVALID.
func (f *Finder) Bindings(context.Context) (catalog.Bindings, error) {
	for _, dir := range f.ancestors() {
		for _, sub := range bindingsFiles {
			at := filepath.Join(dir, filepath.FromSlash(sub))
			file, err := osfs.OpenRegular(at)
			if errors.Is(err, fs.ErrNotExist) {
				continue
			}
			ref := relative(f.base(), at)
			if err != nil {
				return nil, unreadable(ref, err)
			}
			data, err := readAll(file)
			_ = file.Close()
			if err != nil {
				return nil, unreadable(ref, err)
			}
			b, err := catalog.ReadBindings(data)
			if err != nil {
				return b, fault.Wrap(err, fault.WorkflowInvalid, "%s cannot be used: %s", ref, err).
					Suggest(`Write {"workflow.id": {"slot": "routine-id"}}, or remove the file.`)
			}
			return b, nil
		}
	}
	return nil, nil
}
