package event_test

import (
	"strings"
	"testing"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/event"
)

// A foreign event is readable as far as its words are known, and the result cannot be written.
func TestGlimpse(t *testing.T) {
	prefs := line(t, atChild, event.PreferencesChanged{ChangeID: origin.Change(0), Source: event.FromUser,
		Delta:     []event.PreferenceChange{{Key: "autonomy", Value: "guided"}},
		Effective: event.DefaultPreferences()})
	node := line(t, atChild, event.NodeCreated{NodeKind: event.StepNode, ParentNodeID: &root, SnapshotRef: aDigest,
		WorkflowHash: aDigest})
	context := line(t, event.Scope{RunID: run},
		event.ContextSet{Context: canon.OfMembers(canon.Member{Name: "gapId", Value: canon.OfString("mine")}),
			ContextID: origin.Context(0), Source: event.ContextInitial})
	gap := line(t, atChild, event.GapRecorded{GapID: origin.Gap(1), Severity: event.Info, Summary: "s",
		Resolution: event.Resolution{Kind: event.Resolves, ResolvesGapID: ref(origin.Gap(0))}})
	out := line(t, atChild, event.NodeOutputAppended{OutputChannel: event.Artifact, OutputID: origin.Output(1),
		SupersedesOutputID: ref(origin.Output(0)),
		Payload: event.OutputPayload{PayloadKind: event.ArtifactRef, ByteLength: 3, ContentType: "application/json",
			SHA256: aDigest}})
	tests := []struct {
		name, line string
		change     []string
		known      bool
		id, refers string
	}{
		{"an id of another shape", prefs, []string{origin.Change(0).String(), "evt_of_theirs"}, true, "", ""},
		{"an unknown preference", prefs, []string{`"autonomy":"guided"`, `"autonomy":"wild"`, origin.Change(0).
			String(), "c1"}, false, "", ""},
		{"an unknown kind of node", node, []string{`"step"`, `"gate_checkpoint"`}, true, "", ""},
		{"a parent of another shape", node, []string{root.String(), "node_7"}, false, "", ""},
		{"a digest that is none", node, []string{`"snapshotRef":"sha256:`, `"snapshotRef":"md5:`}, false, "", ""},
		{"a scope that does not fit", node, []string{`"nodeId":"` + child.String() + `",`, ``}, false, "", ""},
		{"context under an id of another shape", context, []string{origin.Context(0).String(), "first"}, true, "", ""},
		{"context that is a list", context, []string{`{"gapId":"mine"}`, `["mine"]`}, false, "", ""},
		{"gaps of another shape", gap, []string{origin.Gap(1).String(), "gap_b_0", origin.Gap(0).String(), "gap_a_0"},
			true, "gap_b_0", "gap_a_0"},
		{"an unknown severity", gap, []string{`"info"`, `"fatal"`}, false, "", ""},
		{"a text over its budget", gap, []string{`"summary":"s"`, `"summary":"` + strings.Repeat("s", 600) + `"`}, true,
			origin.Gap(1).String(), origin.Gap(0).String()},
		{"outputs of another shape", out, []string{origin.Output(1).String(), "out_b", origin.Output(0).
			String(), "out_a"}, true, "out_b", "out_a"},
		{"an artifact that holds nothing", out, []string{`"byteLength":3`, `"byteLength":0`}, true, origin.Output(1).
			String(), origin.Output(0).String()},
		{"an artifact among the notes", out, []string{`"artifact"`, `"recap"`}, false, "", ""},
		{"an unknown kind", node, []string{"node_created", "node_painted"}, false, "", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			text := strings.NewReplacer(tt.change...).Replace(tt.line)
			e, err := event.Domain.DecodeLine([]byte(text))
			if err != nil {
				t.Fatal(err)
			}
			if _, unknown := e.Data.(event.Unknown); !unknown {
				t.Fatalf("decodes as %+v", e.Data)
			}
			g, ok := event.Domain.ViewForeign(e)
			if !ok || (g.Known != nil) != tt.known || g.ID != tt.id && tt.known || g.Refers != tt.refers && tt.known {
				t.Fatalf("got %+v, %v", g, ok)
			}
			if g.Data.IsNull() {
				t.Error("the data is not kept")
			}
			if back, err := event.Domain.AppendLine(nil, e); err != nil || string(back) != text+"\n" {
				t.Errorf("written back as %s, %v", back, err)
			}
			if g.Known == nil || g.Known.Kind() == "node_created" {
				return
			}
			if line, err := event.Domain.AppendLine(nil,
				event.New(session.String(), 0, e.Scope, agent, 0, g.Known)); err == nil {
				t.Errorf("the payload was encoded: %s", line)
			}
		})
	}
}

func ref[T any](v T) *T { return &v }

// Context is submitted by a caller: a member with the name of a record id is unchanged.
func TestGlimpseKeepsContext(t *testing.T) {
	text := strings.Replace(line(t, event.Scope{RunID: run},
		event.ContextSet{Context: canon.OfMembers(canon.Member{Name: "gapId", Value: canon.OfString("mine")}),
			ContextID: origin.Context(0), Source: event.ContextInitial}), origin.Context(0).String(), "first", 1)
	e, err := event.Domain.DecodeLine([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	g, _ := event.Domain.ViewForeign(e)
	if c, ok := g.Known.(event.ContextSet); !ok || string(c.Context.JCS()) != `{"gapId":"mine"}` ||
		c.ContextID != (id.Context{}) {
		t.Errorf("got %+v", g.Known)
	}
}

// Events that are not foreign have no ForeignView, and an artifact inside an event has its own kind.
func TestGlimpseOfKnownEventsAndArtifacts(t *testing.T) {
	for _, s := range samples {
		if g, ok := event.Domain.ViewForeign(event.New(session.String(), 0, s.scope, agent, 0, s.data)); ok {
			t.Errorf("%s: %+v", s.file, g)
		}
	}
	text := strings.NewReplacer(`"byteLength":3`, `"byteLength":3,"content":{"kind":"tea.leaves"}`, origin.Output(1).
		String(), "o").Replace(
		line(t, atChild, event.NodeOutputAppended{OutputChannel: event.Artifact, OutputID: origin.Output(1),
			Payload: event.OutputPayload{PayloadKind: event.ArtifactRef, ByteLength: 3, ContentType: "application/json",
				SHA256: aDigest}}))
	e, err := event.Domain.DecodeLine([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	g, _ := event.Domain.ViewForeign(e)
	if o, ok := g.Known.(event.NodeOutputAppended); !ok || o.Payload.ArtifactKind != "tea.leaves" {
		t.Errorf("got %+v", g.Known)
	}
}
