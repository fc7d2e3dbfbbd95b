// Package discovery finds workflow files: the bundled ones inside the binary, the
// user's, the project's from the working directory up to the repository's root,
// and those that a caller names. What is in them is package catalog's to judge.
package discovery

import (
	"context"
	"path/filepath"

	"github.com/waybill/waybill/durable/workflow/catalog"
	"github.com/waybill/waybill/durable/workflow/source"
	"github.com/waybill/waybill/ports"
)

// Places are where to look, as absolute paths.
type Places struct {
	User string // the user's folder of workflows, "" for none
	From string // the working directory
	Root string // the repository's root, "" outside one: then only From is looked at
}

// Finder looks in fixed places.
type Finder struct{ at Places }

var _ ports.Workflows = (*Finder)(nil)

// New is a Finder for the places.
func New(at Places) *Finder { return &Finder{at} }

// projectFolders are where a directory of a project may keep its workflows; the
// second is where WorkRail's files lie.
var projectFolders = []string{".waybill/workflows", ".workrail/workflows"}

// Workflows implements ports.Workflows.
func (f *Finder) Workflows(ctx context.Context) ([]catalog.File, error) {
	out := bundled()
	if f.at.User != "" {
		out = append(out, folder{kind: source.SourceUser, dir: f.at.User}.files()...)
	}
	for _, dir := range f.upwards() {
		for _, sub := range projectFolders {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			at := folder{kind: source.SourceProject, dir: filepath.Join(dir, filepath.FromSlash(sub))}
			at.prefix = relative(f.base(), at.dir) + "/"
			out = append(out, at.files()...)
		}
	}
	return out, nil
}

// base is what a project's places are told relative to: the same for everyone who
// works in one repository.
func (f *Finder) base() string {
	if f.at.Root != "" {
		return f.at.Root
	}
	return f.at.From
}

// upwards lists the directories from the working directory to the root.
func (f *Finder) upwards() []string {
	out := []string{f.at.From}
	if f.at.Root == "" {
		return out
	}
	for dir := f.at.From; dir != f.at.Root; {
		parent := filepath.Dir(dir)
		if parent == dir {
			return []string{f.at.From} // the root is no ancestor
		}
		dir = parent
		out = append(out, dir)
	}
	return out
}

// relative tells a place without the machine's folders, with slashes. Where no
// relative path leads there (another drive), only the name is told.
func relative(base, path string) string {
	rel, err := filepath.Rel(base, path)
	if err != nil {
		rel = filepath.Base(path)
	}
	return filepath.ToSlash(rel)
}
