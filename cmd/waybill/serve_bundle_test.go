//go:build linux

package main

import (
	"fmt"
	"strings"
	"testing"
)

// TestServedBundlesAndPrompts does with a server what the public scenarios about debug bundles and prompts do, and
// looks closer: a subtest has the name of the scenario's file.
func TestServedBundlesAndPrompts(t *testing.T) {
	t.Parallel()
	s := serveAt(t, "", "--fixtures", "--test-seams")
	for name, try := range map[string]func(scenario){
		"debugBundle": scenarioBundle, "prompt-list-and-fetch": scenarioPrompts,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			try(scenario{t, s, s.key})
		})
	}
}

// scenarioBundle would pass without a look where discovery does not have the family, and the agreement of events where the
// poll is refused: both are required here.
func scenarioBundle(c scenario) {
	doc := c.as("").do("GET", "/.well-known/openwop", nil)
	if family, _ := doc.json["debugBundle"].(map[string]any); family["supported"] != true {
		c.Fatalf("%v", doc.json["debugBundle"])
	}
	run := c.create("conformance-noop", object{"userField": secretOpenAI, "password": "open-sesame-12", "note": "\u202e\u200b"})
	c.until(run, "completed")
	c.do("POST", "/v1/runs/"+run+"/annotations", object{"signal": object{"kind": "flag"}, "note": "token: " + secretJWT})
	r := c.do("GET", "/v1/runs/"+run+"/debug-bundle", nil)
	if r.status != 200 || r.header.Get("Cache-Control") != "no-store" {
		c.Fatalf("%d %s", r.status, r.text)
	}
	c.published("debug-bundle", r.text)
	polled, _ := c.poll(run, "")
	events, _ := r.json["events"].([]any)
	metrics, _ := r.json["metrics"].(map[string]any)
	if len(events) != len(polled) || metrics["eventCount"] != float64(len(events)) || metrics["nodeCount"] != 1.0 {
		c.Errorf("%d events, %d polled, %v", len(events), len(polled), metrics)
	}
	for i, e := range events {
		if fmt.Sprint(e) != fmt.Sprint(polled[i]) {
			c.Errorf("event %d is %v, polled %v", i, e, polled[i])
		}
	}
	state := c.do("GET", "/v1/runs/"+run, nil)
	if fmt.Sprint(r.json["run"]) != fmt.Sprint(state.json) {
		c.Errorf("%v, the state is %v", r.json["run"], state.json)
	}
	if notes, _ := r.json["annotations"].([]any); len(notes) != 1 || r.json["redactionApplied"] != true || r.json["redactionMode"] != "mask" {
		c.Errorf("%s", r.text)
	}
	if _, cut := r.json["truncated"]; cut {
		c.Errorf("%v", r.json["truncated"])
	}
	for _, secret := range []string{marker, "open-sesame", "\u202e", "\u200b"} {
		if strings.Contains(r.text, secret) {
			c.Errorf("the bundle has %q: %s", secret, r.text)
		}
	}
	c.envelope(c.do("GET", "/v1/runs/none/debug-bundle", nil), 404, "run_not_found")
	c.envelope(c.as("").do("GET", "/v1/runs/"+run+"/debug-bundle", nil), 401, "unauthenticated")
}

// scenarioPrompts would pass without a look where the host has no template of its own: there are two here.
func scenarioPrompts(c scenario) {
	doc := c.as("").do("GET", "/.well-known/openwop", nil)
	if family, _ := doc.json["prompts"].(map[string]any); family["endpointsSupported"] != true {
		c.Fatalf("%v", doc.json["prompts"])
	}
	list := func(query string) (out []map[string]any, next string) {
		r := c.do("GET", "/v1/prompts"+query, nil)
		items, ok := r.json["items"].([]any)
		if r.status != 200 || !ok {
			c.Fatalf("%s: %d %s", query, r.status, r.text)
		}
		for _, i := range items {
			out = append(out, i.(map[string]any))
		}
		next, _ = r.json["nextCursor"].(string)
		return out, next
	}
	all, next := list("")
	if len(all) != 2 || next != "" {
		c.Fatalf("%v", all)
	}
	raw := c.do("GET", "/v1/prompts/"+all[0]["templateId"].(string), nil)
	c.published("prompt-template", raw.text)
	if got, _ := list("?source=host&kind=system"); len(got) != 1 || got[0]["kind"] != "system" || got[0]["meta"].(map[string]any)["source"] != "host" {
		c.Errorf("%v", got)
	}
	if got, _ := list("?source=pack"); len(got) != 0 {
		c.Errorf("%v", got)
	}
	first, cursor := list("?source=host&limit=1")
	second, end := list("?source=host&limit=1&cursor=" + cursor)
	if len(first) != 1 || len(second) != 1 || end != "" || first[0]["templateId"] == second[0]["templateId"] {
		c.Errorf("%v %v %q", first, second, end)
	}
	tag := raw.header.Get("ETag")
	if again := c.do("GET", "/v1/prompts/"+all[0]["templateId"].(string), nil, "If-None-Match: "+tag); tag == "" || again.status != 304 {
		c.Errorf("%q: %d", tag, again.status)
	}
	c.envelope(c.do("GET", "/v1/prompts/conformance-unknown-template", nil), 404, "not_found")
	c.envelope(c.do("GET", "/v1/prompts/"+all[0]["templateId"].(string)+"?version=9.9.9", nil), 404, "not_found")
}
