package engine_test

import (
	"context"
	"fmt"
	"strings"
	"sync"

	"github.com/waybill/waybill/durable/engine/settings"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/run/advance"
	"github.com/waybill/waybill/ports"
)

// phases counts the phases of one call. It implements ports.Trace.
type phases struct {
	mu      sync.Mutex
	entered map[ports.Phase]int
	left    int
}

// Enter implements ports.Trace.
func (c *phases) Enter(p ports.Phase) (leave func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.entered[p]++
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.left++
	}
}

// measure carries out a call and counts its phases.
func (p *player) measure(req advance.Request, f call) {
	p.phases = &phases{entered: map[ports.Phase]int{}}
	before := p.ctx
	p.ctx = ports.WithTrace(before, p.phases)
	defer func() { p.ctx = before }()
	a, err := f(p.g, req)
	if p.err = err; err == nil {
		p.last, p.sent, p.req = a, f, req
	}
}

// thenPhases compares the phases of the last call, in their order. Each was left as often as it was entered.
func (p *player) thenPhases(s statement) error {
	if p.phases == nil {
		return fmt.Errorf("no call was measured")
	}
	var got []string
	entered := 0
	for _, phase := range ports.Phases {
		if n := p.phases.entered[phase]; n > 0 {
			got = append(got, string(phase))
			entered += n
		}
	}
	if entered != p.phases.left {
		return fmt.Errorf("%d phases were entered and %d left", entered, p.phases.left)
	}
	return want(strings.Join(got, " "), s.text)
}

// moveSet: "set KEY VALUE", by a person who was shown the change.
func (p *player) moveSet(s statement) error {
	key, value, _ := strings.Cut(s.text, " ")
	change, err := p.g.PlanSet(p.ctx, key, value)
	if err == nil {
		by := p.by(event.Human)
		by.Actor.Ref = "ada"
		_, err = p.g.ChangeConfig(p.ctx, by, change)
	}
	p.err = err
	return nil
}

// thenSettings compares the settings of the policy that differ from those at the start of the run, with both values.
// "settings as at A" compares the digest of what was valid at the start of two runs.
func (p *player) thenSettings(s statement) error {
	applied := func(name string) (settings.Applied, error) {
		at := p.last
		if name != "" {
			at = p.names[name] // the zero answer for an unknown name, whose run is not listed
		}
		all, err := p.process().Runs(p.ctx)
		for _, r := range all.Runs {
			if err == nil && r.RunID == at.Session.RunID {
				return settings.AppliedAt(context.Background(), p.g.Settings, r.SessionID, r.StartedAtMs)
			}
		}
		return settings.Applied{}, fmt.Errorf("the run is not listed: %w", err)
	}
	now, err := applied("")
	if err != nil {
		return err
	}
	if name, ok := strings.CutPrefix(s.text, "as at "); ok {
		then, err := applied(name)
		if err != nil {
			return err
		}
		return want(now.Hash.String(), then.Hash.String())
	}
	var got []string
	for _, c := range now.Changed {
		got = append(got, fmt.Sprintf("%s %s -> %s", c.Key, c.Applied.JCS(), c.Now.JCS()))
	}
	return list(s, got, nil)
}
