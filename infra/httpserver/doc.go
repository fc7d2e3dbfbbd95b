// Package httpserver serves runs over HTTP in the OpenWOP protocol, on loopback addresses
// (docs/design.md#openwop-server): routes, keys, limits, streams and error envelopes. It decides nothing about runs:
// Host has the use cases.
//
// Start reading at Server; usecases.go has what it requires, and routes.go the table from which the OpenAPI document
// and docs/http.md are made. A request passes admission.go (Host, Origin, form), dispatch.go (route, key, scope,
// turn, body) and idempotency.go before the function of its route; streams are in stream.go.
package httpserver
