package installable

import (
	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/pattern"
	"github.com/waybill/waybill/durable/problem"
	"github.com/waybill/waybill/durable/workflow/promptref"
	"github.com/waybill/waybill/durable/workflow/shape"
)

const required, optional = shape.Required, shape.Optional

// Shapes that several tables share.
var (
	anyText  = shape.Text{}
	nonEmpty = shape.Text{Min: 1}
	// typeName is also the form of chain ids.
	typeName = shape.Text{Min: 1, Max: 256, Pattern: pattern.New(`^[a-z][a-zA-Z0-9._-]*$`),
		Like: `a name such as "core.prompt"`}
	// version is the form of every artifact's version.
	version = promptref.VersionShape
)

// packName is the form of pack names in OpenWOP's published manifests.
var packName = shape.Text{Min: 1, Max: 256,
	Pattern: pattern.New(`^(core|vendor|community|private)\.[a-z][a-z0-9_-]*(\.[a-z][a-zA-Z0-9_-]*)+$`),
	Like:    `the name of a pack such as "vendor.acme.reviews"`}

// ownPackName is the form of names of packs without a published manifest; their authors
// choose them.
var ownPackName = shape.Text{Min: 1, Max: 128, Pattern: pattern.New(`^[A-Za-z0-9][A-Za-z0-9._-]*$`),
	Like: `a name of letters, digits, ".", "_" and "-" such as "team.reviews"`}

// packKeys returns the members that every pack has, followed by those of its form.
func packKeys(name shape.Text, more ...shape.Field) []shape.Field {
	return append([]shape.Field{
		{"name", name, required},
		{"version", version, required},
		{"description", shape.Text{Max: 1024}, optional},
		{"author", anyText, optional},
		{"license", anyText, optional},
		{"homepage", anyText, optional},
		{"repository", anyText, optional},
		{"keywords", shape.List{Of: shape.Text{Max: 64}, Max: 50}, optional},
		{"dependencies", shape.Dictionary{Value: anyText}, optional},
		{"signing", shape.Object{What: "a signature", Fields: []shape.Field{
			{"publicKeyRef", anyText, optional},
			{"signatureRef", anyText, optional},
			{"method", shape.Words{"manual", "sigstore"}, optional}}}, optional},
	}, more...)
}

// checkEngines requires the member "openwop" in engines; other programs may be named too.
func checkEngines(at problem.SourceValue, report problem.Report) {
	engine := at.Member("openwop")
	if at.Value.Kind() == canon.Object && engine.Value.Kind() != canon.String {
		report.Error(engine, `Add "openwop": a range such as ">=1.0 <2.0.0".`,
			"engines names the versions of openwop, got %s", shape.Got(engine))
	}
}
