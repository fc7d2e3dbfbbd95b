package rows

import (
	"bytes"
	"crypto/sha256"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/run/token"
	"github.com/waybill/waybill/infra/controlfile"
	"github.com/waybill/waybill/infra/pgstore/db"
	"github.com/waybill/waybill/ports"
)

// DecodeControl decodes the content of a control file; nil is the zero Control. STORE_CORRUPT: it cannot
// be read.
func DecodeControl(f ports.ControlFile, content []byte) (ports.Control, error) {
	if content == nil {
		return ports.Control{}, nil
	}
	doc, err := controlfile.Decode(content, f.Kind)
	if err != nil {
		return ports.Control{}, fault.Wrap(err, fault.StoreCorrupt, "%s cannot be read: %v", f.Name, err)
	}
	return ports.Control{V: doc.V, Data: doc.Data}, nil
}

// EncodeControl is the inverse of DecodeControl. An error says that it is too large.
func EncodeControl(f ports.ControlFile, c ports.Control) ([]byte, error) {
	return controlfile.Encode(controlfile.Document{Kind: f.Kind, V: c.V, Data: c.Data})
}

// ReadControl is the query of a control file at a place; content stays as it is if there is none.
func ReadControl(place string, content *[]byte) db.Statement {
	return db.Query("select content from @.controls where place = $1", place).Into(func(r db.Row) error {
		*content = r.Bytes(0)
		return nil
	})
}

// WriteControl replaces a control file at a place, or makes it.
func WriteControl(place string, content []byte) db.Change {
	return db.Change{Statement: db.Query("insert into @.controls (place, content) values ($1, $2) "+
		"on conflict (place) do update set content = excluded.content", place, content)}
}

// tombstoneKind is the kind of the control file that is the content of a tombstone.
const tombstoneKind = "erased"

// Tombstone is the query of the tombstone of an artifact; content stays as it is if there is none.
func Tombstone(ref canon.Digest, content *[]byte) db.Statement {
	return db.Query("select content from @.tombstones where ref = $1", ref.String()).Into(func(r db.Row) error {
		*content = r.Bytes(0)
		return nil
	})
}

// TombstoneData decodes the tombstone of an artifact. STORE_CORRUPT: it cannot be read.
func TombstoneData(ref canon.Digest, content []byte) (canon.Value, error) {
	c, err := DecodeControl(ports.ControlFile{Name: "the tombstone of " + ref.String(), Kind: tombstoneKind}, content)
	return c.Data, err
}

// EncodeTombstone is the inverse of TombstoneData. STORE_LIMIT: it is too large.
func EncodeTombstone(ref canon.Digest, data canon.Value) ([]byte, error) {
	const version = 1
	f := ports.ControlFile{Name: "the tombstone of " + ref.String(), Kind: tombstoneKind}
	content, err := EncodeControl(f, ports.Control{V: version, Data: data})
	if err != nil {
		err = fault.Wrap(err, fault.StoreLimit, "%s: %v", f.Name, err)
	}
	return content, err
}

// ReadKeys is the query of the row of the keyring, for DecodeKeys; lock is "" or "for update". ring stays as it is if there is none.
func ReadKeys(lock string, ring *[]db.Row) db.Statement {
	return db.Query("select current, previous, sum from @.keyring " + lock).Into(func(r db.Row) error {
		*ring = []db.Row{{r.Bytes(0), r[1], r.Bytes(2)}}
		if !r.IsNull(1) {
			(*ring)[0][1] = r.Bytes(1)
		}
		return nil
	})
}

// InsertKeys stores keys where there are none; conflict is what happens where there are: "", an error, or "on conflict do nothing".
func InsertKeys(k token.Keys, conflict string) db.Statement {
	var previous any
	if k.Previous != nil {
		previous = k.Previous[:]
	}
	return db.Query("insert into @.keyring (current, previous, sum) values ($1, $2, $3) "+conflict, k.Current[:], previous, sumOfKeys(k))
}

// sumOfKeys detects a row that was changed by hand.
func sumOfKeys(k token.Keys) []byte {
	b := append([]byte("waybill keyring 1\x00"), k.Current[:]...)
	if k.Previous != nil {
		b = append(b, k.Previous[:]...)
	}
	sum := sha256.Sum256(b)
	return sum[:]
}

// DecodeKeys reads the row of the keyring, unless err is an error of reading it. No row is the zero Keys. KEYRING_INVALID: it was changed
// by hand.
func DecodeKeys(ring []db.Row, err error) (k token.Keys, _ error) {
	if err != nil || len(ring) == 0 {
		return k, err
	}
	r := ring[0]
	copy(k.Current[:], r[0])
	ok := len(r[0]) == len(k.Current)
	if !r.IsNull(1) {
		k.Previous = &token.Key{}
		copy(k.Previous[:], r[1])
		ok = ok && len(r[1]) == len(k.Previous)
	}
	if !ok || !bytes.Equal(r[2], sumOfKeys(k)) {
		return token.Keys{}, fault.New(fault.KeyringInvalid, "the keyring cannot be read")
	}
	return k, nil
}
