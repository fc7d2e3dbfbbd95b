// Package paging bounds the pages of lists by their bytes as a JSON document. It does not know what is
// listed.
package paging

import (
	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/invisible"
	"github.com/waybill/waybill/durable/limits"
)

// envelopeBytes is left for what a page of a list has beside its rows.
const envelopeBytes = 1024

// Size counts the bytes of a page of a list (docs/design.md#rendered-text). The zero value is an
// empty page.
type Size struct{ used int }

// Add counts a row, or what is beside the rows.
func (p *Size) Add(v any) { p.used += Bytes(v) }

// Fits counts a row and reports whether it fits the page as well.
func (p *Size) Fits(row any) bool { return p.FitsBytes(Bytes(row)) }

// FitsBytes is Fits for a row of so many Bytes.
func (p *Size) FitsBytes(n int) bool {
	p.used += n
	return p.used <= limits.AnswerBytesMax-envelopeBytes
}

// Bytes returns the length of a value in a JSON document, with the comma behind it.
func Bytes(v any) int {
	data, err := canon.Marshal(v)
	if err != nil {
		return 0 // it cannot be printed either
	}
	return len(invisible.EscapeJSON(data)) + 1
}
