package cli

import (
	"context"
	"os"
	"path/filepath"
	"strings"

	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/workflow/catalog"
	"github.com/waybill/waybill/durable/workflow/nearest"
)

// Workflow finds the workflow that FILE|ID names. One that does not validate,
// or whose id is not unique, is an error.
func (a *App) Workflow(ctx context.Context, ref string) (catalog.Entry, error) {
	e, err := a.AnyWorkflow(ctx, ref)
	if err != nil {
		return e, err
	}
	return e, e.Usable()
}

// AnyWorkflow is Workflow for commands that look at workflows: the entry may
// have problems.
func (a *App) AnyWorkflow(ctx context.Context, ref string) (catalog.Entry, error) {
	if IsFile(ref) {
		finder, err := a.Finder()
		if err != nil {
			return catalog.Entry{}, err
		}
		file, err := finder.WorkflowFile(ctx, ref)
		if fault.Is(err, fault.WorkflowNotFound) {
			return catalog.Entry{}, noSuchFile(ref, err)
		}
		if err != nil {
			return catalog.Entry{}, err
		}
		with, err := a.Library(ctx, ref)
		if err != nil {
			return catalog.Entry{}, err
		}
		return catalog.Read(file, with), nil
	}
	c, err := a.Catalog(ctx)
	if err != nil {
		return catalog.Entry{}, err
	}
	e, err := c.Find(ref)
	if fault.Is(err, fault.WorkflowInvalid) {
		return e, nil
	}
	if fault.Is(err, fault.WorkflowNotFound) {
		if file, statErr := os.Stat(ref); statErr == nil && file.Mode().IsRegular() {
			fault.Of(err).Suggest("There is a file of that name: say ./%s to mean it.", ref)
		}
	}
	return e, err
}

// noSuchFile suggests the file in the same folder whose name is nearest: no
// list of workflows has files of any folder.
func noSuchFile(ref string, err error) error {
	var stems []string
	names := map[string]string{}
	stem := func(name string) string { return strings.TrimSuffix(name, filepath.Ext(name)) }
	dir, name := filepath.Split(ref)
	files, _ := os.ReadDir(filepath.Join(dir, "."))
	for _, f := range files {
		if !f.IsDir() && IsFile(f.Name()) {
			// The ending is no likeness: all of them have it.
			stems = append(stems, stem(f.Name()))
			names[stem(f.Name())] = f.Name()
		}
	}
	f := fault.Of(err)
	if near := names[nearest.Of(stem(name), stems)]; near != "" {
		return f.Suggest("Did you mean %s?", dir+near)
	}
	return f.Suggest("Check the path, or see the workflows that have an ID with 'waybill workflows list'.")
}

// Catalog is all workflows that can be named from here: bundled, installed, the
// user's and the project's.
func (a *App) Catalog(ctx context.Context) (catalog.Catalog, error) {
	finder, err := a.Finder()
	if err != nil {
		return catalog.Catalog{}, err
	}
	files, err := finder.Workflows(ctx)
	if err != nil {
		return catalog.Catalog{}, err
	}
	bindings, err := finder.Bindings(ctx)
	if err != nil {
		return catalog.Catalog{}, err
	}
	in := a.Installed(ctx)
	files = append(files, in.Workflows()...)
	return catalog.Of(files, catalog.NewLibrary(files, bindings).WithPrompts(in.Prompts())), nil
}

// Library is what a named file may draw on: all sources, and the files beside
// it.
func (a *App) Library(ctx context.Context, path string) (*catalog.Library, error) {
	finder, err := a.Finder()
	if err != nil {
		return nil, err
	}
	files, err := finder.Workflows(ctx)
	if err != nil {
		return nil, err
	}
	beside, err := finder.Beside(ctx, path)
	if err != nil {
		return nil, err
	}
	bindings, err := finder.Bindings(ctx)
	in := a.Installed(ctx)
	files = append(files, in.Workflows()...)
	return catalog.NewLibrary(append(files, beside...), bindings).WithPrompts(in.Prompts()), err
}

// IsFile tells a file from an id by its spelling alone: ids have neither
// slashes nor such endings. So the meaning of a name never depends on which
// files exist.
func IsFile(ref string) bool {
	switch strings.ToLower(filepath.Ext(ref)) {
	case ".json", ".yaml", ".yml":
		return true
	}
	return strings.ContainsRune(ref, '/') || strings.ContainsRune(ref, filepath.Separator)
}
