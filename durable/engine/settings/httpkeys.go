package settings

import (
	"context"
	"strings"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/engine/ledger"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/log/audit"
	"github.com/waybill/waybill/durable/store/httpkeys"
	"github.com/waybill/waybill/ports"
	auditview "github.com/waybill/waybill/projections/audit"
)

// HTTPKeysFile is the control file with the keys of programs that call the server.
var HTTPKeysFile = ports.ControlFile{Name: "keys/http.json", Kind: httpkeys.Kind}

// HTTPKeys returns the keys that count now (docs/design.md#openwop-keys). It is called for each request: it reads the file
// and what the audit log got since the last call. It is safe for concurrent use.
//
// With any error no key counts. POLICY_UNCONFIRMED: the keys are not the ones that a person confirmed last, or cannot be
// read; so it is for some milliseconds while a person changes them, between the two lines of the audit log.
// SESSION_UNHEALTHY: the audit log, which states what was confirmed, is damaged.
func (s Settings) HTTPKeys(ctx context.Context) (keys []httpkeys.Key, err error) {
	for range httpKeysReadings {
		if keys, err = s.confirmedHTTPKeys(ctx); !fault.Is(err, fault.PolicyUnconfirmed) {
			break
		}
	}
	return keys, err
}

// httpKeysReadings is how often the keys and the audit log are read until they agree: a change may have been recorded
// after one was read and before the other was.
const httpKeysReadings = 3

func (s Settings) confirmedHTTPKeys(ctx context.Context) ([]httpkeys.Key, error) {
	list, err := s.ListHTTPKeys(ctx)
	if err != nil {
		return nil, unreadable(HTTPKeysFile, err)
	}
	last, err := s.ledger.FollowConfirmed(ctx)
	if err == nil && len(list.Keys) > 0 {
		err = CheckFeature(ctx, s.controls, last)
	}
	if err == nil {
		err = checkHTTPKeys(list, last)
	}
	if err != nil {
		return nil, err
	}
	return list.Keys, nil
}

// ListHTTPKeys reads the keys for showing them: they may not be the ones that a person confirmed. Errors: STORE_CORRUPT,
// STORE_NEWER.
func (s Settings) ListHTTPKeys(ctx context.Context) (httpkeys.List, error) {
	return ReadHTTPKeys(ctx, s.controls)
}

// ReadHTTPKeys is ListHTTPKeys for the control files of a store.
func ReadHTTPKeys(ctx context.Context, controls ports.Controls) (httpkeys.List, error) {
	c, err := controls.Control(ctx, HTTPKeysFile)
	if err != nil {
		return httpkeys.List{}, err
	}
	return HTTPKeysOf(c)
}

// HTTPKeysOf decodes the keys from their control file.
func HTTPKeysOf(c ports.Control) (httpkeys.List, error) {
	if c.V > httpkeys.Version {
		return httpkeys.List{}, ledger.NewerControl(HTTPKeysFile, c.V)
	}
	return httpkeys.Read(c.Data)
}

// ConfirmedHTTPKeys returns the digest of the keys that a person confirmed last. A store without a confirmation has the
// digest of no keys.
func ConfirmedHTTPKeys(last auditview.Confirmed) canon.Digest {
	if last.HTTPKeys.IsZero() {
		none, _ := httpkeys.List{}.Digest() // of a constant
		return none
	}
	return last.HTTPKeys
}

// checkHTTPKeys returns POLICY_UNCONFIRMED unless the keys are the ones that a person confirmed last.
func checkHTTPKeys(list httpkeys.List, last auditview.Confirmed) error {
	digest, err := list.Digest()
	if err == nil && digest != ConfirmedHTTPKeys(last) {
		err = unconfirmed(HTTPKeysFile, "the keys of programs that call the server")
	}
	return err
}

// HTTPKeysChange is a change of the keys that is planned, and shown to a person before it is made.
type HTTPKeysChange struct {
	// Added is the key that is added, without its digest. Removed is the one that is removed. One of both is nil.
	Added, Removed *httpkeys.Key
	// Unconfirmed are the keys as they are stored, if they are not the ones that a person confirmed: the question shows
	// them, because the answer confirms them. nil: they are confirmed.
	Unconfirmed *httpkeys.List
}

// PlanAddHTTPKey plans to add a key. Errors are those of httpkeys.List.With; nothing is written.
func (s Settings) PlanAddHTTPKey(ctx context.Context, name string, scopes []httpkeys.Scope, atMs int64) (HTTPKeysChange,
	error) {
	if err := httpkeys.CheckName(name); err != nil { // also where the list cannot be read
		return HTTPKeysChange{}, err
	}
	list, out, err := s.planHTTPKeys(ctx)
	if err == nil {
		err = list.CheckAdd(name)
	}
	out.Added = &httpkeys.Key{Name: name, Scopes: scopes, AddedMs: atMs}
	return out, err
}

// PlanRemoveHTTPKey plans to remove a key. VALIDATION_ERROR: no key has the name.
func (s Settings) PlanRemoveHTTPKey(ctx context.Context, name string) (HTTPKeysChange, error) {
	if err := httpkeys.CheckName(name); err != nil {
		return HTTPKeysChange{}, err
	}
	list, out, err := s.planHTTPKeys(ctx)
	if err != nil {
		return out, err
	}
	key, ok := list.Of(name)
	if !ok {
		return out, fault.New(fault.ValidationError, "no key has the name %q", name).
			Suggest("List the keys with %s.", fault.Command{"serve", "keys", "list"})
	}
	out.Removed = &key
	return out, nil
}

// planHTTPKeys returns the keys that a change begins with.
func (s Settings) planHTTPKeys(ctx context.Context) (list httpkeys.List, out HTTPKeysChange, err error) {
	if list, err = s.ListHTTPKeys(ctx); err != nil {
		return list, out, err
	}
	last, err := s.ledger.Confirmed(ctx)
	if err == nil {
		err = checkHTTPKeys(list, last)
	}
	if fault.Is(err, fault.PolicyUnconfirmed) {
		out.Unconfirmed, err = &list, nil
	}
	return list, out, err
}

// AddHTTPKey makes a planned addition; text is the key, of which the digest is stored. Errors are those of ChangeConfig; the
// key counts only without one. STORE_CONFLICT also means that another process changes the keys.
func (s Settings) AddHTTPKey(ctx context.Context, by ledger.Caller, c HTTPKeysChange, text string) (httpkeys.Key, error) {
	k := httpkeys.NewKey(c.Added.Name, text, c.Added.Scopes, c.Added.AddedMs)
	var scopes []string
	for _, scope := range k.Scopes {
		scopes = append(scopes, string(scope))
	}
	return k, s.changeHTTPKeys(ctx, by, c, map[string]string{"change": "add", "name": k.Name,
		"scopes": strings.Join(scopes, " ")}, func(l httpkeys.List) (httpkeys.List, error) { return l.With(k) })
}

// RemoveHTTPKey makes a planned removal. Requests with the key are refused from then on. Errors are those of AddHTTPKey.
func (s Settings) RemoveHTTPKey(ctx context.Context, by ledger.Caller, c HTTPKeysChange) error {
	return s.changeHTTPKeys(ctx, by, c, map[string]string{"change": "remove", "name": c.Removed.Name},
		func(l httpkeys.List) (httpkeys.List, error) {
			if k, _ := l.Of(c.Removed.Name); k.SHA256 != c.Removed.SHA256 {
				return l, changedMeanwhile() // another key has the name by now
			}
			return l.Without(c.Removed.Name), nil
		})
}

// changeHTTPKeys makes a change of the keys under the lock of their file, as an act of the audit log. The keys must be the
// confirmed ones, or the ones that were shown: their digest after the change is recorded, which confirms all of them.
func (s Settings) changeHTTPKeys(ctx context.Context, by ledger.Caller, c HTTPKeysChange, details map[string]string,
	change func(httpkeys.List) (httpkeys.List, error)) error {
	planned, err := s.ListHTTPKeys(ctx)
	if err == nil {
		err = s.checkShownHTTPKeys(ctx, planned, c.Unconfirmed)
	}
	if err == nil {
		planned, err = change(planned)
	}
	if err != nil {
		return err
	}
	expected, err := planned.Digest()
	if err != nil {
		return err
	}
	details["key"], details[audit.DetailHTTPKeysAfter] = "httpKeys", expected.String()
	what := audit.Act{Action: audit.Configure, Target: audit.Target{Kind: audit.OfStore}, Details: details}
	return s.act(ctx, by, fixed(what, canon.Value{}), func(by ledger.Caller) (map[string]string, error) {
		after, err := listFile[httpkeys.List]{HTTPKeysFile, httpkeys.Version, HTTPKeysOf}.update(ctx, s.controls,
			ifSigned(by, expected), func(now httpkeys.List) error { return s.checkShownHTTPKeys(ctx, now, c.Unconfirmed) }, change)
		return map[string]string{audit.DetailHTTPKeys: after.String()}, err
	})
}

// checkShownHTTPKeys returns STORE_CONFLICT unless the keys are the ones that a person confirmed last, or the ones that were
// shown. They may be neither between the two lines of an act of another process.
func (s Settings) checkShownHTTPKeys(ctx context.Context, list httpkeys.List, shown *httpkeys.List) error {
	last, err := s.ledger.Confirmed(ctx)
	if err == nil {
		err = checkHTTPKeys(list, last)
	}
	if !fault.Is(err, fault.PolicyUnconfirmed) {
		return err
	}
	is, err := list.Digest()
	if err != nil {
		return err
	}
	if shown != nil {
		if seen, err := shown.Digest(); err == nil && seen == is {
			return nil
		}
	}
	return changedMeanwhile()
}
