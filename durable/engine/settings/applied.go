package settings

import (
	"context"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/store/config"
)

// Applied is under which settings of the policy a run was started, and what differs in the present ones
// (docs/design.md#settings).
type Applied struct {
	// Hash is the digest of the settings that a person had confirmed then, as the audit log has it.
	Hash canon.Digest
	// Changed are the settings whose values are others now, in the order of the table. Unknown reports that the
	// values of then are not on record, so that only the hashes can be compared.
	Changed []ChangedSetting
	Unknown bool
}

// ChangedSetting is a setting with its value at the start of a run, and now.
type ChangedSetting struct {
	Key     config.Key  `json:"key"`
	Applied canon.Value `json:"applied"`
	Now     canon.Value `json:"now"`
}

// AppliedAt returns the settings of the policy at the start of a run, and what differs from the configuration
// as it is stored now. A run whose start came with a bundle was started under those of another store: the
// zero Applied. A configuration that cannot be read has no differences.
func AppliedAt(ctx context.Context, s Settings, session id.Session, startedMs int64) (out Applied, err error) {
	came, err := s.ledger.ImportedOf(ctx, session)
	if err != nil || came.Has(0) {
		return out, err
	}
	then, err := s.ledger.ConfirmedAt(ctx, startedMs)
	if err != nil {
		return out, err
	}
	out.Hash = PolicyOf(then)
	now, err := s.Config(ctx)
	if err != nil || now.PolicyDigest() == out.Hash {
		return out, ctx.Err()
	}
	was, known := confirmedConfig(then, config.Config{})
	if out.Unknown = !known; out.Unknown {
		return out, nil
	}
	for _, row := range config.Table {
		before, _ := was.Get(string(row.Key)) // the table's own keys are known
		after, _ := now.Get(string(row.Key))
		if (row.Decides(before.Value) || row.Decides(after.Value)) && !before.Value.Equal(after.Value) {
			out.Changed = append(out.Changed, ChangedSetting{row.Key, before.Value, after.Value})
		}
	}
	return out, nil
}
