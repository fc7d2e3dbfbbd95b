package runs_test

import (
	"strings"
	"testing"

	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/run/advance"
	"github.com/waybill/waybill/projections/runs"
)

// wholeNotes returns the size of the whole notes that count at a node, 0 without any, and how many such artifacts are
// current.
func wholeNotes(n *runs.Node) (bytes int64, current int) {
	o, _ := n.WholeNotes()
	for _, a := range n.Artifacts() {
		if a.Payload.IsFullNotes() {
			current++
		}
	}
	return o.Payload.ByteLength, current
}

// TestWholeNotesCountWithTheirRecap: they replace the earlier ones, stay while later attempts have no notes, and are void
// after shorter notes.
func TestWholeNotesCountWithTheirRecap(t *testing.T) {
	d := newDriver(t, gated)
	root := d.r().Root
	long := func(n int) advance.Request { return notes("%s", strings.Repeat("x", n)) }
	for i, tc := range []struct {
		req     advance.Request
		bytes   int64
		current int
	}{
		{notes("no"), 0, 0},
		{long(5000), 5000, 1},
		{advance.Request{}, 5000, 1},
		{long(6000), 6000, 1},
		{notes("no"), 0, 0},
		{advance.Request{}, 0, 0},
		{long(7000), 7000, 1},
	} {
		if o := d.try(root, tc.req); o.Kind != event.Blocked {
			t.Fatal(i, o.Kind)
		}
		if bytes, current := wholeNotes(d.r().Node(root)); bytes != tc.bytes || current != tc.current {
			t.Errorf("after attempt %d: %d bytes, %d current", i, bytes, current)
		}
	}
	two := d.must(root, advance.Request{Notes: "ok " + strings.Repeat("y", 8000), Context: context("ticket", "T")})
	if bytes, current := wholeNotes(d.r().Node(root)); bytes != 8003 || current != 1 {
		t.Errorf("after the accepted one: %d bytes, %d current", bytes, current)
	}
	if bytes, current := wholeNotes(d.r().Node(two)); bytes != 0 || current != 0 {
		t.Errorf("at the next node: %d bytes, %d current", bytes, current)
	}
}

// TestWholeNotesOfAnotherAttemptDoNotCount: a log that another program wrote may hold them without their recap.
func TestWholeNotesOfAnotherAttemptDoNotCount(t *testing.T) {
	recap := runs.Output{ID: id.FromStart(id.RootNode(id.NewRun(id.Seed{1}))).Output(0), Attempt: 2, Channel: event.Recap,
		Payload: event.OutputPayload{PayloadKind: event.Notes, NotesMarkdown: "n"}}
	whole := runs.Output{Attempt: 2, Channel: event.Artifact, Payload: event.OutputPayload{
		PayloadKind: event.ArtifactRef, ArtifactKind: event.FullNotesKind, ContentType: event.FullNotesType}}
	earlier, asJSON := whole, whole
	earlier.Attempt, asJSON.Payload.ContentType = 1, "application/json"
	for name, tc := range map[string]struct {
		outputs []runs.Output
		want    bool
	}{
		"of its attempt":   {[]runs.Output{recap, whole}, true},
		"before its recap": {[]runs.Output{whole, recap}, true},
		"of an earlier":    {[]runs.Output{recap, earlier}, false},
		"without a recap":  {[]runs.Output{whole}, false},
		"sent as JSON":     {[]runs.Output{recap, asJSON}, false},
	} {
		if _, ok := (&runs.Node{Outputs: tc.outputs}).WholeNotes(); ok != tc.want {
			t.Errorf("%s: %v", name, ok)
		}
	}
}
