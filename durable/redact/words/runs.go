package words

import "strings"

// classified bounds how many bytes of a quotation are read.
const classified = 256

// quotes maps the sign that opens a quotation to the one that closes it.
var quotes = []struct{ open, close string }{
	{`"`, `"`}, {"'", "'"}, {"`", "`"}, {"“", "”"}, {"‘", "’"}, {"«", "»"}, {"„", "“"}, {`\"`, `\"`},
}

// QuotedWord returns where the quotation at i ends, and the length of its opening sign; 0 where there
// is none on this line.
func QuotedWord(s string, i int) (to, open int) {
	for _, q := range quotes {
		if strings.HasPrefix(s[i:], q.open) {
			from := i + len(q.open)
			n := strings.Index(s[from:min(len(s), from+classified)], q.close)
			if n <= 0 || strings.Contains(s[from:from+n], "\n") {
				return 0, 0
			}
			return from + n, len(q.open)
		}
	}
	return 0, 0
}

// StrongRun reports a text that is not made of words: it has five digits, or a run of six letters
// and digits with at least one digit.
func StrongRun(s string) bool {
	digits, run, inRun := 0, 0, 0 // digits in all; length of the run, and digits in it
	for i := range len(s) {
		switch {
		case s[i] >= '0' && s[i] <= '9':
			digits, run, inRun = digits+1, run+1, inRun+1
		case letter(s[i]):
			run++
		default:
			run, inRun = 0, 0
		}
		if run >= 6 && inRun > 0 || digits >= 5 {
			return true
		}
	}
	return false
}

// Digits returns how many digits a text has: names in code have few.
func Digits(s string) (n int) {
	for i := range len(s) {
		if s[i] >= '0' && s[i] <= '9' {
			n++
		}
	}
	return n
}

// Alternations returns how often the next byte of a text is of another kind: digit, capital or small letter.
func Alternations(s string) (n int) {
	kind := func(b byte) int {
		switch {
		case b >= '0' && b <= '9':
			return 0
		case upper(b):
			return 1
		}
		return 2
	}
	for i := 1; i < len(s); i++ {
		if kind(s[i]) != kind(s[i-1]) {
			n++
		}
	}
	return n
}
