package repair

import (
	"context"
	"fmt"

	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/infra/controlfile"
	"github.com/waybill/waybill/infra/pgstore/db"
	"github.com/waybill/waybill/ports"
)

// QuarantinePlace is the place of what repairs have moved away.
const QuarantinePlace = "quarantine"

// The record of a repair: its name in the quarantine, and its kind and format as a control file.
const (
	recordName    = "repair.json"
	recordKind    = "repair"
	recordVersion = 1
	recordedSteps = 1000 // the most that a record lists: a control file has a bounded size
)

// Quarantine is what one repair puts into the quarantine: rows at its place, each with the bytes of one thing, and a record. It is used
// by one goroutine.
type Quarantine struct {
	// Place is where it is: QuarantinePlace, the owner of what is moved, and a time in milliseconds since 1970 UTC. FindPlace sets it.
	Place string
	// Findings are why something is moved, and Steps what is. Record records both.
	Findings []manifest.Finding
	Steps    []ports.RepairStep

	run    db.Runner
	owner  string // of what is moved: a session or store id
	by     event.Actor
	atMs   int64
	root   string // of the log; "." for the store itself
	health manifest.Health
	kept   manifest.Head // the remaining prefix; zero where no log was repaired
}

// NewQuarantine returns the quarantine of what a store has once, moved by an actor at a time in milliseconds since 1970 UTC. owner is the
// id of the store; run runs its statements, in the transaction that moves it.
func NewQuarantine(run db.Runner, owner string, by event.Actor, atMs int64) *Quarantine {
	return &Quarantine{run: run, owner: owner, by: by, atMs: atMs, root: "."}
}

// FindPlace chooses a place that nothing is at. Two repairs in one millisecond, or behind a clock that was set back, have places of
// their own. Errors are those of the runner.
func (q *Quarantine) FindPlace(ctx context.Context) error {
	for at := q.atMs; ; at++ {
		place, taken := fmt.Sprintf("%s/%s.%d", QuarantinePlace, q.owner, at), false
		err := q.run(ctx, db.Query("select exists (select from @.quarantine where place >= $1 and place < $2)", place+"/", place+"0").
			Into(func(r db.Row) error { taken = r.IsTrue(0); return nil }))
		if err != nil || !taken {
			q.Place = place
			return err
		}
	}
}

// Record returns the change that stores why what is in the quarantine was moved. An error says that it is too large.
func (q *Quarantine) Record() (db.Change, error) {
	n := struct {
		Actor    event.Actor        `json:"actor"`
		AtMs     int64              `json:"atMs"`
		Findings []manifest.Finding `json:"findings"`
		Health   manifest.Health    `json:"health,omitzero"`
		Kept     manifest.Head      `json:"kept,omitzero"`
		Owner    string             `json:"owner"`
		Root     string             `json:"root"`
		Steps    []ports.RepairStep `json:"steps"`
		More     int64              `json:"more,omitzero"` // number of steps that are not listed
	}{q.by, q.atMs, q.Findings, q.health, q.kept, q.owner, q.root, q.Steps, 0}
	if n.Findings == nil {
		n.Findings = []manifest.Finding{}
	}
	if more := len(n.Steps) - recordedSteps; more > 0 {
		n.Steps, n.More = n.Steps[:recordedSteps], int64(more)
	}
	doc, err := controlfile.New(recordKind, recordVersion, n)
	if err != nil {
		return db.Change{}, err
	}
	b, err := controlfile.Encode(doc)
	return db.Change{Statement: db.Query("insert into @.quarantine (place, content) values ($1, $2)", q.Place+"/"+recordName, b)}, err
}
