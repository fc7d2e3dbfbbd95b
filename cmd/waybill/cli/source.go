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

// Workflow finds the workflow that FILE|ID names, ready to run.
func (a *App) Workflow(ctx context.Context, ref string) (catalog.Entry, error) {
	e, err := a.AnyWorkflow(ctx, ref)
	if err != nil {
		return e, err
	}
	return e, e.Usable()
}

// AnyWorkflow also gives one that does not validate.
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

// noSuchFile points to the file that was probably meant: lists of workflows do not
// hold files that lie just anywhere.
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

// Catalog is all workflows that can be named from here.
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

// Library is what a named file may draw on: all sources, and what lies beside it.
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

// IsFile tells a file from an id: ids have neither slashes nor such endings, so
// that what a name means never depends on what lies around.
func IsFile(ref string) bool {
	switch strings.ToLower(filepath.Ext(ref)) {
	case ".json", ".yaml", ".yml":
		return true
	}
	return strings.ContainsRune(ref, '/') || strings.ContainsRune(ref, filepath.Separator)
}
