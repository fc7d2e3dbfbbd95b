package repair

import (
	"context"
	"crypto/sha256"
	"hash"
	"path"
	"strconv"
	"strings"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/store/config"
	"github.com/waybill/waybill/durable/store/httpkeys"
	"github.com/waybill/waybill/durable/store/imported"
	"github.com/waybill/waybill/durable/store/trust"
	"github.com/waybill/waybill/infra/controlfile"
	"github.com/waybill/waybill/infra/pgstore/db"
	"github.com/waybill/waybill/infra/pgstore/rows"
	"github.com/waybill/waybill/ports"
)

// The places of what a store has once, for findings and in the quarantine.
const (
	storePlace = "store"
	// KeyringPlace is that of the keyring.
	KeyringPlace = "keyring"
)

// Inspect implements ports.Inspector.
func (s *Repairer) Inspect(ctx context.Context) ([]manifest.Finding, error) {
	return s.InspectWithObjects(ctx, func(manifest.ObjectKind, canon.Digest) {})
}

// InspectSession implements ports.Inspector.
func (s *Repairer) InspectSession(ctx context.Context, session id.Session) ([]manifest.Finding, error) {
	w, root := &walk{db: s.db, ctx: ctx}, manifest.SessionEvents(session).Root
	err := w.logs(root, root+"0")
	if err == nil {
		err = w.controls(root+"/", root+"0")
	}
	return w.found, err
}

// walk is one examination of a store. It collects findings.
type walk struct {
	db    *db.DB
	ctx   context.Context
	seen  func(manifest.ObjectKind, canon.Digest) // called for each object that is whole
	found []manifest.Finding
}

// find adds a finding.
func (w *walk) find(code manifest.FindingCode, place, format string, args ...any) {
	w.found = append(w.found, manifest.NewFinding(code, place, format, args...))
}

// damaged adds a finding about a control file, unless err is nil.
func (w *walk) damaged(place string, err error) {
	if err != nil {
		w.find(manifest.ControlDamaged, place, "%s", fault.Of(err).Message)
	}
}

// store examines everything but objects and the content of logs.
func (w *walk) store() error {
	if err := w.once(); err != nil {
		return err
	}
	for _, part := range []func(from, to string) error{w.logs, w.controls} {
		if err := part("", "\U0010ffff"); err != nil {
			return err
		}
	}
	return w.tombstones()
}

// once examines the rows that a store has once. Without sessions a store has no keyring before its first token.
func (w *walk) once() error {
	store, ring, sessions := "", []db.Row(nil), false
	err := w.db.Run(w.ctx,
		db.Query("select exists (select from @.logs where "+db.OwnSession+")").Into(func(r db.Row) error { sessions = r.IsTrue(0); return nil }),
		db.Query("select id from @.store").Into(func(r db.Row) error { store = r.Text(0); return nil }),
		rows.ReadKeys("", &ring))
	if err != nil {
		return err
	}
	_, err = id.ParseStore(store)
	switch {
	case store == "" && !sessions && len(ring) == 0:
	case store == "":
		w.find(manifest.ControlMissing, storePlace, "the id of the store is missing although the store was used")
	case err != nil:
		w.find(manifest.ControlDamaged, storePlace, "the id of the store is %q", store)
	}
	if sessions && len(ring) == 0 {
		w.find(manifest.ControlMissing, KeyringPlace, "it is missing although sessions exist: tokens that were issued before are invalid")
	}
	_, err = rows.DecodeKeys(ring, nil)
	w.damaged(KeyringPlace, err)
	return nil
}

// logs examines the rows of the logs whose roots are in a range.
func (w *walk) logs(from, to string) error {
	const page = 10_000
	for count := page; count == page; {
		count = 0
		err := w.db.Run(w.ctx, db.Query("select root, place, owner, name from @.logs "+
			"where root >= $1 and root < $2 order by root limit "+strconv.Itoa(page), from, to).Into(func(r db.Row) error {
			count, from = count+1, behind(r.Text(0))
			w.log(r.Text(0), r.Text(1), r.Text(2), r.Text(3))
			return nil
		}))
		if err != nil {
			return err
		}
	}
	return nil
}

// behind returns the next text in the order of bytes: the database has no NUL.
func behind(text string) string { return text + "\x01" }

// log examines the row of a log.
func (w *walk) log(root, place, owner, name string) {
	parts := strings.Split(root, "/")
	session, err := id.ParseSession(owner)
	if place == "store" {
		_, err = id.ParseStore(owner)
	}
	known := err == nil
	if place == "session" {
		known = known && parts[0] == "sessions" && len(parts) > 1 && parts[1] == session.String()
	}
	wantPlace, wantName := rows.PlaceOf(manifest.Log{Root: root})
	if !known || len(parts) > 3 || wantPlace != place || wantName != name {
		w.find(manifest.UnknownFile, root, "the row of the log is not that of a log at this place")
	}
}

// sideVersion is the format of control files of sessions and of tombstones.
const sideVersion = 1

// known describes a control file: its kind, its latest format and what reads its data.
type known struct {
	kind    string
	version int64
	read    func(v int64, data canon.Value) error
}

// anyData accepts the data of a control file.
func anyData(int64, canon.Value) error { return nil }

// ofImport reads the data of the mark of an import.
func ofImport(_ int64, data canon.Value) error {
	_, err := imported.Read(data)
	return err
}

// The control file that describes a store, and the only one whose name has a directory: the keys of programs.
const (
	storeFile = "store.json"
	keysFile  = "keys/http.json"
)

// storeControls are the control files of a store, by name.
var storeControls = map[string]known{
	storeFile:     {"store", 1, anyData},
	"config.json": {config.Kind, config.Version, func(_ int64, data canon.Value) error { _, err := config.Read(data); return err }},
	"trust.json":  {trust.Kind, trust.Version, func(v int64, data canon.Value) error { _, err := trust.Read(v, data); return err }},
	keysFile:      {httpkeys.Kind, httpkeys.Version, func(_ int64, data canon.Value) error { _, err := httpkeys.Read(data); return err }},
}

// sessionControls are those of a session, by name; a session in the trash has trashControl as well.
var (
	sessionControls = map[string]known{
		ports.ImportedFile.Name: {ports.ImportedFile.Kind, sideVersion, ofImport},
		ports.KeepFile.Name:     {ports.KeepFile.Kind, sideVersion, anyData},
	}
	trashControl = known{ports.TrashFile.Kind, sideVersion, anyData}
)

// controlAt describes the control file at a place.
func controlAt(place string) (k known, ok bool) {
	parts := strings.Split(place, "/")
	if len(parts) == 3 && (parts[0] == "sessions" || parts[0] == "trash") {
		_, err := id.ParseSession(parts[1])
		k, ok = sessionControls[parts[2]]
		if parts[0] == "trash" && parts[2] == ports.TrashFile.Name {
			k, ok = trashControl, true
		}
		return k, ok && (err == nil || parts[0] == "trash")
	}
	k, ok = storeControls[place]
	return k, ok
}

// controls examines the control files whose places are in a range.
func (w *walk) controls(from, to string) error {
	const page = 64
	for count := page; count == page; {
		count = 0
		err := w.db.Run(w.ctx, db.Query("select place, content from @.controls where place >= $1 and place < $2 order by place limit "+strconv.Itoa(page),
			from, to).Into(func(r db.Row) error {
			count, from = count+1, behind(r.Text(0))
			w.control(r.Text(0), r[1])
			return nil
		}))
		if err != nil {
			return err
		}
	}
	return nil
}

// control examines the content of a control file.
func (w *walk) control(place string, content []byte) {
	k, ok := controlAt(place)
	if !ok {
		w.find(manifest.UnknownFile, place, "this is not the place of a control file")
		return
	}
	doc, err := controlfile.Decode(content, k.kind)
	switch {
	case err != nil:
		w.find(manifest.ControlDamaged, place, "%v", err)
	case doc.V < 1 || doc.V > k.version:
		w.find(manifest.ControlDamaged, place, "it is of format %d; this binary knows format %d", doc.V, k.version)
	default:
		w.damaged(place, k.read(doc.V, doc.Data))
	}
}

// tombstones examines the tombstones.
func (w *walk) tombstones() error {
	const page = 256
	last := ""
	for count := page; count == page; {
		count = 0
		err := w.db.Run(w.ctx, db.Query("select ref, content from @.tombstones where ref > $1 order by ref limit "+strconv.Itoa(page), last).
			Into(func(r db.Row) error {
				count, last = count+1, r.Text(0)
				place := manifest.ObjectDir(manifest.Artifact) + "/" + last + ".erased"
				ref, err := canon.ParseDigest(last)
				if err != nil {
					w.find(manifest.UnknownFile, place, "this is not the name of an artifact")
					return nil
				}
				place = objectPlace(manifest.Artifact, ref) + ".erased"
				data, err := rows.TombstoneData(ref, r[1])
				if sum, _ := data.Get("sha256"); err == nil && sum.Text() != ref.String() {
					err = fault.New(fault.StoreCorrupt, "it records another artifact than its name")
				}
				w.damaged(place, err)
				return nil
			}))
		if err != nil {
			return err
		}
	}
	return nil
}

// objectPlace returns the place of an object.
func objectPlace(kind manifest.ObjectKind, ref canon.Digest) string {
	return path.Join(manifest.ObjectDir(kind), manifest.ObjectName(kind, ref))
}

// The most rows and bytes of a page of objects: a page is one answer of the server, which has to come in time.
const (
	objectRows  = 1000
	objectBytes = 16 << 20
)

// parts is an object that is read part by part.
type parts struct {
	kind, ref string
	part      int64 // the last one
	size      int64 // as the first part states it
	bytes     int64 // of the parts
	broken    bool  // a part is missing or states another size
	sum       hash.Hash
}

// add adds the columns part, size and bytes of the next row.
func (p *parts) add(part, size int64, b []byte) {
	if p.sum == nil {
		p.sum, p.size, p.part = sha256.New(), size, -1
	}
	p.broken = p.broken || part != p.part+1 || size != p.size
	p.part, p.bytes = part, p.bytes+int64(len(b))
	p.sum.Write(b)
}

// isWhole reports that the parts are those of the object of a digest.
func (p *parts) isWhole(ref canon.Digest) bool {
	return p.sum != nil && !p.broken && p.bytes == p.size && canon.DigestOf([sha256.Size]byte(p.sum.Sum(nil))) == ref
}

// objects examines the objects, in the order of their keys. One row at a time is in memory.
func (w *walk) objects() error {
	present := &parts{}
	for count := 1; count > 0; {
		count = 0
		var done []*parts
		err := w.db.Run(w.ctx, db.Query("select kind, ref, part, size, bytes from "+
			"(select *, sum(octet_length(bytes)) over (order by kind, ref, part rows unbounded preceding) - octet_length(bytes) as before "+
			"from @.objects where (kind, ref, part) > ($1, $2, $3) "+
			"order by kind, ref, part limit "+strconv.Itoa(objectRows)+") o where before < "+strconv.Itoa(objectBytes)+" order by kind, ref, part",
			present.kind, present.ref, present.part).Into(func(r db.Row) error {
			count++
			if kind, ref := r.Text(0), r.Text(1); present.sum == nil || kind != present.kind || ref != present.ref {
				done = append(done, present)
				present = &parts{kind: kind, ref: ref}
			}
			present.add(r.Int(2), r.Int(3), r[4])
			return nil
		}))
		if err != nil {
			return err
		}
		for _, p := range done {
			if err := w.object(p); err != nil {
				return err
			}
		}
	}
	return w.object(present)
}

// object judges an object whose parts were read. They may have been read in two pages, between which it was removed: what looks
// damaged is read again at once.
func (w *walk) object(p *parts) error {
	if p.sum == nil {
		return nil
	}
	kind := manifest.ObjectKind(p.kind)
	ref, err := canon.ParseDigest(p.ref)
	if err != nil || !isKind(kind) {
		w.find(manifest.UnknownFile, path.Join("objects", p.kind, p.ref), "this is not the name of an object")
		return nil
	}
	if !p.isWhole(ref) {
		p = &parts{}
		err := w.db.Run(w.ctx, db.Query("select part, size, bytes from @.objects where kind = $1 and ref = $2 order by part", string(kind),
			ref.String()).Into(func(r db.Row) error { p.add(r.Int(0), r.Int(1), r[2]); return nil }))
		if err != nil || p.sum == nil {
			return err
		}
	}
	if p.isWhole(ref) {
		w.seen(kind, ref)
		return nil
	}
	w.find(manifest.ObjectDamaged, objectPlace(kind, ref), "it does not have the digest that its name says")
	return nil
}
