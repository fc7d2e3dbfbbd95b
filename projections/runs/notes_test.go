package runs_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/run/advance"
	"github.com/waybill/waybill/projections/runs"
)

func notesOf(d *driver) *runs.NotesFold[string] {
	f := runs.NewNotesFold(func(text string) string { return text })
	for _, e := range d.events {
		f.Visit(e)
	}
	return f
}

// TestNotesFoldEqualsFold: the notes of all nodes are the current recaps of the whole fold, and those with which an
// accepted attempt left a node.
func TestNotesFoldEqualsFold(t *testing.T) {
	seen := 0
	rapid.Check(t, func(rt *rapid.T) {
		d := randomDriver(rt, t)
		var want, got []string
		for _, n := range d.r().Nodes {
			for _, o := range slices.Concat(n.Outputs, n.Left) {
				if o.Channel == event.Recap {
					want = append(want, fmt.Sprintf("%06d %s %s", o.Index, n.ID, o.Payload.NotesMarkdown))
				}
			}
			seen += len(n.Left)
		}
		for _, n := range notesOf(d).Of(d.run) {
			got = append(got, fmt.Sprintf("%06d %s %s", n.Index, n.Node, n.Value))
		}
		slices.Sort(want)
		slices.Reverse(want)
		if !slices.Equal(got, want) {
			rt.Fatalf("notes\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	})
	if seen == 0 {
		t.Error("no branch replaced notes")
	}
}

// TestNotesFoldNamesTheWholeText: of notes that the recap cannot hold.
func TestNotesFoldNamesTheWholeText(t *testing.T) {
	d := newDriver(t, gated)
	d.try(d.r().Tip, advance.Request{Notes: "ok " + strings.Repeat("long ", limits.NotesBytesMax)})
	d.try(d.r().Tip, advance.Request{Notes: "short"})
	got := notesOf(d).Of(d.run)
	whole, _ := d.r().Node(d.r().Root).WholeNotes()
	if len(got) != 2 || got[1].Node != d.r().Root || got[1].Whole != whole.Payload.SHA256 || whole.Payload.SHA256.IsZero() ||
		!got[0].Whole.IsZero() || got[0].SnapshotRef != d.r().Node(got[0].Node).SnapshotRef || got[0].Checkpoint {
		t.Errorf("got %+v", got)
	}
}
