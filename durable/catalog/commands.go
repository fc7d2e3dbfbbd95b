package catalog

import "github.com/waybill/waybill/durable/compile"

// Command is one command that trusting a workflow allows.
type Command struct {
	StepID string            `json:"stepId"`
	Title  string            `json:"title"`
	Argv   []string          `json:"argv"`
	Cwd    string            `json:"cwd,omitzero"`
	Env    map[string]string `json:"env,omitzero"`
}

// Commands lists what trusting a workflow allows: everything that a person has to
// see before they agree.
func Commands(w compile.Compiled) []Command {
	out := []Command{}
	for _, s := range w.Steps {
		if a := s.Action; a != nil {
			out = append(out, Command{s.StepID, s.Title, a.Argv, a.Cwd, a.Env})
		}
	}
	return out
}
