package index

import (
	"context"

	"github.com/waybill/waybill/durable/id"
)

// LogsFormat is the number of the form of what is kept of logs.
const LogsFormat = 2

// Logs implements Catalogue. This package does not look into the texts.
func (x *Index) Logs(ctx context.Context,
	read func(context.Context, id.Session) (text []byte, keep bool, err error)) (map[id.Session]string, error) {
	x.logs.mu.Lock()
	defer x.logs.mu.Unlock()
	have, now, err := x.logs.observe(ctx)
	if err != nil || len(now.Sessions)+len(have.entries) == 0 {
		return nil, err
	}
	changed := map[id.Session]bool{}
	all, err := x.logs.read(ctx, have, now, 0, func(ctx context.Context, s id.Session) ([]byte, bool, error) {
		changed[s] = true
		return read(ctx, s)
	})
	if err != nil {
		return nil, err
	}
	kept := make(map[id.Session]string, len(all))
	for _, e := range all {
		if e.kept && !changed[e.session] {
			kept[e.session] = e.text
		}
	}
	return kept, nil
}
