package engine_test

import (
	"bytes"
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/waybill/waybill/durable/engine"
	"github.com/waybill/waybill/durable/engine/learning"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/learning/proposal"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/ports/porttest/crashfs"
	"github.com/waybill/waybill/ports/porttest/enginetest"
)

// TestNoChangedByteChangesTheInstallation: with any byte of a store of proposals flipped, and with
// any file of it truncated at any length, what is in use is what was applied, or less. Verification
// finds the change, unless it is indistinguishable from an append that was cut off.
func TestNoChangedByteChangesTheInstallation(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("thousands of verifications")
	}
	ctx, disk := context.Background(), crashfs.New()
	g, err := everything(disk)
	must(t, err)
	flow := `{"id":"t","steps":[]}`
	propose := func(seed byte, artifact string) string {
		p, err := g.Propose(ctx, caller(1), id.Seed{seed},
			learning.ProposeRequest{Draft: drafted(t, proposal.WorkflowChainPack, artifact, "")})
		must(t, err)
		return p.Proposal.ID.String()
	}
	req := func(ref string) learning.DecideRequest {
		return learning.DecideRequest{Ref: ref, Reason: "r", Presence: here("ada")}
	}
	a, b := propose(1, flow), propose(2, `{"id":"t","steps":[1]}`)
	for _, ref := range []string{a, b} {
		_, err := g.ApplyProposal(ctx, atTerminal("ada"), overrides(g, req(ref)))
		must(t, err)
	}
	_, err = g.RollBackProposal(ctx, atTerminal("ada"), req(b)) // what is in use is the former one again
	must(t, err)
	_, err = g.ReviseProposal(ctx, caller(1), b,
		learning.ProposeRequest{Draft: drafted(t, proposal.WorkflowChainPack, `{"id":"t","steps":[2]}`, "")})
	must(t, err)
	g.Flush(ctx)
	e := &sampleStore{heads: map[string]manifest.Head{}, tree: flat(disk.Files())}
	for name, data := range e.tree.files {
		if filepath.Base(name) == manifest.FileName {
			e.heads[name] = manifest.Head{GroupAt: int64(bytes.LastIndex(data, []byte(`{"bytes":`)))}
		}
	}
	if v, err := mustOpen(t, e.tree).Verify(ctx); err != nil || !v.OK || len(v.Findings) > 0 {
		t.Fatalf("%+v, %v", v, err)
	}
	e.eachChange(t, func(c change, tree *flatFS) string {
		if strings.HasPrefix(c.name, "audit/") {
			return "" // tried with the store that holds one of everything
		}
		g, err := everything(tree)
		if err != nil {
			return ""
		}
		list, err := g.Installed(ctx, "")
		last, isLog := e.heads[c.name]
		cutEnd := isLog && c.cut && int64(c.at) >= last.GroupAt
		for _, i := range list.Installed {
			if err == nil && string(i.Value.JCS()) != flow {
				return "in use is " + string(i.Value.JCS())
			}
		}
		found, err := g.Verify(ctx)
		if err == nil && found.OK && !cutEnd {
			return fmt.Sprintf("nothing was found: %+v", found.Findings)
		}
		return ""
	})
}

func mustOpen(t *testing.T, tree *flatFS) *enginetest.Engine {
	t.Helper()
	g, err := everything(flat(tree.files))
	must(t, err)
	return g
}

// installsOne proposes a small artifact with a run as its source, and applies it.
func installsOne(t *testing.T, g *enginetest.Engine, by engine.Caller, from id.Run) error {
	t.Helper()
	d := drafted(t, proposal.WorkflowChainPack, `{"id":"t","steps":[]}`, fmt.Sprintf(`,"sourceRunIds":[%q]`, from))
	p, err := g.Propose(context.Background(), by, id.Seed{4}, learning.ProposeRequest{Draft: d})
	if err == nil {
		_, err = g.ApplyProposal(context.Background(), by, overrides(g, aboutProposal(p, "ada", "r")))
	}
	return err
}
