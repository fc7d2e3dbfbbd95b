package suite_test

import (
	"slices"
	"testing"
	"time"

	"github.com/waybill/waybill/infra/memstore"
	"github.com/waybill/waybill/ports"
	"github.com/waybill/waybill/ports/porttest/adapters"
	"github.com/waybill/waybill/ports/porttest/mutant"
	"github.com/waybill/waybill/ports/porttest/storetest"
	"github.com/waybill/waybill/ports/porttest/suite"
)

// TestLate: the suite passes over storage that is durable when it is asked to be.
func TestLate(t *testing.T) { suite.Run(t, storetest.Late{}.Bench) }

// idle is a method of a port, and a case of its suite that fails if the method does nothing.
type idle struct {
	method string // of the port, such as Logs.Append
	in     string // the name of the case
	// sound runs the case over an implementation, and broken over the same one without the method.
	sound, broken func(testing.TB)
	unseen        string // why this system cannot show that the case fails; "" where it can
}

// ofStore is a row for a method of a store.
func ofStore(method, in string, wrap func(suite.Store) suite.Store) idle {
	return over(storetest.Memory, method, in, wrap)
}

// over is ofStore with another bench.
func over(setup suite.Setup, method, in string, wrap func(suite.Store) suite.Store) idle {
	row := idle{method: method, in: in}
	for _, c := range suite.Cases() {
		if c.Name == in {
			row.sound = func(t testing.TB) { c.Run(t, setup(t)) }
			row.broken = func(t testing.TB) {
				b := setup(t)
				open := b.Open
				b.Open = func(wait time.Duration) suite.Store { return wrap(open(wait)) }
				c.Run(t, b)
			}
		}
	}
	return row
}

// TestMethodsThatDoNothing: for each method of a port there is a case that fails if it does nothing.
func TestMethodsThatDoNothing(t *testing.T) {
	for _, row := range idleMethods() {
		t.Run(row.method, func(t *testing.T) {
			if row.sound == nil {
				t.Fatalf("the suite has no case %q", row.in)
			}
			if why := mutant.Failure(t, row.sound); why != "" {
				t.Errorf("the case %q fails over a sound implementation: %s", row.in, why)
			}
			if row.unseen != "" {
				t.Skip(row.unseen)
			}
			if why := mutant.Failure(t, row.broken); why == "" {
				t.Errorf("an implementation whose %s does nothing passes the case %q", row.method, row.in)
			} else {
				t.Logf("%s: %s", row.in, why)
			}
		})
	}
}

// idleMethods has a row for each method of a port.
func idleMethods() []idle {
	type s = suite.Store
	imported := func(method string, in string, wrap func(ports.SessionImport) ports.SessionImport) idle {
		return ofStore("SessionImport."+method, in, func(st s) s { return imports{st, wrap} })
	}
	swept := func(method string, in string, wrap func(ports.Sweeper) ports.Sweeper) idle {
		return ofStore("Sweeper."+method, in, func(st s) s { return sweeps{st, wrap} })
	}
	const (
		read     = "appended events are read and confirmed"
		controls = "a session's control files are replaced and dropped"
		whole    = "a session is imported as a whole"
		marked   = "tombstones of a bundle do not replace what is stored"
		trash    = "a session is moved to the trash and back"
		sizes    = "everything that is stored has a size"
		removes  = "a cleanup removes what it names"
		damaged  = "an inspection finds what is damaged"
		digests  = "digests are verified without events"
		rotated  = "keys are rotated one after the other"
		cached   = "a head cache is kept for each session and format"
		objects  = "objects are found by their digest"
	)
	return append(slices.Concat(besideStores(), ofChanges(), ofOpened(), []idle{ofWork()}), []idle{
		ofStore("Logs.Read", read, func(st s) s { return noRead{st} }),
		ofStore("Visitor.Visit", read, func(st s) s { return noVisit{st} }),
		ofStore("Logs.Confirm", "a head of another log is not on the chain", func(st s) s { return noConfirm{st} }),
		ofStore("Logs.Append", read, func(st s) s { return noAppend{st} }),
		ofStore("Locks.Lock", "a log has one writer at a time", func(st s) s { return noLock{st} }),
		ofStore("Performers.Hold", "a session has one performer at a time", func(st s) s { return noHold{st} }),
		ofStore("PerformerStatus.NotPerformed", "a session says whether it is performed",
			func(st s) s { return noNotPerformed{st} }),
		ofStore("Briefs.Briefs", "a brief is kept in the commit",
			func(st s) s { return noBriefs{st.(suite.CataloguedStore)} }),
		ofPort("Briefs.EachBrief", func(t testing.TB, idle bool) {
			var st suite.CataloguedStore = memstore.NewDisk(suite.Seed(1)).Open(0)
			if idle {
				st = noEachBrief{st}
			}
			adapters.EachBrief(t, st)
		}),
		ofStore("Briefs.KeepBrief", "a session without a brief of its logs changed",
			func(st s) s { return noKeepBrief{st.(suite.CataloguedStore)} }),
		ofStore("Objects.Object", objects, func(st s) s { return noObject{st} }),
		ofStore("ObjectStreams.ObjectStream", "objects are streams that end with their digest",
			func(st s) s { return noObjectStream{st} }),
		ofStore("Sessions.Sessions", "sessions are listed by id", func(st s) s { return noSessions{st} }),
		ofStore("SideLogs.SideLogs", "side logs are listed by their owner", func(st s) s { return noSideLogs{st} }),
		ofStore("Identity.StoreID", "identity and keys are stable", func(st s) s { return noStoreID{st} }),
		ofStore("Tenancy.Tenant", "a store has one tenant", func(st s) s { return noTenant{st} }),
		ofStore("Keyring.Keys", rotated, func(st s) s { return noKeys{st} }),
		ofStore("Keyring.Rotate", rotated, func(st s) s { return noRotate{st} }),
		ofStore("HeadCache.CachedHead", cached, func(st s) s { return noCachedHead{st} }),
		ofStore("HeadCache.StoreHead", cached, func(st s) s { return noStoreHead{st} }),
		ofStore("Controls.Control", "control files of the store are replaced one after the other",
			func(st s) s { return noControl{st} }),
		ofStore("Controls.UpdateControl", "control files of the store are replaced one after the other",
			func(st s) s { return noUpdateControl{st} }),
		ofStore("SessionControls.SessionControl", controls, func(st s) s { return noSessionControl{st} }),
		ofStore("SessionControls.UpdateSessionControl", controls, func(st s) s { return noUpdateSessionControl{st} }),
		ofStore("SessionControls.DropSessionControl", controls, func(st s) s { return noDropSessionControl{st} }),
		ofStore("SessionImporter.BeginImport", whole, func(st s) s { return noBeginImport{st} }),
		ofStore("SessionImporter.BeginExtension", "a session is extended as a whole",
			func(st s) s { return noBeginExtension{st} }),
		imported("Segment", whole, func(a ports.SessionImport) ports.SessionImport { return noSegment{a} }),
		imported("Object", whole, func(a ports.SessionImport) ports.SessionImport { return noImportObject{a} }),
		imported("Tombstone", marked, func(a ports.SessionImport) ports.SessionImport { return noImportTombstone{a} }),
		imported("Control", whole, func(a ports.SessionImport) ports.SessionImport { return noImportControl{a} }),
		imported("Commit", whole, func(a ports.SessionImport) ports.SessionImport { return noCommit{a} }),
		imported("End", "an import that is not committed leaves no session",
			func(a ports.SessionImport) ports.SessionImport { return noEnd{a} }),
		ofStore("Tombstones.Tombstone", marked, func(st s) s { return noTombstone{st} }),
		ofStore("Trash.TrashEntries", trash, func(st s) s { return noTrashEntries{st} }),
		ofStore("Trash.Discard", trash, func(st s) s { return noDiscard{st} }),
		ofStore("Trash.Restore", trash, func(st s) s { return noRestore{st} }),
		ofStore("Trash.Empty", "the trash is emptied for good", func(st s) s { return noEmpty{st} }),
		ofStore("Retention.LogRoots", "every log is listed", func(st s) s { return noLogRoots{st} }),
		over(storetest.Directory, "Retention.UnreadEntries", "what cannot be read is listed",
			func(st s) s { return noUnreadEntries{st} }),
		ofStore("Retention.ReadOtherContent", "a damaged log keeps its valid beginning",
			func(st s) s { return noOtherContent{st} }),
		ofStore("Retention.EachSize", sizes, func(st s) s { return noEachSize{st} }),
		ofStore("Retention.Survey", sizes, func(st s) s { return noSurvey{st} }),
		ofStore("Retention.Erase", "erased bytes leave a tombstone", func(st s) s { return noErase{st} }),
		ofStore("Retention.Exclusive", "a cleanup excludes commits", func(st s) s { return noExclusive{st} }),
		swept("RemoveObject", removes, func(w ports.Sweeper) ports.Sweeper { return noRemoveObject{w} }),
		swept("RemoveLeftover", "what is left over is listed and removed",
			func(w ports.Sweeper) ports.Sweeper { return noRemoveLeftover{w} }),
		swept("RemoveUnborn", removes, func(w ports.Sweeper) ports.Sweeper { return noRemoveUnborn{w} }),
		swept("RemoveLog", "a side log of the store is removed at its head",
			func(w ports.Sweeper) ports.Sweeper { return noRemoveLog{w} }),
		ofStore("Repairs.RepairLog", "a log without a valid beginning is moved away", func(st s) s { return noRepairLog{st} }),
		ofStore("Repairs.RepairControl", "a control file that cannot be used is moved away",
			func(st s) s { return noRepairControl{st} }),
		ofStore("Inspector.Inspect", damaged, func(st s) s { return noInspect{st} }),
		ofStore("Inspector.InspectSession", damaged, func(st s) s { return noInspectSession{st} }),
		ofStore("Inspector.WithoutChanges", "nothing changes while a log is examined",
			func(st s) s { return noWithoutChanges{st} }),
		ofStore("Digests.Digests", digests, func(st s) s { return noDigests{st} }),
		ofStore("DigestVisitor.Group", digests, func(st s) s { return noGroup{st} }),
		ofStore("Digests.EachStored", digests, func(st s) s { return noEachStored{st} }),
		ofStore("Digests.InspectWithObjects", damaged, func(st s) s { return noInspectWithObjects{st} }),
		ofStore("Digests.LogBytes", digests, func(st s) s { return noLogBytes{st} }),
		over(storetest.Directory, "UnknownEntries.UnknownEntries", "logs of unknown names are reported",
			func(st s) s { return noUnknownEntries{st} }),
		over(storetest.Crash, "Availability.Failures", "what could not be opened is counted",
			func(st s) s { return noDescriptors{st} }),
	}...)
}
