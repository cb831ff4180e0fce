// Package itemjson encodes an item of a list once, however often it is listed.
//
// Most of the time of a list is the JSON of its items, which upstream makes
// anew for every request. This package keeps the JSON of an item that is listed
// again, and puts lists together from kept JSON and upstream's JSON of the
// other items:
//
//	{"kind":"ConfigMapList",...,"items":[   upstream's JSON of the same list without items
//	{"metadata":{"name":"a",...}},          kept
//	{"metadata":{"name":"b",...}}           upstream's JSON of this item
//	]}
//
// The bytes are those of upstream's own encoder of lists
// (streamEncodeCollections of k8s.io/apimachinery/pkg/runtime/serializer/json),
// and so are the writes, except that everything after the first brace is
// written in larger pieces. The package is no codec and no cache of objects:
// upstream defines an object and its JSON. Upstream also encodes what cannot be
// put together like this: single objects, unstructured lists, lists of another
// shape.
//
// Pretty lists, which browsers and curl get, are put together in the same way, but
// nothing of them is kept: a large one is written in pieces, which upstream has
// whole, three times.
//
// Invariants:
//
//   - An item is known by the object in memory that it was copied from, see
//     identity: never by what its author could have written into it.
//   - What is kept is bounded in bytes, and dropped when nobody lists it.
//   - An item that was listed once costs a few bytes.
//   - What is kept is what upstream would write now. Builds with -race or -tags
//     invariants encode each item once more when its kept JSON is used, and
//     compare.
package itemjson
