package openwop

import (
	"fmt"
	"slices"
	"strings"
)

// Mode is what a stream of a run contains.
type Mode string

// The modes. Values is used alone, the others can be combined.
const (
	Updates  Mode = "updates"  // the course of the run and of what it waits for
	Debug    Mode = "debug"    // everything
	Messages Mode = "messages" // the parts of texts while they are produced
	Values   Mode = "values"   // the state of the run after each change, in place of events
)

// SupportedModes lists the closed set.
func SupportedModes() []Mode { return []Mode{Updates, Debug, Messages, Values} }

// Modes is a combination of modes.
type Modes []Mode

// UnsupportedModeError reports a combination of modes that no stream has.
type UnsupportedModeError struct{ Text string }

// Error names the supported modes.
func (e *UnsupportedModeError) Error() string {
	return fmt.Sprintf("stream mode %q: want %s, or several of them with commas between; %s alone", e.Text,
		strings.Join(words(SupportedModes()), ", "), Values)
}

// modesBytesMax bounds the text of modes, which an error repeats.
const modesBytesMax = 128

// ParseModes reads modes with commas between them; "" is Updates. The error is an
// *UnsupportedModeError.
func ParseModes(text string) (Modes, error) {
	if text == "" {
		return Modes{Updates}, nil
	}
	if len(text) > modesBytesMax {
		return nil, &UnsupportedModeError{text[:modesBytesMax]}
	}
	var out Modes
	for word := range strings.SplitSeq(text, ",") {
		m := Mode(strings.TrimSpace(word))
		if !slices.Contains(SupportedModes(), m) {
			return nil, &UnsupportedModeError{text}
		}
		if !slices.Contains(out, m) {
			out = append(out, m)
		}
	}
	if len(out) > 1 && slices.Contains(out, Values) {
		return nil, &UnsupportedModeError{text}
	}
	return out, nil
}

// updated are the types in Updates besides those that begin with a prefix of updatedPrefixes.
var (
	updated         = []EventType{NodeCompleted, NodeFailed, "node.skipped", NodeSuspended, ArtifactCreated}
	updatedPrefixes = []string{"run.", "approval.", "clarification.", "interrupt.", "proposal."}
)

// Selects reports whether a stream has the messages of a type.
func (m Modes) Selects(t EventType) bool {
	return slices.ContainsFunc(m, func(mode Mode) bool {
		switch mode {
		case Debug:
			return t != StateSnapshot
		case Values:
			return t == StateSnapshot
		case Messages:
			return t == MessageChunk
		case Updates:
			return slices.Contains(updated, t) ||
				slices.ContainsFunc(updatedPrefixes, func(p string) bool { return strings.HasPrefix(string(t), p) })
		}
		return false
	})
}
