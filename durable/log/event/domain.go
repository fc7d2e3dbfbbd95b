package event

// Domain is the closed union of a session's events (locks section 1, with
// context_set of 18.2 and the run ends of R23). It drives decoding,
// docs/format.md and the tests that feed every consumer every kind.
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
	Row[RunCancelRequested](RunScope),
	Row[RunClosed](RunScope),
)

// DomainEvent seals the union: a consumer that switches over it is checked by a
// test to know every member.
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
func (RunCancelRequested) domain()    {}
func (RunClosed) domain()             {}
