package pgstore

import (
	"context"
	"crypto/sha256"
	"hash"
	"io"
	"strconv"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/infra/pgstore/db"
	"github.com/waybill/waybill/infra/pgstore/rows"
)

// What an import stores before its commit is not waited for: the commit is behind it in the log of the server, and waits for both.
func unwaited() db.Statement { return db.Query("select set_config('synchronous_commit', 'off', true)") }

// sameObjectMost is how long an object is waited for that another process is storing, in milliseconds.
const sameObjectMost = 20_000

// arrivedObject is the bytes of an object that come from a reader, one part at a time.
type arrivedObject struct {
	kind  manifest.ObjectKind
	ref   canon.Digest
	r     io.Reader
	limit int64
	buf   []byte // of one part
	sum   hash.Hash
	size  int64 // read so far
	ended bool
}

// next reads the next part. An error of the reader is returned as it is; STORE_LIMIT: there are more bytes than the limit of the kind.
func (o *arrivedObject) next() ([]byte, error) {
	part := o.buf[:0]
	// One byte more than the limit is enough to detect an object that is too large.
	most := int(min(int64(len(o.buf)), o.limit+1-o.size))
	for empty := 0; len(part) < most && !o.ended; {
		n, err := o.r.Read(o.buf[len(part):most])
		part = o.buf[:len(part)+n]
		if empty++; n > 0 {
			empty = 0
		}
		switch {
		case err == io.EOF:
			o.ended = true
		case err != nil:
			return nil, err
		case empty > 100:
			return nil, io.ErrNoProgress
		}
	}
	o.size += int64(len(part))
	o.sum.Write(part)
	if o.size > o.limit {
		return nil, fault.New(fault.StoreLimit, "%s %s has more than %d bytes, the limit of a store", o.kind, o.ref, o.limit)
	}
	return part, nil
}

// check compares the digest, at the end.
func (o *arrivedObject) check() error {
	if canon.DigestOf([sha256.Size]byte(o.sum.Sum(nil))) != o.ref {
		return fault.New(fault.StoreCorrupt, "the imported bytes of %s %s do not have that digest", o.kind, o.ref)
	}
	return nil
}

// storeObject stores an object that comes with an import, in a transaction of its own. One that is stored and intact is not written
// again, but read.
func (s *objects) storeObject(ctx context.Context, kind manifest.ObjectKind, ref canon.Digest, r io.Reader) error {
	o := &arrivedObject{kind: kind, ref: ref, r: r, limit: limits.ArtifactBytesMax, buf: make([]byte, partBytes), sum: sha256.New()}
	if kind == manifest.Snapshot {
		o.limit = limits.SnapshotBytesMax
	}
	needed, err := s.needsObject(ctx, kind, ref)
	if err != nil {
		return err
	}
	part, err := o.next()
	if err != nil {
		return err
	}
	if !needed {
		for err == nil && !o.ended {
			_, err = o.next()
		}
		if err == nil {
			err = o.check()
		}
		return err
	}
	if o.ended {
		if err := o.check(); err != nil {
			return err
		}
		return s.db.Run(ctx, unwaited(), s.putPart(o, 0, o.size, part), s.dropParts(o, 1))
	}
	return s.storeParts(ctx, o, part)
}

// needsObject reports that an object has to be stored: it is missing or damaged, and was not erased here.
func (s *objects) needsObject(ctx context.Context, kind manifest.ObjectKind, ref canon.Digest) (bool, error) {
	intact := false
	var content []byte
	raw := ref.Raw()
	sql := "select coalesce(sha256(string_agg(bytes, ''::bytea order by part)) = $3 and min(size) = sum(octet_length(bytes)) and " +
		"max(size) = min(size) and max(part) = count(*) - 1, false) from @.objects where kind = $1 and ref = $2"
	err := s.db.Run(ctx, db.Query(sql, string(kind), ref.String(), raw[:]).
		Into(func(r db.Row) error { intact = r.IsTrue(0); return nil }), rows.Tombstone(ref, &content))
	if err != nil || intact || content == nil || kind != manifest.Artifact {
		return !intact, err
	}
	// A tombstone is about artifacts only: an object of another kind may have the same bytes.
	data, err := rows.TombstoneData(ref, content)
	return isImportedTombstone(data), err
}

// storeParts stores an object of several parts, of which the first was read. Its size is known at its end.
func (s *objects) storeParts(ctx context.Context, o *arrivedObject, part []byte) error {
	c, err := s.db.Transaction(ctx, unwaited(), db.Query("set local lock_timeout = "+strconv.Itoa(sameObjectMost)), db.IdleStatement())
	if err != nil {
		return err
	}
	k := db.Keep(c, 0) // the reader may be slow
	defer func() { s.db.Rollback(k.End()) }()
	count := int64(0)
	for {
		if err := k.Run(ctx, s.putPart(o, count, -1, part)); err != nil {
			return db.Failure(ctx, err)
		}
		count++
		if o.ended {
			break
		}
		if part, err = o.next(); err != nil {
			return err
		}
		if len(part) == 0 {
			break
		}
	}
	if err := o.check(); err != nil {
		return err
	}
	return db.Failure(ctx, k.Run(ctx,
		db.Query("update @.objects set size = $3 where kind = $1 and ref = $2", string(o.kind), o.ref.String(), o.size),
		s.dropParts(o, count), db.Query("commit")))
}

// putPart stores a part of an object.
func (s *objects) putPart(o *arrivedObject, part, size int64, b []byte) db.Statement {
	return db.Query("insert into @.objects (kind, ref, part, size, bytes) values ($1, $2, $3, $4, $5) "+
		"on conflict (kind, ref, part) do update set size = excluded.size, bytes = excluded.bytes",
		string(o.kind), o.ref.String(), part, size, b)
}

// dropParts removes the parts of an object from one on, which only damage makes.
func (s *objects) dropParts(o *arrivedObject, from int64) db.Statement {
	return db.Query("delete from @.objects where kind = $1 and ref = $2 and part >= $3", string(o.kind), o.ref.String(), from)
}

// storeTombstone stores a tombstone that comes with an import. An artifact and a tombstone that exist stay as they are.
func (s *objects) storeTombstone(ctx context.Context, ref canon.Digest, data canon.Value) error {
	content, err := rows.EncodeTombstone(ref, data)
	if err != nil {
		return err
	}
	return s.db.Run(ctx, unwaited(), db.Query("insert into @.tombstones (ref, content) select $1, $2 where not exists (select from @.objects "+
		"where kind = $3 and ref = $1) on conflict do nothing", ref.String(), content, string(manifest.Artifact)))
}
