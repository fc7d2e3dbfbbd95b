package advance

import (
	"fmt"
	"strings"

	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/reason"
	"github.com/waybill/waybill/durable/run/choices"
)

// inputs requires a value for each context key of the workflow and the step, and in form 2 one of its
// choices (docs/design.md#typed-answers).
func (q *requirements) inputs() {
	for _, in := range choices.Needed(q.workflow, q.step, q.vars, q.choices) {
		fix := fmt.Sprintf("Ask the person, then send it as context: {%q: VALUE}, or --set %s=VALUE.", in.ContextKey,
			in.ContextKey)
		at, format, args := reason.ContextKey(in.ContextKey), "The input %q is not set: %s", []any{in.ContextKey, in.Description}
		switch {
		case in.Accepts.Why != "":
			format, args = "The input %q has no choices: %s.", []any{in.ContextKey, in.Accepts.Why}
			fix = fmt.Sprintf("Go back to step %q, or fork the run there, and let it hand in a list of texts, numbers or booleans.",
				in.ChoicesFrom.Step)
		case !in.Wrong.IsNull():
			format, args = "The input %q is %s, which is none of its choices: %s.",
				[]any{in.ContextKey, in.Value(), in.Accepts.Shown(limits.MessageBytesMax / 2)}
			fix += " One of: " + in.Accepts.Shown(limits.SuggestedFixBytesMax/2) + "."
		case in.ChoicesFrom != nil:
			fix += " One of: " + in.Accepts.Shown(limits.SuggestedFixBytesMax/2) + "."
		case len(in.Choices) > 0:
			fix += " One of: " + strings.Join(in.Choices, ", ") + "."
		}
		q.lacks(in.Code(), at, fix, format, args...)
	}
}
