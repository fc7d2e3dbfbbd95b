package main

import (
	"github.com/spf13/cobra"

	"github.com/waybill/waybill/durable/engine"
)

const duLong = `Show how much of the disk a store takes, and what takes it: each session with its log and
with the objects that it alone needs, the largest first; objects by kind; every folder of
the store. Several sessions often share a workflow or a snapshot: that stands by itself,
since deleting one of them would not free it.`

func newDUCommand(a *app) *cobra.Command {
	var all bool
	cmd := &cobra.Command{
		Use:     "du",
		GroupID: groupStore,
		Short:   "Show what takes how much room",
		Long:    duLong,
		Example: "  waybill du\n  waybill du --all\n  waybill du --json | jq '.data.sessions[0]'",
		Args:    none(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			o, err := a.open(cmd.Context())
			if err != nil {
				return err
			}
			defer o.close()
			u, err := o.DU(cmd.Context())
			if err != nil {
				return err
			}
			return a.answer("du", u, func(p *page) { a.tellUsage(u, all, p) })
		},
	}
	cmd.Flags().BoolVar(&all, "all", false, "list every session, not the largest ones only")
	return cmd
}

// duRowsMax is how many sessions are listed where nobody asks for all.
const duRowsMax = 20

func (a *app) tellUsage(u engine.Usage, all bool, p *page) {
	p.line("%s in %s", p.bold(size(u.TotalBytes)), plural(int(u.TotalFiles), "file"))
	sessions := append(append([]engine.SessionUsage{}, u.Sessions...), u.Trash...)
	if len(sessions) > 0 {
		rows := [][]cell{}
		for _, s := range sessions {
			if len(rows) == duRowsMax && !all {
				break
			}
			title := titleOfRuns(s.Runs)
			if s.Name != "" {
				title += " (trash)"
			}
			rows = append(rows, []cell{a.sessionName(s.SessionID.String(), s.Runs, p), {text: title},
				{text: size(s.TotalBytes)}, {text: size(s.Events.Bytes)}, {text: size(s.Own.Bytes)},
				{text: size(s.Shared.Bytes)}})
		}
		p.line("")
		p.table([]column{{title: "SESSION"}, {title: "TITLE", flex: true}, {title: "TOTAL", right: true},
			{title: "LOG", right: true, spare: true},
			{title: "OBJECTS", right: true, spare: true}, {title: "SHARED", right: true, spare: true}}, rows)
		if n := len(sessions) - len(rows); n > 0 {
			p.line("%s", p.dim("and "+itoa(n)+" more: "+a.command("du", "--all")))
		}
	}
	rows := [][]cell{}
	unused := int64(0)
	for _, o := range u.Objects {
		rows = append(rows, []cell{{text: string(o.Kind) + "s"}, {text: itoa(int(o.Count))}, {text: size(o.Bytes)},
			{text: size(o.Unused.Bytes)}})
		unused += o.Unused.Bytes
	}
	p.line("")
	p.table([]column{{title: "OBJECTS"}, {title: "COUNT", right: true}, {title: "SIZE", right: true},
		{title: "UNUSED", right: true}}, rows)
	rows = nil
	for _, f := range u.Folders {
		if f.Path != "." && f.Files > 0 {
			rows = append(rows, []cell{{text: f.Path}, {text: itoa(int(f.Files))}, {text: size(f.Bytes)}})
		}
	}
	if len(rows) > 0 {
		p.line("")
		p.table([]column{{title: "FOLDER"}, {title: "FILES", right: true}, {title: "SIZE", right: true}}, rows)
	}
	for _, c := range u.Unclear {
		p.text(p.warn("! "), c.Path+": "+c.Message)
	}
	if unused+u.Leftover > 0 || len(u.Trash) > 0 {
		p.line("What can go: %s", a.command("gc"))
	}
}
