package settings

import (
	"context"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/engine/ledger"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/log/audit"
	"github.com/waybill/waybill/durable/store/sources"
	"github.com/waybill/waybill/ports"
	auditview "github.com/waybill/waybill/projections/audit"
)

// SourcesFile is the control file of the machine with the attached folders.
var SourcesFile = ports.ControlFile{Name: "sources.json", Kind: sources.Kind}

// ReadSources reads the list of attached folders from the control files of the machine. The list may
// not be the one that a person confirmed. Errors: STORE_CORRUPT, STORE_NEWER, STORE_IO.
func ReadSources(ctx context.Context, machine ports.Controls) (sources.List, error) {
	c, err := machine.Control(ctx, SourcesFile)
	var list sources.List
	if err == nil {
		list, err = sourcesOf(c)
	}
	if fault.Is(err, fault.StoreCorrupt) {
		fault.Of(err).Suggest("Move the file away from the directory of the configuration, and attach the folders again.")
	}
	return list, err
}

// sourcesOf decodes the list of attached folders from its control file.
func sourcesOf(c ports.Control) (sources.List, error) {
	if c.V > sources.Version {
		return sources.List{}, ledger.NewerControl(SourcesFile, c.V)
	}
	return sources.Read(c.Data)
}

// CheckSources returns POLICY_UNCONFIRMED unless the list is the one that a person confirmed last as
// the audit log of this store has it. It is called on the store that the list names. A list without
// folders needs no confirmation, since it permits nothing.
func (s Settings) CheckSources(ctx context.Context, list sources.List) error {
	if len(list.Folders) == 0 {
		return nil
	}
	last, err := s.ledger.ConfirmedAfresh(ctx)
	if err == nil {
		err = CheckFeature(ctx, s.controls, last)
	}
	if err != nil {
		return err
	}
	digest, err := list.Digest()
	if err == nil && digest != confirmedSources(last) {
		err = UnconfirmedSources()
	}
	return err
}

// confirmedSources returns the digest of the folders that a person confirmed last; without a
// confirmation that of none.
func confirmedSources(last auditview.Confirmed) canon.Digest {
	if last.Sources.IsZero() {
		none, _ := sources.List{}.Digest() // of a constant
		return none
	}
	return last.Sources
}

// UnconfirmedSources is POLICY_UNCONFIRMED for the attached folders.
func UnconfirmedSources() error { return unconfirmed(SourcesFile, "the attached folders") }

// SourcesChange is a change of the attached folders that was planned and shown to a person.
type SourcesChange struct {
	// Before is the list that was shown, and After the one that it becomes.
	Before, After sources.List
	// Does is the change, for the audit log: attach, detach or confirm, and Name its folder, if it
	// has one.
	Does, Name string
}

// ChangeSources makes a change of the attached folders of the machine, as an act in the audit log of
// this store, whose absolute path is dir. The log has the names and the digest, never the paths of
// folders. Errors are those of ChangeConfig.
func (s Settings) ChangeSources(ctx context.Context, by ledger.Caller, machine ports.Controls, dir string,
	c SourcesChange) error {
	after := c.After
	after.Store = dir
	digest, err := after.Digest()
	if err != nil {
		return err
	}
	what := audit.Act{Action: audit.Configure, Target: audit.Target{Kind: audit.OfStore},
		Details: map[string]string{"key": "sources", "change": c.Does, audit.DetailSourcesAfter: digest.String()}}
	if c.Name != "" {
		what.Details["name"] = c.Name
	}
	return s.act(ctx, by, fixed(what, canon.Value{}), func(ledger.Caller) (map[string]string, error) {
		err = machine.UpdateControl(ctx, SourcesFile, func(old ports.Control) (ports.Control, error) {
			now, err := sourcesOf(old)
			if err != nil {
				return old, err
			}
			if !sameFolders(now, c.Before) {
				return old, changedMeanwhile()
			}
			data, err := after.Data()
			return ports.Control{V: sources.Version, Data: data}, err
		})
		return map[string]string{audit.DetailSources: digest.String()}, err
	})
}

// WithdrawSources records that this store does not confirm attached folders any more, if it does, as
// an act in its audit log. It is called on the store that the list names before the list is changed
// with another store: a copy of the earlier list would count again otherwise
// (docs/design.md#workflow-sources). Errors are those of ChangeConfig.
func (s Settings) WithdrawSources(ctx context.Context, by ledger.Caller) error {
	last, err := s.ledger.ConfirmedAfresh(ctx)
	if err != nil {
		return err
	}
	none, err := sources.List{}.Digest()
	if err != nil || confirmedSources(last) == none {
		return err
	}
	what := audit.Act{Action: audit.Configure, Target: audit.Target{Kind: audit.OfStore},
		Details: map[string]string{"key": "sources", "change": "withdraw", audit.DetailSourcesAfter: none.String()}}
	return s.act(ctx, by, fixed(what, canon.Value{}), func(ledger.Caller) (map[string]string, error) {
		return map[string]string{audit.DetailSources: none.String()}, nil
	})
}

// sameFolders reports that two lists have the same folders.
func sameFolders(a, b sources.List) bool {
	x, err := a.Digest()
	if err != nil {
		return false
	}
	y, err := b.Digest()
	return err == nil && x == y
}
