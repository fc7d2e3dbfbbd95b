package engine_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/waybill/waybill/durable/engine"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/run/resume"
	"github.com/waybill/waybill/durable/workflow/compile"
	"github.com/waybill/waybill/durable/workflow/source"
	"github.com/waybill/waybill/infra/filestore"
)

// BenchmarkResume searches a store with sessions of four steps, each with notes of 600 bytes, as another process would.
func BenchmarkResume(b *testing.B) {
	const sessions = 1000
	dir := b.TempDir() + "/store"
	s, err := openUnsynced(b, dir, filestore.Options{LockWait: 5 * time.Second})
	if err != nil {
		b.Fatal(err)
	}
	g, ctx := over(s), context.Background()
	_, c, _ := compile.File("t.json", source.SourceProject, []byte(longOne))
	for n := range sessions {
		a, err := g.Start(ctx, caller(int64(1000+n)), id.Seed{byte(n), byte(n >> 8)},
			engine.Start{Workflow: c, SourceKind: event.SourceProject, SourceRef: "t.json", Title: fmt.Sprint("Run ", n)})
		for i := range 4 {
			if err == nil {
				a, err = g.Advance(ctx, caller(int64(2000+n)), a.Position(), a.AttemptID,
					note(fmt.Sprint("step ", i, " of ", n, strings.Repeat(" Read the parser and its tests.", 20))))
			}
		}
		if err != nil {
			b.Fatal(err)
		}
	}
	_ = s.Close()
	for name, q := range map[string]resume.Query{"latest": {}, "words": {Text: "nowhere 17"}, "found": {Text: "parser tests"}} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				s, err := openUnsynced(b, dir, filestore.Options{LockWait: 5 * time.Second})
				if err != nil {
					b.Fatal(err)
				}
				if got, err := over(s).Resume(ctx, q); err != nil || got.Considered != sessions {
					b.Fatal(err, got.Considered)
				}
				_ = s.Close()
			}
		})
	}
}
