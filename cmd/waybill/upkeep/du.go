package upkeep

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/waybill/waybill/cmd/waybill/cli"
	"github.com/waybill/waybill/cmd/waybill/cli/page"
	"github.com/waybill/waybill/cmd/waybill/cli/progress"
	"github.com/waybill/waybill/durable/engine/upkeep"
	"github.com/waybill/waybill/durable/log/manifest"
)

// duLong is what 'waybill du --help' prints above the usage.
const duLong = `Show the disk usage of a store: each session, largest first, with the size of its log
and of the objects that only it refers to; objects by kind; every directory. Workflows
and snapshots that several sessions share are counted as SHARED, since deleting one of
the sessions does not free them. Nothing is changed.`

// NewDU returns the command "du". The sizes are measured at each call and not
// cached. The document always lists every session; --all affects the text only.
func NewDU(a *cli.App) *cobra.Command {
	var all bool
	return cli.WithOptions(&cobra.Command{
		Use:     "du",
		GroupID: cli.GroupMaintain,
		Short:   "Show disk usage",
		Long:    duLong,
		Example: "  waybill du\n  waybill du --all\n  waybill du --json | jq '.data.sessions[0]'",
		Args:    cli.None(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			defer cli.LimitMemory()()
			return cli.Show(a, cmd, "du",
				progress.Listing(a, cmd, func(ctx context.Context, o *cli.Store) (upkeep.Usage, error) { return o.DU(ctx) }),
				func(p *page.Page, u upkeep.Usage) { showUsage(a, u, all, p) })
		},
	},
		cli.Opt(&all, "all", "list all sessions, not only the 20 largest"))
}

// duRowsMax is how many sessions the table lists without --all. The help of --all
// states it.
const duRowsMax = 20

// objectNoun returns the noun for an object of a kind, which takes a plural s. The
// kind is a noun itself except for installed artifacts.
func objectNoun(kind manifest.ObjectKind) string {
	if kind == manifest.Installed {
		return "installed artifact"
	}
	return string(kind)
}

// showUsage prints three tables: sessions with their logs and objects, objects by
// kind with the size of unreferenced ones, and directories. An object that
// several sessions refer to counts as shared for each of them, since deleting one
// session would not free it.
//
// Below the tables are warnings about files that could not be counted, and the
// suggestion of gc if that could free something.
func showUsage(a *cli.App, u upkeep.Usage, all bool, p *page.Page) {
	p.Line("%s in %s", p.Bold(page.Size(u.TotalBytes)), page.Plural(int(u.TotalFiles), "file"))
	sessions := append(append([]upkeep.SessionUsage{}, u.Sessions...), u.Trash...)
	if len(sessions) > 0 {
		rows := [][]page.Cell{}
		for _, s := range sessions {
			// The list is sorted by size, so the largest ones are shown.
			if len(rows) == duRowsMax && !all {
				break
			}
			title := titleOfRuns(s.Runs)
			if s.Name != "" {
				title += " (trash)"
			}
			rows = append(rows, []page.Cell{sessionName(a, s.SessionID.String(), s.Runs, p), {Text: title},
				{Text: page.Size(s.TotalBytes)}, {Text: page.Size(s.Events.Bytes)}, {Text: page.Size(s.Own.Bytes)},
				{Text: page.Size(s.Shared.Bytes)}})
		}
		p.Line("")
		p.Table([]page.Column{{Title: "SESSION"}, {Title: "TITLE", Flex: true}, {Title: "TOTAL", Right: true},
			{Title: "LOG", Right: true, Spare: true},
			{Title: "OBJECTS", Right: true, Spare: true}, {Title: "SHARED", Right: true, Spare: true}}, rows)
		if n := len(sessions) - len(rows); n > 0 {
			p.Line("%s", p.Dim("and "+page.Itoa(n)+" more: "+a.Command("du", "--all")))
		}
	}
	rows := [][]page.Cell{}
	// Bytes of objects that no log refers to: with files of interrupted writes and
	// the trash they are what gc can remove.
	unused := int64(0)
	for _, o := range u.Objects {
		rows = append(rows, []page.Cell{{Text: objectNoun(o.Kind) + "s"}, {Text: page.Itoa(int(o.Count))},
			{Text: page.Size(o.Bytes)},
			{Text: page.Size(o.Unused.Bytes)}})
		unused += o.Unused.Bytes
	}
	p.Line("")
	p.Table([]page.Column{{Title: "OBJECTS"}, {Title: "COUNT", Right: true}, {Title: "SIZE", Right: true},
		{Title: "UNUSED", Right: true}}, rows)
	rows = nil
	for _, f := range u.Folders {
		// Empty directories are omitted, and the root, whose sum is printed first.
		if f.Path != "." && f.Files > 0 {
			rows = append(rows, []page.Cell{{Text: f.Path}, {Text: page.Itoa(int(f.Files))},
				{Text: page.Size(f.Bytes)}})
		}
	}
	if len(rows) > 0 {
		p.Line("")
		p.Table([]page.Column{{Title: "DIRECTORY"}, {Title: "FILES", Right: true}, {Title: "SIZE", Right: true}}, rows)
	}
	// The sums above are too small by files that could not be read.
	for _, c := range u.Unclear {
		p.Text(p.Warn("! "), c.Path+": "+c.Message)
	}
	if unused+u.Leftover > 0 || len(u.Trash) > 0 {
		p.Line("Show what can be removed: %s", a.Command("gc"))
	}
}
