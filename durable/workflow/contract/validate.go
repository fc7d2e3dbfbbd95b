package contract

import (
	"cmp"
	"errors"
	"fmt"
	"iter"
	"regexp"
	"slices"
	"strconv"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/pattern"
	"github.com/waybill/waybill/durable/problem"
)

// Bounds of a pack. Waybill's own packs are far below them. They limit the cost of a forged
// pack in an imported document.
const (
	// depthMax bounds the nesting of shapes. A shape takes three levels of JSON, which keeps
	// packs within limits.JSONDepthMax.
	depthMax = 16
	// patternBytesMax bounds a pattern: RE2 repeats a part at most 1000 times.
	patternBytesMax = 256
)

// The forms of refs and kinds.
var (
	contractRef  = pattern.New(`^wr\.contracts\.[a-z0-9_]+$`)
	artifactKind = pattern.New(`^wr\.[a-z0-9_]+$`)
)

// Validate fails for a pack that Waybill cannot have written. It is called for the packs of
// a pinned document, which may come from an imported bundle. The error names the place in
// the pack.
func (p Pack) Validate() error {
	switch {
	case !contractRef.MatchString(p.ContractRef):
		return fmt.Errorf("contractRef %s: want %s", quote(p.ContractRef), contractRef)
	case !artifactKind.MatchString(p.ArtifactKind):
		return fmt.Errorf("%s: artifactKind %s: want %s", p.ContractRef, quote(p.ArtifactKind), artifactKind)
	case p.Title == "":
		return fmt.Errorf("%s: it has no title", p.ContractRef)
	case p.Shape.Type != Object:
		return fmt.Errorf("%s: shape: want type object", p.ContractRef)
	}
	if err := p.Shape.validate(1); err != nil {
		return fmt.Errorf("%s: shape%w", p.ContractRef, err)
	}
	// Check removes kind from the artifact, so a field of that name would always be missing.
	if slices.ContainsFunc(p.Shape.Fields, func(f Field) bool { return f.Name == kindMember }) {
		return fmt.Errorf("%s: shape/kind: artifactKind already defines it", p.ContractRef)
	}
	if wrong := p.Check(p.Example); len(wrong) > 0 {
		return fmt.Errorf("%s: example: %s", p.ContractRef, wrong[0])
	}
	return nil
}

// validate checks one shape and those nested in it. depth is 1 for the outermost. An error
// starts with the pointer from s to its place.
func (s *Shape) validate(depth int) error {
	if depth > depthMax {
		return fmt.Errorf(": nested deeper than %d shapes", depthMax)
	}
	if err := cmp.Or(s.validType(), s.validBounds(), s.validText(), s.validFields(), s.validAnyOf()); err != nil {
		return fmt.Errorf(": %w", err)
	}
	for token, inner := range s.nested() {
		if err := inner.validate(depth + 1); err != nil {
			return fmt.Errorf("/%s%w", canon.EscapePointer(token), err)
		}
	}
	if s.Const.IsNull() {
		return nil
	}
	// A constant must satisfy the rest of its shape.
	var c checker
	if c.value(problem.SourceValue{Value: s.Const}, s); len(c.found) > 0 {
		return fmt.Errorf(": the constant %s is not what the rest of the shape allows", show(s.Const))
	}
	return nil
}

// nested yields the shapes in s, each with the token that follows the pointer of s.
func (s *Shape) nested() iter.Seq2[string, *Shape] {
	return func(yield func(string, *Shape) bool) {
		for i := range s.Fields {
			if !yield(cut(s.Fields[i].Name, tokenBytesMax), &s.Fields[i].Shape) {
				return
			}
		}
		for i := range s.AnyOf {
			if !yield(strconv.Itoa(i), &s.AnyOf[i]) {
				return
			}
		}
		if s.Items != nil {
			yield("items", s.Items)
		}
	}
}

// validType rejects members that belong to another type, because Check ignores them.
func (s *Shape) validType() error {
	of := func(types ...Type) bool { return slices.Contains(types, s.Type) }
	if _, known := kinds[s.Type]; !known && s.Type != Any {
		return fmt.Errorf("unknown type %s", quote(string(s.Type)))
	}
	for _, m := range []struct {
		name   string
		set    bool
		fits   bool
		wanted Type
	}{
		{"enum", len(s.Enum) > 0, of(Text), Text},
		{"minChars or maxChars", s.MinChars != 0 || s.MaxChars != 0, of(Text), Text},
		{"pattern", s.Pattern != "", of(Text), Text},
		{"format", s.Format != "", of(Text), Text},
		{"min or max", s.Min != nil || s.Max != nil, of(Integer, Number), Number},
		{"minItems or maxItems", s.MinItems != 0 || s.MaxItems != 0, of(Array, Map), Array},
		{"items", s.Items != nil, of(Array, Map), Array},
		{"fields", len(s.Fields) > 0, of(Object), Object},
		{"open", s.Open, of(Object), Object},
		{"exactlyOne", len(s.ExactlyOne) > 0, of(Object), Object},
		{"anyOf", len(s.AnyOf) > 0, of(Any), Any},
	} {
		if m.set && !m.fits {
			return fmt.Errorf("%s belongs to type %s, not to %s", m.name, m.wanted, s.Type)
		}
	}
	return nil
}

// validBounds rejects bounds that no value satisfies.
func (s *Shape) validBounds() error {
	apart := func(least, most int) bool { return least < 0 || most < 0 || most > 0 && least > most }
	if apart(s.MinChars, s.MaxChars) || apart(s.MinItems, s.MaxItems) || s.Min != nil && s.Max != nil &&
		*s.Min > *s.Max {
		return errors.New("no value is within its bounds")
	}
	return nil
}

// validText checks pattern, format and enum.
func (s *Shape) validText() error {
	if len(s.Pattern) > patternBytesMax {
		return fmt.Errorf("a pattern has at most %d bytes", patternBytesMax)
	}
	if _, err := regexp.Compile(s.Pattern); err != nil {
		return fmt.Errorf("pattern %s: %w", quote(s.Pattern), err)
	}
	if _, known := formats[s.Format]; !known && s.Format != "" {
		return fmt.Errorf("unknown format %s", quote(string(s.Format)))
	}
	if slices.Contains(s.Enum, "") || repeats(s.Enum) {
		return errors.New("the texts of an enum are not empty and no two are the same")
	}
	return nil
}

// repeats reports whether a text occurs twice.
func repeats(texts []string) bool {
	return len(slices.Compact(slices.Sorted(slices.Values(texts)))) < len(texts)
}

// validFields requires the JCS order of fields, on which checker.members relies, and checks
// the names of ExactlyOne.
func (s *Shape) validFields() error {
	optional := map[string]bool{}
	for i, f := range s.Fields {
		if f.Name == "" || i > 0 && canon.CompareKeys(s.Fields[i-1].Name, f.Name) >= 0 {
			return fmt.Errorf("field %s: want names, each once, in JCS order", quote(f.Name))
		}
		optional[f.Name] = !f.Required
	}
	if len(s.ExactlyOne) == 1 || repeats(s.ExactlyOne) {
		return errors.New("exactlyOne: want two or more names")
	}
	for _, name := range s.ExactlyOne {
		if !optional[name] {
			return fmt.Errorf("exactlyOne: %s is not an optional field", quote(name))
		}
	}
	return nil
}

// validAnyOf requires that the JSON kind of a value selects one shape at most.
func (s *Shape) validAnyOf() error {
	if len(s.AnyOf) == 1 {
		return errors.New("anyOf: want two or more shapes")
	}
	var takenBy [canon.Object + 1]bool
	for _, of := range s.AnyOf {
		kind, known := kinds[of.Type]
		switch {
		case of.Type == Any:
			return errors.New("anyOf: want shapes of a type of their own")
		case takenBy[kind]:
			return fmt.Errorf("anyOf: two of the shapes take %s", kind)
		}
		takenBy[kind] = known
	}
	return nil
}
