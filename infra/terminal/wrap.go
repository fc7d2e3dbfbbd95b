package terminal

import (
	"strings"

	"charm.land/lipgloss/v2"

	"github.com/waybill/waybill/durable/pattern"
)

// Wrap breaks the lines of text at words so that they fit width columns; 0 breaks nothing. A line
// keeps its indentation, and text after a bullet or number is indented behind it. Code (fenced or
// indented by four), single words that are too long, and quoted commands that fit one line are not
// broken.
//
// Widths are those of TextWidth, so wide characters count as two columns.
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

// linePrefix matches what precedes the words of a line: indentation, quote signs, a bullet or
// number.
var linePrefix = pattern.New(`^[ \t]*(?:> )*(?:[-*+•→] |[0-9]{1,3}[.)] )?`)

// hangMax bounds the hanging indentation in columns, so that narrow terminals have space for text.
const hangMax = 8

// wrapLine breaks one line.
func wrapLine(line string, width int) []string {
	first := linePrefix.FindString(line)
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

// quotedCommand matches a command to copy, as errors and hints name it, with adjacent punctuation.
var quotedCommand = pattern.New(`\S*'waybill [^']*'\S*`)

// words splits text into units that are not broken. A quoted command is one unit where it fits
// width: broken, it could not be copied.
func words(text string, width int) []string {
	var out []string
	for {
		command := quotedCommand.FindString(text)
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

// Indent inserts prefix before every line that is not empty.
func Indent(text, prefix string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if line != "" {
			lines[i] = prefix + line
		}
	}
	return strings.Join(lines, "\n")
}

// Fold breaks a line that is wider than width, at words where possible and inside them where
// necessary, and repeats colors on each part. It is for program output, which must not exceed the
// width.
func Fold(line string, width int) []string {
	if width <= 0 || len(line) <= width || TextWidth(line) <= width {
		return []string{line}
	}
	return strings.Split(lipgloss.Wrap(line, width, ""), "\n")
}

// Cut shortens a line to width and ends it with an ellipsis.
func Cut(line string, width int) string {
	if width <= 0 || TextWidth(line) <= width {
		return line
	}
	return lipgloss.NewStyle().MaxWidth(width-1).Render(line) + "…"
}
