// Package similar tells how alike two JSON artifacts are (R29). What it computes is local and
// derived (R2): a signature is never stored where another program would have to agree.
//
// An artifact is taken as a set of shingles (package file shingles.go) of which a signature
// keeps those with the smallest BLAKE3 values: a sample that two artifacts choose alike, so
// that the share of common ones in it estimates the share in the whole. That is MinHash with
// one permutation and its first many values, rather than many permutations and the first
// value of each: every shingle is hashed once, and what is no larger than the sample is
// compared exactly. It decides nothing: who proposes reads what is named.
package similar

import (
	"cmp"
	"slices"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/limits"
)

// sampleMax is how many values a signature keeps. The estimate then has a standard error of
// at most 1.6 percent (the worst is at 50), and a signature eight kilobytes; small artifacts,
// and all that has fewer than some hundred sentences' words, are compared exactly.
const sampleMax = 1024

// Signature is a sample of an artifact's shingles. The zero Signature is of an artifact that
// says nothing, such as null.
type Signature struct {
	values []uint64 // ascending, distinct
}

// Of is the signature of an artifact. Whatever that holds, it takes time in proportion to its
// size, and memory in proportion to its longest text. The order of members and of the items
// of a list does not matter, nor do case, white space and punctuation between words.
func Of(v canon.Value) Signature {
	s := newShingles()
	s.value(named{}, v)
	return Signature{s.sample.done()}
}

// Percent estimates how much two artifacts have in common: of all that either says, the
// percentage that both say, rounded down. It is 100 where the signatures are the same.
func (s Signature) Percent(other Signature) int {
	a, b := s.values, other.values
	seen, both := 0, 0
	for seen < sampleMax && (len(a) > 0 || len(b) > 0) {
		switch {
		case len(b) == 0 || len(a) > 0 && a[0] < b[0]:
			a = a[1:]
		case len(a) == 0 || b[0] < a[0]:
			b = b[1:]
		default:
			a, b, both = a[1:], b[1:], both+1
		}
		seen++
	}
	if seen == 0 {
		return 100 // neither says anything
	}
	return both * 100 / seen
}

// Candidate is an artifact to compare with.
type Candidate struct {
	Ref       string // what it is called to the reader
	Digest    canon.Digest
	Signature Signature
}

// Match is an artifact that is the same, or much alike.
type Match struct {
	Ref     string `json:"ref"`
	Percent int    `json:"percent"` // 100 is the same bytes, and nothing else is
}

// percentMin is from what percentage on an artifact is much alike: half of what is said in
// either is said in both.
const percentMin = 50

// Rank names those of others that are the same as mine (by digest) or much alike, the most
// alike first and those that are equally so by ref, at most limits.DuplicatesMax. One with
// mine's own ref is mine, and not among them.
func Rank(mine Candidate, others []Candidate) []Match {
	out := []Match{}
	for _, o := range others {
		if o.Ref == mine.Ref {
			continue
		}
		percent := min(mine.Signature.Percent(o.Signature), 99)
		if o.Digest == mine.Digest && !o.Digest.IsZero() {
			percent = 100
		}
		if percent >= percentMin {
			out = append(out, Match{Ref: o.Ref, Percent: percent})
		}
	}
	slices.SortStableFunc(out, func(a, b Match) int {
		return cmp.Or(cmp.Compare(b.Percent, a.Percent), cmp.Compare(a.Ref, b.Ref))
	})
	return out[:min(len(out), limits.DuplicatesMax)]
}
