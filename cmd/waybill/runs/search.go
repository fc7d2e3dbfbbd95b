package runs

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/waybill/waybill/cmd/waybill/cli"
	"github.com/waybill/waybill/cmd/waybill/cli/page"
	"github.com/waybill/waybill/cmd/waybill/cli/progress"
	"github.com/waybill/waybill/durable/engine/lists"
	"github.com/waybill/waybill/durable/log/manifest"
)

// searchLong is what 'waybill runs search --help' prints above the usage.
const searchLong = `Find texts in the runs of the store: titles and goals, the notes of every step and
checkpoint, also on other branches, outputs, context values and annotations. Each text
that has all words of TEXT is listed with a line of it, those of the run with the latest
event first. Nothing is changed.

Words are compared whole and in any case; a word is made of letters a to z, digits, - and
_. Letters of other scripts are found within a text. Outputs that were erased, or are
larger than 4 MiB, are not searched. Notes that later notes of their branch replaced are
not listed.`

// searchLimit is the number of hits that are listed where no other is given.
const searchLimit = 20

// newSearch returns "runs search". It only reads; the index decides which sessions are read
// (docs/design.md#search).
func newSearch(a *cli.App) *cobra.Command {
	q := lists.SearchQuery{Limit: searchLimit}
	return cli.WithOptions(&cobra.Command{
		Use:     "search TEXT...",
		Short:   "Search the notes, outputs and titles of all runs",
		Long:    searchLong,
		Example: "  waybill runs search flaky parser\n  waybill runs search \"cache was cold\" --limit 5 --json",
		Args:    needsText,
		RunE: func(cmd *cobra.Command, args []string) error {
			defer cli.LimitMemory()()
			if q.Limit < 0 {
				return cli.UsageFault(cmd, "--limit %d is negative", q.Limit)
			}
			q.Text = strings.Join(args, " ")
			return cli.Show(a, cmd, "search",
				progress.Listing(a, cmd, func(ctx context.Context, o *cli.Store) (lists.Found, error) {
					return lists.Search(ctx, o.Lists, q)
				}),
				func(p *page.Page, found lists.Found) { showFound(a, found, p) })
		},
	},
		cli.Opt(&q.Limit, "limit N", "list at most N texts; 0 lists as many as an answer holds"), cli.Lines(a, "hits"))
}

// needsText requires one word and allows more.
func needsText(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return nil
	}
	return cli.Exactly("TEXT")(cmd, args)
}

// showFound prints the hits by run, and the command that shows each run.
func showFound(a *cli.App, found lists.Found, p *page.Page) {
	if len(found.Hits) == 0 {
		p.Line("No text of a run has all of these words.")
	}
	last := ""
	for _, h := range found.Hits {
		if run := h.RunID.String(); run != last {
			if last != "" {
				p.Blank()
			}
			p.StyledText("", h.Title, p.Bold)
			p.Facts(page.ShortRun(h.RunID), a.Ago(h.LastAtMs))
			last = run
		}
		where := partWords[h.Where.In]
		if h.Where.StepID != "" {
			where += " of " + h.Where.StepID
		}
		p.Text("  "+p.Dim(where+": "), h.Snippet)
	}
	if found.More {
		p.Line("%s", p.Dim("There is more. Give more words, or a higher --limit."))
	}
	unreadable := 0
	for _, u := range found.Unreadable {
		if u.Health != manifest.UnknownVersion || u.Name == "" {
			unreadable++
		}
	}
	if unreadable > 0 {
		p.Text(p.Warn("! "), page.Plural(unreadable, "session")+" could not be searched. Run 'waybill verify' for details.")
	}
}

// partWords are the parts of a run as they are named to a user.
var partWords = map[lists.Part]string{lists.InTitle: "title", lists.InGoal: "goal", lists.InNotes: "notes",
	lists.InCheckpoint: "checkpoint", lists.InOutput: "output", lists.InContext: "context", lists.InAnnotation: "annotation"}
