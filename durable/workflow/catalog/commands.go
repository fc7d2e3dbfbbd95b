package catalog

import "github.com/waybill/waybill/durable/workflow/compile"

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
}

// Commands lists all commands of a compiled workflow, which a person has to see before
// trusting it. They are in running order, with the commands of a loop's body at the place
// of the loop. The result is never nil.
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
			for _, k := range s.Checks {
				out = append(out, Command{StepID: s.StepID, Title: s.Title, Argv: k.Argv, Cwd: k.Cwd, Env: k.Env})
			}
			if s.Type == compile.LoopStep {
				add(w.Sequence(s.StepID))
			}
		}
	}
	add(w.Steps)
	return out
}
