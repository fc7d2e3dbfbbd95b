package doctor

import "fmt"

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
	for _, c := range r.Checks {
		if c.damaged && c.Status == Fail {
			return true
		}
	}
	return false
}

// Judge returns the report about the facts. A check without facts is left out.
func Judge(f Facts) Report {
	r := Report{OK: true, Checks: []Check{}}
	for _, check := range []func(Facts) (Check, bool){
		binary, store, owner, write, locks, rename, syncs, filesystem, space, privacy,
		clock, keyring, settings, verified, leftovers, workflows, git, terminal,
	} {
		c, known := check(f)
		if !known {
			continue
		}
		r.OK = r.OK && c.Status != Fail
		r.Checks = append(r.Checks, c)
	}
	return r
}

// ok, warn and fail return a check with that status and a formatted message.
func ok(n Name, format string, args ...any) Check {
	return Check{Name: n, Status: OK, Message: fmt.Sprintf(format, args...)}
}

func warn(n Name, fix, format string, args ...any) Check {
	return Check{Name: n, Status: Warn, Message: fmt.Sprintf(format, args...), Fix: fix}
}

func fail(n Name, fix, format string, args ...any) Check {
	return Check{Name: n, Status: Fail, Message: fmt.Sprintf(format, args...), Fix: fix}
}

// plural returns n and a noun whose plural ends in s.
func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
