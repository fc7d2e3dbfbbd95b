package id_test

import (
	"fmt"
	"testing"

	"github.com/waybill/waybill/durable/id"
	"pgregory.net/rapid"
)

var (
	seed1   = id.Seed{1}
	session = id.NewSession(seed1)
	run     = id.NewRun(seed1)
	store   = id.NewStore(seed1)
	root    = id.RootNode(run)
	attempt = id.NextAttempt(root, id.OpAck, 0)
	origin  = id.FromAttempt(attempt, id.OpAck)
)

// Every derivation returns its pinned value: stored logs hold these ids, and a retry must derive
// them again. A changed recipe needs a new version of its context string, not a new golden
// value.
func TestDerivationsArePinned(t *testing.T) {
	tests := []struct{ name, got, want string }{
		{"NewSession", session.String(), "sess_aihge25qelb43nyo2uzheououe"},
		{"NewRun", run.String(), "run_ajbo4y5vdkojnpgdxn6nks7zdq"},
		{"NewStore", store.String(), "store_2ys2nibbf7ydzq4xcq4awntdiq"},
		{"KeyedSession", id.KeyedSession(store, "k").String(), "sess_ha7fgzvs5nwhmeh4ytxcic7bhy"},
		{"KeyedRun", id.KeyedRun(store, "k").String(), "run_6cd4ffnatijpolop5jkgmnnmxe"},
		{"RootNode", root.String(), "node_zfbdrurdu2zxl45wcw3lxe4kgq"},
		{"NextAttempt start", id.NextAttempt(root, id.OpStart, 0).String(), "attempt_mjfqdetiaz2mqumbqmnhd4bdou"},
		{"NextAttempt ack", attempt.String(), "attempt_qg6qkzol4nrottxjjgitl3zve4"},
		{"NextAttempt ack 1", id.NextAttempt(root, id.OpAck, 1).String(), "attempt_eyukpcn2colcwfgixy55a3bbmu"},
		{"NextAttempt checkpoint", id.NextAttempt(root, id.OpCheckpoint, 0).
			String(), "attempt_lxukpcxee2fq4upfiwrq6fnkaq"},
		{"NextAttempt approve", id.NextAttempt(root, id.OpApprove, 0).String(), "attempt_2gje7qphobnljygz5mzrhegi6e"},
		{"ChildNode ack", id.ChildNode(root, attempt, id.OpAck).String(), "node_thu2bnwstquc3if22spyoir3fu"},
		{"ChildNode checkpoint", id.ChildNode(root, attempt, id.OpCheckpoint).
			String(), "node_q2mnt34zeli5iwqq2ah55slddy"},
		{"EventOf", id.EventOf(session.String(), "session_created:"+session.String()).
			String(), "evt_jmx6jzm7hadjc7ylj6bcpqneha"},
		{"Output", origin.Output(0).String(), "out_2wawx26xwzdttrwkz6lnotwnke"},
		{"Output 1", origin.Output(1).String(), "out_2k774dpihfkzwq36bnngmftyry"},
		{"Gap", origin.Gap(0).String(), "gap_7n2jc232bjyoomi5opg2jqnrhm"},
		{"Change", origin.Change(0).String(), "chg_lktozgjjgvvzcdlstipdyeh3ey"},
		{"Trace", origin.Trace(0).String(), "trace_2vhdcqpkysolufjgc5x4jbfvkm"},
		{"Context", origin.Context(0).String(), "ctx_p4mmcv646iqnnfizbdkksowcna"},
		{"CapObs", origin.CapObs(0).String(), "capobs_4h3m3lyx4l5d3efjgekammunki"},
		{"Divergence", origin.Divergence(0).String(), "div_q3dyklbuxbtmrhpolxgm732d5u"},
		{"Gap from start", id.FromStart(root).Gap(0).String(), "gap_oqglnh45mwytacl3bhdtts36b4"},
	}
	seen := map[string]string{}
	for _, tt := range tests {
		if tt.got != tt.want {
			t.Errorf("%s: got %s, want %s", tt.name, tt.got, tt.want)
		}
		if other, ok := seen[tt.got]; ok {
			t.Errorf("%s and %s are one id", tt.name, other)
		}
		seen[tt.got] = tt.name
	}
}

// Ids of facts of one node differ for all operations and ordinals: a collision would be treated
// as a retry, and the fact dropped.
func TestOperationsNeverCollide(t *testing.T) {
	seen := map[string]string{}
	add := func(what string, s fmt.Stringer) {
		t.Helper()
		// Without the prefix, so that two kinds with equal bytes are found as well.
		body := s.String()[len(s.String())-26:]
		if other, ok := seen[body]; ok {
			t.Errorf("%s and %s share their bytes", what, other)
		}
		seen[body] = what
	}
	for _, op := range []id.Operation{id.OpStart, id.OpAck, id.OpCheckpoint, id.OpApprove} {
		for n := range 12 {
			name := fmt.Sprintf("%s %d ", op, n)
			a := id.NextAttempt(root, op, n)
			add(name+"attempt", a)
			for _, from := range []id.Operation{id.OpStart, id.OpAck, id.OpCheckpoint, id.OpApprove} {
				add(name+"child by "+string(from), id.ChildNode(root, a, from))
			}
			o := id.FromAttempt(a, op)
			for i := range 3 {
				at := name + fmt.Sprint(i)
				add(at+" output", o.Output(i))
				add(at+" gap", o.Gap(i))
				add(at+" change", o.Change(i))
				add(at+" trace", o.Trace(i))
				add(at+" context", o.Context(i))
				add(at+" capobs", o.CapObs(i))
				add(at+" divergence", o.Divergence(i))
			}
		}
	}
	add("start", id.FromStart(root).Output(0))
}

// Distinct inputs give distinct ids, and equal inputs equal ids.
func TestDerivationsAreInjective(t *testing.T) {
	ops := rapid.SampledFrom([]id.Operation{id.OpStart, id.OpAck, id.OpCheckpoint, id.OpApprove})
	rapid.Check(t, func(t *rapid.T) {
		type input struct {
			Run id.Run
			Op  id.Operation
			N   int
		}
		draw := func(label string) input {
			return input{id.NewRun(id.Seed{rapid.Byte().Draw(t, label+" seed")}), ops.Draw(t, label+" op"),
				rapid.IntRange(0, 20).Draw(t, label+" n")}
		}
		a, b := draw("a"), draw("b")
		of := func(in input) id.Attempt { return id.NextAttempt(id.RootNode(in.Run), in.Op, in.N) }
		if same := of(a) == of(b); same != (a == b) {
			t.Fatalf("%+v and %+v: same id %v", a, b, same)
		}
	})
}

// Keys and owners are free text: moving a character from one part to the next must change the
// id.
func TestDerivationPartsAreDelimited(t *testing.T) {
	other := id.NewStore(id.Seed{2})
	rapid.Check(t, func(t *rapid.T) {
		a, b := rapid.String().Draw(t, "a"), rapid.String().Draw(t, "b")
		if same := id.KeyedRun(store, a) == id.KeyedRun(store, b); same != (a == b) {
			t.Fatalf("keys %q and %q: same run %v", a, b, same)
		}
		if id.KeyedRun(store, a) == id.KeyedRun(other, a) {
			t.Fatalf("key %q names one run in two stores", a)
		}
		x, y := rapid.StringN(1, 4, -1).Draw(t, "x"), rapid.StringN(1, 4, -1).Draw(t, "y")
		if id.EventOf(x+y, a) == id.EventOf(x, y+a) {
			t.Fatalf("owner %q and key %q give the id of owner %q and key %q", x+y, a, x, y+a)
		}
	})
}
