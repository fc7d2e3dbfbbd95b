package command

import (
	"strconv"
	"strings"
	"unicode"
)

// Word formats one argument as a POSIX shell would read it, in single quotes if needed. A
// word with unprintable characters is written as an escaped Go string instead: the reader
// decides on trust, or copies it, and must see every character.
func Word(w string) string {
	switch {
	case w != "" && strings.IndexFunc(w, needsQuotes) < 0:
		return w
	case strings.ContainsFunc(w, func(r rune) bool { return !unicode.IsPrint(r) }):
		return strconv.QuoteToASCII(w)
	}
	return "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
}

// needsQuotes reports characters outside the set that no shell interprets.
func needsQuotes(r rune) bool {
	plain := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' ||
		strings.ContainsRune("_@%+=:,./-", r)
	return !plain
}

// Line formats an argv as a command line, for people to read or copy.
func Line(argv []string) string {
	words := make([]string, len(argv))
	for i, w := range argv {
		words[i] = Word(w)
	}
	return strings.Join(words, " ")
}
