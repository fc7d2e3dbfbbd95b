package page

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/waybill/waybill/durable/pattern"
	"github.com/waybill/waybill/durable/run/command"
)

// decode returns the first character of a text and its length in bytes.
func decode(text string) (rune, int) { return utf8.DecodeRuneInString(text) }

// styleSequence matches a color that Styles wrote, at the start of a text.
var styleSequence = pattern.New(`^\x1b\[[0-9;]*m`)

// Name returns a name or title from an untrusted source as one line for a page that a person
// consents to. Invisible characters and bars are replaced; behind the text are the code points of
// what was replaced and of the characters that pass for ASCII: letters among Latin ones that look
// like them, words of nothing else, full-width and other styled letters, and signs such as a slash
// that is none (docs/design.md#printed-text). Other scripts and typography are not marked.
//
//go:noinline
func Name(text string) string { return withMarks(text, prose) }

// Value is Name for a text that a program reads, such as the value of a setting: marked are also
// typographic signs and all that Argument marks.
//
//go:noinline
func Value(text string) string { return withMarks(text, strict) }

// withMarks returns a text as one line, and behind it the code points of characters that cannot be
// seen and of those that confusable returns.
func withMarks(text string, confusable func(string) []rune) string {
	text = strings.Join(strings.Fields(text), " ")
	if isPlain(text) {
		return text
	}
	marked := confusable(text)
	shown := strings.Map(func(r rune) rune {
		if isHidden(r) && r != ' ' {
			marked = append(marked, r)
			return symbol(cleared(r))
		}
		return r
	}, text)
	return shown + codePoints(marked)
}

// cleared returns what symbol replaces, for a character that a name does not contain.
func cleared(r rune) rune {
	if Unprintable(r) {
		return r
	}
	return utf8.RuneError
}

// Argument returns a word of a command line as one types it in a shell. A word with characters that
// are not visible has escapes for all characters that are not ASCII. Behind any other word are the
// code points of its characters that look like others: letters of another script than their part of the
// word has, of no alphabet in use, or that all look like Latin ones; accents that are characters of
// their own; and all that are neither letters nor ASCII.
func Argument(word string) string {
	if strings.ContainsFunc(word, isHidden) || !utf8.ValidString(word) {
		return strconv.QuoteToASCII(word)
	}
	return command.Word(word) + codePoints(strict(word))
}

// Arguments returns a command line: each word as Argument returns it.
func Arguments(argv []string) string {
	words := make([]string, len(argv))
	for i, w := range argv {
		words[i] = Argument(w)
	}
	return strings.Join(words, " ")
}

// Variable returns a variable of an environment as NAME=value. A name that no shell accepts is
// quoted, since it could contain the sign between name and value.
func Variable(name, value string) string {
	if !variableName.MatchString(name) {
		name = strconv.QuoteToASCII(name)
	}
	return name + "=" + Argument(value)
}

// variableName matches the names of environment variables that shells accept.
var variableName = pattern.New(`^[A-Za-z_][A-Za-z0-9_]*$`)

// isHidden reports a character that cannot be seen, or that draws what Waybill draws: the bar of
// quoted text and the brackets of code points. Of the spaces only that of ASCII is visible as such.
func isHidden(r rune) bool {
	return r != ' ' && r < 0x7f && !strconv.IsPrint(r) || r >= 0x7f &&
		(!strconv.IsPrint(r) || isControl(r) || strings.ContainsRune(signs, r))
}

// signs are characters that look like the bar, the brackets of code points, or a space.
const signs = "⟨⟩│┃║╎╏┆┇┊┋╽╿▏▕▎▍❘❙❚∣∥⎜⎟⎢⎥⎪⏐⏽ǀǁ｜￨︱︳\u2800"

// codePoints returns the note about characters, "" for none: each once, in their order.
func codePoints(all []rune) string {
	if len(all) == 0 {
		return ""
	}
	var out []string
	seen := map[rune]bool{}
	for _, r := range all {
		if !seen[r] {
			seen[r] = true
			out = append(out, fmt.Sprintf("U+%04X", r))
		}
	}
	return " ⟨" + strings.Join(out, " ") + "⟩"
}

// strict returns the characters of a text for a machine that may look like others.
func strict(text string) (out []rune) {
	eachPart(text, func(word string) {
		if isConfusableWord(word) {
			out = append(out, notASCII(word)...)
		}
	}, func(r rune) {
		if r > '~' {
			out = append(out, r)
		}
	})
	return out
}

// eachPart calls word for each word of a text, and sign for each character between them.
func eachPart(text string, word func(string), sign func(rune)) {
	for text != "" {
		n := strings.IndexFunc(text, func(r rune) bool { return !inWord(r) })
		switch {
		case n < 0:
			n = len(text) // to its end
			fallthrough
		case n > 0:
			word(text[:n])
		default:
			var r rune
			r, n = decode(text)
			sign(r)
		}
		text = text[n:]
	}
}

// inWord reports letters, digits and the marks on them.
func inWord(r rune) bool { return unicode.In(r, unicode.L, unicode.M, unicode.Nd) }

// isConfusableWord reports whether a word has letters of several scripts, letters of no language's
// alphabet, compatibility forms, or marks on Latin letters; or whether it is written in another
// script with letters that look like Latin ones only.
func isConfusableWord(word string) bool {
	if isPlain(word) {
		return false
	}
	if !norm.NFKC.IsNormalString(word) || strings.ContainsFunc(word, isForeignDigit) {
		return true
	}
	script := ""
	for _, r := range word {
		if !unicode.IsLetter(r) {
			continue
		}
		s := scriptOf(r)
		if s == "" || script != "" && s != script {
			return true
		}
		script = s
	}
	if script == latin || script == "" {
		return strings.ContainsFunc(word, unicode.IsMark)
	}
	return !strings.ContainsFunc(word, isDistinct)
}

// isDistinct reports letters of a script other than Latin that look like no Latin one.
func isDistinct(r rune) bool {
	return r > '~' && unicode.IsLetter(r) && !strings.ContainsRune(latinLookAlikes, r)
}

// isForeignDigit reports digits that are not those of ASCII.
func isForeignDigit(r rune) bool { return r > '9' && unicode.Is(unicode.Nd, r) }

// notASCII returns the letters of a word that are not ASCII.
func notASCII(word string) []rune {
	return slices.DeleteFunc([]rune(word), func(r rune) bool { return r <= '~' })
}

// latinLookAlikes are letters of other scripts that look like Latin ones or like ASCII punctuation,
// from the confusables of Unicode Technical Standard 39.
const latinLookAlikes = "асеорхуѕіјһԁԛԝӏѵгпкмтьвнзбɡԍүцдѡ" + "АВСЕНІЈКМОРЅТХУҮӀԚԜЗЬѴԌБ" +
	"αβγεηικνορςστυχωϲϳ" + "ΑΒΕΖΗΙΚΜΝΟΡΤΥΧϹ" + "օսհոցզքլյգեվտՏՍՕԼՀ" + "סוןיםח" + "اهوه" +
	"ー一丨丶丿亅〇口工二三卜八へノロエニトハヘター々〳〵" + "ㅇㅣㅡㅏ이으" + "೦ంംංഠ౦၀ဝօ"

// Names of scripts that rules are about. CJK are those of Chinese, Japanese and Korean.
const (
	latin  = "Latin"
	cjk    = "CJK"
	arabic = "Arabic"
)

// scripts are those that languages of today use (Unicode Standard Annex 31, table 5). Letters of one
// language are one script here, as Japanese and Korean mix several.
var scripts = []struct {
	name  string
	table *unicode.RangeTable
}{
	{latin, unicode.Latin}, {"Cyrillic", unicode.Cyrillic}, {"Greek", unicode.Greek},
	{cjk, unicode.Han}, {cjk, unicode.Hiragana}, {cjk, unicode.Katakana}, {cjk, unicode.Bopomofo},
	{cjk, unicode.Hangul}, {arabic, unicode.Arabic}, {"Hebrew", unicode.Hebrew}, {"Thai", unicode.Thai},
	{"Armenian", unicode.Armenian}, {"Bengali", unicode.Bengali}, {"Devanagari", unicode.Devanagari},
	{"Ethiopic", unicode.Ethiopic}, {"Georgian", unicode.Georgian}, {"Gujarati", unicode.Gujarati},
	{"Gurmukhi", unicode.Gurmukhi}, {"Kannada", unicode.Kannada}, {"Khmer", unicode.Khmer}, {"Lao", unicode.Lao},
	{"Malayalam", unicode.Malayalam}, {"Myanmar", unicode.Myanmar}, {"Oriya", unicode.Oriya},
	{"Sinhala", unicode.Sinhala}, {"Tamil", unicode.Tamil}, {"Telugu", unicode.Telugu}, {"Thaana", unicode.Thaana},
	{"Tibetan", unicode.Tibetan},
}

// scriptOf returns the script of a letter, "" for one that is not in use. The mark that lengthens a
// vowel belongs to Japanese.
func scriptOf(r rune) string {
	if r == 'ー' {
		return cjk
	}
	for _, s := range scripts {
		if unicode.Is(s.table, r) {
			if s.name == latin && !isLatinLetter(r) {
				return ""
			}
			return s.name
		}
	}
	return ""
}

// isLatinLetter reports the Latin letters of languages that are written with them; phonetic and
// historic ones look like others.
func isLatinLetter(r rune) bool {
	return r <= 'ſ' && r != 'ı' || r >= 0x1e00 && r <= 0x1eff || r >= 0x0180 && r <= 0x024f && (r < 0x01c0 || r > 0x01c3)
}
