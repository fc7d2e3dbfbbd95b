package cli

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/waybill/waybill/durable/engine/settings"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/redact/faults"
	"github.com/waybill/waybill/durable/store/sources"
	"github.com/waybill/waybill/durable/workflow/catalog"
	"github.com/waybill/waybill/durable/workflow/source"
	"github.com/waybill/waybill/infra/discovery"
	"github.com/waybill/waybill/infra/machinefile"
	"github.com/waybill/waybill/ports"
)

// Attachments are the attached folders of the machine (docs/design.md#workflow-sources).
type Attachments struct {
	List sources.List
	// Err is why no folder is used: the list cannot be read, or it is not the one that a person
	// confirmed (POLICY_UNCONFIRMED).
	Err error
}

// Machine returns the control files of this machine. The error is USAGE_ERROR, if the directory of
// the configuration is not known.
func (p *Process) Machine() (ports.Controls, error) {
	dir, err := p.ConfigDir()
	return machinefile.New(dir), err
}

// Attached reads the attached folders, and compares them with what a person confirmed as the audit
// log has it of the store that they name. A machine without the file opens no store.
func (a *App) Attached(ctx context.Context) (out Attachments) {
	machine, err := a.Machine()
	if err != nil {
		return out // without a home directory nothing was attached
	}
	if out.List, out.Err = settings.ReadSources(ctx, machine); out.Err != nil || len(out.List.Folders) == 0 {
		return out
	}
	if !filepath.IsAbs(out.List.Store) {
		out.Err = settings.UnconfirmedSources()
		return out
	}
	out.Err = withNamedStore(ctx, a, out.List, func(ctx context.Context, o *Store) error {
		return o.CheckSources(ctx, out.List)
	})
	// What is not a store confirms nothing. Its path is not one that the caller gave.
	if fault.Is(out.Err, fault.StoreInvalid) {
		out.Err = settings.UnconfirmedSources()
	}
	return out
}

// withNamedStore is WithStore for the store that a list of attached folders names.
func withNamedStore(ctx context.Context, a *App, list sources.List, use func(context.Context, *Store) error) error {
	at := *a
	at.creates = true // the caller did not name it
	at.Flags.Store, at.Flags.Tenant = list.Store, ""
	return at.WithStore(ctx, use)
}

// attachedRef returns the reference of a file of an attached folder, confirmed or not, that the
// caller named by its path, or as lists show it: NAME/PATH. A file in the working directory comes
// before a reference.
func attachedRef(ctx context.Context, a *App, path string) (ref string, ok bool) {
	machine, err := a.Machine()
	if err != nil {
		return "", false
	}
	list, err := settings.ReadSources(ctx, machine)
	if err != nil || len(list.Folders) == 0 {
		return "", false
	}
	dir, _, err := a.Workspace()
	if err != nil {
		return "", false
	}
	at := path
	if !filepath.IsAbs(at) {
		at = filepath.Join(dir, at)
	}
	real, err := filepath.EvalSymlinks(at)
	if errors.Is(err, fs.ErrNotExist) {
		ref = filepath.ToSlash(filepath.Clean(path))
		name, _, _ := strings.Cut(ref, "/")
		_, ok = list.Of(name)
		return ref, ok
	}
	if err != nil {
		return "", false
	}
	for _, f := range list.Folders {
		if rel, err := filepath.Rel(f.Dir, real); err == nil && filepath.IsLocal(rel) {
			return f.Name + "/" + filepath.ToSlash(rel), true
		}
	}
	return "", false
}

// Folders returns the folders that are used.
func (t Attachments) Folders() (out []discovery.Attached) {
	if t.Err != nil {
		return nil
	}
	for _, f := range t.List.Folders {
		out = append(out, discovery.Attached{Name: f.Name, Dir: f.Dir})
	}
	return out
}

// unusable returns what a list of workflows has instead of the folders that are not used: one row
// for each, or one for a list that cannot be read.
func (t Attachments) unusable() (out []catalog.File) {
	if t.Err == nil {
		return nil
	}
	message := faults.Redact(fault.Of(t.Err)).Message
	why := errors.New("the folder is not used: " + message)
	for _, f := range t.List.Folders {
		out = append(out, catalog.File{Kind: source.SourcePlugin, Ref: f.Name, Attached: f.Name, Err: why})
	}
	if len(out) == 0 {
		out = append(out, catalog.File{Kind: source.SourcePlugin, Ref: settings.SourcesFile.Name,
			Err: errors.New("no attached folder is used: " + message)})
	}
	return out
}

// CatalogWithFolder is the catalog as it is once a folder is attached, as far as the folders that are
// attached already are used.
func CatalogWithFolder(ctx context.Context, a *App, f sources.Folder) (catalog.Catalog, error) {
	finder, err := a.Finder(append(a.Attached(ctx).Folders(), discovery.Attached{Name: f.Name, Dir: f.Dir})...)
	if err != nil {
		return catalog.Catalog{}, err
	}
	src, err := readSources(ctx, finder, a.Installed(ctx))
	return catalog.Of(src), err
}

// ChangeSources makes a planned change of the attached folders of this machine, recorded in a store.
// The store that recorded the change before withdraws its confirmation first: if this call ends in
// between, no folder is used until a person confirms them.
func ChangeSources(ctx context.Context, a *App, o *Store, c settings.SourcesChange, sign *Signing) error {
	machine, err := a.Machine()
	if err != nil {
		return err
	}
	name := o.SettingsStore.Name()
	if before := c.Before.Store; before != name && filepath.IsAbs(before) {
		err = withNamedStore(ctx, a, c.Before, func(ctx context.Context, o *Store) error {
			return o.Settings.WithdrawSources(ctx, sign.Caller(o))
		})
		if err != nil && !fault.Is(err, fault.StoreInvalid) {
			return err
		}
	}
	return o.Settings.ChangeSources(ctx, sign.Caller(o), machine, name, c)
}

// KeptDir is a directory that is no folder of workflow files. Whole: neither is what it contains.
type KeptDir struct {
	Dir, What string
	Whole     bool
}

// KeptDirs returns the directories that must not be attached, and must not be in an attached folder,
// links resolved: the home directory, the stores and the configuration.
func KeptDirs(a *App) (out []KeptDir) {
	add := func(dir string, err error, what string, whole bool) {
		if err == nil && dir != "" {
			out = append(out, KeptDir{resolved(dir), what, whole})
		}
	}
	add(a.home(), nil, "the home directory", false)
	if store, err := a.StoreName(); filepath.IsAbs(store) {
		add(store, err, "the store", true)
	}
	stores, err := a.absolute(a.Getenv("WAYBILL_HOME"))
	if a.Getenv("WAYBILL_HOME") != "" {
		add(stores, err, "the stores of $WAYBILL_HOME", true)
	}
	config, err := a.ConfigDir()
	add(config, err, "the configuration of waybill", false)
	return out
}

// resolved returns a path without links; of a path that does not exist, its longest existing part is
// resolved.
func resolved(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	if parent := filepath.Dir(path); parent != path {
		return filepath.Join(resolved(parent), filepath.Base(path))
	}
	return path
}
