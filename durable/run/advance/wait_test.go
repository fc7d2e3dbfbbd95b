package advance_test

import (
	"strings"
	"testing"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/run/advance"
	"github.com/waybill/waybill/durable/run/snapshot"
	"github.com/waybill/waybill/durable/run/wait"
	"github.com/waybill/waybill/durable/workflow/compile"
	"github.com/waybill/waybill/durable/workflow/source"
)

const waitText = `{"id":"test.wait","name":"Wait","description":"d","version":"1.0.0","steps":[
 {"id":"hour","title":"Hour","action":{"kind":"wait","for":"1h"}},
 {"id":"fixed","title":"Fixed","action":{"kind":"wait","until":"1970-01-01T02:00:00+01:00"}},
 {"id":"asked","title":"Asked","action":{"kind":"wait","until":"{{release.at}}"}},
 {"id":"end","title":"End","prompt":"p"}]}`

// waitCase is an attempt at a step that became pending at time 0.
type waitCase struct {
	step    string
	context string
	sent    *wait.Over // with the attempt
	have    *wait.Over // recorded before
	atMs    int64
	want    string // of the blocker's message; "" advances
}

// TestWaits: which attempts complete a step that waits, in every mode.
func TestWaits(t *testing.T) {
	_, w, problems := compile.File("test.json", source.SourceProject, []byte(waitText))
	if source.HasErrors(problems) {
		t.Fatal(problems)
	}
	const hour = 3_600_000
	over := func(step string, due, at int64) *wait.Over {
		return &wait.Over{Kind: wait.Kind, StepInstanceKey: step, DueAtMs: due, OverAtMs: at}
	}
	const release = `{"release":{"at":"1970-01-01T01:00:00Z"}}`
	for _, mode := range []event.Autonomy{event.Guided, event.FullAutoStopOnUserDeps, event.FullAutoNeverStop} {
		for name, row := range map[string]waitCase{
			"nothing":                   {"hour", `{}`, nil, nil, hour, `Step "hour" waits until 1970-01-01T01:00:00.000Z.`},
			"over":                      {"hour", `{}`, over("hour", hour, hour), nil, hour, ""},
			"over later":                {"hour", `{}`, over("hour", hour, 9*hour), nil, 9 * hour, ""},
			"early":                     {"hour", `{}`, over("hour", hour, hour), nil, hour - 1, "the attempt was made before"},
			"early by its own words":    {"hour", `{}`, over("hour", hour, hour-1), nil, hour, "over before it was due"},
			"another moment":            {"hour", `{}`, over("hour", 1, hour), nil, hour, "another wait"},
			"another step":              {"hour", `{}`, over("fixed", hour, hour), nil, hour, "another wait"},
			"recorded, clock went back": {"hour", `{}`, nil, over("hour", hour, hour), 5, ""},
			"recorded of another":       {"hour", `{}`, nil, over("fixed", hour, hour), hour, "another wait"},
			"fixed":                     {"fixed", `{}`, over("fixed", hour, hour), nil, hour, ""},
			"fixed, early":              {"fixed", `{}`, over("fixed", hour, hour), nil, hour - 1, "the attempt was made before"},
			"no instant":                {"asked", `{}`, over("asked", hour, hour), nil, hour, "{{release.at}}, which is not set"},
			"no valid instant":          {"asked", `{"release":{"at":"soon"}}`, nil, nil, hour, "{{release.at}}, which is not an instant"},
			"a number":                  {"asked", `{"release":{"at":3600000}}`, nil, nil, hour, "{{release.at}}, which is not an instant"},
			"filled":                    {"asked", release, over("asked", hour, hour), nil, hour, ""},
			"filled, early":             {"asked", release, nil, nil, hour, `Step "asked" waits until 1970-01-01T01:00:00.000Z.`},
		} {
			t.Run(string(mode)+"/"+name, func(t *testing.T) {
				context, err := canon.Parse([]byte(row.context))
				if err != nil {
					t.Fatal(err)
				}
				f := advance.Facts{Session: session, Run: run, Node: root, Next: 7, State: snapshot.At(row.step, nil, nil),
					Preferences: event.DefaultPreferences(), Context: context}
				f.Preferences.Autonomy = mode
				if row.have != nil {
					a := advance.JSONArtifact(row.have.Value())
					f.Outputs = []advance.Output{{ID: id.FromAttempt(id.NextAttempt(root, id.OpAck, 3), id.OpAck).Output(0), JSON: a.JSON,
						Payload: event.OutputPayload{PayloadKind: event.ArtifactRef, ArtifactKind: wait.Kind, ContentType: a.ContentType,
							ByteLength: int64(len(a.Bytes)), SHA256: canon.Sum(a.Bytes)}}}
				}
				request := advance.Request{}
				if row.sent != nil {
					request.Artifacts = []advance.Artifact{advance.JSONArtifact(row.sent.Value())}
				}
				d, err := advance.Decide(w, f, advance.Attempt{ID: id.NextAttempt(root, id.OpAck, 0), Request: request, Actor: agent,
					AtMs: row.atMs, Performed: true})
				if err != nil {
					t.Fatal(err)
				}
				if _, err := manifest.EncodeSegment(d.Log, d.Events); err != nil {
					t.Fatal(err)
				}
				outcome := d.Events[0].Data.(event.AdvanceRecorded).Outcome
				if (outcome.Kind == event.Advanced) != (row.want == "") {
					t.Fatalf("%+v", outcome)
				}
				if row.want != "" && !strings.Contains(outcome.Blockers.Blockers[0].Message, row.want) {
					t.Errorf("%+v", outcome.Blockers.Blockers)
				}
				for _, e := range d.Events {
					if p, ok := e.Data.(event.NodeOutputAppended); ok && e.Actor.Kind != event.Engine {
						t.Errorf("the actor of %s is %+v", p.Payload.ArtifactKind, e.Actor)
					}
				}
			})
		}
	}
}
