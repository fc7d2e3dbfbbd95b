package manifest

import (
	"cmp"
	"path"
	"slices"
	"strings"
)

// span is a segment by its events: a folder may hold a hundred thousand, whose names
// as text would take more memory than reading them.
type span struct{ first, last int64 }

func (s span) name() string { return SegmentName(s.first, s.last) }

// orphans looks for segments that no group commits. One at the next index is
// what a crash leaves, or all that is left of a last group that was lost: the two
// cannot be told apart (R9). One beyond it proves that more had been committed,
// one before it that two appends once began at one index. A reading from a known
// head leaves the folder alone unless it had to list it.
func (r *reader) orphans() error {
	if r.v.Damaged() || !r.in.From.IsZero() && !r.listed {
		return nil
	}
	if err := r.list(); err != nil {
		return err
	}
	for _, there := range r.there {
		where := path.Join(r.in.Log.Root, SegmentDir, there.name())
		switch {
		case there.first > r.v.Head.Next:
			r.v.damage(NewFinding(LostTail, where,
				"the segment begins beyond event %d: what was committed before it is lost", r.v.Head.Next))
			return nil
		case there.first == r.v.Head.Next:
			code := OrphanSegment
			if r.v.TailBytes == 0 && !r.v.Head.IsZero() {
				code = UncommittedTail
			}
			r.v.Orphans = append(r.v.Orphans, there.name())
			r.v.Findings = append(r.v.Findings,
				NewFinding(code, where,
					"no group commits the segment: an append that never was acknowledged, or one whose group is lost"))
		case r.in.From.IsZero() && !r.commits(there):
			r.v.Findings = append(r.v.Findings,
				NewFinding(OrphanSegment, where, "no group commits the segment: another one stands in its place"))
		}
	}
	return nil
}

// commits reports whether s is one of the segments that were read. They follow each
// other without a gap, so that where each began says all.
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

// list reads the segment folder, once.
func (r *reader) list() error {
	if r.listed {
		return nil
	}
	names, err := r.in.Names()
	if err != nil {
		return err
	}
	r.there = make([]span, 0, len(names))
	for _, name := range names {
		if first, last, ok := ParseSegmentName(name); ok {
			r.there = append(r.there, span{first, last})
		}
	}
	slices.SortFunc(r.there, func(a, b span) int {
		if a.first != b.first || a.last == b.last {
			return cmp.Compare(a.first, b.first)
		}
		return strings.Compare(a.name(), b.name()) // by bytes, as everywhere
	})
	r.listed = true
	return nil
}

// atNext are the names of the segments that begin at the next index.
func (r *reader) atNext() (names []string) {
	i, _ := slices.BinarySearchFunc(r.there, r.v.Head.Next,
		func(s span, next int64) int { return cmp.Compare(s.first, next) })
	for ; i < len(r.there) && r.there[i].first == r.v.Head.Next; i++ {
		names = append(names, r.there[i].name())
	}
	return names
}
