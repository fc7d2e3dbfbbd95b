package engine_test

import (
	"context"
	"strings"
	"testing"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/engine"
	"github.com/waybill/waybill/durable/engine/warning"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/event"
)

// TestOptionsOfAStart: tags and options are recorded, are content of a keyed start, and are read by a
// replay; a fork has them without the digest of the request.
func TestOptionsOfAStart(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	options := event.RunOptions{Configurable: set("model", "m"), Metadata: set("team", "a"),
		RequestDigest: canon.Sum([]byte("request"))}
	req := engine.Start{Workflow: w.compiled(longOne), SourceKind: event.SourceProject, SourceRef: "w.json", Key: "k",
		Tags: []string{"nightly"}, Options: &options}
	a, err := w.g.Start(context.Background(), w.by(), id.Seed{1}, req)
	if err != nil {
		t.Fatal(err)
	}
	details, err := w.process().Views.Run(context.Background(), a.Session.RunID.String())
	if err != nil || !details.Options.Equal(&options) || len(details.Tags) != 1 || details.Tags[0] != "nightly" {
		t.Fatalf("%+v %v %v", details.Options, details.Tags, err)
	}
	if r, err := w.process().Replay(context.Background(), a.Position()); err != nil || !r.OK {
		t.Fatalf("replay: %+v %v", r, err)
	}
	for name, other := range map[string]event.RunOptions{
		"configurable": {Metadata: options.Metadata, RequestDigest: options.RequestDigest},
		"metadata":     {Configurable: options.Configurable, RequestDigest: options.RequestDigest},
		"digest":       {Configurable: options.Configurable, Metadata: options.Metadata},
	} {
		changed := req
		changed.Options = &other
		got, err := w.process().Start(context.Background(), w.by(), id.Seed{2}, changed)
		if err != nil || len(got.Warnings) != 1 || got.Warnings[0].Code != warning.ReplayDiffers {
			t.Errorf("other %s under the key: %+v %v", name, got.Warnings, err)
		}
	}
	fork, err := w.process().ForkAt(context.Background(), w.by(), id.Seed{3}, a.Position(), engine.ForkRequest{})
	if err != nil {
		t.Fatal(err)
	}
	options.RequestDigest = canon.Digest{}
	details, err = w.process().Views.Run(context.Background(), fork.Session.RunID.String())
	if err != nil || !details.Options.Equal(&options) {
		t.Fatalf("fork: %+v %v", details.Options, err)
	}
	if r, err := w.process().Replay(context.Background(), fork.Position()); err != nil || !r.OK {
		t.Fatalf("replay of the fork: %+v %v", r, err)
	}
}

// TestOptionsThatAreRefused: tags and options that no event can hold are refused before anything exists.
func TestOptionsThatAreRefused(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	for name, s := range map[string]engine.Start{
		"no object":               {Options: &event.RunOptions{Metadata: canon.OfInt(1)}},
		"too large":               {Options: &event.RunOptions{Configurable: set("k", strings.Repeat("x", 64<<10))}},
		"empty":                   {Options: &event.RunOptions{}},
		"empty tag":               {Tags: []string{""}},
		"a tag that is not UTF-8": {Tags: []string{"\xff"}},
		"101 tags":                {Tags: strings.Split(strings.Repeat("t ", 100)+"t", " ")},
	} {
		s.Workflow, s.SourceKind = w.compiled(longOne), event.SourceProject
		if _, err := w.g.Start(context.Background(), w.by(), id.Seed{1}, s); !fault.Is(err, fault.ValidationError) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
