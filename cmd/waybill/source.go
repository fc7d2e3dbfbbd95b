package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"

	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/workflow/catalog"
	"github.com/waybill/waybill/durable/workflow/nearest"
)

// workflow finds the workflow that FILE|ID names, ready to run.
func (a *app) workflow(ctx context.Context, ref string) (catalog.Entry, error) {
	e, err := a.anyWorkflow(ctx, ref)
	if err != nil {
		return e, err
	}
	return e, e.Usable()
}

// anyWorkflow also gives one that does not validate.
func (a *app) anyWorkflow(ctx context.Context, ref string) (catalog.Entry, error) {
	if isFile(ref) {
		finder, err := a.finder()
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
		with, err := a.library(ctx, ref)
		if err != nil {
			return catalog.Entry{}, err
		}
		return catalog.Read(file, with), nil
	}
	c, err := a.catalog(ctx)
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
		if !f.IsDir() && isFile(f.Name()) {
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

// catalog is all workflows that can be named from here.
func (a *app) catalog(ctx context.Context) (catalog.Catalog, error) {
	finder, err := a.finder()
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
	in := a.installed(ctx)
	files = append(files, in.workflows()...)
	return catalog.Of(files, catalog.NewLibrary(files, bindings).WithPrompts(in.prompts())), nil
}

// library is what a named file may draw on: all sources, and what lies beside it.
func (a *app) library(ctx context.Context, path string) (*catalog.Library, error) {
	finder, err := a.finder()
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
	in := a.installed(ctx)
	files = append(files, in.workflows()...)
	return catalog.NewLibrary(append(files, beside...), bindings).WithPrompts(in.prompts()), err
}

// isFile tells a file from an id: ids have neither slashes nor such endings, so
// that what a name means never depends on what lies around.
func isFile(ref string) bool {
	switch strings.ToLower(filepath.Ext(ref)) {
	case ".json", ".yaml", ".yml":
		return true
	}
	return strings.ContainsRune(ref, '/') || strings.ContainsRune(ref, filepath.Separator)
}
