package redact

import (
	"strings"

	"github.com/waybill/waybill/durable/redact/byteset"
	"github.com/waybill/waybill/durable/redact/forms"
	"github.com/waybill/waybill/durable/redact/view"
)

// Looks returns how many bytes are read to redact s.
func Looks(s string) (n int) {
	byteset.Reads = &n
	defer func() { byteset.Reads = nil }()
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
	for _, t := range forms.Rows() {
		rows = append(rows, Token{ID: t.ID, Provider: t.Provider, Source: t.Source, Yes: t.Yes, No: t.No, Rule: ruleOf(t)})
		if t.Open {
			sc := scanner{text: t.Yes, source: view.Of(t.Yes)}
			rows[len(rows)-1].Open, _, _ = strings.Cut(sc.run(), markerStart)
		}
	}
	return rows
}
