package storetest

import (
	"testing"
	"time"

	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/infra/memstore"
	"github.com/waybill/waybill/ports"
	"github.com/waybill/waybill/ports/porttest/suite"
)

// Memory is a store in memory that does not exist yet.
func Memory(testing.TB) suite.Bench {
	disk := memstore.NewDisk(suite.Seed(1))
	return suite.Bench{
		Open:   func(wait time.Duration) suite.Store { return disk.Open(wait) },
		Damage: DamageOf(disk),
	}
}

// DamageOf changes what a disk in memory has.
func DamageOf(disk *memstore.Disk) *suite.Damage {
	return &suite.Damage{
		Manifest: disk.DamageManifest, Segment: disk.DamageSegment, Object: disk.DamageObject,
		Control:        func(f ports.ControlFile) { disk.DamageControl(id.Session{}, f) },
		SessionControl: disk.DamageControl, Keyring: disk.DamageKeyring,
	}
}
