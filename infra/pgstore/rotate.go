package pgstore

import (
	"context"
	"io"

	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/run/token"
	"github.com/waybill/waybill/infra/pgstore/db"
	"github.com/waybill/waybill/infra/pgstore/repair"
	"github.com/waybill/waybill/infra/pgstore/rows"
	"github.com/waybill/waybill/ports"
)

// Rotate implements ports.Keyring.
func (s *Store) Rotate(ctx context.Context, r ports.Rotation) (out ports.RotationResult, err error) {
	store, err := s.StoreID(ctx, ports.ReadOnly)
	if err == nil && store.IsZero() {
		err = fault.New(fault.TargetNotFound, "no store exists here, and therefore no key to replace").
			Suggest("Check --store; the first run creates a store and its keys.")
	}
	if err != nil {
		return out, err
	}
	next := token.Keys{}
	if _, err := io.ReadFull(s.db.Options().Random, next.Current[:]); err != nil {
		return out, fault.Wrap(err, fault.StoreIO, "no random bytes: %v", err)
	}
	place := ""
	err = s.db.Locked(ctx, []db.Statement{db.LockStatement(db.UseLock, true)}, func(c *db.Conn) ([]db.Change, error) {
		var ring []db.Row
		// Of several rotations, and of one and the creation of the keyring, each waits for the row of the other.
		if err := c.Run(ctx, rows.ReadKeys("for update", &ring)); err != nil {
			return nil, err
		}
		have, err := rows.DecodeKeys(ring, nil)
		usable := len(ring) > 0 && err == nil
		if usable != (r.From != nil) || usable && have.Current != *r.From {
			return nil, rotated()
		}
		if len(ring) == 0 {
			return []db.Change{{Statement: rows.InsertKeys(next, ""), Refused: rotated}}, nil
		}
		if usable {
			next.Previous = &have.Current
			return replaceKeys(next), nil
		}
		q := repair.NewQuarantine(db.On(c), store.String(), r.By, r.AtMs)
		if err := q.FindPlace(ctx); err != nil {
			return nil, err
		}
		place = q.Place
		q.Steps = []ports.RepairStep{{What: ports.MoveToQuarantine, From: repair.KeyringPlace, To: q.Place + "/" + repair.KeyringPlace,
			Bytes: int64(len(ring[0][0]) + len(ring[0][1]) + len(ring[0][2]))}}
		q.Findings = []manifest.Finding{manifest.NewFinding(manifest.ControlDamaged, repair.KeyringPlace,
			"the keyring could not be used, and was replaced")}
		record, err := q.Record()
		if err != nil {
			return nil, err
		}
		moved := db.Query("insert into @.quarantine (place, content) select $1, convert_to(row_to_json(k)::text, 'UTF8') from @.keyring k",
			q.Place+"/"+repair.KeyringPlace)
		return append([]db.Change{{Statement: moved}, record}, replaceKeys(next)...), nil
	})
	if err != nil {
		return ports.RotationResult{}, err
	}
	return ports.RotationResult{Keys: next, QuarantinePlace: place}, nil
}

// replaceKeys replaces the keyring.
func replaceKeys(k token.Keys) []db.Change {
	return []db.Change{{Statement: db.Query("delete from @.keyring")}, {Statement: rows.InsertKeys(k, ""), Refused: rotated}}
}

// rotated is the fault of a rotation from a key that is not the current one.
func rotated() error {
	return fault.New(fault.StoreConflict, "the keys were replaced by another process; nothing was changed").
		Suggest("Inspect them with %s before you replace them again: every remaining token would become invalid.",
			fault.Command{"keys", "list"})
}
