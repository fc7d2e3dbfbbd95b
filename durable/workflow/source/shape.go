package source

import (
	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/problem"
	"github.com/waybill/waybill/durable/workflow/condition"
	"github.com/waybill/waybill/durable/workflow/criteria"
	"github.com/waybill/waybill/durable/workflow/shape"
)

// The tables in keys_*.go are the published schema, and speak of shapes in every
// line: these are short names for them.
type (
	text       = shape.Text
	words      = shape.Words
	amount     = shape.Amount
	list       = shape.List
	object     = shape.Object
	field      = shape.Field
	dictionary = shape.Dictionary
	byKind     = shape.ByKind
	byTag      = shape.ByTag
	oneKind    = shape.OneKind
	anything   = shape.Anything
)

var (
	need, may          = shape.Need, shape.May
	oneOf              = shape.OneOf
	boolean, anyObject = shape.Boolean, shape.AnyObject
)

// conditional is a value of the condition language.
type conditional struct{}

// Want shows one: the language is easier shown than told.
func (conditional) Want() string { return `a condition such as {"var": "name", "equals": "value"}` }

// Check leaves the language to its package.
func (conditional) Check(at problem.Place, report problem.Report) { condition.Parse(at, report) }

// validation is validationCriteria.
type validation struct{}

// Want is the usual spelling.
func (validation) Want() string { return "a list of validation rules" }

// Check also warns of criteria that only ask for a flag (locks section 19).
func (validation) Check(at problem.Place, report problem.Report) {
	if at.Value.Kind() == canon.Array && at.Value.Len() == 0 {
		// The published schema allows it, and what it means is plain.
		report.Warn(at, "Write at least one rule, or leave it out.",
			"the list of validation rules is empty, so that nothing is checked")
		return
	}
	if c, ok := criteria.Parse(at, report); ok && c.FlagOnly() {
		report.Warn(at, "Ask for evidence as well: numbered findings, file names, a minimum length.",
			"the criteria only check a completion flag, which can be written without doing the work")
	}
}
