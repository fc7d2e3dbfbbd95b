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
	Values   Mode = "values"   // the state of the run behind the events of Updates, in place of events
	Messages Mode = "messages" // the parts of texts while they are produced
	Debug    Mode = "debug"    // everything
)

// SupportedModes lists the closed set, in the order of the protocol.
func SupportedModes() []Mode { return []Mode{Updates, Values, Messages, Debug} }

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

// ParseModes reads modes with commas between them. The error is an *UnsupportedModeError.
func ParseModes(text string) (Modes, error) {
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

// AreValues reports Values, which is always alone.
func (m Modes) AreValues() bool { return slices.Contains(m, Values) }

// Selects reports whether a stream has the events of a type; with Values, whether it has the state behind them.
func (m Modes) Selects(t EventType) bool {
	return slices.ContainsFunc(m, func(mode Mode) bool {
		switch mode {
		case Debug:
			return true
		case Messages:
			return t == MessageChunk
		case Updates, Values:
			return slices.Contains(updated, t) ||
				slices.ContainsFunc(updatedPrefixes, func(p string) bool { return strings.HasPrefix(string(t), p) })
		}
		return false
	})
}
