package pattern_test

import (
	"testing"

	"github.com/waybill/waybill/durable/pattern"
)

func TestPatternMethodsMatchRegexp(t *testing.T) {
	p := pattern.New(`(\w)(\d)`)
	if p.String() != `(\w)(\d)` || !p.MatchString("xa1") || p.MatchString("a") || p.FindString("xa1") != "a1" {
		t.Error("matching")
	}
	if got := p.FindStringSubmatch("xa1"); len(got) != 3 || got[2] != "1" {
		t.Error(got)
	}
	if p.ReplaceAllString("a1b2", "$2") != "12" ||
		len(p.FindAllString("a1b2", -1)) != 2 || p.ReplaceAllStringFunc("a1b2", func(s string) string { return s[:1] }) != "ab" {
		t.Error("replacing")
	}
}

// An invalid expression panics on its first use, and not in New.
func TestPatternCompilesOnFirstUse(t *testing.T) {
	p := pattern.New(`(`)
	defer func() {
		if recover() == nil {
			t.Error("an invalid expression does not panic")
		}
	}()
	p.MatchString("x")
}
