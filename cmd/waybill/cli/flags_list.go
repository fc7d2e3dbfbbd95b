package cli

import (
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/waybill/waybill/cmd/waybill/cli/page"
)

// FlagList lists flags for a width in columns: their names, the name of the value, the description and the
// default, unless that is off, none or 0.
func FlagList(flags *pflag.FlagSet, width int) string {
	var terms, texts []string
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Hidden {
			return
		}
		value, text := pflag.UnquoteUsage(f)
		term := "      --" + f.Name
		if f.Shorthand != "" {
			term = "  -" + f.Shorthand + ", --" + f.Name
		}
		if value != "" {
			term += " " + value
		}
		switch f.DefValue {
		case "", "false", "0", "0s", "[]":
		default:
			text += " (default " + f.DefValue + ")"
		}
		terms, texts = append(terms, term), append(texts, text)
	})
	return TermList(terms, texts, "   ", width)
}

// TermList writes terms with their descriptions, behind the longest term and a gap.
func TermList(terms, texts []string, gap string, width int) string {
	column := 0
	for _, term := range terms {
		column = max(column, page.TextWidth(term)+len(gap))
	}
	var b strings.Builder
	for i, term := range terms {
		b.WriteString(page.Term(term, column, texts[i], width) + "\n")
	}
	return b.String()
}

// CompleteFlags sets the completion of the flags of a command and of those below it that have none: by the name
// of the flag with that of its value in the help ("--step ID"), else by the name of the value ("FILE").
func CompleteFlags(cmd *cobra.Command, known map[string]cobra.CompletionFunc) {
	cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
		value, _ := pflag.UnquoteUsage(f)
		complete := known["--"+f.Name+" "+value]
		if complete == nil {
			complete = known[value]
		}
		if complete != nil {
			_ = cmd.RegisterFlagCompletionFunc(f.Name, complete) // has none but for closed sets
		}
	})
	for _, sub := range cmd.Commands() {
		CompleteFlags(sub, known)
	}
}
