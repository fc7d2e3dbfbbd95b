package origin

import (
	"context"
	"testing"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/ports"
)

// TestSourceOfARun: what is shown beside the id of a run's workflow, by what the run records. The
// session of a bundle came with a bundle.
func TestSourceOfARun(t *testing.T) {
	ours := canon.Sum([]byte("ours"))
	isOurs := func(id string, hash canon.Digest) bool { return id == "wr.ours" && hash == ours }
	bundle, local := Origins{Bundled: isOurs, AllImported: true}, Origins{Bundled: isOurs, Controls: marks{}}
	marked := Origins{Bundled: isOurs, Controls: marks{ports.Control{V: 1}}}
	for _, c := range []struct {
		id, ref string
		kind    event.SourceKind
		hash    canon.Digest
		here    string // of a session of this store
		came    string // of one that came with a bundle
	}{
		{"wr.ours", "wr.ours", event.SourceBundled, ours, "bundled", "bundled"},
		{"wr.ours", "wr.ours", event.SourceBundled, canon.Sum(nil), "bundled", "plugin:imported"},
		{"wr.other", "wr.other", event.SourceBundled, ours, "bundled", "plugin:imported"},
		{"wr.other", "team/a.json", event.SourcePlugin, ours, "plugin:team", "plugin:team"},
		{"wr.other", "a b/a.json", event.SourcePlugin, ours, "plugin", "plugin"},
		{"wr.other", "", event.SourcePlugin, ours, "plugin", "plugin"},
		{"team.x", "installed/sha256_0.json", event.SourcePlugin, ours, "installed", "installed"},
		{"team.x", "imported/x.json", event.SourcePlugin, ours, "plugin", "plugin"},
		{"team.x", "x.json", event.SourceProject, ours, "project", "project"},
		{"team.x", "team/x.json", event.SourceUser, ours, "user", "user"},
	} {
		run := event.RunStarted{WorkflowID: c.id, WorkflowHash: c.hash, WorkflowSourceKind: c.kind, WorkflowSourceRef: c.ref}
		if got := local.SourceOf(context.Background(), id.Session{}, run); got != c.here {
			t.Errorf("%s of %s %q here: %q, want %q", c.id, c.kind, c.ref, got, c.here)
		}
		if got := marked.SourceOf(context.Background(), id.Session{}, run); got != c.came {
			t.Errorf("%s of %s %q imported: %q, want %q", c.id, c.kind, c.ref, got, c.came)
		}
		if got := (Origins{}).SourceOf(context.Background(), id.Session{}, run); got != c.here {
			t.Errorf("%s of %s %q as recorded: %q, want %q", c.id, c.kind, c.ref, got, c.here)
		}
		if got := bundle.SourceOf(context.Background(), id.Session{}, run); got != c.came {
			t.Errorf("%s of %s %q in a bundle: %q, want %q", c.id, c.kind, c.ref, got, c.came)
		}
	}
}

// marks is a store whose sessions have the import mark.
type marks struct{ mark ports.Control }

func (m marks) SessionControl(context.Context, id.Session, ports.ControlFile) (ports.Control, error) {
	return m.mark, nil
}

func (marks) UpdateSessionControl(context.Context, id.Session, ports.ControlFile,
	func(ports.Control) (ports.Control, error)) error {
	return nil
}

func (marks) DropSessionControl(context.Context, id.Session, ports.ControlFile) error { return nil }
