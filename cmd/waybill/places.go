package main

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

// storeDir is the store that the flags and the environment name (R13).
func (a *app) storeDir() (string, error) {
	if a.common.store != "" {
		return a.absolute(a.common.store)
	}
	tenant := a.common.tenant
	if tenant == "" {
		tenant = defaultTenant
	}
	if home := a.getenv("WAYBILL_HOME"); home != "" {
		return a.absolute(filepath.Join(home, tenant))
	}
	data, err := a.baseDir("XDG_DATA_HOME", ".local/share")
	if err != nil {
		return "", err
	}
	return filepath.Join(data, "waybill", tenant), nil
}

// baseDir is one of the XDG base directories. By their specification a relative
// value counts as none.
func (a *app) baseDir(variable, inHome string) (string, error) {
	if dir := a.getenv(variable); filepath.IsAbs(dir) {
		return dir, nil
	}
	name := "HOME"
	if runtime.GOOS == "windows" {
		name = "USERPROFILE"
	}
	home := a.getenv(name)
	if !filepath.IsAbs(home) {
		return "", fault.New(fault.UsageError, "there is no $%s to keep a store in", name).
			Suggest("Name a store with --store DIR, or a folder for all stores with $WAYBILL_HOME.")
	}
	return filepath.Join(home, filepath.FromSlash(inHome)), nil
}

func (a *app) absolute(path string) (string, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return "", fault.Wrap(err, fault.StoreIO, "the working directory cannot be told: %v", err)
	}
	return abs, nil
}

// workspace is where a call is made from: the working directory and the root of
// the repository around it, "" outside one.
func (a *app) workspace() (dir, root string, err error) {
	dir, err = os.Getwd()
	if err != nil {
		return "", "", fault.Wrap(err, fault.StoreIO, "the working directory cannot be told: %v", err)
	}
	return dir, gitobserver.Root(dir), nil
}

// finder looks for workflows where this call is made from.
func (a *app) finder() (*discovery.Finder, error) {
	dir, root, err := a.workspace()
	if err != nil {
		return nil, err
	}
	at := discovery.Places{From: dir, Root: root}
	if config, err := a.baseDir("XDG_CONFIG_HOME", ".config"); err == nil {
		at.User = filepath.Join(config, "waybill", "workflows")
	}
	return discovery.New(at), nil
}
