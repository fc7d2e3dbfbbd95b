package capabilities_test

import (
	"testing"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/learning/capabilities"
	"github.com/waybill/waybill/durable/store/config"
	"github.com/waybill/waybill/ports/porttest/openwoptest"
)

// discover returns the document of a host.
func discover(t *testing.T, c config.Config, o capabilities.Options) canon.Value {
	t.Helper()
	v, err := capabilities.Discovery(c, "1.2.3", o)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// all is what a host can serve.
var all = capabilities.Options{Fixtures: []string{"conformance-noop"}, ReplayModes: []string{"branch"}, DebugBundle: true, Prompts: true,
	Testing: &capabilities.Testing{MockProviders: []string{"stream-text"}, TestKeyPrefix: "test_"}}

// TestDiscoveryListsWhatIsServed: families at the root and below capabilities, and none that is not served.
func TestDiscoveryListsWhatIsServed(t *testing.T) {
	off, err := config.Config{}.With("feedback", "off")
	if err != nil {
		t.Fatal(err)
	}
	if off, err = off.With("proposals", "off"); err != nil {
		t.Fatal(err)
	}
	for name, row := range map[string]struct {
		c    config.Config
		o    capabilities.Options
		want map[string]string // JSON by pointer, "" for an absent member
	}{
		"nothing": {off, capabilities.Options{}, map[string]string{"/feedback": `{"supported":false}`, "/agents": "", "/fixtures": "",
			"/prompts": "", "/testing": "", "/replay": `{"modes":[],"supported":false}`, "/debugBundle": `{"supported":false}`,
			"/grpc": "", "/webhooks": "", "/conversationPrimitive": "", "/multiAgent": "", "/secrets": "", "/aiProviders": ""}},
		"without seams": {config.Config{}, capabilities.Options{Prompts: true}, map[string]string{"/providerUsage": "", "/envelopes": "",
			"/prompts": `{"agentBindings":false,"endpointsSupported":true,"observability":"hashed","supported":false}`}},
		"everything": {config.Config{}, all, map[string]string{"/host/feedback/supported": "true", "/fixtures": `["conformance-noop"]`,
			"/replay": `{"modes":["branch"],"supported":true}`, "/debugBundle": `{"supported":true}`,
			"/prompts":                         `{"agentBindings":true,"endpointsSupported":true,"observability":"full","supported":true}`,
			"/providerUsage":                   `{"costEstimates":false,"supported":true}`,
			"/envelopes/reliability/supported": "true",
			"/testing":                         `{"mockProviders":["stream-text"],"testKeyPrefix":"test_"}`, "/agents/proposals/activation": `"approval-gate"`}},
	} {
		d := discover(t, row.c, row.o)
		for pointer, want := range row.want {
			for _, root := range []string{"", "/capabilities"} {
				got := d.At(root + pointer)
				if want == "" && !got.IsNull() || want != "" && string(got.JCS()) != want {
					t.Errorf("%s: %s%s is %s, want %s", name, root, pointer, got.JCS(), want)
				}
			}
		}
		for pointer, want := range map[string]string{"/protocolVersion": `"1.1"`, "/supportedTransports": `["rest"]`,
			"/limits/maxRequestBodyBytes": "1048576", "/supportedEnvelopes": "[]", "/schemaVersions": "{}"} {
			if got := d.At(pointer); string(got.JCS()) != want {
				t.Errorf("%s: %s is %s, want %s", name, pointer, got.JCS(), want)
			}
		}
	}
}

// TestDiscoveryMatchesThePublishedSchema: both documents, with everything and with nothing.
func TestDiscoveryMatchesThePublishedSchema(t *testing.T) {
	published := openwoptest.Published(t)
	for _, o := range []capabilities.Options{{}, all} {
		if err := published.Check("capabilities", discover(t, config.Config{}, o).JCS()); err != nil {
			t.Error(err)
		}
	}
	doc, err := canon.Marshal(capabilities.DocumentOf(config.Config{}, "1.2.3"))
	if err != nil {
		t.Fatal(err)
	}
	if err := published.Check("capabilities", doc); err != nil {
		t.Error(err)
	}
}
