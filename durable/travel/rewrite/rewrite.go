// Package rewrite produces a new log from an existing one: with other ids, for an import as a
// new session (Renaming), or without secrets, for an export to other people (Redaction). The
// result is a valid log with a chain of its own (Chain).
//
// It processes one segment at a time and keeps no events. It does not decide whether a
// session may be rewritten or what an import replaces, and neither reads nor writes a store;
// package engine does. Start with Renaming.Segment, Redaction.Segment and Chain.Next.
package rewrite

import (
	"fmt"

	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/log/manifest"
)

// Chain encodes rewritten events as a log: segments keep their bounds, and new groups commit
// them.
type Chain struct {
	log  manifest.Log
	head manifest.Head
}

// NewChain begins an empty log.
func NewChain(log manifest.Log) *Chain { return &Chain{log: log} }

// Head returns the head after the last segment.
func (c *Chain) Head() manifest.Head { return c.head }

// Next encodes one segment with the group that commits it, after the current head. An error
// means that the events do not follow the previous segment or exceed a limit; the chain is
// then unchanged.
func (c *Chain) Next(events []event.Event) (manifest.Segment, error) {
	seg, err := c.encode(events)
	if err != nil {
		return manifest.Segment{}, err
	}
	if seg.First != c.head.Next {
		return manifest.Segment{}, fmt.Errorf("rewrite: a segment from event %d on cannot follow event %d", seg.First,
			c.head.Next-1)
	}
	seg.Group = manifest.Group(c.log, c.head, seg)
	c.head = c.head.After(seg.Group, seg)
	return seg, nil
}

// encode is manifest.EncodeSegment, except for segments with foreign events or events without
// an actor. Waybill does not write such events, but keeps those of an existing log; they are
// decoded again, as a reader of the log would.
func (c *Chain) encode(events []event.Event) (manifest.Segment, error) {
	foreign := false
	for _, e := range events {
		foreign = foreign || e.Foreign() || e.Actor == (event.Actor{})
	}
	// The usual case: all checks of a writer apply.
	if !foreign {
		return manifest.EncodeSegment(c.log, events)
	}
	var bytes []byte
	for _, e := range events {
		// Events that this version knows are checked also in a segment with foreign ones.
		if !e.Foreign() && e.Actor != (event.Actor{}) {
			if err := e.Check(c.log.Table); err != nil {
				return manifest.Segment{}, err
			}
		}
		var err error
		if bytes, err = c.log.Table.AppendLine(bytes, e); err != nil {
			return manifest.Segment{}, err
		}
	}
	return manifest.DecodeSegment(c.log, events[0].Index, events[len(events)-1].Index, bytes)
}
