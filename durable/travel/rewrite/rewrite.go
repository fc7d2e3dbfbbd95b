// Package rewrite makes another log out of one: under other ids, for an import as new
// (Renaming), or without its secrets, for an export that is given away (Redaction).
// What comes out is a log like any other, with a chain of its own (Chain).
//
// It works segment by segment and holds no events; it decides nothing about what a
// rewritten session may do, and reads and writes no store.
package rewrite

import (
	"fmt"

	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/log/manifest"
)

// Chain writes rewritten events down as a log: the segments keep their bounds, the
// groups that commit them are made anew.
type Chain struct {
	log  manifest.Log
	head manifest.Head
}

// NewChain starts an empty log.
func NewChain(log manifest.Log) *Chain { return &Chain{log: log} }

// Head is the head behind the last segment.
func (c *Chain) Head() manifest.Head { return c.head }

// Next is the segment of events, with the group that commits it behind the head so far.
// An error says that the events are no segment that follows, or that one of them breaks
// a limit; the chain is then as before.
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

// encode is manifest's, but for segments with foreign events: nobody writes such, and a
// log that has some keeps them. They are read back as any reader would.
func (c *Chain) encode(events []event.Event) (manifest.Segment, error) {
	foreign := false
	for _, e := range events {
		foreign = foreign || e.Foreign() || e.Actor == (event.Actor{})
	}
	if !foreign {
		return manifest.EncodeSegment(c.log, events)
	}
	var bytes []byte
	for _, e := range events {
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
