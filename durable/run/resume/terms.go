package resume

import (
	"iter"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// Text is what a search looks for: every token as Normalize returns them, and, of scripts that have no tokens, every
// word as a part of the normalized text.
type Text struct {
	tokens []string
	others []string
}

// NewText prepares a text. Nothing matches one without words.
func NewText(text string) (out Text) {
	for token := range tokens(text) {
		if !slices.Contains(out.tokens, token) {
			out.tokens = append(out.tokens, token)
		}
	}
	for _, word := range strings.FieldsFunc(normalized(text), func(r rune) bool { return !isOther(r) }) {
		if !slices.Contains(out.others, word) {
			out.others = append(out.others, word)
		}
	}
	return out
}

// HasWords reports that there is anything to be found.
func (t Text) HasWords() bool { return len(t.tokens)+len(t.others) > 0 }

// May reports that a text may match whose terms has knows; false: it does not.
func (t Text) May(has func(term string) bool) bool {
	for _, token := range t.tokens {
		if !has(token) {
			return false
		}
	}
	for _, word := range t.others {
		for term := range termsOf(word) {
			if !has(term) {
				return false
			}
		}
	}
	return true
}

// In reports that all words are in a text.
func (t Text) In(text string) bool {
	if !t.HasWords() {
		return false
	}
	missing := len(t.tokens)
	if missing > 0 {
		found := make([]bool, missing)
		for token := range tokens(text) {
			if i := slices.Index(t.tokens, token); i >= 0 && !found[i] {
				found[i] = true
				if missing--; missing == 0 {
					break
				}
			}
		}
	}
	if missing > 0 || len(t.others) == 0 {
		return missing == 0
	}
	whole := normalized(text)
	return !slices.ContainsFunc(t.others, func(word string) bool { return !strings.Contains(whole, word) })
}

// FirstIn returns the offset of the first word between blanks of a text that has a word of t, 0 without one.
func (t Text) FirstIn(text string) int {
	return firstWord(text, func(word string) bool {
		for token := range tokens(word) {
			if slices.Contains(t.tokens, token) {
				return true
			}
		}
		return len(t.others) > 0 && slices.ContainsFunc(t.others, func(w string) bool {
			return strings.Contains(normalized(word), w)
		})
	})
}

// Terms yields the tokens of a text and, of scripts that have no tokens, each letter and each pair of them: what May
// asks for.
func Terms(text string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for token := range tokens(text) {
			if !yield(token) {
				return
			}
		}
		if isASCII(text) {
			return
		}
		whole := normalized(text)
		for word := range strings.FieldsFuncSeq(whole, func(r rune) bool { return !isOther(r) }) {
			letters := []rune(word)
			for i, r := range letters {
				if !yield(string(r)) || i > 0 && !yield(string(letters[i-1:i+1])) {
					return
				}
			}
		}
	}
}

// termsOf yields the terms that a text has which contains a word: its pairs of letters, or its only letter.
func termsOf(word string) iter.Seq[string] {
	return func(yield func(string) bool) {
		letters := []rune(word)
		if len(letters) == 1 {
			yield(word)
			return
		}
		for i := range letters[1:] {
			if !yield(string(letters[i : i+2])) {
				return
			}
		}
	}
}

// normalized is a text as Normalize compares it.
func normalized(text string) string { return strings.ToLower(norm.NFKC.String(text)) }

// isOther reports letters, digits and signs that are in no token.
func isOther(r rune) bool {
	return r >= 0x80 && r != unicode.ReplacementChar && !unicode.IsSpace(r) && !unicode.IsPunct(r) && !unicode.IsControl(r)
}

func isASCII(text string) bool {
	for i := range len(text) {
		if text[i] >= 0x80 {
			return false
		}
	}
	return true
}
