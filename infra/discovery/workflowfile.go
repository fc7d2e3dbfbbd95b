package discovery

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/workflow/catalog"
	"github.com/waybill/waybill/durable/workflow/source"
	"github.com/waybill/waybill/infra/osfs"
)

// WorkflowFile implements ports.Workflows. Only regular files are read. Errors:
// WORKFLOW_NOT_FOUND, WORKFLOW_INVALID for a file that cannot be read, STORE_IO if no more files
// can be opened.
//
// path may be relative to the working directory; the message names it as the caller did.
func (f *Finder) WorkflowFile(_ context.Context, path string) (catalog.File, error) {
	at := path
	if !filepath.IsAbs(at) {
		at = filepath.Join(f.at.From, at)
	}
	out := catalog.File{Kind: source.SourceProject, Ref: f.ref(at), Folder: named}
	file, err := osfs.OpenRegular(at)
	if errors.Is(err, fs.ErrNotExist) {
		return out, fault.New(fault.WorkflowNotFound, "the file %s does not exist", path)
	}
	if err != nil {
		return out, unreadable(path, err)
	}
	defer file.Close()
	if out.Data, err = readAll(file); err != nil {
		return out, unreadable(path, err)
	}
	return out, nil
}

// SourceFile returns the file to which a reference that a run records leads, read up to limits.DriftBytesMax
// bytes; ok is false where there is none, or none that is a regular file of that size. It searches
// nothing: a file in another directory than the reference says is not found.
func (f *Finder) SourceFile(kind source.SourceKind, ref string) (file catalog.File, path string, ok bool) {
	for _, d := range f.directories() {
		rest, under := strings.CutPrefix(ref, d.prefix)
		if d.kind != kind || !under || !filepath.IsLocal(filepath.FromSlash(rest)) {
			continue
		}
		path = filepath.Join(d.dir, filepath.FromSlash(rest))
		if data, ok := readSmall(path); ok {
			return catalog.File{Kind: kind, Ref: ref, Data: data, Folder: d.folder, Attached: d.attached}, path, true
		}
	}
	if kind != source.SourceProject || ref == "" {
		return file, "", false
	}
	if path = filepath.FromSlash(ref); !filepath.IsAbs(path) {
		path = filepath.Join(f.base(), path)
	}
	data, ok := readSmall(path)
	return catalog.File{Kind: kind, Ref: ref, Data: data, Folder: named}, path, ok
}

// readSmall reads a regular file of at most limits.DriftBytesMax bytes.
func readSmall(path string) ([]byte, bool) {
	file, err := osfs.OpenRegular(path)
	if err != nil {
		return nil, false
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, limits.DriftBytesMax+1))
	return data, err == nil && len(data) <= limits.DriftBytesMax
}

// unreadable is WORKFLOW_INVALID for a file that the caller named, or STORE_IO where the system
// refused to open any file.
func unreadable(path string, err error) error {
	if osfs.IsTooManyFiles(err) {
		return fault.Wrap(err, fault.StoreIO, "%s cannot be opened: %s", path, cause(err))
	}
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
