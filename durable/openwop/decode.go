package openwop

import (
	"fmt"
	"slices"
	"strings"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/problem"
	"github.com/waybill/waybill/durable/redact"
	"github.com/waybill/waybill/durable/workflow/shape"
)

// Bounds of a request to create a run.
const (
	// PartBytesMax bounds metadata and configurable each, in bytes of JCS; together they have
	// limits.RunOptionsBytesMax.
	PartBytesMax = 50 << 10
	// TagRunesMax bounds a tag in characters.
	TagRunesMax = 256
	// nameRunesMax bounds the ids in a request.
	nameRunesMax = 256
	// urlRunesMax bounds callbackUrl.
	urlRunesMax = 2048
	// problemsMax bounds the problems that an error lists.
	problemsMax = 10
)

// createRunShape is the form of a request to create a run. It is closed; inputs, configurable and metadata
// are open but for the members that the protocol reserves.
var createRunShape = shape.Object{What: "a request to create a run", Fields: fields{
	{"workflowId", shape.Text{Min: 1, Max: nameRunesMax}, required},
	{"inputs", anyObject, optional},
	{"tenantId", shape.Text{Min: 1, Max: nameRunesMax}, optional},
	{"scopeId", shape.Text{Min: 1, Max: nameRunesMax}, optional},
	{"callbackUrl", shape.Text{Min: 1, Max: urlRunesMax}, optional},
	{"configurable", extensible("what can be configured", reserved...), optional},
	{"tags", shape.List{Of: shape.Text{Min: 1, Max: TagRunesMax}, Max: limits.TagsMax}, optional},
	{"metadata", anyObject, optional}}}

// reserved are the keys of configurable that the protocol defines. Of these a host of this program uses recursionLimit.
var reserved = fields{
	{"recursionLimit", atLeastOne, optional}, {"model", someText, optional},
	{"temperature", shape.Amount{Max: 2}, optional}, {"maxTokens", atLeastOne, optional},
	{"promptOverrides", shape.Dictionary{Value: anyText}, optional},
	{"mockProvider", shape.Object{What: "a mock provider", Fields: []shape.Field{{"id", shape.Text{Min: 1, Max: 128}, required},
		{"config", anyObject, optional}}}, optional}}

// Choice is a key that a workflow declares, with the texts to choose from, empty if any value is accepted.
type Choice struct {
	Key     string
	Choices []string
}

// configurable is the closed form of configurable for a workflow that declares keys. A key of the protocol keeps its form.
func configurable(declared []Choice) shape.Object {
	all := slices.Clone(reserved)
	for _, c := range declared {
		if IsReserved(c.Key) {
			continue
		}
		var form shape.Shape = shape.Anything{}
		if len(c.Choices) > 0 {
			form = shape.Words(c.Choices)
		}
		all = append(all, shape.Field{c.Key, form, optional})
	}
	return shape.Object{What: "what can be configured", Fields: all}
}

// IsReserved reports a key of configurable that the protocol defines.
func IsReserved(key string) bool { return shape.Object{Fields: reserved}.Knows(key) }

// ConfigurableSchema is the JSON Schema of configurable for a workflow that declares keys.
func ConfigurableSchema(declared []Choice) canon.Value {
	return configurable(declared).Schema(func(string, string) string { return "" })
}

// CheckConfigurable returns VALIDATION_ERROR, as DecodeCreateRun does, for a configurable that a workflow does not accept.
func CheckConfigurable(declared []Choice, v canon.Value) error {
	if v.IsNull() {
		return nil
	}
	problems := check(configurable(declared), v)
	if len(problems) == 0 {
		return nil
	}
	for i := range problems {
		problems[i].Pointer = "/configurable" + problems[i].Pointer
	}
	return invalid(problems)
}

// CreateRunSchema returns the JSON Schema of a request to create a run.
func CreateRunSchema() canon.Value {
	return createRunShape.Schema(func(string, string) string { return "" })
}

// DecodeCreateRun reads a request to create a run. VALIDATION_ERROR has the place of the first problem as
// details.pointer, a JSON pointer, and the first problems as details.problems.
func DecodeCreateRun(v canon.Value) (CreateRun, error) {
	problems := check(createRunShape, v)
	if len(problems) == 0 {
		problems = append(problems, tooLarge(v)...)
	}
	if len(problems) > 0 {
		return CreateRun{}, invalid(problems)
	}
	var out CreateRun
	if err := canon.Decode(v, &out); err != nil {
		return CreateRun{}, fault.Wrap(err, fault.ValidationError, "the request does not fit: %s", err)
	}
	return out, nil
}

// tooLarge returns the parts of a request that cannot be recorded.
func tooLarge(v canon.Value) (all []problem.Problem) {
	report := func(pointer, message string) {
		all = append(all, problem.Problem{Pointer: pointer, Severity: problem.Error, Message: message})
	}
	total := 0
	for _, name := range []string{"configurable", "metadata"} {
		part, ok := v.Get(name)
		if !ok {
			continue
		}
		size := len(part.JCS())
		if total += size; size > PartBytesMax {
			report("/"+name, "it has more than 50 KiB as canonical JSON")
		} else if err := part.CheckStrict(limits.ContextDepthMax); err != nil {
			report("/"+name, "it is nested too deeply")
		}
	}
	if total > limits.RunOptionsBytesMax {
		report("/metadata", "configurable and metadata have more than 64 KiB together, as canonical JSON")
	}
	metadata, _ := v.Get("metadata")
	if _, forced := metadata.Get(ForcedVersion); forced {
		report("/metadata/"+ForcedVersion, "the member belongs to the host")
	}
	if inputs, ok := v.Get("inputs"); ok {
		if err := event.CheckContext(inputs); err != nil {
			report("/inputs", err.Error())
		}
	}
	return all
}

// invalid is the fault for a request with problems.
func invalid(problems []problem.Problem) error {
	listed := make([]canon.Value, 0, problemsMax)
	for _, p := range problems[:min(len(problems), problemsMax)] {
		listed = append(listed, canon.OfMembers(canon.Member{Name: "pointer", Value: canon.OfString(withoutSecrets(p.Pointer))},
			canon.Member{Name: "message", Value: canon.OfString(p.Message)}))
	}
	place, at := withoutSecrets(problems[0].Pointer), ""
	if place != "" {
		at = fmt.Sprintf(" at %q", place)
	}
	return fault.New(fault.ValidationError, "the request is not valid%s: %s", at, problems[0].Message).
		With("pointer", place).With("problems", canon.OfList(listed...))
}

// withoutSecrets redacts each name of a JSON pointer. Redaction of the whole takes it for a path, which has no secrets.
func withoutSecrets(pointer string) string {
	names := strings.Split(pointer, "/")
	for i := range names {
		names[i] = redact.Text(names[i], redact.Counts{})
	}
	return strings.Join(names, "/")
}
