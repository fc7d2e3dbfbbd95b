package terminal

import (
	"charm.land/lipgloss/v2"
)

// Styles dress single lines of text, from the sixteen colors that every person has
// set to their own taste. Without color they return text as it is.
type Styles struct {
	Bold   func(string) string
	Dim    func(string) string // what can be passed over
	Accent func(string) string // where one is
	Good   func(string) string
	Warn   func(string) string
	Bad    func(string) string
}

// NewStyles makes styles, plain ones unless color is on.
func NewStyles(color bool) Styles {
	dress := func(s lipgloss.Style) func(string) string {
		if !color {
			return func(text string) string { return text }
		}
		return func(text string) string {
			if text == "" {
				return ""
			}
			return s.Render(text)
		}
	}
	plain := lipgloss.NewStyle()
	return Styles{
		Bold:   dress(plain.Bold(true)),
		Dim:    dress(plain.Faint(true)),
		Accent: dress(plain.Foreground(lipgloss.Cyan)),
		Good:   dress(plain.Foreground(lipgloss.Green)),
		Warn:   dress(plain.Foreground(lipgloss.Yellow)),
		Bad:    dress(plain.Foreground(lipgloss.Red)),
	}
}

// TextWidth is how many columns text takes; styles take none.
func TextWidth(text string) int { return lipgloss.Width(text) }
