package repair

import (
	"context"
	"slices"
	"strconv"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/infra/pgstore/db"
)

// refsPage is the number of objects that one page of a listing has.
const refsPage = 10_000

// EachStored implements ports.Digests. A ref that is no digest is not passed: Inspect reports it.
func (s *Repairer) EachStored(ctx context.Context, kind manifest.ObjectKind, each func(canon.Digest)) error {
	last := ""
	for count := refsPage; count == refsPage; {
		count = 0
		err := s.db.Run(ctx, db.Query("select ref from @.objects where kind = $1 and ref > $2 group by ref order by ref limit "+strconv.Itoa(refsPage),
			string(kind), last).Into(func(r db.Row) error {
			count, last = count+1, r.Text(0)
			if ref, err := canon.ParseDigest(last); err == nil {
				each(ref)
			}
			return nil
		}))
		if err != nil {
			return err
		}
	}
	return nil
}

// InspectWithObjects implements ports.Digests.
func (s *Repairer) InspectWithObjects(ctx context.Context, seen func(kind manifest.ObjectKind, ref canon.Digest)) ([]manifest.Finding, error) {
	w := &walk{db: s.db, ctx: ctx, seen: seen}
	if err := w.store(); err != nil {
		return w.found, err
	}
	return w.found, w.objects()
}

// isKind reports the kind of an object.
func isKind(kind manifest.ObjectKind) bool { return slices.Contains(manifest.ObjectKinds(), kind) }
