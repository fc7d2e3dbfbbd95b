// Package pattern provides regular expressions that are compiled on their first use: a process
// that runs one command must not compile the expressions of all others when it starts.
//
// It wraps package regexp, and has only the methods that Waybill uses.
package pattern

import (
	"regexp"
	"sync"
)

// Pattern is a regular expression that is compiled on its first use. It is safe for concurrent
// use.
type Pattern struct {
	text     string
	once     sync.Once
	compiled *regexp.Regexp
}

// New returns the pattern of a constant expression. The first use of an invalid one panics.
// The compiler makes a package's patterns data of the binary: they need no code when it starts.
func New(text string) *Pattern { return &Pattern{text: text} }

func (p *Pattern) compile() *regexp.Regexp {
	p.once.Do(func() { p.compiled = regexp.MustCompile(p.text) })
	return p.compiled
}

// String returns the expression.
func (p *Pattern) String() string { return p.text }

// MatchString is regexp.Regexp.MatchString.
func (p *Pattern) MatchString(s string) bool { return p.compile().MatchString(s) }

// FindString is regexp.Regexp.FindString.
func (p *Pattern) FindString(s string) string { return p.compile().FindString(s) }

// FindStringSubmatch is regexp.Regexp.FindStringSubmatch.
func (p *Pattern) FindStringSubmatch(s string) []string { return p.compile().FindStringSubmatch(s) }

// FindAllString is regexp.Regexp.FindAllString.
func (p *Pattern) FindAllString(s string, n int) []string { return p.compile().FindAllString(s, n) }

// FindAllStringIndex is regexp.Regexp.FindAllStringIndex.
func (p *Pattern) FindAllStringIndex(s string, n int) [][]int {
	return p.compile().FindAllStringIndex(s, n)
}

// ReplaceAllString is regexp.Regexp.ReplaceAllString.
func (p *Pattern) ReplaceAllString(s, with string) string {
	return p.compile().ReplaceAllString(s, with)
}

// ReplaceAllStringFunc is regexp.Regexp.ReplaceAllStringFunc.
func (p *Pattern) ReplaceAllStringFunc(s string, f func(string) string) string {
	return p.compile().ReplaceAllStringFunc(s, f)
}
