package discovery

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/workflow/catalog"
	"github.com/waybill/waybill/durable/workflow/source"
)

// WorkflowFile implements ports.Workflows. A pipe is read as it comes: whoever
// names one wants that.
func (f *Finder) WorkflowFile(_ context.Context, path string) (catalog.File, error) {
	at := path
	if !filepath.IsAbs(at) {
		at = filepath.Join(f.at.From, at)
	}
	out := catalog.File{Kind: source.SourceProject, Ref: f.ref(at)}
	file, err := os.Open(at)
	if errors.Is(err, fs.ErrNotExist) {
		return out, fault.New(fault.WorkflowNotFound, "there is no file %s", path)
	}
	if err != nil {
		return out, refuse(path, err)
	}
	defer file.Close()
	if info, err := file.Stat(); err == nil && info.IsDir() {
		return out, refuse(path, errors.New("it is a directory"))
	}
	if out.Data, err = readAll(file); err != nil {
		return out, refuse(path, err)
	}
	return out, nil
}

func refuse(path string, err error) error {
	return fault.Wrap(err, fault.WorkflowInvalid, "%s cannot be read: %s", path, why(err)).
		Suggest("Name a workflow file that you may read.")
}

// ref tells a named file as the repository's root sees it, or the working
// directory outside of one. A path that is too long to be stored is cut to its name.
func (f *Finder) ref(at string) string {
	ref := relative(f.base(), at)
	if len(ref) > limits.PathMax {
		ref = filepath.Base(at)
	}
	return ref
}
