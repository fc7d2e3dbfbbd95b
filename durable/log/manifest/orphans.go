package manifest

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"github.com/waybill/waybill/durable/sorting"
)

// span identifies a segment by its events. A directory may have a hundred thousand segments, whose
// names as text would take much more memory.
type span struct{ first, last int64 }

func (s span) name() string { return SegmentName(s.first, s.last) }

// orphans adds findings for segments that no group commits (docs/design.md#log-tail). A segment at
// the next index is left by a crash, or is all that is left of a lost last group; the two cases
// cannot be distinguished. A segment beyond the next index proves that more was committed, unless an
// import began to extend the log at this head. One
// before it means that two appends began at one index. A reading that starts at a known head does
// not list the directory unless it had to anyway.
func (r *reader) orphans() error {
	if r.v.Damaged() || !r.in.From.IsZero() && !r.listed || r.early != nil && !slices.ContainsFunc(r.early, r.isOrphan) {
		return nil
	}
	if err := r.list(); err != nil {
		return err
	}
	for _, there := range r.onDisk {
		if there.first < r.v.Head.Next && (!r.in.From.IsZero() || r.commits(there)) {
			continue
		}
		where := path.Join(r.in.Log.Root, SegmentDir, there.name())
		switch {
		case there.first >= r.v.Head.Next && r.isPending():
			r.v.Orphans = append(r.v.Orphans, there.name())
			r.v.Findings = append(r.v.Findings,
				NewFinding(OrphanSegment, where, "no group commits the segment: an import that extends the log did not finish"))
		case there.first > r.v.Head.Next:
			r.v.markDamaged(NewFinding(LostTail, where,
				"the segment begins beyond event %d: what was committed before it is lost", r.v.Head.Next))
			return nil
		case there.first == r.v.Head.Next:
			// Without a torn group, nothing shows that the manifest did not end here.
			code := OrphanSegment
			if r.v.TailBytes == 0 && !r.v.Head.IsZero() {
				code = UncommittedTail
			}
			r.v.Orphans = append(r.v.Orphans, there.name())
			r.v.Findings = append(r.v.Findings,
				NewFinding(code, where,
					"no group commits the segment: an append that never was acknowledged, or one whose group is lost"))
		default:
			r.v.Findings = append(r.v.Findings,
				NewFinding(OrphanSegment, where, "no group commits the segment: another one stands in its place"))
		}
	}
	return nil
}

// isPending reports that an import began to extend the log at its head.
func (r *reader) isPending() bool {
	if r.in.Pending == nil {
		return false
	}
	next, ok := r.in.Pending()
	return ok && next == r.v.Head.Next
}

// isOrphan is the opposite of commits.
func (r *reader) isOrphan(s span) bool { return !r.commits(s) }

// commits reports whether s is one of the segments that were read. They are contiguous, so their
// first events identify them.
func (r *reader) commits(s span) bool {
	i, ok := slices.BinarySearch(r.committed, s.first)
	if !ok {
		return false
	}
	end := r.v.Head.Next
	if i+1 < len(r.committed) {
		end = r.committed[i+1]
	}
	return s.last == end-1
}

// listEarly lists the segment directory for orphans while the workers read the last segments, since the listing of a long
// log takes as long. It is listed again if it has a segment that is not committed in the end.
func (r *reader) listEarly() {
	if r.ending || !r.in.From.IsZero() {
		return
	}
	r.ending = true
	if there, err := r.segments(); err == nil {
		r.early = there
	}
}

// list lists the segment directory into onDisk on the first call.
func (r *reader) list() (err error) {
	if r.listed {
		return nil
	}
	if r.onDisk, err = r.segments(); err != nil {
		return err
	}
	sorting.By(r.onDisk, func(a, b span) int {
		if a.first != b.first || a.last == b.last {
			return cmp.Compare(a.first, b.first)
		}
		return strings.Compare(a.name(), b.name()) // by bytes, like all listings
	})
	r.listed = true
	return nil
}

// segments reads the names of the segment directory. Those that are not segments are ignored here; the store's
// verification reports them.
func (r *reader) segments() ([]span, error) {
	names, err := r.in.Names()
	out := make([]span, 0, len(names))
	for _, name := range names {
		if first, last, ok := ParseSegmentName(name); ok {
			out = append(out, span{first, last})
		}
	}
	return out, err
}

// segmentsAtNext returns the names of the segments that begin at the next index.
func (r *reader) segmentsAtNext() (names []string) {
	i, _ := slices.BinarySearchFunc(r.onDisk, r.v.Head.Next,
		func(s span, next int64) int { return cmp.Compare(s.first, next) })
	for ; i < len(r.onDisk) && r.onDisk[i].first == r.v.Head.Next; i++ {
		names = append(names, r.onDisk[i].name())
	}
	return names
}
