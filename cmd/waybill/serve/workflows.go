package serve

import (
	"context"
	"crypto/sha256"
	"fmt"
	"sync"

	"github.com/waybill/waybill/cmd/waybill/cli"
	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/engine"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/workflow/catalog"
)

// workflows are those that a server can start: the ones that 'waybill start ID' finds, and the fixtures if they are served.
// Files are read for each request, since they may change while the server runs; what they compile to is kept.
type workflows struct {
	app      *cli.App
	store    *cli.Store
	fixtures []catalog.File

	mu   sync.Mutex
	of   canon.Digest
	last catalog.Catalog
}

// definition returns a workflow by its id. It accepts no path.
func (w *workflows) definition(ctx context.Context, id string) (engine.Definition, error) {
	e, err := w.find(ctx, id)
	if err != nil {
		return engine.Definition{}, err
	}
	return engine.Definition{Workflow: e.Compiled, SourceKind: cli.RecordedSourceKind(e.Kind), SourceRef: e.Ref}, nil
}

// find returns the entry with an id. Errors: WORKFLOW_NOT_FOUND, WORKFLOW_INVALID.
func (w *workflows) find(ctx context.Context, id string) (catalog.Entry, error) {
	if len(id) > limits.TitleBytesMax {
		return catalog.Entry{}, fault.New(fault.WorkflowNotFound, "no workflow has an id of %d bytes", len(id))
	}
	all, err := w.catalog(ctx)
	if err != nil {
		return catalog.Entry{}, err
	}
	e, err := all.Find(id)
	if err != nil {
		return e, err
	}
	return e, e.Usable()
}

// catalog returns the workflows that there are now.
func (w *workflows) catalog(ctx context.Context) (catalog.Catalog, error) {
	src, err := cli.CatalogSources(ctx, w.app, w.store)
	if err != nil {
		return catalog.Catalog{}, err
	}
	src.Files = append(src.Files, w.fixtures...)
	digest := digestOf(src)
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.of != digest {
		w.last, w.of = catalog.Of(src), digest
	}
	return w.last, nil
}

// digestOf is the digest of everything that a catalog is made of.
func digestOf(src catalog.Sources) canon.Digest {
	h := sha256.New()
	for _, f := range src.Files {
		fmt.Fprintf(h, "%q %q %q %q %q %v %q %d %v\n", f.Kind, f.Ref, f.Attached, f.Folder, f.Aliases, f.Replaces,
			f.Proposal, len(f.Data), f.Err)
		h.Write(f.Data)
	}
	fmt.Fprintf(h, "%+v %+v", src.Bindings, src.Prompts)
	return canon.DigestOf([sha256.Size]byte(h.Sum(nil)))
}
