package doctor

import "fmt"

// Status is the closed set of what a check comes to.
type Status string

// The statuses.
const (
	OK   Status = "ok"
	Warn Status = "warn"
	Fail Status = "fail"
)

// Name is the closed set of checks.
type Name string

// The checks, in the order in which they are told.
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

// Check is one of them: what is so, and what to do about it.
type Check struct {
	Name    Name    `json:"name"`
	Status  Status  `json:"status"`
	Message string  `json:"message"`
	Fix     string  `json:"fix,omitzero"`
	Ms      float64 `json:"ms,omitzero"` // where something was measured

	damaged bool
}

// Report is the document "doctor". OK says that no check failed.
type Report struct {
	OK     bool    `json:"ok"`
	Checks []Check `json:"checks"`
}

// Damaged reports that something which was written is not what it was.
func (r Report) Damaged() bool {
	for _, c := range r.Checks {
		if c.damaged && c.Status == Fail {
			return true
		}
	}
	return false
}

// Judge says what the facts mean. A check about which nothing was found out is left out.
func Judge(f Facts) Report {
	r := Report{OK: true, Checks: []Check{}}
	for _, check := range []func(Facts) (Check, bool){
		binary, store, owner, write, locks, rename, syncs, filesystem, space, privacy,
		clock, keyring, settings, verified, leftovers, workflows, git, terminal,
	} {
		c, told := check(f)
		if !told {
			continue
		}
		r.OK = r.OK && c.Status != Fail
		r.Checks = append(r.Checks, c)
	}
	return r
}

func ok(n Name, format string, args ...any) Check {
	return Check{Name: n, Status: OK, Message: fmt.Sprintf(format, args...)}
}

func warn(n Name, fix, format string, args ...any) Check {
	return Check{Name: n, Status: Warn, Message: fmt.Sprintf(format, args...), Fix: fix}
}

func fail(n Name, fix, format string, args ...any) Check {
	return Check{Name: n, Status: Fail, Message: fmt.Sprintf(format, args...), Fix: fix}
}

func plural(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}
