package pgstore

import (
	"context"
	"strings"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/infra/pgstore/db"
	"github.com/waybill/waybill/infra/pgstore/logs"
	"github.com/waybill/waybill/infra/pgstore/repair"
	"github.com/waybill/waybill/infra/pgstore/rows"
	"github.com/waybill/waybill/ports"
)

// keeper is what a store keeps: the trash, sizes, tombstones, and the removals of cleanups.
type keeper struct {
	db   *db.DB
	logs *logs.Logs
}

// LogRoots implements ports.Retention.
func (s *keeper) LogRoots(ctx context.Context) (out []ports.LogRoot, err error) {
	err = s.db.Long(ctx, db.Query("select root, place, owner, name from @.logs order by root").Into(func(r db.Row) (err error) {
		l := ports.LogRoot{Root: r.Text(0), Owner: r.Text(2), Name: r.Text(3)}
		place := r.Text(1)
		if place != "store" {
			l.Session, err = rows.ParseSession(l.Owner)
		}
		if place == "trash" {
			l.TrashName, _, _ = strings.Cut(strings.TrimPrefix(l.Root, trashRoot), "/")
		}
		out = append(out, l)
		return err
	}))
	return out, err
}

// UnreadEntries implements ports.Retention: every row is read.
func (s *keeper) UnreadEntries(ctx context.Context) ([]ports.UnreadEntry, error) {
	return nil, s.db.Run(ctx, db.Query("select"))
}

// ReadOtherContent implements ports.Retention: other content is what is in the quarantine.
func (s *keeper) ReadOtherContent(ctx context.Context, visit func(content []byte)) error {
	return s.db.Long(ctx, db.Query("select content from @.quarantine order by place").Into(func(r db.Row) error {
		visit(r.Bytes(0))
		return nil
	}))
}

// EachSize implements ports.Retention. The sizes are those of the bytes that are stored.
func (s *keeper) EachSize(ctx context.Context, kind manifest.ObjectKind, each func(ports.SizedObject)) error {
	sql := "select o.ref, o.bytes, t.content from " +
		"(select ref, sum(octet_length(bytes))::bigint as bytes from @.objects where kind = $1 group by ref) o " +
		"left join @.tombstones t on t.ref = o.ref and $2"
	return s.db.Long(ctx, db.Query(sql, string(kind), kind.IsErasable()).Into(func(r db.Row) error {
		ref, err := canon.ParseDigest(r.Text(0))
		if err != nil {
			return fault.Wrap(err, fault.StoreCorrupt, "the table of objects has a %s %q", kind, r.Text(0))
		}
		one := ports.SizedObject{Ref: ref, Bytes: r.Int(1)}
		if !r.IsNull(2) {
			data, err := rows.TombstoneData(ref, r.Bytes(2))
			if err != nil {
				return err
			}
			one.Erased = !isImportedTombstone(data)
		}
		each(one)
		return nil
	}))
}

// Survey implements ports.Retention. The places are those of a store in files, and what is a file there is counted. Nothing is left over:
// a transaction that did not end has left no row.
func (s *keeper) Survey(ctx context.Context) (out ports.Survey, err error) {
	var kinds, dirs []string
	for _, kind := range manifest.ObjectKinds() {
		kinds, dirs = append(kinds, string(kind)), append(dirs, manifest.ObjectDir(kind))
	}
	sql := "with lines as (select root, count(*) as n, sum(octet_length(lines)) as lines, sum(octet_length(segment)) as segments " +
		"from @.groups join @.logs using (log) group by root), places (place, n, bytes) as (" +
		"select root, 1, lines from lines " +
		"union all select root || '/" + manifest.SegmentDir + "', n, segments from lines " +
		"union all select d.dir, count(*) filter (where part = 0), sum(octet_length(bytes)) from @.objects " +
		"join unnest($1::text[], $2::text[]) as d (kind, dir) using (kind) group by d.dir " +
		"union all select $3, 1, octet_length(content) from @.tombstones " +
		"union all select root || '/cache', 1, octet_length(content) from @.heads " +
		"union all select $4, 1, octet_length(content) from @.quarantine " +
		"union all select case when place like '%/%' then regexp_replace(place, '/[^/]*$', '') else '.' end, 1, octet_length(content) " +
		"from @.controls) " +
		"select place, sum(n)::bigint, sum(bytes)::bigint from places group by place order by place collate \"C\""
	err = s.db.Long(ctx, db.Query(sql, kinds, dirs, manifest.ObjectDir(manifest.Artifact), repair.QuarantinePlace).Into(func(r db.Row) error {
		out.Places = append(out.Places, ports.PlaceUsage{Place: r.Text(0), Count: r.Int(1), Bytes: r.Int(2)})
		return nil
	}))
	return out, err
}

// Erase implements ports.Retention: one transaction has the tombstone and the removal.
func (s *keeper) Erase(ctx context.Context, ref canon.Digest, data func(bytes int64) canon.Value) (out ports.ErasureResult, err error) {
	err = s.db.Locked(ctx, nil, func(c *db.Conn) ([]db.Change, error) {
		out = ports.ErasureResult{}
		if err := s.db.Alone(ctx, c); err != nil {
			return nil, err
		}
		size := int64(-1)
		var content []byte
		// The artifact, and the installed one if that is all there is.
		err := c.Run(ctx, db.Query("select sum(octet_length(bytes))::bigint from @.objects where kind in ($1, $2) and ref = $3 group by kind "+
			"order by kind = $1 desc limit 1", string(manifest.Artifact), string(manifest.Installed), ref.String()).
			Into(func(r db.Row) error { size = r.Int(0); return nil }), rows.Tombstone(ref, &content))
		if err != nil {
			return nil, err
		}
		if out.Already = content != nil; out.Already {
			if out.Data, err = rows.TombstoneData(ref, content); err != nil {
				return nil, err
			}
		}
		if size < 0 && !out.Already {
			return nil, fault.New(fault.ArtifactNotFound, "the store holds no artifact %s", ref)
		}
		if size >= 0 && (!out.Already || isImportedTombstone(out.Data)) {
			out.Data, out.Already = data(size), false // an imported tombstone records an erasure elsewhere
		}
		out.Bytes = max(size, 0)
		if content, err = rows.EncodeTombstone(ref, out.Data); err != nil {
			return nil, err
		}
		return db.Changes([]db.Statement{
			db.Query("insert into @.tombstones (ref, content) values ($1, $2) on conflict (ref) do update set content = excluded.content",
				ref.String(), content),
			db.Query("delete from @.objects where kind in ($1, $2) and ref = $3", string(manifest.Artifact), string(manifest.Installed),
				ref.String()),
		}), nil
	})
	return out, err
}
