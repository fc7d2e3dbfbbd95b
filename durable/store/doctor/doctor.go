package doctor

import (
	"fmt"
	"slices"
)

// Status is the closed set of results of a check.
type Status string

// The statuses. A failed check means that Waybill cannot work, or that data is damaged.
const (
	OK   Status = "ok"
	Warn Status = "warn"
	Fail Status = "fail"
)

// Name is the closed set of checks.
type Name string

// The checks, in the order of a report. The names are part of the document "doctor".
const (
	CheckBinary     Name = "binary"
	CheckStore      Name = "store"
	CheckDatabase   Name = "database"
	CheckRights     Name = "rights"
	CheckDurability Name = "durability"
	CheckOwner      Name = "owner"
	CheckWrite      Name = "write"
	CheckLocks      Name = "locks"
	CheckRename     Name = "rename"
	CheckSync       Name = "sync"
	CheckFilesystem Name = "filesystem"
	CheckSpace      Name = "space"
	CheckPrivacy    Name = "privacy"
	CheckClock      Name = "clock"
	CheckKeyring    Name = "keyring"
	CheckSettings   Name = "settings"
	CheckVerify     Name = "verify"
	CheckLeftovers  Name = "leftovers"
	CheckWorkflows  Name = "workflows"
	CheckGit        Name = "git"
	CheckTerminal   Name = "terminal"
)

// Check is the result of one check.
type Check struct {
	Name    Name    `json:"name"`
	Status  Status  `json:"status"`
	Message string  `json:"message"`
	Fix     string  `json:"fix,omitzero"` // what to do; "" with status ok
	Ms      float64 `json:"ms,omitzero"`  // the measured time, for sync

	damaged bool // stored data is damaged
}

// Report is the document "doctor". OK is true if no check failed.
type Report struct {
	OK     bool    `json:"ok"`
	Checks []Check `json:"checks"`
}

// Damaged reports whether a failed check found damaged data, for which the command exits with
// fault.ExitIntegrity.
func (r Report) Damaged() bool {
	return slices.ContainsFunc(r.Checks, func(c Check) bool { return c.damaged })
}

// checks lists the checks in the order of a report. Each concludes from the facts; a result
// without a status means that there are no facts for it.
var checks = []struct {
	name Name
	run  func(Facts) Check
}{
	{CheckBinary, binary}, {CheckStore, store}, {CheckDatabase, database}, {CheckRights, rights},
	{CheckDurability, durability}, {CheckOwner, owner}, {CheckWrite, write}, {CheckLocks, locks},
	{CheckRename, rename}, {CheckSync, syncs}, {CheckFilesystem, filesystem}, {CheckSpace, space},
	{CheckPrivacy, privacy}, {CheckClock, clock}, {CheckKeyring, keyring}, {CheckSettings, settings},
	{CheckVerify, verified}, {CheckLeftovers, leftovers}, {CheckWorkflows, workflows}, {CheckGit, git},
	{CheckTerminal, terminal},
}

// Judge returns the report about the facts. A check without facts is left out.
func Judge(f Facts) Report {
	r := Report{OK: true, Checks: []Check{}}
	for _, check := range checks {
		if c := check.run(f); c.Status != "" {
			c.Name = check.name
			r.OK = r.OK && c.Status != Fail
			r.Checks = append(r.Checks, c)
		}
	}
	return r
}

// rule is one possible result of a check. It holds where the facts are such.
type rule struct {
	holds  bool
	result Check
}

// unknown is the result of a check without facts.
var unknown = Check{}

// first returns the result of the first rule that holds, and unknown without any.
func first(rules []rule) Check {
	for _, r := range rules {
		if r.holds {
			return r.result
		}
	}
	return unknown
}

// ok, warn, fail and damage return a result with a formatted message; damage is a failure for which
// stored data is damaged.
//
//go:noinline
func ok(format string, args ...any) Check {
	return Check{Status: OK, Message: fmt.Sprintf(format, args...)}
}

//go:noinline
func warn(fix, format string, args ...any) Check {
	return Check{Status: Warn, Message: fmt.Sprintf(format, args...), Fix: fix}
}

//go:noinline
func fail(fix, format string, args ...any) Check {
	return Check{Status: Fail, Message: fmt.Sprintf(format, args...), Fix: fix}
}

func damage(fix, format string, args ...any) Check {
	return Check{Status: Fail, Message: fmt.Sprintf(format, args...), Fix: fix, damaged: true}
}

// plural returns n and a noun whose plural ends in s.
//
//go:noinline
func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
