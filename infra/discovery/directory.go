package discovery

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/sorting"
	"github.com/waybill/waybill/durable/workflow/catalog"
	"github.com/waybill/waybill/durable/workflow/source"
	"github.com/waybill/waybill/infra/osfs"
)

// filesMax bounds how many files of one directory are read: a directory of workflows contains
// dozens, and one that was named by mistake may contain a million.
//
// Later files are not listed; one entry reports that.
const filesMax = 1000

// entriesMax bounds how many entries of one directory and its subdirectories are looked at, of any
// kind.
const entriesMax = 20_000

// directory is one directory with workflow files.
type directory struct {
	kind     source.SourceKind
	dir      string
	prefix   string // of references
	folder   string // the Folder of its files
	attached string // the name of an attached folder, "" for others
	flat     bool   // subdirectories are not read

	real string   // dir without links, "" if it is not known
	skip []string // attached folders, which are read as such
}

// files reads all workflow files below the directory, in lexical order. A missing directory has
// none, but a missing attached one is listed. os.Root refuses links that lead out of the directory;
// they are listed with that error.
//
// Subdirectories whose names begin with a dot are skipped. A directory that cannot be read is one
// unreadable file, and the walk continues after it.
//
// The error is STORE_IO: no more files can be opened, so that nothing is known about the others.
func (f directory) files() (out []catalog.File, err error) {
	if slices.ContainsFunc(f.skip, func(dir string) bool { return f.real != "" && osfs.Within(f.real, dir) }) {
		return nil, nil
	}
	if out, ok := f.checkRoot(); !ok {
		return out, nil
	}
	root, err := os.OpenRoot(f.dir)
	if err != nil {
		if osfs.IsTooManyFiles(err) {
			return nil, unreadable(f.prefix, err)
		}
		return []catalog.File{f.unreadableFile("", err)}, nil
	}
	defer root.Close()
	entries := 0
	err = fs.WalkDir(bounded{root.FS()}, ".", func(name string, d fs.DirEntry, err error) error {
		entries++
		switch {
		case osfs.IsTooManyFiles(err):
			return unreadable(f.prefix+name, err)
		case err != nil:
			out = append(out, f.unreadableFile(name, err))
			return fs.SkipDir
		case entries > entriesMax:
			out = append(out, f.unreadableFile(name, fmt.Errorf(
				"the directory has more than %d entries; this one and later ones were not looked at", entriesMax)))
			return fs.SkipAll
		case d.IsDir() && name != "." && (f.flat || strings.HasPrefix(d.Name(), ".") || f.isAttached(name) ||
			f.attached != "" && d.Name() == "node_modules"):
			return fs.SkipDir
		case f.isLinkedDir(name, d):
			out = append(out, f.unreadableFile(name, errors.New("it is a link to a directory, which is not followed")))
			return nil
		case d.IsDir() || !isWorkflowName(name) || f.isOtherName(d.Name()) || f.isSecondName(name, d):
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

// checkRoot reports whether the directory can be opened, which would block for a pipe. If not, it
// returns what is listed instead. An attached folder that was replaced by a link is another one than
// the folder that a person attached.
func (f directory) checkRoot() (out []catalog.File, ok bool) {
	info, err := os.Stat(f.dir)
	switch {
	case errors.Is(err, fs.ErrNotExist) && f.attached == "":
		return nil, false
	case errors.Is(err, fs.ErrNotExist):
		err = errors.New("the attached folder does not exist any more")
	case err == nil && !info.IsDir():
		err = fmt.Errorf("it is %s, not a directory", osfs.KindName(info.Mode()))
		if info.Mode().IsRegular() {
			err = errors.New("it is a file, not a directory")
		}
	case err == nil && f.attached != "":
		if real, evalErr := filepath.EvalSymlinks(f.dir); evalErr != nil || real != f.dir {
			err = errors.New("the attached folder was replaced by a link; attach it again")
		}
	}
	if err != nil {
		return []catalog.File{f.unreadableFile("", err)}, false
	}
	return nil, true
}

// isAttached reports that a subdirectory is an attached folder.
func (f directory) isAttached(name string) bool {
	return f.real != "" && slices.Contains(f.skip, filepath.Join(f.real, filepath.FromSlash(name)))
}

// isLinkedDir reports a link to a directory in an attached folder: its files are missing, so the
// list has to name it.
func (f directory) isLinkedDir(name string, d fs.DirEntry) bool {
	if f.attached == "" || d.Type()&fs.ModeSymlink == 0 || strings.HasPrefix(d.Name(), ".") {
		return false
	}
	info, err := os.Stat(filepath.Join(f.dir, filepath.FromSlash(name)))
	return err == nil && info.IsDir()
}

// bounded lists at most entriesMax entries of a directory, so that a large one needs little memory.
type bounded struct{ fs.FS }

// ReadDir implements fs.ReadDirFS.
func (b bounded) ReadDir(name string) ([]fs.DirEntry, error) {
	file, err := b.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	dir, ok := file.(fs.ReadDirFile)
	if !ok {
		return nil, &fs.PathError{Op: "readdir", Path: name, Err: errors.New("it is not a directory")}
	}
	list, err := dir.ReadDir(entriesMax + 1)
	if errors.Is(err, io.EOF) {
		err = nil
	}
	sorting.By(list, func(x, y fs.DirEntry) int { return strings.Compare(x.Name(), y.Name()) })
	return list, err
}

// isWorkflowName reports the extension of a workflow file.
func isWorkflowName(name string) bool {
	return slices.Contains([]string{".json", ".yaml", ".yml"}, strings.ToLower(path.Ext(name)))
}

// isOtherName reports the name of a file of tests, and in an attached folder one that other tools give
// their files: a folder of other people's workflows is often a whole repository, and those files are
// no workflows that fail.
func (f directory) isOtherName(name string) bool {
	name = strings.ToLower(name)
	stem := strings.TrimSuffix(name, path.Ext(name))
	return strings.HasSuffix(stem, ".test") ||
		f.attached != "" && (strings.HasPrefix(name, ".") || strings.HasSuffix(stem, ".schema") ||
			slices.Contains([]string{"package.json", "package-lock.json", "pnpm-lock.yaml", "tsconfig.json"}, name))
}

// isSecondName reports a link in an attached folder to a file that the walk reads under its own name.
// It is the same file, so it is not another one with its id.
func (f directory) isSecondName(name string, d fs.DirEntry) bool {
	if f.attached == "" || d.Type()&fs.ModeSymlink == 0 {
		return false
	}
	real, err := filepath.EvalSymlinks(filepath.Join(f.dir, filepath.FromSlash(name)))
	if err != nil {
		return false // read names the reason
	}
	rel, err := filepath.Rel(f.dir, real)
	if err != nil || !filepath.IsLocal(rel) || !isWorkflowName(rel) {
		return false
	}
	parts := strings.Split(filepath.ToSlash(rel), "/")
	isSkipped := func(part string) bool { return strings.HasPrefix(part, ".") || part == "node_modules" }
	return !slices.ContainsFunc(parts, isSkipped) && !f.isOtherName(path.Base(filepath.ToSlash(rel)))
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
	data, err := readWorkflow(file, name)
	if err != nil {
		return f.unreadableFile(name, err)
	}
	if len(f.prefix+name) > limits.PathMax {
		return f.unreadableFile(name, fmt.Errorf("its path has more than %d bytes", limits.PathMax))
	}
	return catalog.File{Kind: f.kind, Ref: f.prefix + name, Data: data, Attached: f.attached, Folder: f.folder}
}

// unreadableFile lists a file with the reason why it was not read.
func (f directory) unreadableFile(name string, err error) catalog.File {
	ref := strings.TrimSuffix(f.prefix+name, "/")
	if ref == "" || ref == "." {
		ref = "workflows"
	}
	what := "the file cannot be read"
	if name == "" && f.attached != "" {
		what = "the folder cannot be used"
	}
	return catalog.File{Kind: f.kind, Ref: ref, Attached: f.attached, Err: fmt.Errorf("%s: %w", what, cause(err))}
}

// cause is the reason without paths of the machine.
func cause(err error) error {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		return pe.Err
	}
	return err
}

// readWorkflow reads a file of a directory. Of a long one the beginning decides whether it is read to its end: a
// directory of workflows may have other documents.
func readWorkflow(file *os.File, name string) ([]byte, error) {
	if info, err := file.Stat(); err == nil && info.Size() > limits.SourceFirstBytes {
		beginning := make([]byte, limits.SourceFirstBytes)
		n, err := file.ReadAt(beginning, 0)
		if err == nil && !catalog.MayBeWorkflow(name, beginning[:n]) {
			return nil, fmt.Errorf("it is no workflow: its first %d bytes have no key of one", limits.SourceFirstBytes)
		}
	}
	return readAll(file)
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
