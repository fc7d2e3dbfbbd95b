package capabilities_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/waybill/waybill/durable/learning/capabilities"
	"github.com/waybill/waybill/durable/store/config"
)

func TestDocumentListsOnlyEnabledFeatures(t *testing.T) {
	full := capabilities.DocumentOf(config.Config{}, "1.2.3")
	if !full.Feedback.Supported || len(full.Feedback.Targets) != 3 || len(full.Feedback.Signals) != 4 ||
		full.Implementation.Version != "1.2.3" {
		t.Errorf("%+v", full)
	}
	if full.Agents == nil || len(full.Agents.Proposals.ArtifactKinds) != 4 ||
		full.Agents.Proposals.Activation != config.ViaApprovalGate {
		t.Errorf("%+v", full.Agents)
	}
	var c config.Config
	for key, value := range map[string]string{"feedback": "off", "proposals": "off"} {
		var err error
		if c, err = c.With(key, value); err != nil {
			t.Fatal(err)
		}
	}
	none := capabilities.DocumentOf(c, "1.2.3")
	if none.Feedback.Supported || none.Feedback.Targets != nil || none.Agents != nil {
		t.Errorf("%+v", none)
	}
	b, err := json.Marshal(none)
	if err != nil {
		t.Fatal(err)
	}
	var members map[string]any
	if err := json.Unmarshal(b, &members); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"protocolVersion", "supportedEnvelopes", "schemaVersions", "limits", "feedback"} {
		if _, ok := members[name]; !ok {
			t.Errorf("%s is missing in %s", name, b)
		}
	}
	if _, ok := members["agents"]; ok {
		t.Errorf("agents are advertised: %s", b)
	}
	if text := string(b); !strings.Contains(text, `"host":{"feedback":{"supported":false}}`) ||
		!strings.Contains(text, `"protocolVersion":"1.1"`) || !strings.Contains(text, `"maxRequestBodyBytes":1048576`) {
		t.Errorf("%s", text)
	}
	direct, err := config.Config{}.With("proposalsActivation", config.ViaDirectRBAC)
	if err != nil || !slices.Contains([]string{capabilities.DocumentOf(direct, "").Agents.Proposals.Activation},
		config.ViaDirectRBAC) {
		t.Error(err)
	}
}
