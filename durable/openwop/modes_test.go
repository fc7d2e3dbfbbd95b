package openwop_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/waybill/waybill/durable/openwop"
)

// TestModesAreParsed: one, several, and what is refused with the supported ones.
func TestModesAreParsed(t *testing.T) {
	for text, want := range map[string]string{"": "", "debug": "[debug]", "updates,messages": "[updates messages]",
		"messages, updates,messages": "[messages updates]", "values": "[values]", "values,values": "[values]",
		"values,updates": "", "debug,": "", "Debug": "", "everything": "", ",": "", "updates,x": "",
		strings.Repeat("debug,", 1000) + "debug": ""} {
		got, err := openwop.ParseModes(text)
		var mode *openwop.UnsupportedModeError
		if want == "" {
			if !errors.As(err, &mode) || len(err.Error()) > 400 || !strings.Contains(err.Error(), "updates, values, messages, debug") {
				t.Errorf("%.20q: %v", text, err)
			}
		} else if err != nil || fmt.Sprint(got) != want {
			t.Errorf("%q: %v %v", text, got, err)
		}
	}
}

// TestModesSelect: which messages are in a stream.
func TestModesSelect(t *testing.T) {
	all := []openwop.EventType{openwop.RunStarted, openwop.RunAnnotated, openwop.NodeStarted, openwop.NodeSuspended,
		openwop.NodeResumed, openwop.ApprovalRequested, openwop.VariableChanged, openwop.ArtifactCreated,
		openwop.ProposalCreated, "waybill.notes", openwop.MessageChunk, openwop.RunCompleted}
	for text, want := range map[string]string{
		"updates":          "run.started run.annotated node.suspended approval.requested artifact.created proposal.created run.completed",
		"values":           "run.started run.annotated node.suspended approval.requested artifact.created proposal.created run.completed",
		"messages":         "ai.message.chunk",
		"updates,messages": "run.started run.annotated node.suspended approval.requested artifact.created proposal.created ai.message.chunk run.completed",
		"debug": "run.started run.annotated node.started node.suspended node.resumed approval.requested variable.changed " +
			"artifact.created proposal.created waybill.notes ai.message.chunk run.completed",
	} {
		modes, err := openwop.ParseModes(text)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, e := range all {
			if modes.Selects(e) {
				got = append(got, string(e))
			}
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: %s", text, strings.Join(got, " "))
		}
	}
}
