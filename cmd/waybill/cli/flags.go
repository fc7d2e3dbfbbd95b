package cli

import (
	"time"

	"github.com/spf13/cobra"

	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/redact"
	"github.com/waybill/waybill/durable/store/config"
)

// Flags are the values of the flags common to all commands, as given on the command line.
// Fields that only this package uses are not exported.
type Flags struct {
	Store          string
	Tenant         string
	Workspace      string
	As             string
	JSON           bool
	NoColor        bool
	lockWait       time.Duration
	lockWaitGiven  bool // false: use the value of the store's configuration
	AllowNetworkFS bool
	logLevel       string
	logFormat      string
}

// AddCommonFlags adds the common flags to the root command. They are parsed into a.Flags and
// checked by Begin.
func (a *App) AddCommonFlags(root *cobra.Command) {
	f := root.PersistentFlags()
	f.StringVar(&a.Flags.Store, "store", "", "use the store in `DIR`")
	f.StringVar(&a.Flags.Tenant, "tenant", "", "use the store named `NAME` instead of local")
	f.StringVar(&a.Flags.Workspace, "workspace", "", "use proposals and installed artifacts of the workspace `NAME`")
	f.BoolVar(&a.Flags.JSON, "json", false, "print exactly one JSON document on stdout")
	f.StringVar(&a.Flags.As, "as", "", "record `REF` as the name of the actor")
	f.DurationVar(&a.Flags.lockWait, "lock-wait", configuredLockWait(config.Config{}),
		"how long to wait for a lock: `DURATION` such as 500ms or 10s; 0 does not wait")
	f.BoolVar(&a.Flags.AllowNetworkFS, "allow-network-fs", false,
		"allow stores on network filesystems (unsafe with several hosts)")
	f.BoolVar(&a.Flags.NoColor, "no-color", false, "print without colors, like $NO_COLOR")
	f.StringVar(&a.Flags.logLevel, "log-level", "warn",
		"lowest `LEVEL` of diagnostics on stderr: debug, info, warn, error or off")
	f.StringVar(&a.Flags.logFormat, "log-format", "text", "`FORMAT` of diagnostics: text or json")
	root.SetFlagErrorFunc(flagFault)
	a.given = f.Changed
}

// emptyFlag returns the USAGE_ERROR for a flag with an empty name. In a script this is usually
// an unset variable; falling back to the default store would write to the wrong one.
func emptyFlag(name string) error {
	return fault.New(fault.UsageError, "--%s has an empty value", name).
		Suggest("Give a name, or omit --%s for the default. Check for an unset shell variable.", name)
}

// tenantNameMax bounds the name of a tenant or workspace, in bytes. Every supported filesystem
// allows longer directory names.
const tenantNameMax = 64

// isTenantName reports whether s is a valid name of a tenant or workspace: 1 to 64 of a-z,
// 0-9, _ and -, starting with a letter or digit. Such a name is a single directory name, so
// that the resulting path cannot leave the directory of all stores
// (docs/design.md#tenants).
func isTenantName(s string) bool {
	for i, r := range s {
		letter := r >= 'a' && r <= 'z' || r >= '0' && r <= '9'
		if !letter && (i == 0 || r != '_' && r != '-') {
			return false
		}
	}
	return s != "" && len(s) <= tenantNameMax
}

// checkCommon rejects invalid values and combinations of the common flags, before any file is
// opened. All its errors are USAGE_ERROR.
func (a *App) checkCommon() error {
	c := &a.Flags
	// An explicit --lock-wait takes precedence over the store's configuration.
	c.lockWaitGiven = a.given("lock-wait")
	switch {
	case c.Store == "" && a.given("store"):
		return emptyFlag("store")
	case c.Tenant == "" && a.given("tenant"):
		return emptyFlag("tenant")
	case c.Store != "" && c.Tenant != "":
		return fault.New(fault.UsageError, "--store and --tenant cannot be combined: each selects a store").
			Suggest("Give one of the two.")
	case c.Tenant != "" && !isTenantName(c.Tenant):
		return fault.New(fault.UsageError, "invalid tenant name %q", c.Tenant).
			Suggest("Use 1 to 64 of a-z, 0-9, _ and -, starting with a letter or digit.")
	case c.Workspace == "" && a.given("workspace"):
		return emptyFlag("workspace")
	case c.Workspace != "" && !isTenantName(c.Workspace):
		return fault.New(fault.UsageError, "invalid workspace name %q", c.Workspace).
			Suggest("Use 1 to 64 of a-z, 0-9, _ and -, starting with a letter or digit.")
	case c.lockWait < 0:
		return fault.New(fault.UsageError, "--lock-wait %s is negative", c.lockWait).
			Suggest("Give 0 or more, such as 500ms or 10s.")
	}
	if err := a.Actor().Check(); err != nil {
		return fault.New(fault.UsageError, "--as: %v", err).Suggest("Give a shorter name.")
	}
	if redact.Text(c.As, nil) != c.As { // the name is stored in every record of the call
		return fault.New(fault.UsageError, "the value of --as looks like a secret").
			Suggest("Give a name, such as your account name.")
	}
	return a.checkLogging()
}
