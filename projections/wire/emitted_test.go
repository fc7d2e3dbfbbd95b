package wire_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/waybill/waybill/durable/openwop"
)

// notEmitted are the types of the protocol's catalog that nothing sends. Code that sends one needs it off the list, and
// named in a test of the projection.
var notEmitted = strings.Fields(`
	agent.decided agent.handoff agent.invocation.completed agent.invocation.started agent.memory.consolidated
	agent.reasoned agent.reasoning.delta agent.toolCalled agent.toolReturned agent.verified
	approval.overridden approval.rejected authorization.decided
	budget.consumed budget.exhausted budget.reserved budget.threshold.crossed
	channel.written commitment.fired connector.auth_expired connector.authorized
	conversation.closed conversation.exchanged conversation.opened
	core.workflowChain.confidence-escalated core.workflowChain.event
	deployment.canary.adjusted deployment.promoted deployment.rolled-back deployment.state.changed
	egress.decided eval.completed eval.scored eval.started goal.closed goal.evaluated import.applied
	lease.acquired lease.handed-off lease.lost lease.renewed log.appended memory.compacted memory.written
	model.capability.insufficient model.capability.substituted
	node.dispatched node.skipped node.suspend-failed output.chunk
	replay.divergedAtRefusal roster.run.initiated
	run.dead_lettered run.restored-from-snapshot run.resuming runOrchestrator.decided
	tool.session.closed tool.session.opened trigger.delivery.attempted trigger.subscription.state.changed version.pinned
	voice.barge_in voice.cancelled voice.endpoint_candidate voice.speech_start voice.synthesis_chunk voice.transcript
	voice.turn_commit workflow.restored workflow.stalled workspace.updated`)

// senders are the folders whose code makes run events and messages of streams.
var senders = []string{"../../projections", "../../durable/run", "../../durable/engine"}

// goFiles calls visit for the parsed Go files below a folder, without tests.
func goFiles(t *testing.T, root string, visit func(*ast.File)) {
	t.Helper()
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err == nil {
			visit(f)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// namesOfTypes are the names of the constants of types of events, with their values.
func namesOfTypes(t *testing.T) map[string]openwop.EventType {
	out := map[string]openwop.EventType{}
	goFiles(t, "../../durable/openwop", func(f *ast.File) {
		ast.Inspect(f, func(n ast.Node) bool {
			spec, ok := n.(*ast.ValueSpec)
			if !ok || len(spec.Values) != 1 {
				return true
			}
			lit, ok := spec.Values[0].(*ast.BasicLit)
			kind, named := spec.Type.(*ast.Ident)
			if ok && named && kind.Name == "EventType" {
				text, err := strconv.Unquote(lit.Value)
				if err != nil {
					t.Fatal(err)
				}
				out[spec.Names[0].Name] = openwop.EventType(text)
			}
			return true
		})
	})
	return out
}

// TestTypesThatNothingSends: the catalog is what is sent and what is listed as not sent; each type that is sent has a contract,
// and a test of a sender or of the server expects it.
func TestTypesThatNothingSends(t *testing.T) {
	constants, sent := namesOfTypes(t), map[openwop.EventType]bool{}
	for _, of := range openwop.EnvelopeReliability() {
		sent[of] = true // by test seams
	}
	sent[openwop.ProposalCreated], sent[openwop.ProposalActivated] = true, true // messages of streams, from the log of proposals
	for _, root := range senders {
		goFiles(t, root, func(f *ast.File) {
			ast.Inspect(f, func(n ast.Node) bool {
				if s, ok := n.(*ast.SelectorExpr); ok {
					if x, ok := s.X.(*ast.Ident); ok && x.Name == "openwop" && constants[s.Sel.Name] != "" {
						sent[constants[s.Sel.Name]] = true
					}
				}
				return true
			})
		})
	}
	if len(constants) < 30 || len(sent) < 25 {
		t.Fatalf("%d constants, %d types are sent", len(constants), len(sent))
	}
	var expected strings.Builder
	paths, err := filepath.Glob("testdata/scenarios/*.txt")
	if err != nil || len(paths) == 0 {
		t.Fatal(paths, err)
	}
	for _, path := range append(paths, "kinds_test.go", "../../durable/openwop/contracts_test.go", "../../cmd/waybill/serve_seams_test.go", "../../cmd/waybill/serve_test.go",
		"../../infra/httpserver/stream_test.go", "../../durable/openwop/modes_test.go") {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		expected.Write(text)
	}
	for _, of := range openwop.ProtocolTypes() {
		if listed := slices.Contains(notEmitted, string(of)); listed == sent[of] {
			t.Errorf("%s: sent %v, listed as not sent %v", of, sent[of], listed)
		}
		if sent[of] && !slices.Contains(openwop.Contracted(), of) {
			t.Errorf("%s is sent without a contract", of)
		}
		if of != openwop.ProposalCreated && of != openwop.ProposalActivated && sent[of] && !strings.Contains(expected.String(), string(of)) {
			t.Errorf("%s is sent, and no test expects it", of)
		}
	}
	for _, name := range notEmitted {
		if !openwop.EventType(name).Owned() {
			t.Errorf("%s is no type of the catalog", name)
		}
	}
}
