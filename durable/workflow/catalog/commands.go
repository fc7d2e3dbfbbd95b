package catalog

import "github.com/waybill/waybill/durable/workflow/compile"

// Command is one command that trusting a workflow allows.
type Command struct {
	StepID string            `json:"stepId"`
	Title  string            `json:"title"`
	Argv   []string          `json:"argv"`
	Cwd    string            `json:"cwd,omitzero"`
	Env    map[string]string `json:"env,omitzero"`
}

// Commands lists what trusting a workflow allows: everything that a person has to
// see before they agree, in the order in which it stands; what is in a loop stands
// where the loop does.
func Commands(w compile.Compiled) []Command {
	out := []Command{}
	var add func(steps []compile.Step)
	add = func(steps []compile.Step) {
		for _, s := range steps {
			if a := s.Action; a != nil {
				out = append(out, Command{s.StepID, s.Title, a.Argv, a.Cwd, a.Env})
			}
			if s.Type == compile.LoopStep {
				add(w.Sequence(s.StepID))
			}
		}
	}
	add(w.Steps)
	return out
}
