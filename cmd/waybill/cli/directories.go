package cli

import (
	"cmp"
	"os"
	"path/filepath"
	"runtime"

	"github.com/waybill/waybill/cmd/waybill/cli/stores"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/infra/discovery"
	"github.com/waybill/waybill/infra/gitobserver"
)

// defaultTenant is the name of the store that is used without --store and --tenant.
const defaultTenant = "local"

// dataInHome is the directory for data in the home directory, without $XDG_DATA_HOME.
const dataInHome = ".local/share"

// StoreName returns what selects the store of the call from any directory, the absolute path of a store in a directory:
// that of --store or $WAYBILL_STORE, or the directory named by the tenant in $WAYBILL_HOME, or else in waybill in the
// XDG data directory. A store in a database is selected by its URL. The directory need not exist. Without a home directory the error is
// USAGE_ERROR.
func (a *App) StoreName() (string, error) {
	if name := a.namedStore(); stores.IsURL(name) {
		return name, stores.CheckURL(name)
	} else if name != "" {
		return a.absolute(name)
	}
	tenant := cmp.Or(a.Flags.Tenant, defaultTenant)
	if home := a.Getenv("WAYBILL_HOME"); home != "" {
		return a.absolute(filepath.Join(home, tenant))
	}
	data, err := a.BaseDir("XDG_DATA_HOME", dataInHome)
	if err != nil {
		return "", err
	}
	return filepath.Join(data, "waybill", tenant), nil
}

// namedStore is the store of --store, else of $WAYBILL_STORE if no tenant is named; "" if neither names one.
func (a *App) namedStore() string {
	if a.Flags.Store != "" || a.Flags.Tenant != "" {
		return a.Flags.Store
	}
	return a.Getenv("WAYBILL_STORE")
}

// BaseDir returns one of the XDG base directories: the value of the variable, or inHome in the
// home directory. As the specification requires, a relative value is ignored. The error is
// USAGE_ERROR, if the home directory is not set either.
func (p *Process) BaseDir(variable, inHome string) (string, error) {
	if dir := p.Getenv(variable); filepath.IsAbs(dir) {
		return dir, nil
	}
	home := p.home()
	if home == "" {
		return "", fault.New(fault.UsageError, "cannot find the default store: $%s is not set", homeVariable()).
			Suggest("Give a store with --store DIR, or set $WAYBILL_HOME to a directory for all stores.")
	}
	return filepath.Join(home, filepath.FromSlash(inHome)), nil
}

// home returns the absolute path of the home directory, "" if it is not known.
func (p *Process) home() string {
	if home := p.Getenv(homeVariable()); filepath.IsAbs(home) {
		return home
	}
	return ""
}

// homeVariable is the environment variable with the home directory.
func homeVariable() string {
	if runtime.GOOS == "windows" {
		return "USERPROFILE"
	}
	return "HOME"
}

// absolute returns an absolute path, so that messages and suggested commands are valid in any
// directory.
func (p *Process) absolute(path string) (string, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return "", fault.Wrap(err, fault.StoreIO, "cannot determine the working directory: %v", err)
	}
	return abs, nil
}

// Workspace returns the working directory and the root of the Git repository that contains it,
// "" outside of a repository. The error is STORE_IO.
func (a *App) Workspace() (dir, root string, err error) {
	dir, err = os.Getwd()
	if err != nil {
		return "", "", fault.Wrap(err, fault.StoreIO, "cannot determine the working directory: %v", err)
	}
	return dir, gitobserver.Root(dir), nil
}

// TrustRoot returns the place in which trust counts: the root of the repository that contains the
// working directory, else the working directory, with all links resolved. Links are resolved before
// the root is searched, so that a link into a repository is that repository
// (docs/design.md#commands-and-trust). The error is STORE_IO.
func (p *Process) TrustRoot() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", fault.Wrap(err, fault.StoreIO, "cannot determine the working directory: %v", err)
	}
	return trustRootOf(dir)
}

// trustRootOf is TrustRoot for another directory, given as an absolute path.
func trustRootOf(dir string) (string, error) {
	dir, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return "", fault.Wrap(err, fault.StoreIO, "cannot determine the working directory: %v", err)
	}
	return cmp.Or(gitobserver.Root(dir), dir), nil
}

// Finder returns the finder of workflow files: from the working directory up to the root of
// the repository, in the user's configuration directory and in that of WorkRail if they are known,
// and in the given attached folders.
func (a *App) Finder(attached ...discovery.Attached) (*discovery.Finder, error) {
	dir, root, err := a.Workspace()
	if err != nil {
		return nil, err
	}
	at := discovery.Places{From: dir, Root: root, Attached: attached}
	if config, err := a.ConfigDir(); err == nil {
		at.User = filepath.Join(config, "workflows")
	}
	if home := a.home(); home != "" {
		at.WorkRail = filepath.Join(home, ".workrail", "workflows")
	}
	return discovery.New(at), nil
}

// ConfigDir returns the directory with the configuration of the user on this machine. The error is
// USAGE_ERROR, if the home directory is not known.
func (p *Process) ConfigDir() (string, error) {
	config, err := p.BaseDir("XDG_CONFIG_HOME", ".config")
	return filepath.Join(config, "waybill"), err
}

// tenant returns the name of the tenant of a new store: --tenant, or the base name of
// --store if it is a valid tenant name, or the default (docs/design.md#tenants).
func (a *App) tenant() string {
	if a.Flags.Tenant != "" {
		return a.Flags.Tenant
	}
	if named := a.namedStore(); named != "" && id.IsTenantName(filepath.Base(named)) {
		return filepath.Base(named)
	}
	return defaultTenant
}
