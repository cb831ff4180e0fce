// Package itemjson encodes an item of a list once, however often it is listed.
//
// Most of the time of a list is the JSON of its items, which upstream makes
// anew for every request. Here the JSON of an item that is listed again is
// kept, and lists are put together of what is kept and what is not:
//
//	{"kind":"ConfigMapList",...,"items":[   upstream's JSON of the same list without items
//	{"metadata":{"name":"a",...}},          kept
//	{"metadata":{"name":"b",...}}           upstream's JSON of this item
//	]}
//
// Byte for byte and write for write it is what upstream's own encoder of lists
// answers (streamEncodeCollections of
// k8s.io/apimachinery/pkg/runtime/serializer/json), but that what follows the
// first brace is written in larger pieces. It is no codec and no cache of
// objects: what an object is, and its JSON, are upstream's; what cannot be put
// together like this (single objects, unstructured lists, lists of another
// shape) is left to it.
//
// Invariants:
//
//   - An item is known by the object in memory that it was copied from, see
//     identity: never by what its author could have written into it.
//   - What is kept is bounded in bytes, and dropped when nobody lists it.
//   - An item that was listed once costs a few bytes.
//   - What is kept is what upstream would write now. Builds with -race or -tags
//     invariants encode each item that is found once more, and compare.
package itemjson
