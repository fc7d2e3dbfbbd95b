package source

import (
	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/problem"
	"github.com/waybill/waybill/durable/workflow/condition"
	"github.com/waybill/waybill/durable/workflow/criteria"
	"github.com/waybill/waybill/durable/workflow/shape"
)

// Short names for the types of package shape, for the tables in keys_*.go.
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

const required, optional = shape.Required, shape.Optional

// Common shapes. As literals of this package they make the tables data of the binary; variables of another package would be
// code that runs when it starts.
var (
	boolean   = oneKind{Kind: canon.Bool, Text: "true or false"}
	anyObject = oneKind{Kind: canon.Object, Text: "an object"}
)

// conditional is the shape of a condition (package condition).
type conditional struct{}

// Want returns an example, which is clearer than a description of the language.
func (conditional) Want() string { return `a condition such as {"var": "name", "equals": "value"}` }

// Check reports the problems that package condition finds.
func (conditional) Check(at problem.SourceValue, report problem.Report) { condition.Parse(at, report) }

// validation is the shape of validationCriteria (package criteria).
type validation struct{}

// Want describes the usual form, a list.
func (validation) Want() string { return "a list of validation rules" }

// Check reports the problems that package criteria finds.
func (validation) Check(at problem.SourceValue, report problem.Report) { criteria.Check(at, report) }
