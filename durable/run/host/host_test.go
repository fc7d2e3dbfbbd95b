package host_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/run/host"
	"github.com/waybill/waybill/durable/workflow/compile"
	"github.com/waybill/waybill/durable/workflow/hoststep"
	"github.com/waybill/waybill/durable/workflow/source"
)

func parse(t *testing.T, text string) canon.Value {
	t.Helper()
	if text == "" {
		return canon.Value{}
	}
	v, err := canon.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// TestPerform: each type has its result, which depends on configuration and context alone and is read back as it is.
func TestPerform(t *testing.T) {
	for _, row := range []struct{ typeID, config, context, want string }{
		{"core.noop", "", `{"a":1}`, `{"kind":"wr.host_result","outcome":"completed","stepInstanceKey":"l@0::s","typeId":"core.noop"}`},
		{"core.delay", `{"delayMs":5}`, `{}`, `{"kind":"wr.host_result","outcome":"completed","stepInstanceKey":"l@0::s","typeId":"core.delay"}`},
		{"core.identity", "", `{"a":{"b":[1]},"waybill.internal":1,"waybills":"x"}`, `{"kind":"wr.host_result","outcome":"completed",` +
			`"outputs":{"a":{"b":[1]},"waybills":"x"},"stepInstanceKey":"l@0::s","typeId":"core.identity"}`},
		{"core.identity", "", "", `{"kind":"wr.host_result","outcome":"completed","outputs":{},"stepInstanceKey":"l@0::s","typeId":"core.identity"}`},
		{"core.fail", `{"code":"E1","message":"Out of order."}`, "", `{"error":{"code":"E1","message":"Out of order."},"kind":"wr.host_result",` +
			`"outcome":"failed","stepInstanceKey":"l@0::s","typeId":"core.fail"}`},
		{"core.conformance.requiresMissing", "", "", `{"error":{"code":"capability_not_provided","message":"The step needs ` +
			`conformance.never-provided, which this host does not provide."},"kind":"wr.host_result","outcome":"failed",` +
			`"stepInstanceKey":"l@0::s","typeId":"core.conformance.requiresMissing"}`},
		{"core.conformance.requiresMissing", `{"requires":"chat.sendPrompt"}`, "", `{"error":{"code":"capability_not_provided",` +
			`"message":"The step needs chat.sendPrompt, which this host does not provide."},"kind":"wr.host_result","outcome":"failed",` +
			`"stepInstanceKey":"l@0::s","typeId":"core.conformance.requiresMissing"}`},
		{"core.fail", "", "", `{"error":{"code":"host_step_failed","message":"The workflow has a step that fails."},` +
			`"kind":"wr.host_result","outcome":"failed","stepInstanceKey":"l@0::s","typeId":"core.fail"}`},
	} {
		step := host.Step{Step: hoststep.Step{TypeID: row.typeID, Config: parse(t, row.config)}, StepInstanceKey: "l@0::s",
			Context: parse(t, row.context), Test: &host.Test{}}
		r, err := host.Perform(step)
		if err != nil {
			t.Fatal(err)
		}
		v, err := r.Value()
		if err != nil || string(v.JCS()) != row.want {
			t.Errorf("%s: %v\n got %s\nwant %s", row.typeID, err, v.JCS(), row.want)
		}
		again, err := host.Decode(v)
		if second, _ := again.Value(); err != nil || !second.Equal(v) || again.OK() == strings.Contains(row.want, `"failed"`) {
			t.Errorf("%s: %v, %+v", row.typeID, err, again)
		}
	}
	for _, typeID := range []string{"core.ai.callPrompt", "core.conformance.requiresMissing", "core.shell"} {
		if _, err := host.Perform(host.Step{Step: hoststep.Step{TypeID: typeID}}); !errors.Is(err, host.ErrUnsupported) {
			t.Errorf("%s: %v", typeID, err)
		}
	}
}

// TestDecodeRefuses: an artifact that no performer writes is none.
func TestDecodeRefuses(t *testing.T) {
	const good = `{"kind":"wr.host_result","outcome":"completed","stepInstanceKey":"s","typeId":"core.noop"}`
	const failed = `{"error":{"code":"c","message":"m"},"kind":"wr.host_result","outcome":"failed","stepInstanceKey":"s","typeId":"core.fail"}`
	for _, text := range []string{good, failed} {
		if _, err := host.Decode(parse(t, text)); err != nil {
			t.Fatal(err)
		}
	}
	for _, row := range [][3]string{
		{good, `"wr.host_result"`, `"wr.wait_over"`},
		{good, `"completed"`, `"done"`},
		{good, `"completed"`, `"failed"`},
		{good, `"s"`, `""`},
		{good, `"core.noop"`, `"core.shell"`},
		{good, `"kind"`, `"atMs":1,"kind"`},
		{good, `"kind"`, `"outputs":[],"kind"`},
		{good, `"kind"`, `"error":{"code":"c","message":"m"},"kind"`},
		{good, `{`, `[{`},
		{failed, `"failed"`, `"completed"`},
		{failed, `"m"`, `""`},
		{failed, `"c"`, `""`},
		{failed, `"m"`, `"` + strings.Repeat("m", 513) + `"`},
		{failed, `"c"`, `"` + strings.Repeat("c", 129) + `"`},
		{failed, `"kind"`, `"outputs":{},"kind"`},
		{failed, `"message":"m"`, `"message":"m","stack":"s"`},
	} {
		text := strings.Replace(row[0], row[1], row[2], 1)
		if row[2] == `[{` {
			text += "]"
		}
		if r, err := host.Decode(parse(t, text)); err == nil {
			t.Errorf("%s is accepted: %+v", text, r)
		}
	}
}

// TestDueAt: a fixed delay comes before the one of the context, that before the default; what is no number of 0 or more does not
// count, and a minute is the most.
func TestDueAt(t *testing.T) {
	for _, row := range []struct {
		config, vars string
		want         int64
	}{
		{"", "", 1000},
		{"", `{"delayMs":250}`, 250},
		{"", `{"delaySeconds":2.5}`, 2500},
		{"", `{"delayMs":250,"delaySeconds":9}`, 250},
		{"", `{"delayMs":null,"delaySeconds":9}`, 9000},
		{"", `{"delayMs":-5}`, 1000},
		{"", `{"delayMs":"250"}`, 1000},
		{"", `{"delayMs":0}`, 0},
		{"", `{"delayMs":1e300}`, 60_000},
		{"", `{"delaySeconds":1e308}`, 60_000},
		{`{"delayMs":7}`, `{"delayMs":250}`, 7},
		{`{"delayMs":0}`, `{"delayMs":250}`, 0},
		{`{"defaultMs":30000}`, `{"delaySeconds":1}`, 1000},
		{`{"defaultMs":30000}`, `{"other":1}`, 30_000},
	} {
		h := hoststep.Step{TypeID: hoststep.Delay, Config: parse(t, row.config)}
		if due, ok := host.DueAt(h, 100, parse(t, row.vars)); !ok || due != 100+row.want {
			t.Errorf("%s with %s: %d, %v", row.config, row.vars, due-100, ok)
		}
	}
	if _, ok := host.DueAt(hoststep.Step{TypeID: hoststep.Noop}, 1, canon.Value{}); ok {
		t.Error("a step that is no delay has a moment")
	}
}

// TestUnsupported: the types that this version does not perform are named, also in bodies of loops.
func TestUnsupported(t *testing.T) {
	const head = `{id: test.host, name: H, description: d, version: 1.0.0, steps: [`
	of := func(steps string) []string {
		_, c, problems := compile.File("x.yaml", source.SourceProject, []byte(head+steps+"]}"))
		if source.HasErrors(problems) {
			t.Fatal(problems)
		}
		return host.Unsupported(c, false)
	}
	if got := of(`{id: a, title: A, action: {kind: host, typeId: core.noop}}, {id: b, title: B, action: {kind: host, typeId: core.identity}},
		{id: c, title: C, action: {kind: host, typeId: core.delay}}, {id: d, title: D, action: {kind: host, typeId: core.fail}},
		{id: e, title: E, prompt: p}`); got != nil {
		t.Error(got)
	}
	got := of(`{id: a, title: A, action: {kind: host, typeId: core.interrupt, config: {kind: conversation.close}}}, {id: l, title: L, type: loop, loop: {type: for, count: 2, maxIterations: 2},
		body: [{id: b, title: B, action: {kind: host, typeId: core.ai.callPrompt}}, {id: c, title: C, action: {kind: host, typeId: core.interrupt, config: {kind: conversation.start}}}]}`)
	if !slices.Equal(got, []string{"conversationPrimitive", "core.ai.callPrompt"}) {
		t.Error(got)
	}
}

// TestFailedText: the code is read from the sentence that is stored, and from no other one.
func TestFailedText(t *testing.T) {
	e := host.Error{Code: "not_available", Message: "It is away (for now): later."}
	text := host.FailedText(`a"b`, e)
	if got := host.FailedCode(`a"b`, text); got != e.Code || text != `Step "a\"b" failed (not_available): It is away (for now): later.` {
		t.Errorf("%q in %s", got, text)
	}
	for _, other := range []string{"", "Step", `Step "a" failed (x`, text} {
		if got := host.FailedCode("a", other); got != "" {
			t.Errorf("%q in %s", got, other)
		}
	}
}
