package main

import (
	"bytes"
	"fmt"

	"github.com/waybill/waybill/durable/fault"
)

// page is text for people, laid out for where it goes: as wide as the terminal,
// colored only there.
type page struct {
	bytes.Buffer
	color bool
	width int
}

func (a *app) newPage(to any) *page {
	return &page{width: 80}
}

func (p *page) line(format string, args ...any) { fmt.Fprintf(p, format+"\n", args...) }

func (p *page) fault(f *fault.Fault) {
	p.line("waybill: %s", f.Message)
	p.line("%s", f.Suggestion)
}
