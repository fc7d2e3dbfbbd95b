// Package discovery finds workflow files: the bundled ones in the binary, those of attached folders,
// those of the user, those of the project from the working directory up to the root of the
// repository, and files that a caller names. It reads at most limits.SourceBytesMax bytes of a file, and does not interpret the
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
	User     string // the user's directory of workflows, "" for none
	WorkRail string // that of WorkRail, "" for none
	From     string // the working directory
	Root     string // the root of the repository; "" outside of one, then only From is searched

	Attached []Attached // the attached folders
}

// Attached is an attached folder. Dir has no links.
type Attached struct{ Name, Dir string }

// Finder searches fixed places. It implements ports.Workflows.
type Finder struct{ at Places }

var _ ports.Workflows = (*Finder)(nil)

// New returns a Finder for the places.
func New(at Places) *Finder { return &Finder{at} }

// projectDirs are the directories of workflows in a directory of the project; the second is the one
// of WorkRail.
var projectDirs = []string{".waybill/workflows", ".workrail/workflows"}

// workrailPrefix is the prefix of references to files of the user's directory of WorkRail.
const workrailPrefix = ".workrail/workflows/"

// Workflows implements ports.Workflows. The order is: bundled, the user's, the project's from the
// working directory upwards, and attached ones. Unreadable files are included with their error.
//
// Several files may define the same id; which one is used is decided by package catalog. One file
// in several places is found once: in the attached folder, else as the user's.
func (f *Finder) Workflows(ctx context.Context) ([]catalog.File, error) {
	out := bundled()
	for _, at := range f.directories() {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		files, err := at.files()
		if err != nil {
			return nil, err
		}
		out = append(out, files...)
	}
	return out, nil
}

// directories returns the directories that are searched, each once.
func (f *Finder) directories() (out []directory) {
	var attached []string
	for _, a := range f.at.Attached {
		attached = append(attached, a.Dir)
	}
	seen := map[string]bool{}
	add := func(d directory) {
		if real, err := filepath.EvalSymlinks(d.dir); err == nil {
			if seen[real] {
				return
			}
			seen[real], d.real = true, real
		}
		d.folder, d.skip = string(d.kind)+":"+d.prefix, attached
		out = append(out, d)
	}
	if f.at.User != "" {
		add(directory{kind: source.SourceUser, dir: f.at.User})
	}
	if f.at.WorkRail != "" {
		add(directory{kind: source.SourceUser, dir: f.at.WorkRail, prefix: workrailPrefix})
	}
	for _, dir := range f.ancestors() {
		for _, sub := range projectDirs {
			at := filepath.Join(dir, filepath.FromSlash(sub))
			add(directory{kind: source.SourceProject, dir: at, prefix: relative(f.base(), at) + "/"})
		}
	}
	for _, a := range f.at.Attached {
		out = append(out, directory{kind: source.SourcePlugin, dir: a.Dir, prefix: a.Name + "/", attached: a.Name,
			folder: string(source.SourcePlugin) + ":" + a.Name + "/"})
	}
	return out
}

// AttachedFiles reads the files of one folder as Workflows does once it is attached.
func AttachedFiles(a Attached) ([]catalog.File, error) {
	for _, d := range New(Places{From: a.Dir, Attached: []Attached{a}}).directories() {
		if d.attached != "" {
			return d.files()
		}
	}
	return nil, nil
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
