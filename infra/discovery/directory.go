package discovery

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/workflow/catalog"
	"github.com/waybill/waybill/durable/workflow/source"
	"github.com/waybill/waybill/infra/osfs"
)

// filesMax bounds how many files of one directory are read: a directory of workflows contains
// dozens, and one that was named by mistake may contain a million.
//
// Later files are not listed; one entry reports that.
const filesMax = 1000

// directory is one directory with workflow files.
type directory struct {
	kind   source.SourceKind
	dir    string
	prefix string // of references
	flat   bool   // subdirectories are not read
}

// files reads all workflow files below the directory, in lexical order. A missing directory has
// none. os.Root refuses links that lead out of the directory; they are listed with that error.
//
// Subdirectories whose names begin with a dot are skipped. A directory that cannot be read is one
// unreadable file, and the walk continues after it.
//
// The error is STORE_IO: no more files can be opened, so that nothing is known about the others.
func (f directory) files() (out []catalog.File, err error) {
	root, err := os.OpenRoot(f.dir)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return nil, nil
		}
		if osfs.IsTooManyFiles(err) {
			return nil, unreadable(f.prefix, err)
		}
		return []catalog.File{f.unreadableFile("", err)}, nil
	}
	defer root.Close()
	err = fs.WalkDir(root.FS(), ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case osfs.IsTooManyFiles(err):
			return unreadable(f.prefix+name, err)
		case err != nil:
			out = append(out, f.unreadableFile(name, err))
			return fs.SkipDir
		case d.IsDir() && name != "." && (f.flat || strings.HasPrefix(d.Name(), ".")):
			return fs.SkipDir
		case d.IsDir() || !isWorkflowName(name):
			return nil
		case len(out) == filesMax:
			out = append(out, f.unreadableFile(name,
				fmt.Errorf("the directory contains more than %d workflow files; this one and later ones were not read",
					filesMax)))
			return fs.SkipAll
		}
		file := f.read(root, name)
		if osfs.IsTooManyFiles(file.Err) {
			return unreadable(file.Ref, file.Err)
		}
		out = append(out, file)
		return nil
	})
	return out, err
}

// isWorkflowName reports the extension of a workflow file.
func isWorkflowName(name string) bool {
	return slices.Contains([]string{".json", ".yaml", ".yml"}, strings.ToLower(path.Ext(name)))
}

// read reads one file. A file that cannot be read is returned with its error.
func (f directory) read(root *os.Root, name string) catalog.File {
	// Only regular files are opened: a pipe would block.
	info, err := root.Stat(name)
	if err == nil && !info.Mode().IsRegular() {
		err = errors.New("it is not a regular file")
	}
	if err != nil {
		return f.unreadableFile(name, err)
	}
	// The kind was read before: the file may be another one by now, and opening must not wait.
	file, err := root.OpenFile(name, os.O_RDONLY|osfs.NonBlocking, 0)
	if err != nil {
		return f.unreadableFile(name, err)
	}
	defer file.Close()
	data, err := readAll(file)
	if err != nil {
		return f.unreadableFile(name, err)
	}
	return catalog.File{Kind: f.kind, Ref: f.prefix + name, Data: data}
}

// unreadableFile lists a file with the reason why it was not read.
func (f directory) unreadableFile(name string, err error) catalog.File {
	ref := strings.TrimSuffix(f.prefix+name, "/")
	if ref == "" || ref == "." {
		ref = "workflows"
	}
	return catalog.File{Kind: f.kind, Ref: ref, Err: fmt.Errorf("the file cannot be read: %w", cause(err))}
}

// cause is the reason without paths of the machine.
func cause(err error) error {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		return pe.Err
	}
	return err
}

// readAll reads at most the accepted size of a workflow file, independent of the size that the
// system reports.
func readAll(r io.Reader) ([]byte, error) {
	// In one buffer of the size of the file: growing ones would be five times as much.
	data := make([]byte, 0, sizeOf(r))
	buffer := bytes.NewBuffer(data)
	_, err := buffer.ReadFrom(io.LimitReader(r, limits.SourceBytesMax+1))
	data = buffer.Bytes()
	if err == nil && len(data) > limits.SourceBytesMax {
		return nil, fmt.Errorf("it has more than the accepted %d bytes", limits.SourceBytesMax)
	}
	return data, err
}

// sizeOf returns how many bytes a reader of a file needs, at most what is read of a workflow file.
// bytes.Buffer grows when less than bytes.MinRead is free.
func sizeOf(r io.Reader) int64 {
	if f, ok := r.(interface{ Stat() (fs.FileInfo, error) }); ok {
		if info, err := f.Stat(); err == nil {
			return max(min(info.Size(), limits.SourceBytesMax+1), 0) + bytes.MinRead
		}
	}
	return bytes.MinRead
}
