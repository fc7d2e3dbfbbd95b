package catalog

import (
	"github.com/waybill/waybill/durable/workflow/compile"
	"github.com/waybill/waybill/durable/workflow/source"
)

// Command is one command that a trusted workflow may run (docs/design.md#commands-and-trust).
// Its JSON form is shown to the person who is asked for trust.
type Command struct {
	StepID string            `json:"stepId"`
	Title  string            `json:"title"`
	Argv   []string          `json:"argv"`
	Cwd    string            `json:"cwd,omitzero"`
	Env    map[string]string `json:"env,omitzero"`
	// Placeholders are the paths of the values that are filled in when the command runs
	// (docs/design.md#values-in-commands): of argv, cwd and env in this order, each once.
	Placeholders []string `json:"placeholders,omitzero"`
	// Outputs are the context keys that the command sets, each with the place of its value.
	Outputs map[string]string `json:"outputs,omitzero"`
	// Check is the id of the check that the command is, "" for the command of a step; Pins are the files whose
	// content is fixed with the trust, and Expect is what the check has to show (docs/design.md#checks).
	Check  string         `json:"check,omitzero"`
	Pins   []string       `json:"pins,omitzero"`
	Expect *source.Expect `json:"expect,omitzero"`
}

// Commands lists all commands of a compiled workflow, which a person has to see before
// trusting it. They are in running order, with the commands of a loop's body at the place
// of the loop, and the checks of a step after its command. The result is never nil.
func Commands(w compile.Compiled) []Command {
	out := []Command{}
	var add func(steps []compile.Step)
	add = func(steps []compile.Step) {
		for _, s := range steps {
			if a := s.Action; a != nil {
				c := Command{StepID: s.StepID, Title: s.Title, Argv: a.Argv, Cwd: a.Cwd, Env: a.Env, Outputs: s.Outputs}
				if w.Form2() {
					c.Placeholders = a.Placeholders()
				}
				out = append(out, c)
			}
			for _, check := range s.Checks {
				out = append(out, Command{StepID: s.StepID, Title: s.Title, Argv: check.Argv, Cwd: check.Cwd, Env: check.Env,
					Placeholders: check.Action().Placeholders(), Check: check.ID, Pins: check.Pins, Expect: check.Expect})
			}
			if s.Type == compile.LoopStep {
				add(w.Sequence(s.StepID))
			}
		}
	}
	add(w.Steps)
	return out
}
