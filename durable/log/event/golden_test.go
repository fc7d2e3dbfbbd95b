package event_test

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/waybill/waybill/durable/log/event"
)

var update = flag.Bool("update", false, "regenerate testdata/events")

const goldenDir = "../../../testdata/events"

// Each kind has a stored line. Decoding it returns the event, and encoding that returns the line.
func TestGoldenLines(t *testing.T) {
	for i, s := range samples {
		t.Run(s.file, func(t *testing.T) {
			e := event.New(session.String(), int64(i), s.scope, agent, whenever, s.data)
			if err := e.Check(event.Domain); err != nil {
				t.Fatal(err)
			}
			line, err := event.Domain.AppendLine(nil, e)
			if err != nil {
				t.Fatal(err)
			}
			path := filepath.Join(goldenDir, s.file+".jsonl")
			if *update {
				if err := os.WriteFile(path, line, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(path)
			if err != nil || !bytes.Equal(line, want) {
				t.Fatalf("\n got %swant %s%v", line, want, err)
			}
			back, err := event.Domain.DecodeLine(bytes.TrimSuffix(want, []byte("\n")))
			if err != nil || back.Foreign() || back.DedupeKey() != e.DedupeKey() || back.IDText() != e.ID.String() {
				t.Fatalf("decoded to %+v, %v", back, err)
			}
			again, err := event.Domain.AppendLine([]byte("x"), back)
			if err != nil || !bytes.Equal(again, append([]byte("x"), want...)) {
				t.Errorf("encoded again as %s, %v", again, err)
			}
			// Values have their source line; everything else must be equal.
			if s.data.Kind() != "context_set" && s.data.Kind() != "run_event_recorded" && s.file != "run_started.options" && !reflect.DeepEqual(back, e) {
				t.Errorf("got %+v, want %+v", back, e)
			}
		})
	}
}

func TestGoldenFilesMatchSamples(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(goldenDir, "*"))
	if err != nil || len(files) != len(samples) {
		t.Errorf("%d files for %d samples, %v", len(files), len(samples), err)
	}
}

// Every kind of the table has a sample, and every sample is a DomainEvent, so that a consumer's
// type switch can be tested for completeness.
func TestSamplesCoverTheTable(t *testing.T) {
	var kinds []string
	for _, s := range samples {
		if _, ok := s.data.(event.DomainEvent); !ok {
			t.Errorf("%T is not a DomainEvent", s.data)
		}
		if kind, _, _ := strings.Cut(s.file, "."); kind != s.data.Kind() {
			t.Errorf("sample %s is of kind %s", s.file, s.data.Kind())
		}
		kinds = append(kinds, s.data.Kind())
	}
	slices.Sort(kinds)
	if got, want := slices.Compact(kinds), event.Domain.Kinds(); !slices.Equal(got, want) {
		t.Errorf("samples of %q, table of %q", got, want)
	}
}

// The kinds of Domain are stored: they are never renamed or removed.
func TestDomainKindsArePinned(t *testing.T) {
	want := []string{"advance_recorded", "capability_observed", "context_set", "decision_trace_appended",
		"divergence_recorded",
		"edge_created", "gap_recorded", "guard_noted", "node_created", "node_output_appended", "observation_recorded",
		"preferences_changed",
		"run_cancel_requested", "run_closed", "run_event_recorded", "run_paused", "run_resumed", "run_started", "session_created",
		"session_handed_over", "session_taken_back"}
	if got := event.Domain.Kinds(); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// The dedupe keys of all kinds are pinned: event ids are derived from them.
func TestDedupeKeys(t *testing.T) {
	recipes := map[string]string{
		"session_created":         "session_created:<sessionId>",
		"run_started":             "run_started:<sessionId>:<runId>",
		"node_created":            "node_created:<sessionId>:<runId>:<root>",
		"node_created.child":      "node_created:<sessionId>:<runId>:<child>",
		"edge_created":            "edge_created:<sessionId>:<runId>:<root>-><child>:acked_step",
		"advance_recorded":        "advance_recorded:<sessionId>:<root>:<attemptId>",
		"context_set":             "context_set:<sessionId>:<contextId>",
		"preferences_changed":     "preferences_changed:<sessionId>:<changeId>",
		"node_output_appended":    "node_output_appended:<sessionId>:<outputId>",
		"gap_recorded":            "gap_recorded:<sessionId>:<gapId>",
		"decision_trace_appended": "decision_trace_appended:<sessionId>:<traceId>",
		"capability_observed":     "capability_observed:<sessionId>:<capObsId>",
		"divergence_recorded":     "divergence_recorded:<sessionId>:<divergenceId>",
		"observation_recorded":    "observation_recorded:<sessionId>:git_branch:<sha256 of main>",
		"guard_noted":             "guard_noted:<sessionId>:<root>:codex:<sha256 of a>:1",
		"guard_noted.let_go":      "guard_noted:<sessionId>:<root>:codex:<sha256 of a>:let_go",
		"run_event_recorded":      "run_event_recorded:<sessionId>:31",
		"run_event_recorded.sent": "run_event_recorded:<sessionId>:32",
		"run_cancel_requested":    "run_cancel_requested:<sessionId>:<runId>",
		"run_closed":              "run_closed:<sessionId>:<runId>",
		"run_closed.limit":        "run_closed:<sessionId>:<runId>",
		"run_paused":              "run_paused:<sessionId>:<runId>:1",
		"run_paused.drain":        "run_paused:<sessionId>:<runId>:2",
		"run_resumed":             "run_resumed:<sessionId>:<runId>:1",
		"run_resumed.reason":      "run_resumed:<sessionId>:<runId>:2",
	}
	ids := strings.NewReplacer("<sessionId>", session.String(), "<runId>", run.String(), "<root>", root.String(),
		"<child>", child.String(),
		"<attemptId>", attempt.String(), "<contextId>", origin.Context(0).String(), "<changeId>", origin.Change(0).
			String(),
		"<outputId>", origin.Output(0).String(), "<gapId>", origin.Gap(0).String(), "<traceId>", origin.Trace(0).
			String(),
		"<capObsId>", origin.CapObs(0).String(), "<divergenceId>", origin.Divergence(0).String(),
		"<sha256 of a>", aDigest.String(),
		"<sha256 of main>", "sha256:0d6e4079e36703ebd37c00722f5891d28b0e2811dc114b129215123adcce3605")
	seen := 0
	for _, s := range samples {
		recipe, ok := recipes[s.file]
		if !ok {
			continue
		}
		seen++
		if got, want := s.data.DedupeKey(session.String(), s.scope), ids.Replace(recipe); got != want {
			t.Errorf("%s: got %s, want %s", s.file, got, want)
		}
	}
	if seen != len(recipes) {
		t.Errorf("%d of %d recipes have a sample", seen, len(recipes))
	}
}
