package read

import (
	"cmp"
	"strings"
	"sync"

	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/sorting"
	"github.com/waybill/waybill/infra/osfs"
)

// othersMask are the permissions of group and others.
const othersMask = 0o077

// FindingList collects findings about the entries of one directory from several goroutines.
type FindingList struct {
	mu  sync.Mutex
	all []orderedFinding
}

// orderedFinding is a finding with its sort key.
type orderedFinding struct {
	pass int // findings of the listing (0) precede those of the files (1)
	name string
	manifest.Finding
}

// Find adds a finding about the entry name, whose path is at.
func (o *FindingList) Find(pass int, name string, code manifest.FindingCode, at, format string, args ...any) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.all = append(o.all, orderedFinding{pass, name, manifest.NewFinding(code, at, format, args...)})
}

// CheckMode adds a finding about an entry that other users can open.
func (o *FindingList) CheckMode(name, at string, info osfs.Info) {
	if info.Perm&othersMask != 0 {
		o.Find(0, name, manifest.LooseMode, at, "other users can open it (mode %#o)", info.Perm)
	}
}

// InOrder returns the findings sorted by pass and name, independent of the goroutines that found
// them.
func (o *FindingList) InOrder() (out []manifest.Finding) {
	sorting.Stable(o.all,
		func(a, b orderedFinding) int { return cmp.Or(a.pass-b.pass, strings.Compare(a.name, b.name)) })
	for _, f := range o.all {
		out = append(out, f.Finding)
	}
	return out
}
