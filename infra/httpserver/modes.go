package httpserver

import (
	"net/http"
	"slices"
	"strings"

	"github.com/waybill/waybill/durable/openwop"
)

// mode is a set of stream modes.
type mode uint8

const (
	updatesMode mode = 1 << iota
	valuesMode
	messagesMode
	debugMode
)

// namedMode is a mode with the protocol's word for it.
type namedMode struct {
	name string
	mode mode
}

// modes lists the modes in the protocol's order.
var modes = []namedMode{{"updates", updatesMode}, {"values", valuesMode}, {"messages", messagesMode},
	{"debug", debugMode}}

// parseMode reads the parameter streamMode: one mode, or a union of several. values is always alone.
func parseMode(text string) (mode, error) {
	var out mode
	for name := range strings.SplitSeq(text, ",") {
		i := slices.IndexFunc(modes, func(m namedMode) bool { return m.name == name })
		if i < 0 {
			return 0, unsupportedMode("the parameter streamMode names a mode that is not supported")
		}
		out |= modes[i].mode
	}
	if out&valuesMode != 0 && out != valuesMode {
		return 0, unsupportedMode("the mode values cannot be combined with another")
	}
	return out, nil
}

func unsupportedMode(message string) error {
	var names []string
	for _, m := range modes {
		names = append(names, m.name)
	}
	return refuse(http.StatusBadRequest, openwop.ErrUnsupportedStreamMode, message).with("supported", names)
}

// admits reports whether a mode sends events of a type. The mode values sends a snapshot in place of those of updates.
func (m mode) admits(t openwop.EventType) bool {
	return m&debugMode != 0 || m&messagesMode != 0 && t == openwop.MessageChunk ||
		m&(updatesMode|valuesMode) != 0 && isUpdate(t)
}

// isUpdate reports a type of the mode updates: transitions of the run, ends and suspensions of nodes, what waits for a
// person, artifacts, proposals.
func isUpdate(t openwop.EventType) bool {
	family, _, _ := strings.Cut(string(t), ".")
	switch family {
	case "run", "approval", "clarification", "interrupt", "proposal":
		return true
	case "node":
		return slices.Contains([]openwop.EventType{openwop.NodeCompleted, openwop.NodeFailed, openwop.NodeSuspended,
			"node.skipped"}, t)
	}
	return t == openwop.ArtifactCreated
}

// flushes reports an event that is sent at once, and what was collected with it: the end of a run, and a suspension,
// after which no event may follow for long.
func flushes(t openwop.EventType) bool { return t.Terminal() || t == openwop.NodeSuspended }
