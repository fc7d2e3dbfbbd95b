package canon

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"reflect"
)

// ErrNotCanonical reports a stored document that decodes but is not canonical JSON: another
// program, or a person with an editor, wrote it. UnmarshalExact returns it.
var ErrNotCanonical = errors.New("not in its canonical spelling")

// Unmarshal parses strict JSON, canonical or not, into the struct that out points to. Unknown
// members, missing members and values of a wrong type are a *ParseError with the pointer of
// the value. On an error, out may hold the members that were decoded before it.
func Unmarshal(data []byte, out any) error {
	v, err := Parse(data)
	if err != nil {
		return err
	}
	return Decode(v, out)
}

// UnmarshalExact is Unmarshal for files that Waybill wrote: data must equal the bytes that
// Marshal produces for the decoded value, else ErrNotCanonical (docs/design.md#json-from-outside).
// A second spelling of a stored document would have a second digest, and the readers of a store
// could disagree about which document a digest names.
func UnmarshalExact(data []byte, out any) error {
	to := reflect.ValueOf(out).Elem()
	if fresh := reflect.New(to.Type()); unmarshalDirect(data, fresh.Interface()) {
		to.Set(fresh.Elem())
		return nil
	}
	return unmarshalCompared(data, out)
}

// unmarshalDirect decodes canonical data in one pass. false: fall back to unmarshalCompared, which
// either accepts data as well (its types are not covered by Exact) or returns the reason.
func unmarshalDirect(data []byte, out any) bool {
	x := ExactText(string(data))
	return x.Into(out, 0) && x.Done()
}

// unmarshalCompared decodes data, encodes the result and compares the bytes. It costs several
// times what unmarshalDirect does, and returns an error that names the problem.
func unmarshalCompared(data []byte, out any) error {
	if err := Unmarshal(data, out); err != nil {
		return err
	}
	again, err := Marshal(reflect.ValueOf(out).Elem().Interface())
	if err != nil { // a zero id, for example, decodes from nothing and cannot be written
		return err
	}
	if !bytes.Equal(again, data) {
		return ErrNotCanonical
	}
	return nil
}

// Decode fills the value that out points to from v, with the rules and errors of Unmarshal.
// Lines in errors are those of v, 0 where v was built and not parsed.
//
//go:noinline
func Decode(v Value, out any) error {
	return decodeInto(v, out, decoder{})
}

// DecodeKnown is Decode, except that members which out does not have are ignored at every
// level. It is for documents of other programs and newer versions
// (docs/design.md#foreign-stores); writing the result back would lose those members.
func DecodeKnown(v Value, out any) error {
	return decodeInto(v, out, decoder{passUnknown: true})
}

// decoder fills Go values from a Value and records where it is, for error pointers.
type decoder struct {
	path        valuePath
	passUnknown bool // ignore members that the struct does not have
}

// decodeInto decodes v with d into the value that out points to.
func decodeInto(v Value, out any, d decoder) error {
	to := reflect.ValueOf(out).Elem()
	return d.value(planOf(to.Type()), v, to)
}

func (d *decoder) fail(v Value, format string, args ...any) error {
	return &ParseError{Pointer: d.path.pointer(), Line: v.Line(), Reason: fmt.Sprintf(format, args...)}
}

// want returns an error at the current path unless v is of the kind.
func (d *decoder) want(v Value, kind Kind) error {
	if v.kind != kind {
		return d.fail(v, "want %s, got %s", kind, v.kind)
	}
	return nil
}

// value decodes v into out. Ids and digests are validated while they are decoded. It panics on a Go
// type that canon does not support: such a struct is a programming error, not an input error.
func (d *decoder) value(p *plan, v Value, out reflect.Value) error {
	switch p.form {
	case formValue: // an open part of a document is kept as it was parsed
		out.Set(reflect.ValueOf(v))
		return nil
	case formText:
		if err := d.want(v, String); err != nil {
			return err
		}
		if err := out.Addr().Interface().(canonicalText).UnmarshalString(v.str); err != nil {
			return d.fail(v, "%s", err)
		}
		return nil
	case formString:
		out.SetString(v.str)
		return d.want(v, String)
	case formBool:
		out.SetBool(v.num == 1)
		return d.want(v, Bool)
	case formFloat:
		out.SetFloat(v.num)
		return d.want(v, Number)
	case formInt:
		return d.integer(v, out)
	case formPointer: // the only form that accepts null
		if v.kind == Null {
			out.SetZero()
			return nil
		}
		out.Set(reflect.New(p.elem.typ))
		return d.value(p.elem, v, out.Elem())
	case formList:
		return d.list(p, v, out)
	case formMap:
		return d.mapping(p, v, out)
	case formStruct:
		return d.structure(p, v, out)
	}
	panic("canon: cannot read a " + p.typ.String())
}

// integer decodes a whole number.
func (d *decoder) integer(v Value, out reflect.Value) error {
	if err := d.want(v, Number); err != nil {
		return err
	}
	// Beyond 2^53 a double no longer names one integer.
	if v.num != math.Trunc(v.num) || math.Abs(v.num) > maxInteger || out.OverflowInt(int64(v.num)) {
		return d.fail(v, "want a whole number")
	}
	out.SetInt(int64(v.num))
	return nil
}

// list decodes an array into a slice of its length. null is refused: nil slices are written as
// [], so null would be a second spelling of the empty list.
func (d *decoder) list(p *plan, v Value, out reflect.Value) error {
	if err := d.want(v, Array); err != nil {
		return err
	}
	out.Set(reflect.MakeSlice(out.Type(), len(v.list), len(v.list)))
	for i, item := range v.list {
		if err := d.at(pathStep{item: i}, p.elem, item, out.Index(i)); err != nil {
			return err
		}
	}
	return nil
}

// mapping decodes an object into a map. Keys are decoded as well, since their type may be one
// that validates text.
func (d *decoder) mapping(p *plan, v Value, out reflect.Value) error {
	if err := d.want(v, Object); err != nil {
		return err
	}
	out.Set(reflect.MakeMapWithSize(out.Type(), len(v.list)))
	for i, item := range v.list {
		// Map elements are not addressable: decode into a new value and store that.
		elem := reflect.New(out.Type().Elem()).Elem()
		if err := d.at(pathStep{v.keys[i], noItem}, p.elem, item, elem); err != nil {
			return err
		}
		key := reflect.New(out.Type().Key()).Elem()
		if err := d.at(pathStep{v.keys[i], noItem}, planOf(key.Type()), OfString(v.keys[i]), key); err != nil {
			return err
		}
		out.SetMapIndex(key, elem)
	}
	return nil
}

// structure decodes an object into a struct. Fields and members are both in JCS order, so one
// merge pass finds the unknown and the missing ones.
func (d *decoder) structure(p *plan, v Value, out reflect.Value) error {
	if err := d.want(v, Object); err != nil {
		return err
	}
	at := 0
	for _, f := range p.fields {
		for at < len(v.keys) && CompareKeys(v.keys[at], f.name) < 0 {
			if !d.passUnknown {
				return d.fail(v, "unknown key %q", v.keys[at])
			}
			at++
		}
		if at == len(v.keys) || v.keys[at] != f.name {
			// The field keeps its zero value, which omitzero would not have written.
			if !f.omitZero {
				return d.fail(v, "missing key %q", f.name)
			}
			continue
		}
		if err := d.at(pathStep{f.name, noItem}, f.plan, v.list[at], out.FieldByIndex(f.index)); err != nil {
			return err
		}
		at++
	}
	if at < len(v.keys) && !d.passUnknown {
		return d.fail(v, "unknown key %q", v.keys[at])
	}
	return nil
}

// at decodes v one step below the current path.
func (d *decoder) at(where pathStep, p *plan, v Value, out reflect.Value) error {
	d.path = append(d.path, where)
	err := d.value(p, v, out)
	d.path = d.path[:len(d.path)-1]
	return err
}
