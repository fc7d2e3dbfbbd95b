package docs

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/run/advance"
	"github.com/waybill/waybill/durable/run/snapshot"
	"github.com/waybill/waybill/durable/run/token"
	"github.com/waybill/waybill/durable/store/httpkeys"
	"github.com/waybill/waybill/durable/workflow/compile"
	"github.com/waybill/waybill/durable/workflow/source"
	"github.com/waybill/waybill/infra/controlfile"
	"github.com/waybill/waybill/projections/runs"
)

// formatSource is the workflow of the example store: what blocks, what is judged
// and what is passed over on a condition, in two steps.
const formatSource = `{"id":"demo.triage","name":"Triage","description":"Read a ticket and decide.","version":"1.0.0","steps":[
 {"id":"look","title":"Look","prompt":"Read ticket {{ticket}} and note what you see.","notesRequired":true,
  "inputs":[{"contextKey":"ticket","reason":"needs_user_artifact","description":"the number of the ticket"}]},
 {"id":"decide","title":"Decide","prompt":"Say what is to be done.","runCondition":{"var":"severity","in":["high","medium"]},
  "validationCriteria":[{"type":"contains","value":"Decision:","message":"state the decision"}]}]}`

// formatSession is one log of the example store while it is written.
type formatSession struct {
	w      compile.Compiled
	run    id.Run
	fold   *runs.Fold
	log    manifest.Log
	lines  []byte // the manifest
	groups [][]byte
	segs   []manifest.Segment
}

// formatStore is the example store of docs/format.md, made in memory from fixed
// seeds, clock and key. files holds it as it is stored on a disk.
type formatStore struct {
	t     testing.TB
	w     compile.Compiled // of a and b
	files map[string][]byte
	// a is a run that is blocked and then goes to its end, b one that is forked from it
	// and cancelled, c one with loops, an assessment, a command and an approval.
	a, b, c *formatSession
	run     id.Run // of a
	key     token.Key
	atMs    int64
	human   event.Actor
	agent   event.Actor
}

const formatStart = 1767225600000 // 2026-01-01T00:00:00Z

func newFormatStore(t testing.TB) *formatStore {
	t.Helper()
	s := &formatStore{t: t, w: formatCompile(t, "triage.json", formatSource), files: map[string][]byte{},
		atMs: formatStart, run: id.NewRun(id.Seed{1}),
		human: event.Actor{Kind: event.Human, Ref: "sam"}, agent: event.Actor{Kind: event.Agent}}
	for i := range s.key {
		s.key[i] = byte(i)
	}
	s.control()
	s.work()
	s.fork()
	s.sweep()
	for _, l := range s.sessions() {
		s.files[l.log.Root+"/"+manifest.FileName] = l.lines
	}
	return s
}

func (s *formatStore) sessions() []*formatSession { return []*formatSession{s.a, s.b, s.c} }

func formatCompile(t testing.TB, name, text string) compile.Compiled {
	t.Helper()
	_, w, problems := compile.File(name, source.SourceProject, []byte(text))
	if source.HasErrors(problems) {
		t.Fatal(problems)
	}
	return w
}

func (s *formatStore) storeID() id.Store { return id.NewStore(id.Seed{9}) }

// control makes store.json and keyring.json.
func (s *formatStore) control() {
	none := []string{}
	s.putControl("store.json", "store", map[string]any{"createdAtMs": int64(formatStart), "storeId": s.storeID().
		String(),
		"features": map[string]any{"compat": none, "incompat": none, "roCompat": none}})
	s.putControl("keys/keyring.json", "keyring", map[string]any{"algorithm": "HMAC-SHA256",
		"current": base64.StdEncoding.EncodeToString(s.key[:])})
	s.putControl("config.json", "config", map[string]any{"lockWaitMs": int64(5000)})
	s.putControl("trust.json", "trust", map[string]any{"trusted": []any{map[string]any{"actor": s.human,
		"atMs": int64(formatStart), "commands": int64(0), "workflowHash": s.w.Hash(), "workflowId": s.w.WorkflowID}}})
}

// httpKeys is keys/http.json with one key. It is no file of the store, whose audit log would have to confirm it.
func (s *formatStore) httpKeys() []byte {
	list, err := httpkeys.List{}.With(httpkeys.NewKey("ci", httpkeys.Text(s.key),
		[]httpkeys.Scope{httpkeys.RunsCreate, httpkeys.RunsRead}, formatStart))
	if err != nil {
		s.t.Fatal(err)
	}
	doc, err := controlfile.New(httpkeys.Kind, httpkeys.Version, list)
	if err != nil {
		s.t.Fatal(err)
	}
	b, err := controlfile.Encode(doc)
	if err != nil {
		s.t.Fatal(err)
	}
	return b
}

func (s *formatStore) putControl(name, kind string, data any) {
	doc, err := controlfile.New(kind, 1, data)
	if err != nil {
		s.t.Fatal(err)
	}
	b, err := controlfile.Encode(doc)
	if err != nil {
		s.t.Fatal(err)
	}
	s.files[name] = b
}

// commit appends a plan as a store would.
func (s *formatStore) commit(l *formatSession, p manifest.Plan) {
	s.t.Helper()
	seg, err := manifest.EncodeSegment(p.Log, p.Events)
	if err != nil {
		s.t.Fatal(err)
	}
	group := manifest.Group(p.Log, l.fold.Head, seg)
	for _, o := range p.Objects {
		s.files[manifest.ObjectDir(o.Kind)+"/"+manifest.ObjectName(o.Kind, o.Ref())] = o.Bytes
	}
	s.files[p.Log.Root+"/"+manifest.SegmentDir+"/"+seg.Name()] = seg.Bytes
	l.lines, l.groups, l.segs = append(l.lines, group...), append(l.groups, group), append(l.segs, seg)
	if err := l.fold.Visit(seg, l.fold.Head.After(group, seg)); err != nil {
		s.t.Fatal(err)
	}
	s.atMs += 60_000
}

// work is the session that the engine's own decisions make: a start, an attempt
// that is blocked, one that advances, one that completes the run.
func (s *formatStore) work() {
	session := id.NewSession(id.Seed{1})
	s.a = &formatSession{w: s.w, run: s.run, fold: runs.NewFold(), log: manifest.SessionEvents(session)}
	plan, _, err := advance.Begin(s.w, advance.Start{Session: session, Run: s.run, SourceKind: event.SourceProject,
		SourceRef: ".waybill/workflows/triage.json", Title: "Red build", Actor: s.human, AtMs: s.atMs,
		Context: formatObject("severity", "high"),
		Observations: []event.ObservationRecorded{
			{Key: "git_branch", Confidence: "high", Value: event.ObservationValue{Type: "short_string", Value: "main"}},
			{Key: "repo_root_hash", Confidence: "high",
				Value: event.ObservationValue{Type: "sha256", Value: canon.Sum([]byte("/home/you/project")).
					String()}}}})
	if err != nil {
		s.t.Fatal(err)
	}
	s.commit(s.a, plan)
	root := s.a.fold.Runs[s.run].Root
	s.attempt(s.a, root, advance.Request{Artifacts: []advance.Artifact{formatFinding("the build is red")}})
	s.attempt(s.a, root, s.request())
	s.attempt(s.a, s.a.fold.Runs[s.run].Tip, advance.Request{Notes: "Decision: take the change back."})
}

func formatFinding(text string) advance.Artifact {
	return advance.JSONArtifact(formatObject("kind", "demo.finding", "text", text))
}

// request is what the advancing attempt of the first step sends; the page shows
// how it is digested.
func (s *formatStore) request() advance.Request {
	return advance.Request{Notes: "The test of the parser fails since the last change.",
		Context:     formatObject("ticket", "T-7"),
		Artifacts:   []advance.Artifact{formatFinding("one test fails")},
		Preferences: []event.PreferenceChange{{Key: "riskPolicy", Value: "balanced"}}}
}

func formatObject(pairs ...string) canon.Value {
	v := canon.OfMembers()
	for i := 0; i < len(pairs); i += 2 {
		v = v.With(pairs[i], canon.OfString(pairs[i+1]))
	}
	return v
}

// formatBlock is one fenced example: its info string, its lines, and the check
// that reads the lines by the real code and writes them again.
type formatBlock struct {
	info  string
	lines []string
	again func(body []byte) ([]byte, error)
}

func (s *formatStore) blocks() []formatBlock {
	var out []formatBlock
	add := func(info string, body []byte, again func([]byte) ([]byte, error)) {
		out = append(out, formatBlock{info, strings.Split(strings.TrimSuffix(string(body), "\n"), "\n"), again})
	}
	for name, kind := range map[string]string{"store.json": "store", "keys/keyring.json": "keyring",
		"config.json": "config", "trust.json": "trust"} {
		add("json "+kind, s.files[name], func(b []byte) ([]byte, error) {
			doc, err := controlfile.Decode(b, kind)
			if err != nil {
				return nil, err
			}
			return controlfile.Encode(doc)
		})
	}
	add("json imported", s.importMark(), importMarkAgain)
	add("json http_keys", s.httpKeys(), func(b []byte) ([]byte, error) {
		doc, err := controlfile.Decode(b, httpkeys.Kind)
		if err != nil {
			return nil, err
		}
		list, err := httpkeys.Read(doc.Data)
		if err == nil {
			doc.Data, err = list.Data()
		}
		if err != nil {
			return nil, err
		}
		return controlfile.Encode(doc)
	})
	for name, line := range s.eventLines() {
		add("jsonl event "+name, line, formatEventAgain)
	}
	// A test store has such events, and the example store is none.
	recorded, err := os.ReadFile("../testdata/events/run_event_recorded.jsonl")
	if err != nil {
		s.t.Fatal(err)
	}
	add("jsonl event run_event_recorded", recorded, formatEventAgain)
	add("jsonl segment", s.a.segs[0].Bytes, func(b []byte) ([]byte, error) {
		seg, err := manifest.DecodeSegment(s.a.log, 0, s.a.segs[0].Last, append(b, '\n'))
		if err != nil {
			return nil, err
		}
		seg, err = manifest.EncodeSegment(s.a.log, seg.Events)
		return seg.Bytes, err
	})
	add("jsonl manifest", s.a.lines, formatManifestAgain)
	add("text head cache", s.headCache(s.a), s.headCacheAgain)
	for name, ref := range s.snapshots() {
		add("json snapshot "+name, s.files[formatObjectName(manifest.Snapshot, ref)], func(b []byte) ([]byte, error) {
			state, err := snapshot.Decode(b)
			if err != nil {
				return nil, err
			}
			return state.Encode()
		})
	}
	for name, w := range map[string]compile.Compiled{"": s.w, " sweep": s.c.w} {
		add("json workflow"+name, w.Bytes(), func(b []byte) ([]byte, error) {
			w, err := compile.Decode(b)
			return w.Bytes(), err
		})
	}
	for name, seg := range s.segments() {
		add("jsonl segment "+name, seg.Bytes, func(b []byte) ([]byte, error) {
			again, err := manifest.DecodeSegment(s.logOf(seg), seg.First, seg.Last, append(b, '\n'))
			if err != nil {
				return nil, err
			}
			again, err = manifest.EncodeSegment(s.logOf(seg), again.Events)
			return again.Bytes, err
		})
	}
	add("jsonl proposal", proposalLine(s), proposalLineAgain)
	for kind, b := range s.kinds() {
		add("json artifact "+kind, b, s.artifactAgain(kind))
	}
	add("json artifact", s.request().Artifacts[0].Bytes, canon.Canonicalize)
	return append(out, s.derivedBlocks()...)
}

// eventLines picks the first event of each kind, and of each form that matters.
func (s *formatStore) eventLines() map[string][]byte {
	out := map[string][]byte{}
	pick := func(name string, line []byte) {
		if _, ok := out[name]; !ok {
			out[name] = line
		}
	}
	for _, l := range s.sessions() {
		for _, seg := range l.segs {
			for i, line := range bytes.SplitAfter(bytes.TrimSuffix(seg.Bytes, []byte("\n")), []byte("\n")) {
				e := seg.Events[i]
				pick(e.Data.Kind()+formatForm(e), line)
			}
		}
	}
	return out
}

func formatForm(e event.Event) string {
	switch p := e.Data.(type) {
	case event.AdvanceRecorded:
		return " " + string(p.Outcome.Kind)
	case event.GapRecorded:
		return " " + string(p.Resolution.Kind)
	case event.NodeOutputAppended:
		return " " + string(p.OutputChannel)
	case event.RunStarted:
		if p.ForkedFrom != nil {
			return " forked"
		}
	case event.NodeCreated:
		return map[bool]string{true: " root", false: " " + string(p.NodeKind)}[p.ParentNodeID == nil]
	case event.EdgeCreated:
		return " " + string(p.EdgeKind)
	}
	return ""
}

func formatEventAgain(b []byte) ([]byte, error) {
	e, err := event.Domain.DecodeLine(b)
	if err != nil || e.Foreign() {
		return nil, fmt.Errorf("not an event of ours: %v", err)
	}
	return event.Domain.AppendLine(nil, e)
}

func formatManifestAgain(b []byte) ([]byte, error) {
	var out []byte
	for line := range bytes.SplitSeq(b, []byte("\n")) {
		var closed manifest.SegmentClosed
		var pinned manifest.SnapshotPinned
		err, record := canon.UnmarshalExact(line, &closed), any(closed)
		if err == nil {
			record = closed
		} else if err = canon.UnmarshalExact(line, &pinned); err == nil {
			record = pinned
		}
		if err != nil {
			return nil, err
		}
		if out, err = canon.Append(out, record); err != nil {
			return nil, err
		}
		out = append(out, '\n')
	}
	return out, nil
}

// derivedBlocks are the examples of what is computed: ids, digests and tokens.
func (s *formatStore) derivedBlocks() []formatBlock {
	text := func(info string, lines ...string) formatBlock { return formatBlock{info: "text " + info, lines: lines} }
	rows := s.derivations()
	material := formatMaterial("seed", string(make16(1)))
	run := s.a.fold.Runs[s.run]
	at := token.Attempt{SessionID: id.NewSession(id.Seed{1}), RunID: s.run, NodeID: run.Root,
		AttemptID: id.NextAttempt(run.Root, id.OpAck, 0)}
	state := token.State{SessionID: at.SessionID, RunID: at.RunID, NodeID: at.NodeID, WorkflowHash: s.w.Hash()}
	request := s.request()
	doc := canon.OfMembers(canon.Member{Name: "artifacts", Value: canon.OfList(request.Artifacts[0].JSON)},
		canon.Member{Name: "context", Value: request.Context},
		canon.Member{Name: "notesMarkdown", Value: canon.OfString(request.Notes)},
		canon.Member{Name: "preferences", Value: formatObject("riskPolicy", "balanced")})
	chk := token.MintCheckpoint(s.key, token.Attempt{SessionID: at.SessionID, RunID: at.RunID, NodeID: at.NodeID,
		AttemptID: id.NextAttempt(run.Root, id.OpCheckpoint, 0)})
	return []formatBlock{
		text("derivation", rows...),
		text("derivation material", hex.EncodeToString(material)),
		text("key", hex.EncodeToString(s.key[:])),
		text("token state", token.MintState(s.key, state)),
		text("token ack", token.MintAck(s.key, at)),
		text("token checkpoint", chk),
		{info: "json token state", lines: []string{formatPayload(token.MintState(s.key, state))}},
		{info: "json token ack", lines: []string{formatPayload(token.MintAck(s.key, at))}},
		{info: "json request", lines: []string{string(doc.JCS())}},
		text("digest request", canon.Sum(doc.JCS()).String()),
		text("digest empty", canon.Sum(nil).String()),
		text("head", formatHead(s.a.fold.Head)...),
	}
}

func formatHead(h manifest.Head) []string {
	return []string{"digest     " + h.Digest.String(), fmt.Sprintf("groupAt    %d", h.GroupAt),
		fmt.Sprintf("bytes      %d", h.Bytes),
		fmt.Sprintf("next       %d", h.Next), fmt.Sprintf("nextRecord %d", h.NextRecord)}
}

func formatPayload(tok string) string {
	b, _ := base64.RawURLEncoding.DecodeString(strings.Split(tok, ".")[2])
	return string(b)
}

func make16(b byte) []byte { return append([]byte{b}, make([]byte, 15)...) }

// derivations are rows "context | part | … = id", with what the code makes.
func (s *formatStore) derivations() []string {
	seed := "hex:" + hex.EncodeToString(make16(1))
	run := s.a.fold.Runs[s.run]
	root, child := run.Order[0].String(), run.Order[1].String()
	first, second := id.NextAttempt(run.Root, id.OpAck, 0), id.NextAttempt(run.Root, id.OpAck, 1)
	chk := id.NextAttempt(run.Root, id.OpCheckpoint, 0)
	consent := id.NextAttempt(run.Root, id.OpApprove, 0)
	owner, store := s.a.log.Owner, s.storeID()
	origin, start := id.FromAttempt(first, id.OpAck), id.FromStart(run.Root)
	row := func(result fmt.Stringer, parts ...string) string {
		prefix, _, _ := strings.Cut(result.String(), "_")
		return "waybill 2026 v1 " + prefix + " id | " + strings.Join(parts, " | ") + " = " + result.String()
	}
	key := "session_created:" + owner
	return []string{
		row(store, "seed", "hex:"+hex.EncodeToString(make16(9))),
		row(id.NewSession(id.Seed{1}), "seed", seed),
		row(s.run, "seed", seed),
		row(id.KeyedSession(store, "nightly"), "key", store.String(), "nightly"),
		row(id.KeyedRun(store, "nightly"), "key", store.String(), "nightly"),
		row(id.KeyedAnnotation(store, s.run, "rate-1", 0), "key", store.String(), s.run.String(), "rate-1", "0"),
		row(run.Root, "root", s.run.String()),
		row(first, root, "ack", "0"),
		row(second, root, "ack", "1"),
		row(chk, root, "checkpoint", "0"),
		row(id.ChildNode(run.Root, second, id.OpAck), root, second.String(), "ack"),
		row(id.ChildNode(run.Root, chk, id.OpCheckpoint), root, chk.String(), "checkpoint"),
		row(id.NextAttempt(run.Order[1], id.OpAck, 0), child, "ack", "0"),
		row(start.Change(0), root, "start", "0"),
		row(start.Context(0), root, "start", "0"),
		row(start.Trace(0), root, "start", "0"),
		row(origin.Gap(0), first.String(), "ack", "0"),
		row(origin.Gap(1), first.String(), "ack", "1"),
		row(origin.Output(0), first.String(), "ack", "0"),
		row(origin.CapObs(0), first.String(), "ack", "0"),
		row(origin.Divergence(0), first.String(), "ack", "0"),
		row(id.FromAttempt(chk, id.OpCheckpoint).Output(0), chk.String(), "checkpoint", "0"),
		row(consent, root, "approve", "0"),
		row(id.FromAttempt(consent, id.OpApprove).Output(0), consent.String(), "approve", "0"),
		row(id.EventOf(owner, key), owner, key),
	}
}

// TestFormatStoreIsGood: the example store is what a verifier accepts.
func TestFormatStoreIsGood(t *testing.T) {
	s := newFormatStore(t)
	var kinds []string
	for _, l := range s.sessions() {
		refs, objects := runs.NewReferences(l.log), map[runs.ObjectRef]bool{}
		refs.OnObjectUse = func(use runs.ObjectUse) { objects[use.ObjectRef] = true }
		v, err := s.read(l, l.lines, refs.Visit)
		if err != nil || v.Health != manifest.Healthy || len(v.Findings)+len(refs.Findings) > 0 ||
			v.Head != l.fold.Head {
			t.Fatalf("%+v %+v %v", v, refs.Findings, err)
		}
		for ref := range objects {
			name := manifest.ObjectDir(ref.Kind) + "/" + manifest.ObjectName(ref.Kind, ref.Ref)
			if canon.Sum(s.files[name]) != ref.Ref {
				t.Errorf("%s does not exist", name)
			}
		}
		for _, seg := range l.segs {
			for _, e := range seg.Events {
				kinds = append(kinds, e.Data.Kind())
			}
		}
	}
	kinds = append(kinds, event.RunEventRecorded{}.Kind()) // of test stores: testdata/events has it
	slices.Sort(kinds)
	if got, want := slices.Compact(kinds), event.Domain.Kinds(); !slices.Equal(got, want) {
		t.Errorf("the example store has %q, the table %q", got, want)
	}
}

// read verifies bytes in place of a log's manifest.
func (s *formatStore) read(l *formatSession, lines []byte,
	visit func(manifest.Segment, manifest.Head) error) (manifest.Verdict, error) {
	dir := l.log.Root + "/" + manifest.SegmentDir + "/"
	return manifest.Read(manifest.Input{Log: l.log, Manifest: bytes.NewReader(lines),
		Names: func() (names []string, err error) {
			for name := range s.files {
				if rest, ok := strings.CutPrefix(name, dir); ok {
					names = append(names, rest)
				}
			}
			return names, nil
		},
		Open: func(name string) ([]byte, bool, error) { b, ok := s.files[dir+name]; return b, ok, nil },
	}, visit)
}

func formatMaterial(parts ...string) []byte {
	var out []byte
	for _, p := range parts {
		out = append(out, byte(len(p)), 0, 0, 0, 0, 0, 0, 0) // every part here is shorter than 256 bytes
		out = append(out, p...)
	}
	return out
}
