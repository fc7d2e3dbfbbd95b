package resume

import (
	"math/bits"
	"strings"

	"github.com/waybill/waybill/durable/limits"
)

// Words is the set of those tokens of a query that a text has: bit i is the i-th distinct token. The zero value is the
// empty set.
type Words []uint64

// with returns the set with a token.
func (w Words) with(i int) Words {
	for len(w) <= i/64 {
		w = append(w, 0)
	}
	w[i/64] |= 1 << (i % 64)
	return w
}

// Or returns the union of two sets, which neither of them changes any more.
func (w Words) Or(other Words) Words {
	switch {
	case len(other) == 0:
		return w
	case len(w) == 0:
		return other
	}
	out := append(Words{}, w...)
	for i, b := range other {
		if i == len(out) {
			return append(out, other[i:]...)
		}
		out[i] |= b
	}
	return out
}

// Len is the number of tokens in the set.
func (w Words) Len() (n int) {
	for _, b := range w {
		n += bits.OnesCount64(b)
	}
	return n
}

// Words returns the tokens of the query that a text has: whole tokens, never parts of one. The marker of a truncated
// text is no part of it. No text is scanned for a query without tokens.
func (m Matcher) Words(text string) (out Words) {
	if len(m.index) == 0 {
		return nil
	}
	for token := range tokens(strings.TrimSuffix(text, limits.TruncationMarker)) {
		if i, ok := m.index[token]; ok {
			out = out.with(i)
		}
	}
	return out
}

// WordsBy returns the tokens of the query for which has returns true.
func (m Matcher) WordsBy(has func(token string) bool) (out Words) {
	for token, i := range m.index {
		if has(token) {
			out = out.with(i)
		}
	}
	return out
}

// hasAll reports that a set has every token of the query; false for a query without tokens.
func (m Matcher) hasAll(w Words) bool { return len(m.index) > 0 && w.Len() == len(m.index) }

// named is what the query says about commits and branches, as words between blanks in lower case, with their tokens.
type named struct {
	words map[string]Words
	// lengths are those of the words that may be a commit or the beginning of one.
	lengths map[int]bool
}

// commitDigitsMin and commitDigitsMax bound the hexadecimal digits that name a commit.
const (
	commitDigitsMin = 7
	commitDigitsMax = 40
)

// namedIn reads the words of a query. Punctuation around a word is no part of it.
func (m Matcher) namedIn(text string) named {
	out := named{map[string]Words{}, map[int]bool{}}
	for word := range strings.FieldsSeq(strings.ToLower(text)) {
		word = strings.Trim(word, "\"'`.,;:!?()[]<>")
		if word == "" {
			continue
		}
		out.words[word] = m.Words(word)
		if n := len(word); n >= commitDigitsMin && n <= commitDigitsMax && strings.Trim(word, "0123456789abcdef") == "" {
			out.lengths[n] = true
		}
	}
	return out
}

// commit reports that the query names one of the commits, whole or by its beginning, and with which words.
func (n named) commit(heads []string) (found bool, words Words) {
	for length := range n.lengths {
		for _, head := range heads {
			if len(head) < length {
				continue
			}
			if w, ok := n.words[head[:length]]; ok {
				found, words = true, words.Or(w)
			}
		}
	}
	return found, words
}

// branch reports that the query names one of the branches, and with which words: by the whole name, or by a beginning
// that ends in a slash. certain is false if each such name is a plain word, which the query may use in another sense.
func (n named) branch(branches []string) (found, certain bool, words Words) {
	add := func(word string) {
		if w, ok := n.words[word]; ok {
			found, words = true, words.Or(w)
			certain = certain || strings.Trim(word, "abcdefghijklmnopqrstuvwxyz") != ""
		}
	}
	for _, b := range branches {
		b = strings.ToLower(b)
		add(b)
		for i := range len(b) {
			if b[i] == '/' {
				add(b[:i+1])
			}
		}
	}
	return found, certain, words
}
