package runs

import (
	"context"
	"strings"

	"github.com/waybill/waybill/cmd/waybill/cli"
	"github.com/waybill/waybill/cmd/waybill/cli/current"
	"github.com/waybill/waybill/cmd/waybill/cli/page"
	"github.com/waybill/waybill/cmd/waybill/cli/render"
	"github.com/waybill/waybill/cmd/waybill/cli/stream"
	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/engine/views"
)

// rowsBytesMax bounds the rows, compressed, that are kept until the end of a reading. Rows that are made in the order
// of the list are made again by another reading where they are more.
const rowsBytesMax = 6 << 20

// runRows are the steps of a run as they are printed: a list of the document, or a checklist.
type runRows struct {
	app     *cli.App
	reading *views.RunReading
	run     views.RunDetails // without steps, but for the pending one
	page    *page.Page
	kept    *stream.Sorted // nil: not kept
}

// printRun prints a run. Facts that are known behind the last event are printed before the steps.
func printRun(ctx context.Context, a *cli.App, o *cli.Store, ref string, head bool) error {
	reading, err := views.ReadRun(ctx, o.Views, ref, "")
	if err != nil {
		return err
	}
	l := &runRows{app: a, reading: reading, run: reading.Head(), page: a.NewPage(a.Out), kept: &stream.Sorted{}}
	run, err := reading.Each(ctx, l.keep)
	if err != nil {
		return err
	}
	run.Steps = l.run.Steps
	l.run = current.Run(ctx, a, o, run)
	if a.Flags.JSON {
		l.run.Steps = []views.StepRow{}
		steps := func(add func(any) error) error {
			return l.each(ctx, func(row []byte) error { return add(stream.Encoded(row)) })
		}
		return stream.New(a.WriteJSON, &a.Unfinished).Document("run", l.run, stream.List{Name: "steps", Each: steps})
	}
	out := stream.New(a.Write, &a.Unfinished)
	l.page.Reset()
	showRun(a, l.page, l.run)
	err = out.Add(l.page.Bytes())
	l.page.Reset()
	if err == nil {
		err = l.each(ctx, func(row []byte) error { return out.Add(row) })
	}
	if err != nil {
		return err
	}
	l.page.Reset()
	showRest(a, l.page, l.run)
	if head {
		l.page.Line("")
		l.page.Line("Head of %s: %s", l.run.SessionID, l.run.Head.Digest)
	}
	return out.End(l.page.Bytes())
}

// keep keeps a row until it is printed, and the pending step for showRest.
func (l *runRows) keep(s views.ShownStep) error {
	if s.State == views.StepPending {
		l.run.Steps = append(l.run.Steps, s.StepRow)
	}
	if l.kept == nil {
		return nil
	}
	row, err := l.row(s)
	if err == nil {
		err = l.kept.Add(s.Index, row)
	}
	if l.kept.Size() > rowsBytesMax && l.reading.InOrder() {
		l.kept = nil
	}
	return err
}

// each passes the rows in order.
func (l *runRows) each(ctx context.Context, each func([]byte) error) error {
	if l.kept != nil {
		l.reading = nil // its memory is needed
		return l.kept.Each(each)
	}
	_, err := l.reading.Each(ctx, func(s views.ShownStep) error {
		row, err := l.row(s)
		if err != nil {
			return err
		}
		return each(row)
	})
	return err
}

// row returns a row as it is printed.
func (l *runRows) row(s views.ShownStep) ([]byte, error) {
	if l.app.Flags.JSON {
		row, err := canon.Marshal(s.StepRow)
		if err != nil {
			return nil, stream.EncodingFault(err)
		}
		return row, nil
	}
	l.page.Reset()
	// Of a long loop only the latest rounds are shown, with one line for the others.
	if l.isEarlierRound(s.Index) {
		if !l.isEarlierRound(s.Index + 1) {
			omitted := 1
			for ; l.isEarlierRound(s.Index - omitted); omitted++ {
			}
			loop, _, _ := strings.Cut(s.StepInstanceKey, "@") // the key names a loop first
			l.page.Text(l.page.Dim("  …    "), page.Plural(omitted, "earlier step")+" of this loop: "+
				l.app.Command("runs", "show", page.ShortRun(l.run.RunID), "--step", loop))
		}
		return l.page.Bytes(), nil
	}
	render.StepRow(l.page, s.Index+1, s.StepRow, l.run.Status)
	showOutcome(l.app, l.page, l.run.RunID, s)
	return l.page.Bytes(), nil
}

// roundsShown bounds the rows of one loop; the latest ones are shown.
const roundsShown = 20

// isEarlierRound reports whether a row is omitted: it belongs to a loop, and at least roundsShown rows of the same loop
// follow.
func (l *runRows) isEarlierRound(i int) bool {
	return i >= 0 && i+roundsShown < l.reading.Steps() && l.reading.SameLoop(i, i+roundsShown)
}
