package main

import (
	"context"

	"github.com/waybill/waybill/durable/manifest"
	"github.com/waybill/waybill/infra/filestore"
	"github.com/waybill/waybill/ports"
)

type noInspector struct{}

func (noInspector) Inspect(context.Context) ([]manifest.Finding, error) { return nil, nil }

func inspector(s *filestore.Store) ports.Inspector {
	if i, ok := any(s).(ports.Inspector); ok {
		return i
	}
	return noInspector{}
}
