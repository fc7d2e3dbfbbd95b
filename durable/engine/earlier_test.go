package engine_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/run/advance"
)

// jsonFile is an artifact of JSON text.
func jsonFile(t *testing.T, text string) advance.Artifact {
	v, err := canon.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return advance.Artifact{ContentType: "application/json", Bytes: v.JCS(), JSON: v}
}

// TestAttemptsOfEarlierVersions: an attempt that an earlier version recorded is decided again as it was
// recorded, although the same attempt is recorded otherwise now.
func TestAttemptsOfEarlierVersions(t *testing.T) {
	t.Parallel()
	const plain = `{"id":"test.e","name":"E","description":"d","version":"1.0.0",
		"steps":[{"id":"one","title":"One","prompt":"p"},{"id":"two","title":"Two","prompt":"p"}]}`
	const probe = `{"id":"test.e","name":"E","description":"d","version":"1.0.0","capabilities":{"required":["delegation"]},
		"steps":[{"id":"one","title":"One","prompt":"p"}]}`
	const prefers = `{"id":"test.e","name":"E","description":"d","version":"1.0.0","capabilities":{"preferred":["delegation"]},
		"steps":[{"id":"one","title":"One","prompt":"p"}]}`
	rule := `{"type":"contains","value":"done","message":"` + strings.Repeat("a ", 140) + `"}`
	rules := `{"id":"test.e","name":"E","description":"d","version":"1.0.0",
		"steps":[{"id":"one","title":"One","prompt":"p","validationCriteria":[` + rule + "," + rule + `]}]}`
	for name, c := range map[string]struct {
		workflow, earlier, now string
		request                advance.Request
	}{
		"the example of a probe": {probe,
			`such as {\"capability\":\"web_browsing\"`, `such as {\"capability\":\"delegation\"`, advance.Request{}},
		"the context of an attempted use": {plain, `"attemptContext":"workflow_step"`, `"attemptContext":"system_probe"`,
			advance.Request{Artifacts: []advance.Artifact{jsonFile(t,
				`{"kind":"wr.capability_observation","capability":"delegation","result":"success","attemptContext":"system_probe"}`)}}},
		"the evidence of a gap": {probe, "", `"evidenceRefs"`, advance.Request{Artifacts: []advance.Artifact{jsonFile(t,
			`{"kind":"wr.capability_observation","capability":"delegation","result":"failure","failureCode":"tool_missing"}`)}}},
		"rules over their budget": {rules, "", `[TRUNCATED] wr.validationCriteria`, advance.Request{Notes: "half"}},
		"a preferred capability":  {prefers, "", `"severity":"info"`, advance.Request{}},
	} {
		for _, earlier := range []bool{true, false} {
			ctx, w := context.Background(), newFixture(t)
			a := w.start(c.workflow)
			w.handIn(a, c.request, earlier)
			events, _, err := w.process().Events(ctx, a.Session.RunID.String())
			if err != nil {
				t.Fatal(err)
			}
			lines, err := json.Marshal(events)
			if err != nil {
				t.Fatal(err)
			}
			all := string(lines)
			if has, lacks := c.now, c.earlier; strings.Contains(all, has) == earlier || lacks != "" && strings.Contains(all, lacks) != earlier {
				t.Errorf("%s, earlier %v: %s", name, earlier, all)
			}
			if report, err := w.process().Replay(ctx, a.Position()); err != nil || !report.OK || report.Segments != 2 {
				t.Errorf("%s, earlier %v: %+v, %v", name, earlier, report, err)
			}
		}
	}
}
