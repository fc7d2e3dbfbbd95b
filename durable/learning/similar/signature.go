// Package similar estimates how much two JSON artifacts have in common
// (docs/design.md#proposals). Signatures are derived and local (docs/design.md#hashes): they
// are never stored where another program would have to compute the same value.
//
// An artifact is cut into shingles (shingles.go). Its signature keeps the smallest BLAKE3
// values of them, so that two artifacts sample the same values and the share of common values
// in the sample estimates the share in the whole. This is MinHash with one permutation and
// its first sampleMax values instead of many permutations with one value each: every shingle
// is hashed once, and artifacts smaller than the sample are compared exactly. The package
// decides nothing: a result is shown to the proposer and to reviewers. Start with
// Signature and Rank.
package similar

import (
	"cmp"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/sorting"
)

// sampleMax is the number of values in a signature. The standard error of the estimate is at
// most 1.6 percentage points (worst near 50 percent) and a signature takes 8 KiB. Artifacts
// with fewer shingles than that are compared exactly.
const sampleMax = 1024

// Signature is a sample of an artifact's shingles. The zero Signature is that of an artifact
// without content, such as null.
type Signature struct {
	values []uint64 // ascending, distinct
}

// SignatureOf returns the signature of an artifact in time proportional to its size and memory
// proportional to its longest text, also for hostile artifacts. The order of members and list
// items, case, white space and punctuation between words do not affect it.
func SignatureOf(v canon.Value) Signature {
	s := newShingles()
	s.value(named{}, v)
	return Signature{s.sample.done()}
}

// Percent estimates the similarity of two artifacts: the shingles in both as a percentage of
// the shingles in either, rounded down. Equal signatures return 100.
func (s Signature) Percent(other Signature) int {
	a, b := s.values, other.values
	seen, both := 0, 0
	// Merge both ascending lists up to sampleMax distinct values: beyond that the two samples
	// are not comparable.
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
		return 100 // neither has content
	}
	return both * 100 / seen
}

// Candidate is an artifact to compare.
type Candidate struct {
	Ref       string // shown to the reader
	Digest    canon.Digest
	Signature Signature
}

// Match is an artifact that is the same or similar.
type Match struct {
	Ref     string `json:"ref"`
	Percent int    `json:"percent"` // 100 for equal bytes only
}

// percentMin is the percentage from which an artifact is reported as similar: half of all
// content is common.
const percentMin = 50

// Rank returns the candidates that equal mine (by digest) or are similar to it, most similar
// first and equal percentages by ref, at most limits.DuplicatesMax. Candidates with mine's
// own ref are skipped: they are earlier revisions of the same artifact.
func Rank(mine Candidate, others []Candidate) []Match {
	out := []Match{}
	for _, o := range others {
		if o.Ref == mine.Ref {
			continue
		}
		// Equal signatures are not proof of equal bytes: only the digest decides that.
		percent := min(mine.Signature.Percent(o.Signature), 99)
		if o.Digest == mine.Digest && !o.Digest.IsZero() {
			percent = 100
		}
		if percent >= percentMin {
			out = append(out, Match{Ref: o.Ref, Percent: percent})
		}
	}
	sorting.Stable(out, func(a, b Match) int {
		return cmp.Or(cmp.Compare(b.Percent, a.Percent), cmp.Compare(a.Ref, b.Ref))
	})
	return out[:min(len(out), limits.DuplicatesMax)]
}
