package guard

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/limits"
)

// Input is what a hook reads of the JSON of its client.
type Input struct {
	SessionID string `json:"session_id"`
	Event     string `json:"hook_event_name"`
	Dir       string `json:"cwd"`
}

// ParseInput reads the input of a hook. It is an object; its other members are those of the client.
func ParseInput(data []byte) (in Input, err error) {
	if len(data) > limits.GuardInputBytesMax {
		return in, errors.New("the input is too long")
	}
	v, err := canon.Parse(data)
	if err != nil {
		return in, err
	}
	if v.Kind() != canon.Object {
		return in, errors.New("the input is no object")
	}
	for name, to := range map[string]*string{"session_id": &in.SessionID, "hook_event_name": &in.Event, "cwd": &in.Dir} {
		if m, ok := v.Get(name); ok && m.Kind() == canon.String {
			*to = m.Text()
		}
	}
	return in, nil
}

// Waits is what the pending step of a run waits for beside the agent, a closed set.
type Waits string

// The kinds of waiting.
const (
	// ForAgent: the agent can perform the step.
	ForAgent Waits = ""
	// ForPerson: a person confirms or approves it.
	ForPerson Waits = "person"
	// ForMoment: a moment has to come.
	ForMoment Waits = "moment"
	// ForCommand: a command performs it, under trust that a person recorded.
	ForCommand Waits = "command"
	// ForHost: the HTTP host performs it.
	ForHost Waits = "host"
	// ForTrust: a person has to trust the commands that check it.
	ForTrust Waits = "trust"
)

// Step is the open step of a run, as a hook tells about it.
type Step struct {
	Run, RunTitle       string
	StepID, Title, Text string
	Waits               Waits
	// Checks is the hash of the workflow version of a step with checks, "" for one without.
	Checks string
	// Continue is the command line that hands in the step, Show the one that prints it, Trust the one by which a person
	// trusts its checks.
	Continue, Show, Trust string
}

// context is the answer that adds text to what the agent reads.
type context struct {
	Specific struct {
		Event   string `json:"hookEventName"`
		Context string `json:"additionalContext"`
	} `json:"hookSpecificOutput"`
}

// refusal is the answer that refuses the end of a turn.
type refusal struct {
	Decision string `json:"decision"`
	Reason   string `json:"reason"`
}

// Context returns the answer of a hook at the start of a session: the open step, in the form of the client.
func Context(e Event, s Step) []byte {
	var out context
	out.Specific.Event, out.Specific.Context = e.Name, contextText(s)
	return document(out)
}

// contextText says which step is open, with its text.
func contextText(s Step) string {
	head := fmt.Sprintf("Waybill: the run %s (%s) of this repository is open. Its pending step is %s: %s.\n", s.Run, s.RunTitle,
		s.StepID, s.Title)
	var foot string
	switch s.Waits {
	case ForPerson:
		foot = "The step waits for a person, who confirms or approves it. Do not perform it; ask the user.\n"
	case ForMoment:
		foot = "The step waits until a moment. Nothing has to be done until then.\n"
	case ForCommand:
		foot = "The step is a command, which Waybill performs under trust that a person recorded. Do not perform it.\n"
	case ForHost:
		foot = "The step is performed by 'waybill serve'. Nothing has to be done for it.\n"
	case ForTrust:
		foot = fmt.Sprintf("It cannot be handed in until a person trusts its checks, at a terminal: %s\nAsk the user.\n",
			s.Trust)
	default:
		foot = fmt.Sprintf("Read the step and its tokens with: %s\nHand it in with: %s\n", s.Show, s.Continue)
	}
	if s.Waits != ForAgent || s.Text == "" {
		return cut(head, limits.GuardTextBytesMax-len(foot)) + foot
	}
	head = cut(head, limits.GuardTextBytesMax/2)
	return head + "\n" + cut(s.Text, limits.GuardTextBytesMax-len(head)-len(foot)-3) + "\n\n" + foot
}

// Refuse returns the answer of a hook that refuses the end of a turn, in the form of the client. refusals is how often
// the same node was refused, with this time.
func Refuse(c Client, s Step, refusals int64) []byte {
	head := fmt.Sprintf("Waybill: the step %s (%s) of the run %s is not done.", s.StepID, s.Title, s.Run)
	foot := fmt.Sprintf(" Read it with: %s. Perform it, and hand it in with: %s. If that is not possible, say what is "+
		"missing. This is refusal %d of %d for this step.", s.Show, s.Continue, refusals, limits.GuardRefusalsMax)
	return document(refusal{c.Refusal, cut(head, limits.GuardTextBytesMax-len(foot)) + foot})
}

// document encodes an answer.
func document(v any) []byte {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(v)
	return []byte(b.String())
}

// cut returns the beginning of a text that is longer than a number of bytes, with the marker.
func cut(text string, most int) string {
	if len(text) <= most {
		return text
	}
	end := max(0, most-len(limits.TruncationMarker))
	for end > 0 && !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end] + limits.TruncationMarker
}
