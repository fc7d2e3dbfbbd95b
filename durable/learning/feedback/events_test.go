package feedback_test

import (
	"bytes"
	"encoding/json"
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/learning/feedback"
	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/log/manifest"
)

var (
	session = id.NewSession(id.Seed{1})
	run     = id.NewRun(id.Seed{2})
	root    = id.RootNode(run)
	anEvent = id.EventOf(session.String(), "x")
	first   = id.NewAnnotation(id.Seed{3})
	second  = id.NewAnnotation(id.Seed{4})
	ofRun   = event.Scope{RunID: run}
	ada     = event.Actor{Kind: event.Human, Ref: "ada"}
	judge   = event.Actor{Kind: event.Agent, Ref: "judge"}
)

func ptr[T any](v T) *T { return &v }

func request(s feedback.Signal) feedback.Request {
	return feedback.Request{Create: feedback.Create{Signal: s}}
}

// golden holds a line of every kind and of every signal; stored lines must stay readable.
var golden = []struct {
	data event.Payload
	line string // the member data
}{
	{feedback.Record(first, request(feedback.Flag()), feedback.Location{}),
		`{"annotationId":"ann_dzcwbumoyhlgowj24g735wlydu","at":{},"signal":{"kind":"flag"},"target":{}}`},
	{feedback.Record(first, request(feedback.Rating(4)), feedback.Location{NodeID: root, StepID: "review"}),
		`{"annotationId":"ann_dzcwbumoyhlgowj24g735wlydu","at":{"nodeId":"node_osv7ay7ntud7kcaha3iiloeqre","stepId":"review"},"signal":{"kind":"rating","rating":4},"target":{}}`},
	{feedback.Record(second, feedback.Request{Confidence: ptr(0.0), SupersedesAnnotationID: first,
		Create: feedback.Create{Signal: feedback.Label("off-brand"), Note: "tone",
			Target: feedback.Target{EventID: anEvent, NodeID: root}}}, feedback.Location{NodeID: root}),
		`{"annotationId":"ann_lp5riqsawbu5dn5wvrxc5nzz2a","at":{"nodeId":"node_osv7ay7ntud7kcaha3iiloeqre"},"confidence":0,"note":"tone","signal":{"kind":"label","label":"off-brand"},"supersedesAnnotationId":"ann_dzcwbumoyhlgowj24g735wlydu","target":{"eventId":"evt_kxmtkm4gijg5jwxlrcflgvkry4","nodeId":"node_osv7ay7ntud7kcaha3iiloeqre"}}`},
	{feedback.Record(second, feedback.Request{Confidence: ptr(0.85),
		Create: feedback.Create{Signal: feedback.Correction("use \"x\"\n"), Target: feedback.Target{NodeID: root}}},
		feedback.Location{NodeID: root, StepID: "a_1"}),
		`{"annotationId":"ann_lp5riqsawbu5dn5wvrxc5nzz2a","at":{"nodeId":"node_osv7ay7ntud7kcaha3iiloeqre","stepId":"a_1"},"confidence":0.85,"signal":{"correction":"use \"x\"\n","kind":"correction"},"target":{"nodeId":"node_osv7ay7ntud7kcaha3iiloeqre"}}`},
	{feedback.Retract(first, " a reason\n"), `{"annotationId":"ann_dzcwbumoyhlgowj24g735wlydu","reason":"a reason"}`},
	{feedback.Retract(first, " \n"), `{"annotationId":"ann_dzcwbumoyhlgowj24g735wlydu"}`},
}

func TestLinesRoundTrip(t *testing.T) {
	log, kinds := manifest.SessionSide(session, feedback.Table), map[string]bool{}
	if log.Root != "sessions/"+session.String()+"/annotations" {
		t.Errorf("the log is stored in %s", log.Root)
	}
	for i, g := range golden {
		e := event.New(session.String(), int64(i), ofRun, judge, 5, g.data)
		if err := e.Check(feedback.Table); err != nil {
			t.Fatal(err)
		}
		seg, err := manifest.EncodeSegment(log, []event.Event{e})
		if err != nil {
			t.Fatal(err)
		}
		if line := string(seg.Bytes); !strings.HasPrefix(line, `{"actor":{"kind":"agent","ref":"judge"},"data":`+g.line+
			`,"dedupeKey":"`+g.data.Kind()+":"+session.String()+":ann_") {
			t.Errorf("got  %s\nwant %s", line, g.line)
		}
		back, err := manifest.DecodeSegment(log, int64(i), int64(i), seg.Bytes)
		if err != nil || back.Events[0].Foreign() || back.Events[0].Data.Kind() != g.data.Kind() ||
			back.Events[0].DedupeKey() != e.DedupeKey() {
			t.Errorf("%s: %v, %+v", seg.Bytes, err, back.Events)
		}
		again, err := feedback.Table.AppendLine(nil, back.Events[0])
		if err != nil || !bytes.Equal(again, seg.Bytes) {
			t.Errorf("%s\n%s: %v", again, seg.Bytes, err)
		}
		kinds[g.data.Kind()] = true
	}
	for _, k := range feedback.Table.Kinds() {
		if !kinds[k] {
			t.Errorf("no golden line of %s", k)
		}
	}
}

// TestConfidenceRoundTrip: confidence is the only number with a fraction in Waybill's logs.
func TestConfidenceRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := rapid.OneOf(rapid.Float64Range(0, 1),
			rapid.SampledFrom([]float64{0, 1, 0.1, 1e-7, 5e-324, math.Nextafter(1, 0)})).Draw(t, "confidence")
		r := request(feedback.Flag())
		r.Confidence = &want
		line, err := feedback.Table.AppendLine(nil,
			event.New(session.String(), 0, ofRun, judge, 5, feedback.Record(first, r, feedback.Location{})))
		if err != nil {
			t.Fatal(err)
		}
		e, err := feedback.Table.DecodeLine(bytes.TrimSuffix(line, []byte("\n")))
		if err != nil || e.Foreign() || *e.Data.(feedback.Recorded).Confidence != want {
			t.Fatalf("%g: %s: %v", want, line, err)
		}
	})
}

func TestInvalidRecordsAreRefused(t *testing.T) {
	good := feedback.Record(first, request(feedback.Flag()), feedback.Location{NodeID: root, StepID: "a"})
	with := func(change func(*feedback.Recorded)) feedback.Recorded {
		r := good
		change(&r)
		return r
	}
	signal := func(s feedback.Signal) feedback.Recorded { return with(func(r *feedback.Recorded) { r.Signal = s }) }
	sure := func(c float64) feedback.Recorded { return with(func(r *feedback.Recorded) { r.Confidence = &c }) }
	text := func(n int) string { return strings.Repeat("x", n) }
	for name, p := range map[string]event.Payload{
		"no id":                    with(func(r *feedback.Recorded) { r.AnnotationID = id.Annotation{} }),
		"superseding itself":       with(func(r *feedback.Recorded) { r.SupersedesAnnotationID = first }),
		"kind":                     signal(feedback.Signal{Kind: "applause"}),
		"no kind":                  signal(feedback.Signal{}),
		"no stars":                 signal(feedback.Rating(0)),
		"six stars":                signal(feedback.Rating(6)),
		"fewer than no stars":      signal(feedback.Rating(-1)),
		"stars beside a flag":      signal(feedback.Signal{Kind: feedback.FlagKind, Rating: 3}),
		"a label beside stars":     signal(feedback.Signal{Kind: feedback.RatingKind, Rating: 3, Label: "x"}),
		"a correction and a label": signal(feedback.Signal{Kind: feedback.LabelKind, Correction: "y", Label: "x"}),
		"no label":                 signal(feedback.Label("")),
		"a blank label":            signal(feedback.Label(" \n")),
		"label":                    signal(feedback.Label(text(limits.LabelBytesMax + 1))),
		"label's bytes":            signal(feedback.Label("\xff")),
		"no correction":            signal(feedback.Correction("")),
		"correction":               signal(feedback.Correction(text(limits.CorrectionBytesMax + 1))),
		"correction's bytes":       signal(feedback.Correction("a\xff")),
		"note": with(func(r *feedback.Recorded) {
			r.Note = text(limits.AnnotationNoteBytesMax +
				1)
		}),
		"note's bytes":         with(func(r *feedback.Recorded) { r.Note = "a\xff" }),
		"blank note":           with(func(r *feedback.Recorded) { r.Note = " " }),
		"less than not sure":   sure(-0.01),
		"more than sure":       sure(1.01),
		"sure as nothing else": sure(math.Inf(1)),
		"no number":            sure(math.NaN()),
		"step of no shape":     with(func(r *feedback.Recorded) { r.At.StepID = "A b" }),
		"step of no node":      with(func(r *feedback.Recorded) { r.At.NodeID = id.Node{} }),
		"at another node": with(
			func(r *feedback.Recorded) { r.Target.NodeID = id.RootNode(id.NewRun(id.Seed{9})) }),
		"retraction of nothing": feedback.Retracted{},
		"reason":                feedback.Retracted{AnnotationID: first, Reason: text(limits.SummaryBytesMax + 1)},
		"reason's bytes":        feedback.Retracted{AnnotationID: first, Reason: "\xff"},
	} {
		if err := p.Check(ofRun); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	for name, p := range map[string]event.Payload{
		"plain": good, "label": signal(feedback.Label(text(limits.LabelBytesMax))),
		"correction": signal(feedback.Correction(text(limits.CorrectionBytesMax))),
		"one star":   signal(feedback.Rating(1)), "five stars": signal(feedback.Rating(5)), "sure": sure(1),
		"not sure": sure(0),
		"reason":   feedback.Retracted{AnnotationID: first, Reason: text(limits.SummaryBytesMax)},
		"none":     feedback.Retracted{AnnotationID: first},
		"event":    with(func(r *feedback.Recorded) { r.Target.EventID = anEvent }),
		"nowhere":  with(func(r *feedback.Recorded) { r.At = feedback.Location{} }),
	} {
		if err := p.Check(ofRun); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, s := range map[string]event.Scope{"no run": {}, "a node": {RunID: run, NodeID: root}} {
		if err := event.New(session.String(), 0, s, ada, 1, good).Check(feedback.Table); err == nil {
			t.Errorf("scope of %s: accepted", name)
		}
	}
}

// canaries are secrets; none of them may occur in a record.
var canaries = []string{"sk-canary0123456789", "ghp_canary0123456789canary0123456789", "password=canary0123456789",
	"Bearer canary0123456789"}

func TestRecordsContainNoSecrets(t *testing.T) {
	for _, secret := range canaries {
		text := "because " + secret + " leaked"
		var all []event.Payload
		for _, s := range []feedback.Signal{feedback.Label(text), feedback.Correction(text), feedback.Flag()} {
			r := request(s)
			r.Note = text
			all = append(all, feedback.Record(first, r, feedback.Location{}))
		}
		for _, p := range append(all, feedback.Retract(first, text)) {
			line, err := feedback.Table.AppendLine(nil, event.New(session.String(), 0, ofRun, ada, 1, p))
			if err != nil || bytes.Contains(line, []byte("canary")) || !bytes.Contains(line, []byte("because ")) {
				t.Errorf("%v: %s", err, line)
			}
		}
	}
}

// TestAcceptedRequestsCanBeRecorded: redaction markers may be longer than the secrets they
// replace, and escapes than their characters; neither may make a record invalid.
func TestAcceptedRequestsCanBeRecorded(t *testing.T) {
	secrets := func(n int) string { return strings.Repeat("sk-abcdef ", n/10) }
	control := func(n int) string { return strings.Repeat("\x01", n-1) + "x" }
	for _, fill := range []func(int) string{secrets, control} {
		for _, s := range []feedback.Signal{feedback.Label(fill(limits.LabelBytesMax)),
			feedback.Correction(fill(limits.CorrectionBytesMax))} {
			r := request(s)
			r.Note, r.Confidence = fill(limits.AnnotationNoteBytesMax), ptr(0.5)
			if err := r.Check(judge); err != nil {
				t.Fatal(err)
			}
			e := event.New(session.String(), 0, ofRun, judge, 1, feedback.Record(first, r, feedback.Location{}))
			if err := e.Check(feedback.Table); err != nil {
				t.Error(err)
			}
			if line, err := feedback.Table.AppendLine(nil, e); err != nil || bytes.Contains(line, []byte("abcdef")) {
				t.Error(len(line), err)
			}
		}
		why := fill(limits.SummaryBytesMax)
		if err := feedback.CheckReason(why); err != nil {
			t.Error(err)
		}
		if err := feedback.Retract(first, why).Check(ofRun); err != nil {
			t.Error(err)
		}
	}
}

// TestWireShape: the wire shape is exactly OpenWOP's; additional facts are separate.
func TestWireShape(t *testing.T) {
	spelled := func(e event.Event) string {
		a, about, ok := feedback.AnnotationOf(e)
		if !ok {
			t.Fatal("not an annotation")
		}
		both, err := canon.Marshal(struct {
			About feedback.Details    `json:"about"`
			Wire  feedback.Annotation `json:"wire"`
		}{about, a})
		if err != nil {
			t.Fatal(err)
		}
		return string(both)
	}
	at := int64(1767323045006)
	for _, test := range []struct {
		by   event.Actor
		data event.Payload
		want string
	}{
		{ada, golden[1].data, `{"about":{"nodeId":"node_osv7ay7ntud7kcaha3iiloeqre","stepId":"review"},"wire":{"actor":{"principalRef":"ada"},"annotationId":"ann_dzcwbumoyhlgowj24g735wlydu","createdAt":"2026-01-02T03:04:05.006Z","signal":{"kind":"rating","rating":4},"target":{"runId":"run_q2n2wcwby6j3nokndwzemiadti"}}}`},
		{judge, golden[2].data,
			`{"about":{"confidence":0,"nodeId":"node_osv7ay7ntud7kcaha3iiloeqre","supersedesAnnotationId":"ann_dzcwbumoyhlgowj24g735wlydu"},"wire":{"actor":{"principalRef":"judge"},"annotationId":"ann_lp5riqsawbu5dn5wvrxc5nzz2a","createdAt":"2026-01-02T03:04:05.006Z","note":"tone","signal":{"kind":"label","label":"off-brand"},"target":{"eventId":"evt_kxmtkm4gijg5jwxlrcflgvkry4","nodeId":"node_osv7ay7ntud7kcaha3iiloeqre","runId":"run_q2n2wcwby6j3nokndwzemiadti"}}}`},
		{event.Actor{Kind: event.Human}, golden[0].data,
			`{"about":{},"wire":{"actor":{"principalRef":"human"},"annotationId":"ann_dzcwbumoyhlgowj24g735wlydu","createdAt":"2026-01-02T03:04:05.006Z","signal":{"kind":"flag"},"target":{"runId":"run_q2n2wcwby6j3nokndwzemiadti"}}}`},
		{event.Actor{}, golden[0].data,
			`{"about":{},"wire":{"actor":{"principalRef":"unknown"},"annotationId":"ann_dzcwbumoyhlgowj24g735wlydu","createdAt":"2026-01-02T03:04:05.006Z","signal":{"kind":"flag"},"target":{"runId":"run_q2n2wcwby6j3nokndwzemiadti"}}}`},
	} {
		if got := spelled(event.New(session.String(), 0, ofRun, test.by, at, test.data)); got != test.want {
			t.Errorf("got  %s\nwant %s", got, test.want)
		}
	}
	if _, _, ok := feedback.AnnotationOf(event.New(session.String(), 0, ofRun, ada, at,
		feedback.Retract(first, ""))); ok {
		t.Error("a retraction is no annotation")
	}
	// encoding/json writes the same members: answers are written by either encoder.
	a, _, _ := feedback.AnnotationOf(event.New(session.String(), 0, ofRun, ada, at, golden[2].data))
	plain, err := json.Marshal(a)
	if err != nil {
		t.Fatal(err)
	}
	again, err := canon.Canonicalize(plain)
	if marshaled, _ := canon.Marshal(a); err != nil || !bytes.Equal(again, marshaled) {
		t.Errorf("%s\n%s: %v", again, marshaled, err)
	}
}
