package rows

import (
	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/infra/pgstore/db"
)

// RunColumns are the columns of a run in the catalogue, for RunArgs.
const RunColumns = "session, ordinal, run, last_at_ms, last_index, open, states, workflow, branches, pending, pending_at_ms, tags, " +
	"pending_workflow, imported, data"

// RunArgs are the parameters of the run of a session with an ordinal, in the order of RunColumns.
func RunArgs(session id.Session, ordinal int, r manifest.BriefRun) []any {
	return []any{session.String(), int64(ordinal), r.ID.String(), r.LastAtMs, r.LastIndex, r.Open, texts(r.States), r.Workflow, texts(r.Branches),
		string(r.Pending.Kind), r.Pending.AtMs, texts(r.Pending.Tags), digestText(r.Pending.Workflow), r.Pending.Imported, []byte(r.Data)}
}

// texts returns a list for a column that is never NULL.
func texts(all []string) []string {
	if all == nil {
		return []string{}
	}
	return all
}

// digestText is the column of a digest that may be zero.
func digestText(d canon.Digest) string {
	if d == (canon.Digest{}) {
		return ""
	}
	return d.String()
}

// RunOf reads the columns of a run that begin with an index, without session and ordinal. STORE_CORRUPT: an id or a digest is none.
func RunOf(r db.Row, i int) (out manifest.BriefRun, err error) {
	if out.ID, err = id.ParseRun(r.Text(i)); err != nil {
		return out, fault.Wrap(err, fault.StoreCorrupt, "the catalogue has a run %q", r.Text(i))
	}
	out.LastAtMs, out.LastIndex, out.Open, out.States, out.Workflow, out.Branches = r.Int(i+1), r.Int(i+2), r.IsTrue(i+3), r.Texts(i+4), r.Text(i+5), r.Texts(i+6)
	out.Pending = manifest.Pending{Kind: manifest.PendingKind(r.Text(i + 7)), AtMs: r.Int(i + 8), Tags: r.Texts(i + 9), Imported: r.IsTrue(i + 11)}
	if text := r.Text(i + 10); text != "" {
		if out.Pending.Workflow, err = canon.ParseDigest(text); err != nil {
			return out, fault.Wrap(err, fault.StoreCorrupt, "the catalogue has a workflow %q", text)
		}
	}
	out.Data = r.Text(i + 12)
	return out, nil
}
