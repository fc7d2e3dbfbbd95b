package httpkeys

import (
	"fmt"
	"slices"
	"strings"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/fault"
)

// Kind and Version are those of the control file keys/http.json.
const (
	Kind    = "http_keys"
	Version = 1
)

// keysMax bounds the keys of a store, each of which is compared with that of a request.
const keysMax = 100

// List is the keys of a store, in the order in which they were added. The zero List is empty. A List is immutable.
type List struct {
	Keys []Key `json:"keys"`
}

// Read returns the list of stored data; null, of a store where no key was ever added, is the empty list. Data with any
// other form, unknown members and scopes included, is STORE_CORRUPT: no request may be allowed on a guess.
func Read(data canon.Value) (List, error) {
	var l List
	if data.IsNull() {
		return l, nil
	}
	err := canon.Decode(data, &l)
	if err == nil {
		err = l.check()
	}
	if err != nil {
		return List{}, fault.Wrap(err, fault.StoreCorrupt, "keys/http.json does not have the form of version %d: %v", Version,
			err)
	}
	return l, nil
}

// check returns an error for a list that With does not make.
func (l List) check() error {
	if len(l.Keys) > keysMax {
		return fmt.Errorf("%d keys: at most %d are possible", len(l.Keys), keysMax)
	}
	for i, k := range l.Keys {
		switch {
		case !IsName(k.Name):
			return fmt.Errorf("key %d has a name that cannot be given", i)
		case k.SHA256.IsZero() || k.AddedMs < 0:
			return fmt.Errorf("key %d has no digest, or no time", i)
		case len(k.Scopes) == 0:
			return fmt.Errorf("key %d has no scope", i)
		case !slices.IsSorted(k.Scopes) || len(slices.Compact(slices.Clone(k.Scopes))) < len(k.Scopes):
			return fmt.Errorf("the scopes of key %d are not sorted, or one occurs twice", i)
		case slices.ContainsFunc(k.Scopes, func(s Scope) bool { return !slices.Contains(Scopes(), s) }):
			return fmt.Errorf("key %d has an unknown scope", i)
		case slices.ContainsFunc(l.Keys[:i], func(o Key) bool {
			return strings.EqualFold(o.Name, k.Name) || o.SHA256 == k.SHA256
		}):
			return fmt.Errorf("key %d has the name or the digest of an earlier one", i)
		}
	}
	return nil
}

// Data returns the data of the control file for l.
func (l List) Data() (canon.Value, error) {
	if l.Keys == nil {
		l.Keys = []Key{}
	}
	return canon.ValueOf(l)
}

// Digest is the digest of the canonical data. It identifies the keys that a person confirmed; the digest of the empty list
// is that of a store without the file.
func (l List) Digest() (canon.Digest, error) {
	data, err := l.Data()
	return canon.Sum(data.JCS()), err
}

// Of returns the key with a name.
func (l List) Of(name string) (Key, bool) {
	i := slices.IndexFunc(l.Keys, func(k Key) bool { return k.Name == name })
	if i < 0 {
		return Key{}, false
	}
	return l.Keys[i], true
}

// CheckAdd returns the error with which With refuses a name.
func (l List) CheckAdd(name string) error {
	if err := CheckName(name); err != nil {
		return err
	}
	for _, k := range l.Keys {
		// Names that differ in letter case only are read as one.
		if strings.EqualFold(k.Name, name) {
			return fault.New(fault.ValidationError, "there is a key with the name %q", k.Name).
				Suggest("Remove it with %s, or give another name.", fault.Command{"serve", "keys", "remove", k.Name})
		}
	}
	if len(l.Keys) >= keysMax {
		return fault.New(fault.StoreLimit, "the store has %d keys, which is the maximum", len(l.Keys)).
			Suggest("Remove those that are not used with %s.", fault.Command{"serve", "keys", "remove", "NAME"})
	}
	return nil
}

// With returns l with one more key. VALIDATION_ERROR: its name is taken or cannot be given. STORE_LIMIT: the list is full.
func (l List) With(k Key) (List, error) {
	if err := l.CheckAdd(k.Name); err != nil {
		return l, err
	}
	next := List{append(slices.Clone(l.Keys), k)}
	if err := next.check(); err != nil {
		return l, fault.Wrap(err, fault.Internal, "the key cannot be added: %v", err)
	}
	return next, nil
}

// Without returns l without the key with a name.
func (l List) Without(name string) List {
	return List{slices.DeleteFunc(slices.Clone(l.Keys), func(k Key) bool { return k.Name == name })}
}
