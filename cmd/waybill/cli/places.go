package cli

import (
	"os"
	"path/filepath"
	"runtime"

	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/infra/discovery"
	"github.com/waybill/waybill/infra/gitobserver"
)

// defaultTenant is the store that is used when none is named.
const defaultTenant = "local"

// StoreDir is the folder of the store that the flags and the environment name.
// It need not exist.
func (a *App) StoreDir() (string, error) {
	if a.Flags.Store != "" {
		return a.absolute(a.Flags.Store)
	}
	tenant := a.Flags.Tenant
	if tenant == "" {
		tenant = defaultTenant
	}
	if home := a.Getenv("WAYBILL_HOME"); home != "" {
		return a.absolute(filepath.Join(home, tenant))
	}
	data, err := a.BaseDir("XDG_DATA_HOME", ".local/share")
	if err != nil {
		return "", err
	}
	return filepath.Join(data, "waybill", tenant), nil
}

// BaseDir is one of the XDG base directories: the value of a variable, else
// inHome in the home folder. By the specification a relative value counts as
// none.
func (a *App) BaseDir(variable, inHome string) (string, error) {
	if dir := a.Getenv(variable); filepath.IsAbs(dir) {
		return dir, nil
	}
	name := "HOME"
	if runtime.GOOS == "windows" {
		name = "USERPROFILE"
	}
	home := a.Getenv(name)
	if !filepath.IsAbs(home) {
		return "", fault.New(fault.UsageError, "there is no $%s to keep a store in", name).
			Suggest("Name a store with --store DIR, or a folder for all stores with $WAYBILL_HOME.")
	}
	return filepath.Join(home, filepath.FromSlash(inHome)), nil
}

// absolute is a path from the root, so that messages and suggested commands
// hold in any folder.
func (a *App) absolute(path string) (string, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return "", fault.Wrap(err, fault.StoreIO, "the working directory cannot be told: %v", err)
	}
	return abs, nil
}

// Workspace is where a call is made from: the working directory, and the root
// of the repository around it, "" outside of one.
func (a *App) Workspace() (dir, root string, err error) {
	dir, err = os.Getwd()
	if err != nil {
		return "", "", fault.Wrap(err, fault.StoreIO, "the working directory cannot be told: %v", err)
	}
	return dir, gitobserver.Root(dir), nil
}

// Finder searches for workflows from the working directory, and in the folder
// of the user.
func (a *App) Finder() (*discovery.Finder, error) {
	dir, root, err := a.Workspace()
	if err != nil {
		return nil, err
	}
	at := discovery.Places{From: dir, Root: root}
	if config, err := a.BaseDir("XDG_CONFIG_HOME", ".config"); err == nil {
		at.User = filepath.Join(config, "waybill", "workflows")
	}
	return discovery.New(at), nil
}

// Tenant is the name of the store for records that have one, since a store is
// one tenant. It is --tenant, else the name of the folder that --store gives
// where that is a valid name, else the default one.
func (a *App) Tenant() string {
	if a.Flags.Tenant != "" {
		return a.Flags.Tenant
	}
	if name := filepath.Base(a.Flags.Store); a.Flags.Store != "" && isTenantName(name) {
		return name
	}
	return defaultTenant
}
