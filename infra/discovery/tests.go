package discovery

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/waybill/waybill/durable/workflow/catalog"
	"github.com/waybill/waybill/durable/workflow/source"
	"github.com/waybill/waybill/infra/osfs"
)

// testExtensions are the extensions of a file of tests, in the order in which they are performed.
var testExtensions = []string{".test.yaml", ".test.yml", ".test.json"}

// TestNames returns the names that the files of tests of a workflow file may have: its name with or without
// its extension, and one of testExtensions.
func TestNames(name string) (out []string) {
	for _, stem := range []string{strings.TrimSuffix(name, path.Ext(name)), name} {
		for _, extension := range testExtensions {
			out = append(out, stem+extension)
		}
	}
	return out
}

// IsTests reports the name of a file of tests.
func IsTests(name string) bool { return StemOfTests(name) != "" }

// StemOfTests returns the name of a file of tests without its extensions, "" for another name.
func StemOfTests(name string) string {
	low := strings.ToLower(name)
	for _, extension := range testExtensions {
		if strings.HasSuffix(low, extension) && len(filepath.Base(name)) > len(extension) {
			return name[:len(name)-len(extension)]
		}
	}
	return ""
}

// TestFiles returns the files of tests beside a workflow file: of a bundled workflow those in the binary, of a
// file that was named with a path those beside it, else those in the directory in which the file was found.
// Only regular files that are no links out of the directory are read. One that cannot be read is returned with
// its error. path may be relative to the working directory, and is "" for a file that was found by its id.
func (f *Finder) TestFiles(of catalog.File, path string) ([]catalog.File, error) {
	if of.Kind == source.SourceBundled {
		return bundledTests(of.Ref), nil
	}
	dir, name := f.placeOf(of, path)
	if dir == "" {
		return nil, nil
	}
	at := directory{kind: of.Kind, dir: dir, prefix: strings.TrimSuffix(of.Ref, filepath.Base(name))}
	if path != "" {
		at.prefix = strings.TrimSuffix(path, filepath.Base(path))
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, unreadable(name, err)
	}
	defer root.Close()
	var out []catalog.File
	for _, test := range TestNames(filepath.Base(name)) {
		if _, err := root.Lstat(test); errors.Is(err, fs.ErrNotExist) {
			continue
		}
		file := at.read(root, test)
		if osfs.IsTooManyFiles(file.Err) {
			return nil, unreadable(file.Ref, file.Err)
		}
		out = append(out, file)
	}
	return out, nil
}

// TestPath returns where the tests of a workflow file belong, "" for a file in no directory, such as a bundled
// one.
func (f *Finder) TestPath(of catalog.File, path string) string {
	if of.Kind == source.SourceBundled {
		return ""
	}
	dir, name := f.placeOf(of, path)
	if dir == "" {
		return ""
	}
	if path != "" {
		return TestNames(path)[0]
	}
	return filepath.Join(dir, TestNames(filepath.Base(name))[0])
}

// placeOf returns the directory of a workflow file and its name, "" for one that was not found in a directory.
func (f *Finder) placeOf(of catalog.File, path string) (dir, name string) {
	if path != "" {
		at := path
		if !filepath.IsAbs(at) {
			at = filepath.Join(f.at.From, at)
		}
		return filepath.Dir(at), at
	}
	for _, d := range f.directories() {
		rest, ok := strings.CutPrefix(of.Ref, d.prefix)
		if ok && d.folder == of.Folder && d.kind == of.Kind {
			at := filepath.Join(d.dir, filepath.FromSlash(rest))
			return filepath.Dir(at), at
		}
	}
	return "", ""
}

// bundledTests returns the files of tests of a bundled workflow.
func bundledTests(id string) (out []catalog.File) {
	for _, name := range TestNames(id + ".yaml") {
		data, err := bundledFiles.ReadFile("bundled/" + name)
		if err == nil {
			out = append(out, catalog.File{Kind: source.SourceBundled, Ref: name, Data: data})
		}
	}
	return slices.Clip(out)
}
