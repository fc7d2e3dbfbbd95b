// Package byteset has sets of bytes, and reads the runs of them in a text.
//
// The entry point is Span. Start reading there.
package byteset

import "strings"

// Set is a set of bytes. The sets are ASCII: all other bytes separate words.
type Set [256]bool

// Of returns the set of the bytes of a text.
func Of(bytes string) *Set {
	var c Set
	for i := range len(bytes) {
		c[bytes[i]] = true
	}
	return &c
}

// VisibleBut returns the set of all bytes but white space, control bytes and those of a text.
func VisibleBut(bytes string) *Set {
	var c Set
	for b := range c {
		c[b] = b > ' ' && b != 0x7f && strings.IndexByte(bytes, byte(b)) < 0
	}
	return &c
}

// The bytes of the usual sets.
const (
	Capitals = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	Letters  = "abcdefghijklmnopqrstuvwxyz" + Capitals
	Digits   = "0123456789"
)

// Span returns where the run of bytes of one set that begins at i ends.
func Span(s string, i int, in *Set) int {
	from := i
	for i < len(s) && in[s[i]] {
		i++
	}
	CountReads(i - from + 1)
	return i
}

// Reads counts the bytes that were read, while a test has set it. Every loop whose length
// depends on the text adds its length with CountReads.
var Reads *int

// CountReads adds a number of bytes that were read.
func CountReads(n int) {
	if Reads != nil {
		*Reads += n
	}
}
