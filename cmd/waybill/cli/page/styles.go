package page

import "strings"

// Styles are functions that style a single line of text with the sixteen colors of the user's
// terminal theme. Without color they return the text unchanged.
type Styles struct {
	Bold   func(string) string // names and titles
	Dim    func(string) string // text that only some readers need
	Accent func(string) string // the current item
	Good   func(string) string // a success
	Warn   func(string) string // what a person should check
	Bad    func(string) string // a failure or damage
}

// NewStyles returns styles that use colors when color is true.
func NewStyles(color bool) Styles {
	// selects is an SGR parameter (ECMA-48).
	styled := func(selects string) func(string) string {
		return func(text string) string {
			if !color || text == "" {
				return text
			}
			return "\x1b[" + selects + "m" + text + "\x1b[m"
		}
	}
	return Styles{Bold: styled("1"), Dim: styled("2"), Accent: styled("36"), Good: styled("32"), Warn: styled("33"), Bad: styled("31")}
}

// TextWidth is the number of columns that text occupies, of several lines the widest; escape sequences of styles count as 0.
func TextWidth(text string) int {
	for i := range len(text) {
		if text[i] < ' ' || text[i] > '~' {
			width := 0
			for line := range strings.SplitSeq(text, "\n") {
				width = max(width, cells.String(line))
			}
			return width
		}
	}
	return len(text) // the widths of all texts of the help are computed at each start
}
