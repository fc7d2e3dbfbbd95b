package doctor_test

import (
	"strings"
	"testing"

	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/store/doctor"
)

// fine returns the facts of a machine and a store without problems.
func fine() doctor.Facts {
	return doctor.Facts{
		Binary: doctor.Binary{Version: "1", Platform: "linux/amd64"},
		Store: doctor.Store{Dir: "/s", From: "--store", Kind: doctor.Directory, ID: "store_x", Format: 1, Mode: 0o700,
			OwnedByUser: true},
		Probes: doctor.Probes{Dir: "/s", InStore: true, Excludes: true, RenameKeepsExisting: true,
			SyncMs: []float64{1, 9, 2},
			Umask:  0o22, UmaskKnown: true,
			Filesystem: "ext4", FreeBytes: 1 << 40, SpaceKnown: true},
		Clock:     doctor.Clock{NowMs: 1_760_000_000_000, NewestMs: 1_759_000_000_000},
		Keys:      doctor.Keys{State: "ready", Current: "01234567"},
		Settings:  []doctor.Setting{{File: "config.json"}},
		Workflows: doctor.Workflows{Sources: []doctor.Source{{Name: "bundled", Exists: true, Count: 3}}, Total: 3},
		Git:       doctor.Git{Checked: true, Repository: true, Program: true},
		Terminal:  doctor.Terminal{Checked: true, In: true, Out: true, Width: 80, Colors: true},
		Verified:  doctor.Verified{Checked: true, Sessions: 2, Of: 2},
		Leftovers: doctor.Leftovers{Checked: true},
	}
}

func find(r doctor.Report, n doctor.Name) (doctor.Check, bool) {
	for _, c := range r.Checks {
		if c.Name == n {
			return c, true
		}
	}
	return doctor.Check{}, false
}

func TestJudgeWithoutProblems(t *testing.T) {
	r := doctor.Judge(fine())
	if !r.OK || r.Damaged() || len(r.Checks) != 18 {
		t.Errorf("%d checks, %+v", len(r.Checks), r)
	}
	for _, c := range r.Checks {
		if c.Status != doctor.OK || c.Fix != "" || c.Message == "" {
			t.Errorf("%+v", c)
		}
	}
	if c, _ := find(r, doctor.CheckSync); c.Ms != 2 {
		t.Errorf("the median of 1, 9, 2 is reported as %v", c.Ms)
	}
}

// wrongs returns single problems, each with the check that reports it and the expected result.
func wrongs() []wrong {
	return []wrong{
		{"a file", func(f *doctor.Facts) { f.Store.Kind = doctor.File }, doctor.CheckStore, doctor.Fail, false,
			"not a directory"},
		{"hidden", func(f *doctor.Facts) { f.Store.Kind, f.Store.Why = doctor.Hidden, "permission denied" },
			doctor.CheckStore, doctor.Fail, false, "permission denied"},
		{"unnamed", func(f *doctor.Facts) {
			f.Store = doctor.Store{NotSelected: fault.New(fault.UsageError,
				"no $HOME")}
		},
			doctor.CheckStore, doctor.Fail, false, "no $HOME"},
		{"newer", func(f *doctor.Facts) { f.Store.Problem = fault.New(fault.StoreNewer, "format 2") },
			doctor.CheckStore, doctor.Fail, false, "format 2"},
		{"damaged", func(f *doctor.Facts) { f.Store.Problem = fault.New(fault.StoreCorrupt, "x") }, doctor.CheckStore,
			doctor.Fail, true, "x"},
		{"foreign", func(f *doctor.Facts) { f.Store.ID, f.Store.Foreign = "", true }, doctor.CheckStore, doctor.Warn,
			false, "another program"},
		{"in use", func(f *doctor.Facts) { f.Store.InUse, f.Store.Holder = true, 7 }, doctor.CheckStore, doctor.Warn,
			false, "process 7"},
		{"missing", func(f *doctor.Facts) { f.Store = doctor.Store{Dir: "/s", Kind: doctor.Missing} },
			doctor.CheckStore, doctor.OK, false, "does not exist yet"},
		{"another user's", func(f *doctor.Facts) { f.Store.OwnedByUser, f.Store.Owner = false, "ann" },
			doctor.CheckOwner,
			doctor.Warn, false, "ann"},
		{"read-only", func(f *doctor.Facts) { f.Probes.Why = "read-only file system" }, doctor.CheckWrite, doctor.Fail,
			false, "read-only"},
		{"full", func(f *doctor.Facts) { f.Probes.Write = "no space left" }, doctor.CheckWrite, doctor.Fail, false,
			"no space"},
		{"other bytes read", func(f *doctor.Facts) { f.Probes.Read = "other bytes" },
			doctor.CheckWrite, doctor.Fail, false,
			"other bytes"},
		{"left", func(f *doctor.Facts) { f.Probes.Unremoved = ".tmp-x" }, doctor.CheckWrite, doctor.Warn, false,
			".tmp-x"},
		{"no locks", func(f *doctor.Facts) { f.Probes.Lock = "not supported" }, doctor.CheckLocks, doctor.Fail, false,
			"not supported"},
		{"two holders", func(f *doctor.Facts) { f.Probes.Excludes = false }, doctor.CheckLocks, doctor.Fail, false,
			"second time"},
		{"replacing", func(f *doctor.Facts) { f.Probes.RenameKeepsExisting = false }, doctor.CheckRename, doctor.Fail,
			false,
			"existing file"},
		{"no names", func(f *doctor.Facts) { f.Probes.RenameError = "denied" }, doctor.CheckRename, doctor.Fail, false,
			"denied"},
		{"no sync", func(f *doctor.Facts) { f.Probes.SyncDir = "invalid" }, doctor.CheckSync, doctor.Fail, false,
			"invalid"},
		{"slow", func(f *doctor.Facts) { f.Probes.SyncMs = []float64{50} }, doctor.CheckSync, doctor.Warn, false,
			"150.0 ms"},
		{"too fast", func(f *doctor.Facts) { f.Probes.SyncMs = []float64{0.001} }, doctor.CheckSync, doctor.Warn, false,
			"4 KiB"},
		{"network", func(f *doctor.Facts) { f.Probes.Filesystem, f.Probes.Network = "nfs", true },
			doctor.CheckFilesystem, doctor.Fail, false, "nfs"},
		{"allowed", func(f *doctor.Facts) { f.Probes.Network, f.Probes.Allowed = true, true }, doctor.CheckFilesystem,
			doctor.Warn, false, "allowed"},
		{"memory", func(f *doctor.Facts) { f.Probes.Memory = true }, doctor.CheckFilesystem, doctor.Warn, false,
			"memory"},
		{"little space", func(f *doctor.Facts) { f.Probes.FreeBytes = 100 << 20 },
			doctor.CheckSpace, doctor.Warn, false,
			"100.0 MiB"},
		{"no space", func(f *doctor.Facts) { f.Probes.FreeBytes = 12 }, doctor.CheckSpace, doctor.Fail, false,
			"12 bytes"},
		{"open", func(f *doctor.Facts) { f.Store.Mode = 0o755 }, doctor.CheckPrivacy, doctor.Warn, false, "0755"},
		{"never set", func(f *doctor.Facts) { f.Clock.NowMs = 1 }, doctor.CheckClock, doctor.Warn, false, "2025"},
		{"behind", func(f *doctor.Facts) { f.Clock.NewestMs = f.Clock.NowMs + 3*3600_000 }, doctor.CheckClock,
			doctor.Warn, false, "3 hours ahead"},
		{"jumping", func(f *doctor.Facts) { f.Probes.WallDriftMs = -5000 }, doctor.CheckClock, doctor.Warn, false,
			"5 seconds"},
		{"keys gone", func(f *doctor.Facts) { f.Keys = doctor.Keys{State: "missing"} }, doctor.CheckKeyring,
			doctor.Warn, false, "invalid"},
		{"keys damaged", func(f *doctor.Facts) { f.Keys = doctor.Keys{State: "unusable", Problem: "why"} },
			doctor.CheckKeyring, doctor.Fail, true, "why"},
		{"config damaged", func(f *doctor.Facts) { f.Settings[0].Problem = "why" }, doctor.CheckSettings, doctor.Fail,
			true, "why"},
		{"errors", func(f *doctor.Facts) { f.Verified.Errors, f.Verified.First = 2, "the first" }, doctor.CheckVerify,
			doctor.Fail, true, "the first"},
		{"warnings", func(f *doctor.Facts) { f.Verified.Warnings = 1 }, doctor.CheckVerify, doctor.Warn, false,
			"1 warning"},
		{"unread", func(f *doctor.Facts) { f.Verified.Why = "denied" }, doctor.CheckVerify, doctor.Fail, false,
			"denied"},
		{"leftovers", func(f *doctor.Facts) { f.Leftovers.Temporary = 2 }, doctor.CheckLeftovers, doctor.Warn, false,
			"2 leftover files"},
		{"much trash", func(f *doctor.Facts) { f.Leftovers.Trashed, f.Leftovers.TrashBytes = 1, 2<<30 },
			doctor.CheckLeftovers,
			doctor.Warn, false, "2.0 GiB"},
		{"little trash", func(f *doctor.Facts) { f.Leftovers.Trashed, f.Leftovers.Quarantined = 1, 1 },
			doctor.CheckLeftovers,
			doctor.OK, false, "quarantine"},
		{"broken files", func(f *doctor.Facts) { f.Workflows.Broken = []string{"a", "b", "c", "d"} },
			doctor.CheckWorkflows, doctor.Warn, false, "and 1 more"},
		{"workflows not listed", func(f *doctor.Facts) { f.Workflows.Why = "why" },
			doctor.CheckWorkflows, doctor.Warn, false,
			"why"},
		{"no git", func(f *doctor.Facts) { f.Git = doctor.Git{Checked: true} }, doctor.CheckGit, doctor.OK, false,
			"not needed"},
		{"no terminal", func(f *doctor.Facts) { f.Terminal = doctor.Terminal{Checked: true} }, doctor.CheckTerminal,
			doctor.OK, false, "not connected"},
	}
}

// wrong is one change of the facts, and the check that reports it.
type wrong struct {
	what    string
	change  func(*doctor.Facts)
	name    doctor.Name
	status  doctor.Status
	damaged bool
	message string // a part of it
}

func TestJudgeReportsSingleProblems(t *testing.T) {
	for _, tt := range wrongs() {
		f := fine()
		tt.change(&f)
		r := doctor.Judge(f)
		c, found := find(r, tt.name)
		if !found || c.Status != tt.status || !strings.Contains(c.Message, tt.message) {
			t.Errorf("%s: %+v", tt.what, c)
		}
		if (c.Fix == "") != (tt.status == doctor.OK) && tt.what != "unnamed" && tt.what != "newer" {
			t.Errorf("%s: the fix is %q", tt.what, c.Fix)
		}
		if r.OK != (tt.status != doctor.Fail) || r.Damaged() != tt.damaged {
			t.Errorf("%s: ok %v, damaged %v", tt.what, r.OK, r.Damaged())
		}
		for _, other := range r.Checks {
			if other.Name != tt.name && other.Status != doctor.OK {
				t.Errorf("%s: also reported %+v", tt.what, other)
			}
		}
	}
}

// Checks without facts are left out: where nothing can be written, locks were not tried.
func TestJudgeLeavesOutUntriedChecks(t *testing.T) {
	f := fine()
	f.Probes = doctor.Probes{Dir: "/s", Why: "denied"}
	r := doctor.Judge(f)
	for _, n := range []doctor.Name{doctor.CheckLocks, doctor.CheckRename, doctor.CheckSync, doctor.CheckFilesystem,
		doctor.CheckSpace} {
		if c, found := find(r, n); found {
			t.Errorf("%+v", c)
		}
	}
}
