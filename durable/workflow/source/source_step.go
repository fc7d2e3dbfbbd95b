package source

import (
	"maps"
	"slices"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/problem"
	"github.com/waybill/waybill/durable/workflow/placeholder"
)

// Step is one member of steps or of a loop's body, of any type: a plain step, a loop or a
// parallel step. Fields that a type does not have are empty. Members that another package
// parses, or that the compiler does not read, are kept as canon values.
type Step struct {
	ID    string `json:"id"`
	Title string `json:"title"`
	// Type is "" for a plain step, else "loop" or "parallel".
	Type         string        `json:"type,omitzero"`
	Prompt       string        `json:"prompt,omitzero"`
	PromptBlocks *PromptBlocks `json:"promptBlocks,omitzero"`
	// PromptRef refers to a prompt template; package promptref parses it.
	PromptRef              canon.Value    `json:"promptRef,omitzero"`
	PromptFragments        canon.Value    `json:"promptFragments,omitzero"`
	RawAction              canon.Value    `json:"action,omitzero"` // see PlacedStep.Action
	AgentRole              string         `json:"agentRole,omitzero"`
	AskForFiles            bool           `json:"askForFiles,omitzero"`
	AssessmentConsequences canon.Value    `json:"assessmentConsequences,omitzero"`
	AssessmentRefs         []string       `json:"assessmentRefs,omitzero"`
	Audit                  canon.Value    `json:"audit,omitzero"`
	Checks                 []Check        `json:"checks,omitzero"`
	RawBody                canon.Value    `json:"body,omitzero"` // see PlacedStep.Body
	FunctionCalls          []FunctionCall `json:"functionCalls,omitzero"`
	FunctionDefinitions    []Function     `json:"functionDefinitions,omitzero"`
	// FunctionReferences are written "name()".
	FunctionReferences []string    `json:"functionReferences,omitzero"`
	Guidance           []string    `json:"guidance,omitzero"`
	HasValidation      bool        `json:"hasValidation,omitzero"`
	Inputs             []Input     `json:"inputs,omitzero"`
	RawLoop            canon.Value `json:"loop,omitzero"` // see PlacedStep.Loop
	// LoopID, MaxIterations and While are the short form of a loop; PlacedStep.Loop has
	// both forms.
	LoopID         string      `json:"loopId,omitzero"`
	MaxIterations  int64       `json:"maxIterations,omitzero"`
	ModelTier      string      `json:"modelTier,omitzero"`
	NotesOptional  bool        `json:"notesOptional,omitzero"`
	NotesRequired  bool        `json:"notesRequired,omitzero"`
	Output         canon.Value `json:"output,omitzero"`
	OutputContract canon.Value `json:"outputContract,omitzero"`
	// Outputs are the context keys that the command of the step sets, each with the place of
	// its value: OutputStdout, or OutputJSONPrefix and a JSON pointer.
	Outputs             map[string]string `json:"outputs,omitzero"`
	ParallelDelegations canon.Value       `json:"parallelDelegations,omitzero"`
	// RequireConfirmation is a boolean, a gate {kind, condition} or a condition.
	RequireConfirmation canon.Value `json:"requireConfirmation,omitzero"`
	RunCondition        canon.Value `json:"runCondition,omitzero"`
	Synthesis           canon.Value `json:"synthesis,omitzero"`
	TemplateCall        canon.Value `json:"templateCall,omitzero"`
	ValidationCriteria  canon.Value `json:"validationCriteria,omitzero"`
	Verification        canon.Value `json:"verification,omitzero"`
	While               canon.Value `json:"while,omitzero"`
}

// ContractAt returns the place of a step's output contract, in either of its two spellings.
func ContractAt(step problem.SourceValue) problem.SourceValue {
	if step.Has("output") && !step.Has("outputContract") {
		return step.Member("output")
	}
	return step.Member("outputContract")
}

// PromptBlocks is a prompt in named parts. The value of a part is a string, or a list of
// text parts and reference parts.
type PromptBlocks struct {
	Goal           canon.Value       `json:"goal,omitzero"`
	Constraints    []canon.Value     `json:"constraints,omitzero"`
	Procedure      []canon.Value     `json:"procedure,omitzero"`
	OutputRequired map[string]string `json:"outputRequired,omitzero"`
	Verify         []canon.Value     `json:"verify,omitzero"`
}

// FunctionCall refers to a function and gives arguments for its parameters.
type FunctionCall struct {
	Name string      `json:"name"`
	Args canon.Value `json:"args"`
}

// Action is a command that a trusted performer runs instead of showing the step to a
// person (docs/design.md#commands-and-trust).
type Action struct {
	Kind string `json:"kind"` // always CommandAction
	// Argv is the program and its arguments, passed without a shell.
	Argv []string `json:"argv"`
	// Cwd is relative to the directory in which the run was started; "" is that directory.
	Cwd string `json:"cwd,omitzero"`
	// Env is added to the environment of the performer.
	Env map[string]string `json:"env,omitzero"`
	// TimeoutSeconds limits each execution; 0 is no limit.
	TimeoutSeconds int `json:"timeoutSeconds,omitzero"`
	// Retry applies to failing commands; nil means a single execution.
	Retry *Retry `json:"retry,omitzero"`
	// Literal: double braces in argv, cwd and env are text, not placeholders.
	Literal bool `json:"literal,omitzero"`
}

// Placeholders returns the paths of the values that are filled in when the action is performed
// (docs/design.md#values-in-commands): of argv, cwd and env in this order, each once.
func (a Action) Placeholders() []string {
	if a.Literal {
		return nil
	}
	var out []string
	texts := append(slices.Clone(a.Argv), a.Cwd)
	for _, name := range slices.Sorted(maps.Keys(a.Env)) {
		texts = append(texts, a.Env[name])
	}
	for _, text := range texts {
		for _, path := range placeholder.Paths(text) {
			if !slices.Contains(out, path) {
				out = append(out, path)
			}
		}
	}
	return out
}

// ValidOutput reports whether a context key and a place are those of a command's output: the
// grammar of Outputs.
func ValidOutput(key, from string) bool {
	value := outputsShape.Value.(text)
	return contextKey.Pattern.MatchString(key) && value.Pattern.MatchString(from) && len(from) <= value.Max
}

// The places of a command step's outputs (docs/design.md#commands-and-trust): its trimmed
// stdout, and a place in the JSON object that it wrote to the file WAYBILL_OUTPUT.
const (
	OutputStdout     = "stdout"
	OutputJSONPrefix = "json:"
)

// Retry limits how often a failing command is run within one attempt.
type Retry struct {
	// MaxAttempts is the total number of executions, at least 1.
	MaxAttempts int `json:"maxAttempts"`
	// BackoffSeconds is the pause between two executions.
	BackoffSeconds int `json:"backoffSeconds,omitzero"`
}
