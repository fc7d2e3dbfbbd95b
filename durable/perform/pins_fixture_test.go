package perform_test

import (
	"context"
	"maps"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/store/trust"
	"github.com/waybill/waybill/durable/workflow/source"
	"github.com/waybill/waybill/ports"
)

// Fix implements ports.Pins over the fixture's files.
func (w *fixture) Fix(_ context.Context, checks []source.Check) (trust.Fixed, error) {
	fixed := trust.Fixed{Env: map[string]string{"PATH": "/bin"}, Pins: map[string]canon.Digest{},
		Programs: map[string]trust.Program{}}
	for _, c := range checks {
		for _, pin := range c.Pins {
			fixed.Pins[pin] = canon.Sum([]byte(w.files[pin]))
		}
		fixed.Programs[c.Program()] = trust.Program{Path: "/bin/" + c.Argv[0]}
	}
	if len(checks) == 0 {
		return trust.Fixed{}, nil
	}
	w.note("fix")
	return fixed, nil
}

// Compare implements ports.Pins.
func (w *fixture) Compare(_ context.Context, c source.Check, fixed trust.Fixed) (ports.PinState, error) {
	now := map[string]canon.Digest{}
	var changed []string
	for _, pin := range c.Pins {
		now[pin] = canon.Sum([]byte(w.files[pin]))
		if was, ok := fixed.Pins[pin]; !ok || was != now[pin] {
			changed = append(changed, pin)
		}
	}
	return ports.PinState{Pins: now, Changed: changed, Versions: maps.Clone(w.versions)}, nil
}

// Place implements ports.Pins.
func (w *fixture) Place(context.Context) ports.Place { return w.place }
