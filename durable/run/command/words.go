package command

import (
	"strconv"
	"strings"
	"unicode"
)

// Word shows a word as a shell would take it. Whoever reads it decides on trust,
// or copies it: what a terminal does not print as itself is spelled out.
func Word(w string) string {
	switch {
	case w != "" && strings.IndexFunc(w, needsQuotes) < 0:
		return w
	case strings.ContainsFunc(w, func(r rune) bool { return !unicode.IsPrint(r) }):
		return strconv.QuoteToASCII(w)
	}
	return "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
}

func needsQuotes(r rune) bool {
	plain := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' ||
		strings.ContainsRune("_@%+=:,./-", r)
	return !plain
}

// Line shows a command as a person would type it.
func Line(argv []string) string {
	words := make([]string, len(argv))
	for i, w := range argv {
		words[i] = Word(w)
	}
	return strings.Join(words, " ")
}
