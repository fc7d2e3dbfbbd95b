// Package hoststep defines the steps that only the HTTP host performs (docs/design.md#host-steps): their
// types, a closed set, and the configuration of each, as a workflow file and a compiled workflow have
// them.
//
// It performs none: package host does. Start reading at Step.
package hoststep

import (
	"errors"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/pattern"
	"github.com/waybill/waybill/durable/problem"
	"github.com/waybill/waybill/durable/workflow/shape"
)

// Action is the kind of the action of a host step.
const Action = "host"

// The types.
const (
	Noop              = "core.noop"
	Identity          = "core.identity"
	Delay             = "core.delay"
	Fail              = "core.fail"
	ApprovalGate      = "core.approvalGate"
	ClarificationGate = "core.clarificationGate"
	Interrupt         = "core.interrupt"
	CallPrompt        = "core.ai.callPrompt"
	RequiresMissing   = "core.conformance.requiresMissing"
)

// Step is what the host performs: a function of the program. No command, no file and no network are
// involved, so that it needs no trust.
type Step struct {
	TypeID string `json:"typeId"`
	// Config is an object, null if it has no members. Its shape is that of the type.
	Config canon.Value `json:"config,omitzero"`
}

// Is reports whether the action of a step is one of the host.
func Is(action problem.SourceValue) bool { return action.Member("kind").Value.Text() == Action }

// Of reads an action of the host. A configuration without members is the same as none.
func Of(action problem.SourceValue) *Step {
	s := &Step{TypeID: action.Member("typeId").Value.Text()}
	if config := action.Member("config").Value; config.Len() > 0 {
		s.Config = config
	}
	return s
}

// Known reports a type of the closed set.
func Known(typeID string) bool { return configs[typeID] != nil }

// Check returns why a step of a document from outside is none: a type that is not known, or a
// configuration that is not of the type.
func (s Step) Check() (err error) {
	config, known := configs[s.TypeID]
	switch {
	case !known:
		return errors.New("a host step of a type that is not known")
	case s.Config.IsNull() && configured[s.TypeID]:
		return errors.New("a host step of type " + s.TypeID + " without a config")
	case s.Config.IsNull():
		return nil
	}
	config.Check(problem.SourceValue{Value: s.Config}, func(p problem.Problem) {
		if err == nil && p.Severity == problem.Error {
			err = errors.New("the config of a host step: " + p.Message)
		}
	})
	return err
}

// others are the members of a step that a person, an agent or a command would have to hand in.
var others = []string{"assessmentRefs", "checks", "notesRequired", "output", "outputContract", "validationCriteria"}

// CheckStep reports the members beside a host step that nothing could fulfil, and a delay that is
// given twice.
func CheckStep(step problem.SourceValue, report problem.Report) {
	for _, name := range others {
		if step.Has(name) && !step.Member(name).IsEmpty() {
			report.Error(step.Member(name), "Move it to the step before or behind.",
				"the host hands in nothing but its result: a host step has no %s", name)
		}
	}
	config := step.Member("action").Member("config")
	if config.Has("delayMs") && config.Has("defaultMs") {
		report.Error(config.Member("defaultMs"), "Keep one of the two.", "a delay that is fixed has no default")
	}
	checkGate(step, report)
}

const required, optional = shape.Required, shape.Optional

// delayMs is a delay in milliseconds.
var delayMs = shape.Amount{Max: limits.HostDelayMsMax, Whole: true}

// configs are the configurations by type, those of the types that are answered from outside in gates.go. Those of
// types that are not performed yet are open: what they need is not settled.
var configs = map[string]shape.Shape{
	Noop:     shape.Object{What: "the config of " + Noop},
	Identity: shape.Object{What: "the config of " + Identity},
	Delay:    shape.Object{What: "the config of " + Delay, Fields: []shape.Field{{"delayMs", delayMs, optional}, {"defaultMs", delayMs, optional}}},
	Fail: shape.Object{What: "the config of " + Fail, Fields: []shape.Field{
		{"code", shape.Text{Min: 1, Max: limits.HostErrorCodeBytesMax, Pattern: pattern.New(`^[A-Za-z][A-Za-z0-9_.-]*$`),
			Like: `a code such as "not_available"`}, optional},
		{"message", shape.Text{Min: 1, Max: limits.HostMessageCharactersMax}, optional}}},
	ApprovalGate: approvalConfig, ClarificationGate: clarificationConfig, Interrupt: interruptConfig,
	CallPrompt: shape.AnyObject,
	RequiresMissing: shape.Object{What: "the config of " + RequiresMissing, Fields: []shape.Field{
		{"requires", shape.Text{Min: 1, Max: 128,
			Pattern: pattern.New(`^[a-z][A-Za-z0-9_.-]*$`), Like: `the id of a capability such as "chat.sendPrompt"`}, optional}}},
}

// Shape is the action of a host step in a workflow file.
var Shape shape.Shape = described{shape.ByTag{Key: "typeId", Text: "a host step with kind, typeId", Cases: actions()}}

// actions returns the actions by type.
func actions() map[string]shape.Shape {
	out := map[string]shape.Shape{}
	for name, config := range configs {
		of := shape.Field{"config", config, optional}
		of.Required = configured[name]
		out[name] = shape.Object{What: "a host step", Fields: []shape.Field{{"kind", shape.Words{Action}, required},
			{"typeId", shape.Words{name}, required}, of}}
	}
	return out
}

// described is a shape whose keys have the descriptions of this package in a schema.
type described struct{ shape.Shape }

// Schema implements shape.Shape.
func (s described) Schema(shape.Describe) canon.Value {
	return s.Shape.Schema(func(what, key string) string { return descriptions[what+"."+key] })
}

// descriptions of keys, which editors show.
var descriptions = map[string]string{
	"a host step.kind":                                     "A function of 'waybill serve', which nothing else performs",
	"a host step.typeId":                                   "The function",
	"a host step.config":                                   "What the function needs",
	"the config of " + Delay + ".delayMs":                  "The delay in milliseconds",
	"the config of " + Delay + ".defaultMs":                "The delay in milliseconds where the context has no delayMs and no delaySeconds",
	"the config of " + Fail + ".code":                      "The code of the error",
	"the config of " + Fail + ".message":                   "The message of the error",
	"the config of " + ApprovalGate + ".actions":           "What may be answered: accept and reject by default",
	"the config of " + ApprovalGate + ".approvers":         "The names that may answer; every name by default",
	"the config of " + ApprovalGate + ".requiredApprovals": "How many different names have to accept; 1 by default",
	"the config of " + ApprovalGate + ".rejectionPolicy":   "single-veto (default): the first rejection ends the run; majority: more than half of requiredApprovals",
	"the config of " + ApprovalGate + ".contextKey":        "The context key under which the answer is recorded; by default none",
	"the config of " + ApprovalGate + ".timeoutMs":         "After this time without an answer the run fails",
	"the config of " + ClarificationGate + ".questions":    "What is asked",
	"the config of " + ClarificationGate + ".timeoutMs":    "After this time without an answer the run fails",
	"a question.id":                                        "The context key under which the answer is recorded",
	"a question.question":                                  "The question",
	"a question.choices":                                   "The texts of which the answer is one; any value by default",
	"the config of " + Interrupt + ".kind":                 "external-event by default",
	"the config of " + Interrupt + ".eventType":            "What the run waits for, in the words of the other system",
	"the config of " + Interrupt + ".correlation":          "Members that the event has, with these values",
	"the config of " + Interrupt + ".contextKey":           "The context key under which the event is recorded; by default none",
	"the config of " + Interrupt + ".timeoutMs":            "After this time without an event the run fails",
	"the config of " + RequiresMissing + ".requires":       "The capability that the step needs; no host provides any",
}
