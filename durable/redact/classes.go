package redact

import "github.com/waybill/waybill/durable/redact/byteset"

// class is a set of bytes.
type class = byteset.Set

const (
	capitals = byteset.Capitals
	letters  = byteset.Letters
	digits   = byteset.Digits
)

var (
	letter   = classOf(letters)
	digit    = classOf(digits)
	hexDigit = classOf(digits + "abcdefABCDEF")
	upper    = classOf(capitals)
	alnum    = classOf(letters + digits)
	word     = classOf(letters + digits + "_")
	dashed   = classOf(letters + digits + "_-") // base64url as well
	dotted   = classOf(letters + digits + "_-.")
	blank    = classOf(" \t")
	space    = classOf(" \t\n\r")
)

func classOf(bytes string) *class { return byteset.Of(bytes) }

func visibleBut(bytes string) *class { return byteset.VisibleBut(bytes) }

func span(s string, i int, in *class) int { return byteset.Span(s, i, in) }

func countReads(n int) { byteset.CountReads(n) }
