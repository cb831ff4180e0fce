// Package requestlog keeps the last requests that reached an API server, for people to look at: it is for the API what
// a browser's network tab is for a page. It is neither an audit log nor a trace: it is bounded, in memory, and forgets.
// With each request it keeps the audit events that upstream has made for the request (Log.Audit).
//
//	client --> Wrap(handler) --> API server --> Authorizer(...)
//	               |  head, bytes, events          |  who, verb, resource
//	               +-----------> Log <-------------+
//	                              |  GET <prefix>             records, as lines of JSON that follow
//	                              |  GET <prefix>/{id}        headers and bodies, decoded
//	                              |  GET <prefix>/{id}/events the events of a watch, as lines that follow
//	                              |  PUT <prefix>/audit       the level of audit events
//
// Invariants:
//   - A request is passed on unchanged and its answer is sent unchanged, flush by flush, whatever the log does.
//   - What is kept is bounded: in records (Options.Records), in bytes of one body (Options.BodyBytes) and of all bodies
//     together (Options.TotalBytes). The oldest that has ended goes first.
//   - Credentials are not kept: the values of Authorization, of Cookie and of bearer tokens in Sec-WebSocket-Protocol are
//     replaced as the request arrives.
//   - While nobody follows, a request costs one record and a few counters under one lock, and nothing is encoded.
//     A watch in gzip is decompressed, because its events are counted.
package requestlog
