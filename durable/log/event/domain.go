package event

// Domain is the closed union of a session's events (docs/design.md#events). It determines decoding,
// docs/format/events.md and the tests that give every kind to every consumer.
var Domain = NewTable("events", "sessionId",
	Row[SessionCreated](NoScope),
	Row[RunStarted](RunScope),
	Row[NodeCreated](NodeScope),
	Row[EdgeCreated](RunScope),
	Row[AdvanceRecorded](NodeScope),
	Row[ContextSet](RunScope),
	Row[PreferencesChanged](NodeScope),
	Row[NodeOutputAppended](NodeScope),
	Row[GapRecorded](NodeScope),
	Row[DecisionTraceAppended](NodeScope),
	Row[CapabilityObserved](NodeScope),
	Row[DivergenceRecorded](NodeScope),
	Row[ObservationRecorded](AnyScope),
	Row[GuardNoted](NodeScope),
	Row[RunEventRecorded](NodeScope),
	Row[RunCancelRequested](RunScope),
	Row[RunClosed](RunScope),
	Row[RunPaused](RunScope),
	Row[RunResumed](RunScope),
	Row[SessionHandedOver](NoScope),
	Row[SessionReclaimed](NoScope),
)

// DomainEvent is implemented by the payloads of Domain only. A consumer with a type switch over
// it is tested to handle every member.
type DomainEvent interface {
	Payload
	domain()
}

func (SessionCreated) domain()        {}
func (RunStarted) domain()            {}
func (NodeCreated) domain()           {}
func (EdgeCreated) domain()           {}
func (AdvanceRecorded) domain()       {}
func (ContextSet) domain()            {}
func (PreferencesChanged) domain()    {}
func (NodeOutputAppended) domain()    {}
func (GapRecorded) domain()           {}
func (DecisionTraceAppended) domain() {}
func (CapabilityObserved) domain()    {}
func (DivergenceRecorded) domain()    {}
func (ObservationRecorded) domain()   {}
func (GuardNoted) domain()            {}
func (RunEventRecorded) domain()      {}
func (RunCancelRequested) domain()    {}
func (RunClosed) domain()             {}
func (RunPaused) domain()             {}
func (RunResumed) domain()            {}
func (SessionHandedOver) domain()     {}
func (SessionReclaimed) domain()      {}
