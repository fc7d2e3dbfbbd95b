package contract

import (
	"errors"
	"fmt"
	"regexp"
	"slices"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/pattern"
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
	if err := p.Shape.validate(nil, 1); err != nil {
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

// validate checks one shape and those nested in it. depth is 1 for the outermost.
func (s *Shape) validate(at *place, depth int) error {
	if depth > depthMax {
		return fmt.Errorf("%s: nested deeper than %d shapes", at.pointer(), depthMax)
	}
	for _, check := range []func() error{s.validType, s.validBounds, s.validText, s.validFields, s.validAnyOf} {
		if err := check(); err != nil {
			return fmt.Errorf("%s: %w", at.pointer(), err)
		}
	}
	for i := range s.Fields {
		if err := s.Fields[i].Shape.validate(at.member(s.Fields[i].Name), depth+1); err != nil {
			return err
		}
	}
	for i := range s.AnyOf {
		if err := s.AnyOf[i].validate(at.nth(i), depth+1); err != nil {
			return err
		}
	}
	if s.Items != nil {
		if err := s.Items.validate(at.member("items"), depth+1); err != nil {
			return err
		}
	}
	return s.validConst(at)
}

// validType rejects members that belong to another type, because Check ignores them.
func (s *Shape) validType() error {
	of := func(types ...Type) bool { return slices.Contains(types, s.Type) }
	if !of(Any, Text, Integer, Number, Boolean, Array, Object, Map) {
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
	if !slices.Contains([]Format{"", DateTime, UUID}, s.Format) {
		return fmt.Errorf("unknown format %s", quote(string(s.Format)))
	}
	if slices.Contains(s.Enum, "") || repeats(s.Enum) {
		return errors.New("the texts of an enum are not empty and no two are the same")
	}
	return nil
}

// repeats reports whether a text occurs twice, in linear time.
func repeats(texts []string) bool {
	seen := make(map[string]bool, len(texts))
	for _, t := range texts {
		seen[t] = true
	}
	return len(seen) < len(texts)
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
	for i := range s.AnyOf {
		if s.AnyOf[i].Type == Any {
			return errors.New("anyOf: want shapes of a type of their own")
		}
		for kind := canon.Null; kind <= canon.Object; kind++ {
			if !s.AnyOf[i].takes(kind) {
				continue
			}
			if takenBy[kind] {
				return fmt.Errorf("anyOf: two of the shapes take %s", kind)
			}
			takenBy[kind] = true
		}
	}
	return nil
}

// validConst requires a constant that satisfies the rest of its shape.
func (s *Shape) validConst(at *place) error {
	if s.Const.IsNull() {
		return nil
	}
	// Check the constant against its own shape.
	var c checker
	c.value(at, s, s.Const)
	if len(c.found) > 0 {
		return fmt.Errorf("%s: the constant %s is not what the rest of the shape allows", at.pointer(), show(s.Const))
	}
	return nil
}
