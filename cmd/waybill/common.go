package main

import (
	"time"

	"github.com/spf13/cobra"

	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/redact"
	"github.com/waybill/waybill/durable/store/config"
)

// common are the flags of every command.
type common struct {
	store          string
	tenant         string
	workspace      string
	as             string
	json           bool
	noColor        bool
	lockWait       time.Duration
	lockWaitGiven  bool // else the store's configuration says
	allowNetworkFS bool
	logLevel       string
	logFormat      string
}

func (a *app) addCommonFlags(root *cobra.Command) {
	f := root.PersistentFlags()
	f.StringVar(&a.common.store, "store", "", "use the store in `DIR`")
	f.StringVar(&a.common.tenant, "tenant", "", "use the store called `NAME` beside the default one")
	f.StringVar(&a.common.workspace, "workspace", "", "use what is proposed and installed in the workspace `NAME`")
	f.BoolVar(&a.common.json, "json", false, "answer with exactly one JSON document on stdout")
	f.StringVar(&a.common.as, "as", "", "put on record that `REF` acts")
	f.DurationVar(&a.common.lockWait, "lock-wait", configuredLockWait(config.Config{}),
		"wait at most `DURATION`, such as 500ms or 10s, for another writer; 0 fails at once")
	f.BoolVar(&a.common.allowNetworkFS, "allow-network-fs", false,
		"accept a store on a network filesystem that one machine alone uses")
	f.BoolVar(&a.common.noColor, "no-color", false, "print without colors, as with $NO_COLOR")
	f.StringVar(&a.common.logLevel, "log-level", "warn",
		"print diagnostics on stderr from `LEVEL` on: debug, info, warn, error, off")
	f.StringVar(&a.common.logFormat, "log-format", "text", "print diagnostics as `FORMAT`: text or json")
	root.SetFlagErrorFunc(flagFault)
	a.given = f.Changed
}

// emptyFlag refuses a name that is there and empty: in a script it is a variable that
// is not set, and what was meant for another store must not reach the default one.
func emptyFlag(name string) error {
	return fault.New(fault.UsageError, "--%s is given and empty", name).
		Suggest("Give a name, or leave --%s out to use the default store. Is a variable not set?", name)
}

// tenantNameMax is what every filesystem takes for a folder's name, with room.
const tenantNameMax = 64

// isTenantName keeps a tenant within one folder of the home.
func isTenantName(s string) bool {
	for i, r := range s {
		letter := r >= 'a' && r <= 'z' || r >= '0' && r <= '9'
		if !letter && (i == 0 || r != '_' && r != '-') {
			return false
		}
	}
	return s != "" && len(s) <= tenantNameMax
}

// checkCommon refuses what flags alone can show to be wrong, before anything is
// opened.
func (a *app) checkCommon() error {
	c := &a.common
	// The configuration of the store counts only where the call says nothing.
	c.lockWaitGiven = a.given("lock-wait")
	switch {
	case c.store == "" && a.given("store"):
		return emptyFlag("store")
	case c.tenant == "" && a.given("tenant"):
		return emptyFlag("tenant")
	case c.store != "" && c.tenant != "":
		return fault.New(fault.UsageError, "--store names one store exactly and --tenant another one").
			Suggest("Give one of the two.")
	case c.tenant != "" && !isTenantName(c.tenant):
		return fault.New(fault.UsageError, "%q cannot name a tenant", c.tenant).
			Suggest("Use 1 to 64 of a-z, 0-9, _ and -, starting with a letter or digit.")
	case c.workspace == "" && a.given("workspace"):
		return emptyFlag("workspace")
	case c.workspace != "" && !isTenantName(c.workspace):
		return fault.New(fault.UsageError, "%q cannot name a workspace", c.workspace).
			Suggest("Use 1 to 64 of a-z, 0-9, _ and -, starting with a letter or digit.")
	case c.lockWait < 0:
		return fault.New(fault.UsageError, "--lock-wait %s is negative", c.lockWait).
			Suggest("Give 0 or more, such as 500ms or 10s.")
	}
	if err := a.actor().Check(); err != nil {
		return fault.New(fault.UsageError, "--as: %v", err).Suggest("Give a shorter name.")
	}
	if redact.Text(c.as, nil) != c.as { // it would stand in every record
		return fault.New(fault.UsageError, "--as holds what looks like a secret").
			Suggest("Give a name, such as the one of your account.")
	}
	return a.checkLogging()
}
