package page

import (
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// prose returns the characters of a title or sentence that pass for ASCII ones. What a language is
// ordinarily written with is none of them: typographic signs, accents in either form, words of its
// script beside Latin ones, and its own digits and punctuation.
func prose(text string) (out []rune) {
	own := distinctScripts(text)
	eachPart(text, func(word string) {
		if !isPlain(word) {
			out = append(out, own.inWord(word)...)
		}
	}, func(r rune) {
		if r > '~' && own.isFalseSign(r) {
			out = append(out, r)
		}
	})
	return out
}

// scriptSet are the scripts that a text visibly uses: it has a letter of each that looks like no
// Latin one. turkish is in it if the text has letters that only Turkish and its relatives have.
type scriptSet map[string]bool

func distinctScripts(text string) scriptSet {
	out := scriptSet{turkish: strings.ContainsAny(text, turkishLetters)}
	for _, r := range text {
		if isDistinct(r) {
			out[scriptOf(r)] = true
		}
	}
	return out
}

// isFalseSign reports punctuation and symbols that pass for ASCII.
func (s scriptSet) isFalseSign(r rune) bool {
	switch {
	case strings.ContainsRune(typographic, r), r >= '①' && r <= '⑳', s[cjk] && isFullWidthSign(r), s[scriptSigns[r]]:
		return false
	}
	return strings.ContainsRune(lookAlikes, r) || isStyledASCII(r)
}

// lookAlikes are characters other than letters that look like punctuation of ASCII and are no
// compatibility form of it.
const lookAlikes = "⁃˗⁄∕⧸╱⟋⧵∖╲⟍∶ː˸։׃܃܄჻⁚․‧∙⋅꞉٬⸴;ʹ‛‵ˋˊ‟‶〝〞ʺ٭∗⁎✱٪❮❯˂˃ᐸᐳ˜∼⁓∿ᱹ∣‖⼁⼂⼃"

// typographic are signs and numerals that titles contain, and that Unicode calls compatible with
// ASCII or that are similar to it: dashes, quotation marks, dots, ordinals, powers.
const typographic = "‐‑‒–—―−‘’‚“”„‹›′″…·•×ªº¹²³™℠№‼⁇⁈⁉"

// scriptSigns is punctuation that looks like ASCII, with the script that is written with it.
var scriptSigns = map[rune]string{'։': "Armenian", '׃': "Hebrew", '჻': "Georgian", '٬': arabic, '٪': arabic, '٭': arabic}

// isFullWidthSign reports the full-width forms of ASCII punctuation and digits, which Chinese,
// Japanese and Korean are written with.
func isFullWidthSign(r rune) bool { return r >= '！' && r <= '～' && !unicode.IsLetter(r) }

// isStyledASCII reports other forms of ASCII characters: full-width, mathematical and so on.
func isStyledASCII(r rune) bool {
	form := norm.NFKC.String(string(r))
	return r > '~' && isPlain(form) && strings.TrimSpace(form) != ""
}

// inWord returns the characters of a word that pass for ASCII.
func (s scriptSet) inWord(word string) (out []rune) {
	for _, r := range word {
		switch {
		case isFullWidthSign(r) && s[cjk], strings.ContainsRune(typographic, r):
		case isStyledASCII(r), isForeignDigit(r) && !s.hasDigit(r):
			out = append(out, r)
		}
	}
	parts := s.partsOf(norm.NFC.String(word))
	for i, part := range parts {
		switch {
		case part.script == latin, part.distinct:
		case !s[part.script], // no word of a script that the text visibly uses
			len(parts) > 1 && part.script != cjk, // a false part of a word; of Chinese it may be a word
			i > 0 && i < len(parts)-1 && parts[i-1].script == latin:
			out = append(out, part.letters...)
		}
	}
	return out
}

// wordPart is a part of a word with letters of one script. distinct reports that one of them looks
// like no Latin letter.
type wordPart struct {
	script   string
	letters  []rune
	distinct bool
}

// partsOf splits a word where the script changes. Digits and marks belong to no script.
func (s scriptSet) partsOf(word string) (out []wordPart) {
	for _, r := range word {
		if !unicode.IsLetter(r) || strings.ContainsRune(letterSigns+typographic, r) || isStyledASCII(r) {
			continue
		}
		script := scriptOf(r)
		if strings.ContainsRune(plainLatin, r) || r == 'ı' && s[turkish] {
			script = latin
		}
		if len(out) == 0 || out[len(out)-1].script != script {
			out = append(out, wordPart{script: script})
		}
		last := &out[len(out)-1]
		last.letters = append(last.letters, r)
		last.distinct = last.distinct || script != "" && isDistinct(r)
	}
	return out
}

const (
	// letterSigns are letters of Unicode that are written as a sign: apostrophes and a unit.
	letterSigns = "ʼʻµ"
	// plainLatin are letters of alphabets in use that Unicode lists among the phonetic ones, and that
	// look like none of ASCII.
	plainLatin = "əɛɔɓɗɖɣɨʉɲ"
	// turkishLetters show that a text may have an i without a dot.
	turkish, turkishLetters = "Turkish", "ğşĞİŞ"
)

// hasDigit reports whether a digit belongs to one of the scripts.
func (s scriptSet) hasDigit(r rune) bool {
	if r >= '٠' && r <= '٩' { // common to the languages with Arabic letters
		return s[arabic]
	}
	return s[scriptOf(r)]
}
