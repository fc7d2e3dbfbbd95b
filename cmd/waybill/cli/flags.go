package cli

import (
	"time"

	"github.com/spf13/cobra"

	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/redact"
	"github.com/waybill/waybill/durable/store/config"
)

// Flags are the flags of every command, as they were given. What is used within
// this package alone is not exported.
type Flags struct {
	Store          string
	Tenant         string
	Workspace      string
	As             string
	JSON           bool
	NoColor        bool
	lockWait       time.Duration
	lockWaitGiven  bool // else the store's configuration says
	AllowNetworkFS bool
	logLevel       string
	logFormat      string
}

// AddCommonFlags adds the flags to the root command. They are parsed into
// a.Flags; Begin checks them.
func (a *App) AddCommonFlags(root *cobra.Command) {
	f := root.PersistentFlags()
	f.StringVar(&a.Flags.Store, "store", "", "use the store in `DIR`")
	f.StringVar(&a.Flags.Tenant, "tenant", "", "use the store called `NAME` beside the default one")
	f.StringVar(&a.Flags.Workspace, "workspace", "", "use what is proposed and installed in the workspace `NAME`")
	f.BoolVar(&a.Flags.JSON, "json", false, "answer with exactly one JSON document on stdout")
	f.StringVar(&a.Flags.As, "as", "", "put on record that `REF` acts")
	f.DurationVar(&a.Flags.lockWait, "lock-wait", configuredLockWait(config.Config{}),
		"wait at most `DURATION`, such as 500ms or 10s, for another writer; 0 fails at once")
	f.BoolVar(&a.Flags.AllowNetworkFS, "allow-network-fs", false,
		"accept a store on a network filesystem that one machine alone uses")
	f.BoolVar(&a.Flags.NoColor, "no-color", false, "print without colors, as with $NO_COLOR")
	f.StringVar(&a.Flags.logLevel, "log-level", "warn",
		"print diagnostics on stderr from `LEVEL` on: debug, info, warn, error, off")
	f.StringVar(&a.Flags.logFormat, "log-format", "text", "print diagnostics as `FORMAT`: text or json")
	root.SetFlagErrorFunc(flagFault)
	a.given = f.Changed
}

// emptyFlag is the error for a name that is given and empty. In a script that
// is a variable that is not set, and what was meant for another store must not
// reach the default one.
func emptyFlag(name string) error {
	return fault.New(fault.UsageError, "--%s is given and empty", name).
		Suggest("Give a name, or leave --%s out to use the default store. Is a variable not set?", name)
}

// tenantNameMax is a length that every filesystem takes for a folder's name,
// with room.
const tenantNameMax = 64

// isTenantName reports whether a name is one folder below the home of all
// stores: it cannot lead to another place.
func isTenantName(s string) bool {
	for i, r := range s {
		letter := r >= 'a' && r <= 'z' || r >= '0' && r <= '9'
		if !letter && (i == 0 || r != '_' && r != '-') {
			return false
		}
	}
	return s != "" && len(s) <= tenantNameMax
}

// checkCommon refuses what the flags alone show to be wrong, before anything is
// opened.
func (a *App) checkCommon() error {
	c := &a.Flags
	// The configuration of the store counts only where the call says nothing.
	c.lockWaitGiven = a.given("lock-wait")
	switch {
	case c.Store == "" && a.given("store"):
		return emptyFlag("store")
	case c.Tenant == "" && a.given("tenant"):
		return emptyFlag("tenant")
	case c.Store != "" && c.Tenant != "":
		return fault.New(fault.UsageError, "--store names one store exactly and --tenant another one").
			Suggest("Give one of the two.")
	case c.Tenant != "" && !isTenantName(c.Tenant):
		return fault.New(fault.UsageError, "%q cannot name a tenant", c.Tenant).
			Suggest("Use 1 to 64 of a-z, 0-9, _ and -, starting with a letter or digit.")
	case c.Workspace == "" && a.given("workspace"):
		return emptyFlag("workspace")
	case c.Workspace != "" && !isTenantName(c.Workspace):
		return fault.New(fault.UsageError, "%q cannot name a workspace", c.Workspace).
			Suggest("Use 1 to 64 of a-z, 0-9, _ and -, starting with a letter or digit.")
	case c.lockWait < 0:
		return fault.New(fault.UsageError, "--lock-wait %s is negative", c.lockWait).
			Suggest("Give 0 or more, such as 500ms or 10s.")
	}
	if err := a.Actor().Check(); err != nil {
		return fault.New(fault.UsageError, "--as: %v", err).Suggest("Give a shorter name.")
	}
	if redact.Text(c.As, nil) != c.As { // it would be in every record
		return fault.New(fault.UsageError, "--as holds what looks like a secret").
			Suggest("Give a name, such as the one of your account.")
	}
	return a.checkLogging()
}
