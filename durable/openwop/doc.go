// Package openwop defines the documents of the OpenWOP protocol that Waybill sends and accepts as a host: run events, run
// snapshots, requests, stream modes, interrupts and the error envelope (docs/design.md#openwop). What callers send is
// closed, what is sent to them is open.
//
// It makes no document of a run, which package projections/wire does, and speaks no HTTP. Start reading at RunEvent.
package openwop
