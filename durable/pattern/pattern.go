// Package pattern holds regular expressions that are compiled when they are first
// used: a program that starts for one command must not pay for all of them.
package pattern

import (
	"regexp"
	"sync"
)

// Pattern is a regular expression that is compiled on its first use.
type Pattern struct {
	text    string
	compile func() *regexp.Regexp
}

// New is the pattern of an expression that is known to be right.
func New(text string) *Pattern {
	return &Pattern{text, sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(text) })}
}

// String is the expression.
func (p *Pattern) String() string { return p.text }

// MatchString is regexp's, and so are the others: those that Waybill uses.
func (p *Pattern) MatchString(s string) bool { return p.compile().MatchString(s) }

// FindString is regexp's.
func (p *Pattern) FindString(s string) string { return p.compile().FindString(s) }

// FindStringSubmatch is regexp's.
func (p *Pattern) FindStringSubmatch(s string) []string { return p.compile().FindStringSubmatch(s) }

// ReplaceAllString is regexp's.
func (p *Pattern) ReplaceAllString(s, with string) string {
	return p.compile().ReplaceAllString(s, with)
}

// ReplaceAllStringFunc is regexp's.
func (p *Pattern) ReplaceAllStringFunc(s string, f func(string) string) string {
	return p.compile().ReplaceAllStringFunc(s, f)
}
