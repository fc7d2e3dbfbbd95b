package canon

import (
	"bytes"
	"encoding"
	"errors"
	"fmt"
	"math"
	"reflect"
)

// ErrSpelling says that a stored document means something but is not written in
// its one spelling: some other program, or a hand, wrote it.
var ErrSpelling = errors.New("not in its canonical spelling")

// Unmarshal reads strict JSON in any spelling into the struct that out points
// to. Unknown and missing members and wrong types are refused, each with its pointer.
func Unmarshal(data []byte, out any) error {
	v, err := Parse(data)
	if err != nil {
		return err
	}
	return Decode(v, out)
}

// UnmarshalExact is Unmarshal for files that Waybill wrote: what was read must
// encode to the same bytes again, else ErrSpelling (R5).
func UnmarshalExact(data []byte, out any) error {
	to := reflect.ValueOf(out).Elem()
	if fresh := reflect.New(to.Type()); exactly(data, fresh.Interface()) {
		to.Set(fresh.Elem())
		return nil
	}
	return unmarshalCompared(data, out)
}

// exactly is the short way of UnmarshalExact. False says only that the long way must
// be gone.
func exactly(data []byte, out any) bool {
	x, ok := ExactText(string(data))
	return ok && x.Into(out, 0) && x.Done()
}

// unmarshalCompared is the long way: it knows what is wrong.
func unmarshalCompared(data []byte, out any) error {
	if err := Unmarshal(data, out); err != nil {
		return err
	}
	again, err := Marshal(reflect.ValueOf(out).Elem().Interface())
	if err != nil {
		return err
	}
	if !bytes.Equal(again, data) {
		return ErrSpelling
	}
	return nil
}

// Decode fills the struct that out points to from v, as strictly as Unmarshal.
func Decode(v Value, out any) error {
	d := decoder{}
	return d.value(v, reflect.ValueOf(out).Elem())
}

// DecodeKnown is Decode but for members that out does not have: they are passed
// over, at every level. It is for reading what another program wrote (R14).
func DecodeKnown(v Value, out any) error {
	d := decoder{passUnknown: true}
	return d.value(v, reflect.ValueOf(out).Elem())
}

type decoder struct {
	path        trail
	passUnknown bool
}

func (d *decoder) fail(v Value, format string, args ...any) error {
	return &ParseError{Pointer: d.path.pointer(), Line: v.Line(), Reason: fmt.Sprintf(format, args...)}
}

func (d *decoder) want(v Value, kind Kind) error {
	if v.kind != kind {
		return d.fail(v, "want %s, got %s", kind, v.kind)
	}
	return nil
}

func (d *decoder) value(v Value, out reflect.Value) error {
	t := out.Type()
	if t == valueType {
		out.Set(reflect.ValueOf(v))
		return nil
	}
	if reflect.PointerTo(t).Implements(textUnmarshaler) {
		if err := d.want(v, String); err != nil {
			return err
		}
		if err := out.Addr().Interface().(encoding.TextUnmarshaler).UnmarshalText([]byte(v.str)); err != nil {
			return d.fail(v, "%s", err)
		}
		return nil
	}
	switch t.Kind() {
	case reflect.Pointer:
		if v.kind == Null {
			out.SetZero()
			return nil
		}
		out.Set(reflect.New(t.Elem()))
		return d.value(v, out.Elem())
	case reflect.Slice:
		return d.list(v, out)
	case reflect.Map:
		return d.mapping(v, out)
	case reflect.Struct:
		return d.structure(v, out)
	}
	return d.scalar(v, out)
}

func (d *decoder) scalar(v Value, out reflect.Value) error {
	switch out.Kind() {
	case reflect.String:
		out.SetString(v.str)
		return d.want(v, String)
	case reflect.Bool:
		out.SetBool(v.num == 1)
		return d.want(v, Bool)
	case reflect.Float64:
		out.SetFloat(v.num)
		return d.want(v, Number)
	case reflect.Int, reflect.Int32, reflect.Int64:
		if err := d.want(v, Number); err != nil {
			return err
		}
		if v.num != math.Trunc(v.num) || math.Abs(v.num) > maxInteger || out.OverflowInt(int64(v.num)) {
			return d.fail(v, "want a whole number")
		}
		out.SetInt(int64(v.num))
		return nil
	}
	panic("canon: cannot read a " + out.Type().String())
}

func (d *decoder) list(v Value, out reflect.Value) error {
	if err := d.want(v, Array); err != nil {
		return err
	}
	out.Set(reflect.MakeSlice(out.Type(), len(v.list), len(v.list)))
	for i, item := range v.list {
		if err := d.at(turn{item: i}, item, out.Index(i)); err != nil {
			return err
		}
	}
	return nil
}

func (d *decoder) mapping(v Value, out reflect.Value) error {
	if err := d.want(v, Object); err != nil {
		return err
	}
	out.Set(reflect.MakeMapWithSize(out.Type(), len(v.list)))
	for i, item := range v.list {
		elem := reflect.New(out.Type().Elem()).Elem()
		if err := d.at(turn{v.keys[i], noItem}, item, elem); err != nil {
			return err
		}
		key := reflect.New(out.Type().Key()).Elem()
		if err := d.at(turn{v.keys[i], noItem}, OfString(v.keys[i]), key); err != nil {
			return err
		}
		out.SetMapIndex(key, elem)
	}
	return nil
}

// structure walks fields and members side by side: both are in JCS order.
func (d *decoder) structure(v Value, out reflect.Value) error {
	if err := d.want(v, Object); err != nil {
		return err
	}
	at := 0
	for _, f := range fieldsOf(out.Type()) {
		for at < len(v.keys) && CompareKeys(v.keys[at], f.name) < 0 {
			if !d.passUnknown {
				return d.fail(v, "unknown key %q", v.keys[at])
			}
			at++
		}
		if at == len(v.keys) || v.keys[at] != f.name {
			if !f.omitZero {
				return d.fail(v, "missing key %q", f.name)
			}
			continue
		}
		if err := d.at(turn{f.name, noItem}, v.list[at], out.FieldByIndex(f.index)); err != nil {
			return err
		}
		at++
	}
	if at < len(v.keys) && !d.passUnknown {
		return d.fail(v, "unknown key %q", v.keys[at])
	}
	return nil
}

func (d *decoder) at(where turn, v Value, out reflect.Value) error {
	d.path = append(d.path, where)
	err := d.value(v, out)
	d.path = d.path[:len(d.path)-1]
	return err
}
