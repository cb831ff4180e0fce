package etcd

import (
	"context"
	"io"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"
)

const (
	// A chunk takes keys until it has this many keys or bytes.
	maxChunkKeys  = 1000
	maxChunkBytes = 1 << 20
)

// rangeStream delivers an answer in chunks, as etcd's RangeStream does: each has
// other keys, and the last has the header, the count and whether there is more.
// It is not safe for concurrent use, like any grpc.ClientStream.
type rangeStream struct {
	ctx   context.Context
	db    *DB
	found *found
	next  int
	// err is what the next Recv returns, io.EOF at the end.
	err error
}

var _ grpc.ServerStreamingClient[pb.RangeStreamResponse] = (*rangeStream)(nil)

// Recv returns the next chunk, io.EOF after the last, the error of the request, or
// that of the context.
func (s *rangeStream) Recv() (*pb.RangeStreamResponse, error) {
	if err := s.ctx.Err(); err != nil {
		return nil, err
	}
	if s.err != nil {
		return nil, s.err
	}
	all := s.found.versions
	first, size := s.next, 0
	for s.next < len(all) && s.next-first < maxChunkKeys && size < maxChunkBytes {
		size += all[s.next].size()
		s.next++
	}
	resp := &pb.RangeResponse{Kvs: s.found.keyValues(all[first:s.next])}
	if s.next == len(all) {
		s.err = io.EOF
		resp.Header = s.db.header(s.found.rev)
		resp.Count, resp.More = s.found.count, s.found.more
	}
	return &pb.RangeStreamResponse{RangeResponse: resp}, nil
}

// The rest of grpc.ClientStream has nothing to do without a connection.

func (s *rangeStream) Header() (metadata.MD, error) { return nil, nil }
func (s *rangeStream) Trailer() metadata.MD         { return nil }
func (s *rangeStream) CloseSend() error             { return nil }
func (s *rangeStream) Context() context.Context     { return s.ctx }
func (s *rangeStream) SendMsg(any) error            { return errUnimplemented("SendMsg") }
func (s *rangeStream) RecvMsg(any) error            { return errUnimplemented("RecvMsg") }
