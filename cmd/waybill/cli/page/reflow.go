package page

import "strings"

// HelpColumns is the width, in columns, of help that is not printed to a terminal.
const HelpColumns = 80

const (
	// descriptionMin is the width in columns that a description needs beside its term; with less, it is
	// below the term.
	descriptionMin = 30
	// descriptionIndent is the indentation in columns of a description below its term.
	descriptionIndent = 6
)

// Reflow lays out a text with line breaks of its own for a width in columns: the lines of a paragraph are
// joined and broken again. An indented line is a term, with its description behind two spaces or in the
// lines below that are indented further. One without description is a command and stays as it is.
func Reflow(text string, width int) string {
	lines := strings.Split(text, "\n")
	var out []string
	for len(lines) > 0 {
		n := blockOf(lines)
		block := lines[:n]
		lines = lines[n:]
		switch {
		case !strings.HasPrefix(block[0], " "):
			out = append(out, Wrap(strings.Join(block, " "), width))
		default:
			out = append(out, reflowTerm(block, width))
		}
	}
	return strings.Join(out, "\n")
}

// blockOf returns the number of lines of the first block: an empty line, a paragraph, or a term with its
// description.
func blockOf(lines []string) int {
	first := indentOf(lines[0])
	n := 1
	for lines[0] != "" && n < len(lines) && lines[n] != "" {
		if next := indentOf(lines[n]); first == 0 && next > 0 || first > 0 && next <= first {
			break
		}
		n++
	}
	return n
}

// indentOf returns the number of spaces at the start of a line.
func indentOf(line string) int { return len(line) - len(strings.TrimLeft(line, " ")) }

// reflowTerm lays out a term with its description.
func reflowTerm(block []string, width int) string {
	lead := block[0][:indentOf(block[0])]
	term, description, _ := strings.Cut(block[0][len(lead):], "  ")
	column := len(block[0]) - len(strings.TrimLeft(description, " "))
	if description == "" && len(block) == 1 {
		return block[0]
	}
	if description == "" {
		column = width
	}
	return Term(lead+term, column, description+"\n"+strings.Join(block[1:], "\n"), width)
}

// Term lays out a term and its description, from a column on. The description is below the term if the
// width leaves too little beside it.
func Term(term string, column int, description string, width int) string {
	words := strings.Join(strings.Fields(description), " ")
	if width-column < descriptionMin || TextWidth(term) >= column {
		under := strings.Repeat(" ", descriptionIndent)
		return Wrap(term, width) + "\n" + under +
			strings.ReplaceAll(Wrap(words, width-descriptionIndent), "\n", "\n"+under)
	}
	beside := strings.Repeat(" ", column)
	return term + beside[TextWidth(term):] + strings.ReplaceAll(Wrap(words, width-column), "\n", "\n"+beside)
}
