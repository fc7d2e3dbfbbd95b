package about

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/waybill/waybill/cmd/waybill/cli"
	"github.com/waybill/waybill/cmd/waybill/cli/page"
)

// overview is what the program prints without a command: it fits a terminal of 80 columns and 24 lines.
// A block begins with its title; each row has a command and what it does.
var overview = []struct {
	title string
	rows  [][2]string
}{
	{"To begin:", [][2]string{
		{"waybill run wr.demo", "perform a short workflow and record it"},
		{"waybill workflows list", "list the workflows that can be run here"},
		{"waybill workflows new my.first", "write a workflow file to start from"},
	}},
	{"Most used:", [][2]string{
		{"waybill run FILE|ID", "perform a workflow, or continue a run"},
		{"waybill inbox", "list what waits for a person"},
		{"waybill runs list", "list the runs, the latest first"},
		{"waybill runs show", "show the latest run and its steps"},
		{"waybill continue --run @last", "show the pending step, or submit its output"},
		{"waybill resume TEXT", "find a run by words of its notes or title"},
		{"waybill runs report -o FILE", "write a run as a page to hand on"},
		{"waybill console", "watch the runs in a browser"},
		{"waybill export @last -o FILE", "write a session to one file"},
		{"waybill verify", "check every stored file"},
	}},
}

// PrintOverview prints what to type first, and where the rest is. The page is written in one piece.
func PrintOverview(a *cli.App, root *cobra.Command) error {
	width, column := columns(a), 0
	for _, block := range overview {
		for _, row := range block.rows {
			column = max(column, len("  "+row[0]+"  "))
		}
	}
	var b strings.Builder
	b.WriteString(page.Wrap(root.Short+", in plain files and without a server.", width) + "\n")
	for _, block := range overview {
		b.WriteString("\n" + block.title + "\n")
		for _, row := range block.rows {
			b.WriteString(page.Term("  "+row[0], column, row[1], width) + "\n")
		}
	}
	b.WriteString("\n" + page.Wrap("'waybill help' lists all commands and flags, 'waybill COMMAND --help' explains one. "+
		"Guide: "+GuidePage(root), width) + "\n")
	return a.Write([]byte(b.String()))
}
