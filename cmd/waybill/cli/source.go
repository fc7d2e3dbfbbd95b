package cli

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/workflow/catalog"
	"github.com/waybill/waybill/durable/workflow/compile"
	"github.com/waybill/waybill/durable/workflow/nearest"
)

// Workflow returns the workflow that FILE|ID names. Errors: WORKFLOW_NOT_FOUND, and
// WORKFLOW_INVALID if it does not validate or its id is not unique.
func (a *App) Workflow(ctx context.Context, ref string) (catalog.Entry, error) {
	e, err := a.WorkflowOrProblems(ctx, ref)
	if err != nil {
		return e, err
	}
	return e, e.Usable()
}

// WorkflowOrProblems is Workflow for commands that report on workflows: an invalid workflow is
// returned with its problems and is not an error.
func (a *App) WorkflowOrProblems(ctx context.Context, ref string) (catalog.Entry, error) {
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
			fault.Of(err).Suggest("A file of that name exists: use ./%s for the file.", ref)
		}
	}
	return e, err
}

// noSuchFile adds to err a suggestion of the workflow file in the same directory whose name is
// nearest. The catalog cannot suggest it, since it does not contain files outside the searched
// directories.
func noSuchFile(ref string, err error) error {
	var stems []string
	names := map[string]string{}
	stem := func(name string) string { return strings.TrimSuffix(name, filepath.Ext(name)) }
	dir, name := filepath.Split(ref)
	files, _ := os.ReadDir(filepath.Join(dir, "."))
	for _, f := range files {
		if !f.IsDir() && IsFile(f.Name()) {
			// Extensions are not compared, since all these files share a few.
			stems = append(stems, stem(f.Name()))
			names[stem(f.Name())] = f.Name()
		}
	}
	f := fault.Of(err)
	if near := names[nearest.Of(stem(name), stems)]; near != "" {
		return f.Suggest("Did you mean %s?", dir+near)
	}
	return f.Suggest("Check the path, or list the workflows that have an ID with %s.",
		fault.Command{"workflows", "list"})
}

// Catalog returns all workflows that can be named by an id: bundled, installed, the user's and
// the project's. Invalid ones are entries with problems.
func (a *App) Catalog(ctx context.Context) (catalog.Catalog, error) {
	return a.CatalogWith(ctx, a.Installed(ctx))
}

// CatalogWith is Catalog with the given installed workflows.
func (a *App) CatalogWith(ctx context.Context, in Installations) (catalog.Catalog, error) {
	src, err := a.sources(ctx, in, "")
	if err != nil {
		return catalog.Catalog{}, err
	}
	return catalog.Of(src.files, src.bindings, in.Prompts()), nil
}

// Library returns what the workflow file at path may refer to: the workflows of all sources,
// installed prompts, bindings, and the workflow files in the same directory.
func (a *App) Library(ctx context.Context, path string) (compile.Library, error) {
	in := a.Installed(ctx)
	src, err := a.sources(ctx, in, path)
	return catalog.NewLibrary(src.files, src.bindings, in.Prompts()), err
}

// sources has the files of workflows and the project's bindings.
type sources struct {
	files    []catalog.File
	bindings catalog.Bindings
}

// sources returns the workflows of all sources and the bindings. The workflow files beside a path
// are included unless it is "".
func (a *App) sources(ctx context.Context, in Installations, beside string) (out sources, err error) {
	finder, err := a.Finder()
	if err != nil {
		return out, err
	}
	files, err := finder.Workflows(ctx)
	if err != nil {
		return out, err
	}
	var siblings []catalog.File
	if beside != "" {
		if siblings, err = finder.SiblingFiles(ctx, beside); err != nil {
			return out, err
		}
	}
	out.bindings, err = finder.Bindings(ctx)
	out.files = slices.Concat(files, in.Workflows(), siblings)
	return out, err
}

// IsFile reports whether ref names a file and not an id: it ends in .json, .yaml or .yml, or
// contains a slash. Ids never do. The decision depends on the spelling alone, so that the
// meaning of a name does not change with the files that exist.
func IsFile(ref string) bool {
	switch strings.ToLower(filepath.Ext(ref)) {
	case ".json", ".yaml", ".yml":
		return true
	}
	return strings.ContainsRune(ref, '/') || strings.ContainsRune(ref, filepath.Separator)
}
