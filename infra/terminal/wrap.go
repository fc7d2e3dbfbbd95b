package terminal

import (
	"strings"

	"charm.land/lipgloss/v2"

	"github.com/waybill/waybill/durable/pattern"
)

// Wrap breaks the lines of text at words so that they fit width, 0 for none. A line
// keeps its indent, and what follows a bullet or number hangs behind it. Code
// (fenced, or indented by four), single words that are too long, and commands in
// quotes that fit a line of their own stay whole.
func Wrap(text string, width int) string {
	if width <= 0 {
		return text
	}
	var out []string
	fenced := false
	for line := range strings.SplitSeq(text, "\n") {
		fence := strings.HasPrefix(strings.TrimSpace(line), "```")
		if fence {
			fenced = !fenced
		}
		if fenced || fence || strings.HasPrefix(line, "    ") || TextWidth(line) <= width {
			out = append(out, line)
			continue
		}
		out = append(out, wrapLine(line, width)...)
	}
	return strings.Join(out, "\n")
}

// lead is what stands in front of the words of a line: indent, quote, bullet.
var lead = pattern.New(`^[ \t]*(?:> )*(?:[-*+•→] |[0-9]{1,3}[.)] )?`)

// hangMax keeps a narrow terminal from being used up by indents.
const hangMax = 8

func wrapLine(line string, width int) []string {
	first := lead.FindString(line)
	hang := strings.Repeat(" ", min(TextWidth(first), hangMax))
	var out []string
	current, empty := first, true
	for _, word := range words(line[len(first):], width-TextWidth(hang)) {
		if !empty && TextWidth(current)+1+TextWidth(word) > width {
			out = append(out, current)
			current, empty = hang, true
		}
		if !empty {
			current += " "
		}
		current += word
		empty = false
	}
	return append(out, current)
}

// quoted is a command to copy, as errors and hints name it, and what clings to it.
var quoted = pattern.New(`\S*'waybill [^']*'\S*`)

// words are what may stand on one line each. A quoted command is one of them where
// it fits width: broken, it could not be copied.
func words(text string, width int) []string {
	var out []string
	for {
		command := quoted.FindString(text)
		if command == "" {
			return append(out, strings.Fields(text)...)
		}
		before, after, _ := strings.Cut(text, command)
		out = append(out, strings.Fields(before)...)
		if TextWidth(command) <= width {
			out = append(out, command)
		} else {
			out = append(out, strings.Fields(command)...)
		}
		text = after
	}
}

// Indent puts prefix in front of every line that is not empty.
func Indent(text, prefix string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if line != "" {
			lines[i] = prefix + line
		}
	}
	return strings.Join(lines, "\n")
}

// Fold breaks a line where it is too wide, at words where it can and within them
// where it must, and carries colors over: for output of programs, of which no
// character may stand beyond the edge.
func Fold(line string, width int) []string {
	if width <= 0 || len(line) <= width || TextWidth(line) <= width {
		return []string{line}
	}
	return strings.Split(lipgloss.Wrap(line, width, ""), "\n")
}

// Cut shortens a line to width and marks that it did.
func Cut(line string, width int) string {
	if width <= 0 || TextWidth(line) <= width {
		return line
	}
	return lipgloss.NewStyle().MaxWidth(width-1).Render(line) + "…"
}
