package redact

import "strings"

// Looks returns how many bytes are read to redact s.
func Looks(s string) (n int) {
	readCount = &n
	defer func() { readCount = nil }()
	Text(s, nil)
	return n
}

// Token is a row of the table of tokens.
type Token struct {
	ID, Provider, Source, Yes, No string
	Open                          string // what stays of Yes
	Rule                          Rule
}

// Tokens returns the table.
func Tokens() (rows []Token) {
	for _, t := range tokens() {
		rows = append(rows, Token{ID: t.id, Provider: t.provider, Source: t.source, Yes: t.yes, No: t.no, Rule: t.ruleOf()})
		if t.open {
			sc := scanner{text: t.yes, source: &view{text: t.yes, shown: t.yes}}
			rows[len(rows)-1].Open, _, _ = strings.Cut(sc.run(), markerStart)
		}
	}
	return rows
}
