package page

import "charm.land/lipgloss/v2"

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
	render := func(s lipgloss.Style) func(string) string {
		return func(text string) string {
			if !color || text == "" {
				return text
			}
			return s.Render(text)
		}
	}
	plain := lipgloss.NewStyle()
	return Styles{
		Bold:   render(plain.Bold(true)),
		Dim:    render(plain.Faint(true)),
		Accent: render(plain.Foreground(lipgloss.Cyan)),
		Good:   render(plain.Foreground(lipgloss.Green)),
		Warn:   render(plain.Foreground(lipgloss.Yellow)),
		Bad:    render(plain.Foreground(lipgloss.Red)),
	}
}

// TextWidth is the number of columns that text occupies; escape sequences of styles count as 0.
func TextWidth(text string) int {
	for i := range len(text) {
		if text[i] < ' ' || text[i] > '~' {
			return lipgloss.Width(text)
		}
	}
	return len(text) // the widths of all texts of the help are computed at each start
}
