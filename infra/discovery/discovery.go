// Package discovery finds workflow files: the bundled ones in the binary, those of the user, those
// of the project from the working directory up to the root of the repository, and files that a
// caller names. It reads at most limits.SourceBytesMax bytes of a file, and does not interpret the
// content: package catalog does. References never contain paths of the machine. Start with Finder.
package discovery

import (
	"context"
	"path/filepath"

	"github.com/waybill/waybill/durable/workflow/catalog"
	"github.com/waybill/waybill/durable/workflow/source"
	"github.com/waybill/waybill/ports"
)

// Places are the directories to search, as absolute paths.
type Places struct {
	User string // the user's directory of workflows, "" for none
	From string // the working directory
	Root string // the root of the repository; "" outside of one, then only From is searched
}

// Finder searches fixed places. It implements ports.Workflows.
type Finder struct{ at Places }

var _ ports.Workflows = (*Finder)(nil)

// New returns a Finder for the places.
func New(at Places) *Finder { return &Finder{at} }

// projectDirs are the directories of workflows in a directory of the project; the second is the one
// of WorkRail.
var projectDirs = []string{".waybill/workflows", ".workrail/workflows"}

// Workflows implements ports.Workflows. The order is: bundled, the user's, and the project's from
// the working directory upwards. Unreadable files are included with their error.
//
// Several files may define the same id; which one is used is decided by package catalog.
func (f *Finder) Workflows(ctx context.Context) ([]catalog.File, error) {
	out := bundled()
	if f.at.User != "" {
		files, err := directory{kind: source.SourceUser, dir: f.at.User}.files()
		if err != nil {
			return nil, err
		}
		out = append(out, files...)
	}
	for _, dir := range f.ancestors() {
		for _, sub := range projectDirs {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			at := directory{kind: source.SourceProject, dir: filepath.Join(dir, filepath.FromSlash(sub))}
			at.prefix = relative(f.base(), at.dir) + "/"
			files, err := at.files()
			if err != nil {
				return nil, err
			}
			out = append(out, files...)
		}
	}
	return out, nil
}

// base is the directory that references of the project are relative to: the same for all users of
// one repository.
func (f *Finder) base() string {
	if f.at.Root != "" {
		return f.at.Root
	}
	return f.at.From
}

// ancestors lists the directories from the working directory up to the root.
func (f *Finder) ancestors() []string {
	out := []string{f.at.From}
	for dir := f.at.From; f.at.Root != "" && dir != f.at.Root; {
		parent := filepath.Dir(dir)
		if parent == dir {
			return []string{f.at.From} // the root is not an ancestor
		}
		dir = parent
		out = append(out, dir)
	}
	return out
}

// relative is path relative to base, with slashes and without directories of the machine outside
// the project. Where no relative path exists (another drive) it is the file name.
func relative(base, path string) string {
	rel, err := filepath.Rel(base, path)
	if err != nil {
		rel = filepath.Base(path)
	}
	return filepath.ToSlash(rel)
}
