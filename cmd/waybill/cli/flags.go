package cli

import (
	"time"

	"github.com/spf13/cobra"

	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
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
	JSON           bool // also with --jsonl
	lines          bool // --jsonl, a flag of lists
	NoColor        bool
	noPager        bool
	lockWait       time.Duration
	lockWaitGiven  bool // false: use the value of the store's configuration
	lockWaitMost   *time.Duration
	AllowNetworkFS bool
	logLevel       string
	logFormat      string
}

// AddCommonFlags adds the common flags to the root command. They are parsed into a.Flags and
// checked by Begin.
func (a *App) AddCommonFlags(root *cobra.Command) {
	c := &a.Flags
	*c = Flags{lockWait: configuredLockWait(config.Config{}), logLevel: "warn", logFormat: "text"}
	addOptions(root, root.PersistentFlags(), []Option{
		Opt(&c.Store, "store DIR", "use the store in DIR, or at a postgres:// URL"),
		Opt(&c.Tenant, "tenant NAME", "use the store named NAME instead of local"),
		Opt(&c.Workspace, "workspace NAME", "use proposals and installed artifacts of the workspace NAME"),
		Opt(&c.JSON, "json", "print exactly one JSON document on stdout"),
		Opt(&c.As, "as REF", "record REF as the name of the actor"),
		Opt(&c.lockWait, "lock-wait DURATION",
			"how long to wait for a lock: DURATION such as 500ms or 10s; 0 does not wait"),
		Opt(&c.AllowNetworkFS, "allow-network-fs",
			"allow stores on network filesystems (unsafe with several hosts)"),
		Opt(&c.NoColor, "no-color", "print without colors, like $NO_COLOR"),
		Opt(&c.noPager, "no-pager", "print text without a pager, like $WAYBILL_PAGER=cat"),
		OptOf(&c.logLevel, "log-level LEVEL", []string{"debug", "info", "warn", "error", "off"},
			"lowest LEVEL of diagnostics on stderr: debug, info, warn, error or off"),
		OptOf(&c.logFormat, "log-format FORMAT", []string{"text", "json"}, "FORMAT of diagnostics: text or json"),
	})
	root.SetFlagErrorFunc(flagFault)
	a.given = root.PersistentFlags().Changed
}

// WaitAtMost bounds how long the call waits for a lock, also if the flags or the configuration of the store say a
// longer time. 0: it does not wait.
func (f *Flags) WaitAtMost(most time.Duration) { f.lockWaitMost = &most }

// bounded is a wait within the bound of WaitAtMost.
func (f *Flags) bounded(wait time.Duration) time.Duration {
	if f.lockWaitMost == nil {
		return wait
	}
	return min(wait, *f.lockWaitMost)
}

// EmptyFlag returns the USAGE_ERROR for a flag with an empty value. In a script this is usually
// an unset variable; falling back to the default store would write to the wrong one.
func EmptyFlag(name string) *fault.Fault {
	return fault.New(fault.UsageError, "--%s has an empty value", name).
		Suggest("Give a value, or omit --%s. Check for an unset shell variable.", name)
}

// checkCommon rejects invalid values and combinations of the common flags, before any file is
// opened. All its errors are USAGE_ERROR.
func (a *App) checkCommon() error {
	c := &a.Flags
	// An explicit --lock-wait takes precedence over the store's configuration.
	c.lockWaitGiven = a.given("lock-wait")
	actorErr := a.Actor().Check()
	_, isLevel := logLevels[c.logLevel]
	refuse := func(suggestion, format string, args ...any) *fault.Fault {
		return fault.New(fault.UsageError, format, args...).Suggest("%s", suggestion)
	}
	const nameForm = "Use 1 to 64 of a-z, 0-9, _ and -, starting with a letter or digit."
	for _, rule := range []struct {
		broken  bool
		refusal *fault.Fault
	}{
		{c.Store != "" && c.Tenant != "", refuse("Give one of the two.",
			"--store and --tenant cannot be combined: each selects a store")},
		{c.Tenant != "" && !id.IsTenantName(c.Tenant), refuse(nameForm, "invalid tenant name %q", c.Tenant)},
		{c.Workspace != "" && !id.IsTenantName(c.Workspace),
			refuse(nameForm, "invalid workspace name %q", c.Workspace)},
		{c.lockWait < 0, refuse("Give 0 or more, such as 500ms or 10s.", "--lock-wait %s is negative", c.lockWait)},
		{actorErr != nil, refuse("Give a shorter name.", "--as: %v", actorErr)},
		// The name is stored in every record of the call.
		{c.As != "" && redact.Text(c.As, nil) != c.As, refuse("Give a name, such as your account name.",
			"the value of --as looks like a secret")},
		{!isLevel, refuse("Use debug, info, warn, error or off.", "unknown log level %q", c.logLevel)},
		{c.logFormat != "text" && c.logFormat != "json", refuse("Use text or json.",
			"unknown log format %q", c.logFormat)},
	} {
		if rule.broken {
			return rule.refusal
		}
	}
	return nil
}
