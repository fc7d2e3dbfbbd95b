package cli

import (
	"cmp"
	"context"
	"os"
	"path/filepath"
	"strings"

	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/workflow/catalog"
	"github.com/waybill/waybill/durable/workflow/nearest"
	"github.com/waybill/waybill/durable/workflow/source"
	"github.com/waybill/waybill/infra/discovery"
	"github.com/waybill/waybill/ports"
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
	return a.WorkflowAs(ctx, ref, "")
}

// WorkflowAs is WorkflowOrProblems by the rules of a kind of source, which decides which ids and
// features are accepted; "" is the kind of the file itself.
func (a *App) WorkflowAs(ctx context.Context, ref string, kind source.SourceKind) (catalog.Entry, error) {
	defer ports.Enter(ctx, ports.Compile)()
	if IsFile(ref) {
		return namedFile(ctx, a, ref, kind)
	}
	c, err := a.Catalog(ctx)
	if err != nil {
		return catalog.Entry{}, err
	}
	e, err := c.Find(ref)
	switch {
	case err == nil:
		warnShadows(a, ref, e)
	case fault.Is(err, fault.WorkflowInvalid):
		err = nil
	case fault.Is(err, fault.WorkflowNotFound):
		if file, statErr := os.Stat(ref); statErr == nil && file.Mode().IsRegular() {
			fault.Of(err).Suggest("A file of that name exists: use ./%s for the file.", ref)
		}
	}
	if err == nil && kind != "" && kind != e.Kind {
		e = c.As(e, kind)
	}
	return e, err
}

// warnShadows logs that the files of attached folders are not what an id means, because a bundled
// workflow has it.
func warnShadows(a *App, id string, e catalog.Entry) {
	if len(e.Shadows) > 0 {
		log := a.Log()
		log.Warn().Strs("files", e.Shadows).Msgf("the bundled workflow %s is used; an attached folder has the id too", id)
	}
}

// namedFile returns the workflow in a file that the caller named. Other files are read only for the
// references that it makes, and for a file of an attached folder.
func namedFile(ctx context.Context, a *App, path string, kind source.SourceKind) (catalog.Entry, error) {
	if ref, ok := attachedRef(ctx, a, path); ok {
		c, err := a.Catalog(ctx)
		if err != nil {
			return catalog.Entry{}, err
		}
		if e, ok := c.Attached(ref); ok {
			if kind != "" && kind != e.Kind {
				e = c.As(e, kind)
			}
			return e, nil
		}
	}
	finder, err := a.Finder()
	if err != nil {
		return catalog.Entry{}, err
	}
	file, err := finder.WorkflowFile(ctx, path)
	if fault.Is(err, fault.WorkflowNotFound) {
		return catalog.Entry{}, noSuchFile(path, err)
	}
	if err != nil {
		return catalog.Entry{}, err
	}
	file.Kind = cmp.Or(kind, file.Kind)
	return compileNamed(ctx, a, finder, path, file)
}

// compileNamed compiles a file with what it may use at a path.
func compileNamed(ctx context.Context, a *App, finder *discovery.Finder, path string, file catalog.File) (catalog.Entry,
	error) {
	bindings, err := finder.Bindings(ctx)
	if err != nil {
		return catalog.Entry{}, err
	}
	return catalog.Named{File: file, Bindings: bindings,
		Beside: func() ([]catalog.File, error) { return finder.SiblingFiles(ctx, path) },
		Others: func() (catalog.Sources, error) { return readSources(ctx, finder, a.Installed(ctx)) }}.Compile()
}

// CheckNewFile validates the text of a new file of the project. If it is a copy, from is what was
// copied, and its file of; references are resolved as for the file that was copied, but not in an
// attached folder, in which the copy is not.
func CheckNewFile(ctx context.Context, a *App, from string, of catalog.File, data []byte) error {
	finder, err := a.Finder()
	if err != nil {
		return err
	}
	file := catalog.File{Kind: source.SourceProject, Ref: of.Ref, Folder: of.Folder, Data: data}
	var e catalog.Entry
	if IsFile(from) && of.Attached == "" {
		e, err = compileNamed(ctx, a, finder, from, file)
	} else {
		var all catalog.Sources
		if from != "" {
			all, err = readSources(ctx, finder, a.Installed(ctx))
		}
		e = all.Compile(file)
	}
	if err != nil {
		return err
	}
	e.Ref = "the new file"
	return e.Usable()
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

// Catalog returns all workflows that can be named by an id: bundled, installed, attached ones, the
// user's and the project's. Invalid ones are entries with problems.
func (a *App) Catalog(ctx context.Context) (catalog.Catalog, error) {
	return a.CatalogWith(ctx, a.Installed(ctx))
}

// CatalogWith is Catalog with the given installed workflows.
func (a *App) CatalogWith(ctx context.Context, in Installations) (catalog.Catalog, error) {
	defer ports.Enter(ctx, ports.Compile)()
	attached := a.Attached(ctx)
	src, err := sourcesOf(ctx, a, attached, in)
	if err != nil {
		return catalog.Catalog{}, err
	}
	c := catalog.Of(src)
	c.Unread = attached.Err
	return c, nil
}

// CatalogSources returns what Catalog is made of, with the artifacts that are installed in an open store.
func CatalogSources(ctx context.Context, a *App, o *Store) (catalog.Sources, error) {
	list, err := o.Installed(ctx, a.Flags.Workspace)
	if err != nil {
		return catalog.Sources{}, err
	}
	return sourcesOf(ctx, a, a.Attached(ctx), list.Installed)
}

// sourcesOf reads the files of all places that are searched.
func sourcesOf(ctx context.Context, a *App, attached Attachments, in Installations) (catalog.Sources, error) {
	finder, err := a.Finder(attached.Folders()...)
	if err != nil {
		return catalog.Sources{}, err
	}
	src, err := readSources(ctx, finder, in)
	src.Files = append(src.Files, attached.unusable()...)
	return src, err
}

// readSources reads the files of all places that a finder searches, the installed artifacts and the
// bindings.
func readSources(ctx context.Context, finder *discovery.Finder, in Installations) (out catalog.Sources, err error) {
	if out.Files, err = finder.Workflows(ctx); err != nil {
		return out, err
	}
	out.Files = append(out.Files, in.Workflows()...)
	out.Prompts = in.Prompts()
	out.Bindings, err = finder.Bindings(ctx)
	return out, err
}

// CheckStore returns TARGET_NOT_FOUND if a flag names a store that does not exist. Workflows are also listed if the
// store cannot be read; then a warning says so.
func CheckStore(ctx context.Context, a *App) error {
	err := a.WithStore(ctx, func(context.Context, *Store) error { return nil })
	if fault.Is(err, fault.TargetNotFound) {
		return err
	}
	return nil
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
