package suite

import (
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/ports/porttest/fixture"
)

// The fixtures of the cases, for other tests of stores; see package fixture.
type (
	SessionFixture   = fixture.SessionFixture
	ImportFixture    = fixture.ImportFixture
	ExtensionFixture = fixture.ExtensionFixture
	Note             = fixture.Note
)

// What makes them.
var (
	Seed                = fixture.Seed
	NewSessionFixture   = fixture.NewSessionFixture
	NewImportFixture    = fixture.NewImportFixture
	NewExtensionFixture = fixture.NewExtensionFixture
	SessionNotes        = fixture.SessionNotes
	StoreNotes          = fixture.StoreNotes
	Notes               = fixture.Notes
)

// The actor and the time of all events.
var actor = event.Actor(fixture.Actor)

const atMs = fixture.AtMs
