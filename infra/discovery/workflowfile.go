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

// WorkflowFile implements ports.Workflows. Pipes are read as well, since the user named the file
// explicitly. Errors: WORKFLOW_NOT_FOUND, WORKFLOW_INVALID for a file that cannot be read.
//
// path may be relative to the working directory; the message names it as the caller did.
func (f *Finder) WorkflowFile(_ context.Context, path string) (catalog.File, error) {
	at := path
	if !filepath.IsAbs(at) {
		at = filepath.Join(f.at.From, at)
	}
	out := catalog.File{Kind: source.SourceProject, Ref: f.ref(at)}
	file, err := os.Open(at)
	if errors.Is(err, fs.ErrNotExist) {
		return out, fault.New(fault.WorkflowNotFound, "the file %s does not exist", path)
	}
	if err != nil {
		return out, unreadable(path, err)
	}
	defer file.Close()
	if info, err := file.Stat(); err == nil && info.IsDir() {
		return out, unreadable(path, errors.New("it is a directory"))
	}
	if out.Data, err = readAll(file); err != nil {
		return out, unreadable(path, err)
	}
	return out, nil
}

// unreadable is WORKFLOW_INVALID for a file that the caller named.
func unreadable(path string, err error) error {
	return fault.Wrap(err, fault.WorkflowInvalid, "%s cannot be read: %s", path, cause(err)).
		Suggest("Name a workflow file that you can read.")
}

// ref is the reference of a named file, relative to base. A reference that is too long to be stored
// is shortened to the file name.
func (f *Finder) ref(at string) string {
	ref := relative(f.base(), at)
	if len(ref) > limits.PathMax {
		ref = filepath.Base(at)
	}
	return ref
}
