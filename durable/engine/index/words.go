package index

import (
	"context"

	"github.com/waybill/waybill/durable/engine/sealed"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/run/resume"
)

// WordsFormat is the number of the form of the words.
const WordsFormat = 2

// WordsOf is what is known of the texts of a session besides their words.
type WordsOf struct {
	// Long reports notes that are longer than what the log holds of them.
	Long bool
}

// Words says which words the texts of a session may have. The zero value says nothing: they may have each.
type Words struct {
	ID    id.Session
	About WordsOf
	Known bool
	bits  string // a Bloom filter; "" for no word at all
}

// May reports that the texts may have a term of package resume; false: they do not.
func (w Words) May(term string) bool { return !w.Known || hasTerm(w.bits, hashOf(term)) }

// wordsMax is the number of sessions that changed up to which a search does not read them for the index: it reads them
// itself.
const wordsMax = 32

// Words implements Catalogue.
func (x *Index) Words(ctx context.Context, l Listing) ([]Words, error) {
	x.words.mu.Lock()
	defer x.words.mu.Unlock()
	have := x.words.load(ctx, sealed.Key(ctx, x.words.source))
	all, err := x.words.read(ctx, have, l.now, wordsMax, func(ctx context.Context, s id.Session) ([]byte, bool, error) {
		terms := map[uint64]struct{}{}
		about, keep, err := x.ReadWords(ctx, s, func(text string) {
			for term := range resume.Terms(text) {
				terms[hashOf(term)] = struct{}{}
			}
		})
		var w Writer
		w.Bool(about.Long)
		w.Text(filterOf(terms))
		return w.Bytes(), keep, err
	})
	if err != nil {
		return nil, err
	}
	out := make([]Words, len(all))
	for i := range all {
		out[i].ID = all[i].session
		if !all[i].kept {
			continue
		}
		in := NewReader(all[i].text)
		about, bits := WordsOf{in.Bool()}, in.Text()
		if in.Done() {
			out[i].About, out[i].bits, out[i].Known = about, bits, true
		}
	}
	return out, nil
}

// Numbers of the Bloom filters: a filter of filterBits bits for each term says of one term in about 120 wrongly that
// a session may have it. Sessions with more terms than filterBytesMax holds are read more often.
const (
	filterBits     = 10
	filterHashes   = 7
	filterBytesMax = 16 << 10
)

// filterOf returns the filter of a set of terms.
func filterOf(terms map[uint64]struct{}) string {
	if len(terms) == 0 {
		return ""
	}
	bits := make([]byte, min((len(terms)*filterBits+7)/8, filterBytesMax))
	for h := range terms {
		eachBit(h, len(bits), func(at uint64) bool {
			bits[at/8] |= 1 << (at % 8)
			return true
		})
	}
	return string(bits)
}

// hasTerm reports that a filter has all bits of a term.
func hasTerm(bits string, h uint64) bool {
	return bits != "" && eachBit(h, len(bits), func(at uint64) bool { return bits[at/8]&(1<<(at%8)) != 0 })
}

// eachBit passes the bits of a term in a filter of so many bytes to a function until that returns false.
func eachBit(h uint64, size int, each func(at uint64) bool) bool {
	step := h>>32 | 1
	for i := range uint64(filterHashes) {
		if !each((h + i*step) % uint64(8*size)) {
			return false
		}
	}
	return true
}

// hashOf is FNV-1a with the bits mixed: a filter uses the upper and the lower ones.
func hashOf(term string) uint64 {
	h := uint64(14695981039346656037)
	for i := range len(term) {
		h = (h ^ uint64(term[i])) * 1099511628211
	}
	h = (h ^ h>>33) * 0xff51afd7ed558ccd
	return h ^ h>>33
}
