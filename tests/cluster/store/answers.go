package main

import (
	"context"

	"github.com/ngaut/unistore/tikv"
	"github.com/pingcap/kvproto/pkg/kvrpcpb"
)

// answers mends the five points in which unistore does not answer as TiKV does.
//
// It cannot tell an empty value from none, so values are stored with a byte before them. It leaves
// the value of an absent key empty and does not say that there is none. It forgets a key that was
// only locked once the transaction is committed, where TiKV makes older transactions conflict with
// it: here a locked key is written again as it was. It keeps the names of all other keys with every
// lock, which TiKV does for asynchronous commits only. And a scan backward sees what was committed
// after its snapshot: here it is one forward, turned around.
type answers struct{ *tikv.Server }

// Rows of a page while a range is read.
const pageRows = 1024

var mark = []byte{0}

func marked(value []byte) []byte { return append(mark[:1:1], value...) }

func unmarked(value []byte) []byte {
	if len(value) == 0 {
		return value
	}
	return value[len(mark):]
}

func unmarkedAll(pairs []*kvrpcpb.KvPair) {
	for _, pair := range pairs {
		pair.Value = unmarked(pair.Value)
	}
}

func (a answers) KvGet(ctx context.Context, request *kvrpcpb.GetRequest) (*kvrpcpb.GetResponse, error) {
	answer, err := a.Server.KvGet(ctx, request)
	if err == nil && answer.RegionError == nil && answer.Error == nil {
		answer.NotFound = len(answer.Value) == 0
		answer.Value = unmarked(answer.Value)
	}
	return answer, err
}

func (a answers) KvBatchGet(ctx context.Context, request *kvrpcpb.BatchGetRequest) (*kvrpcpb.BatchGetResponse, error) {
	answer, err := a.Server.KvBatchGet(ctx, request)
	if err == nil {
		unmarkedAll(answer.Pairs)
	}
	return answer, err
}

func (a answers) KvScan(ctx context.Context, request *kvrpcpb.ScanRequest) (*kvrpcpb.ScanResponse, error) {
	if request.Reverse {
		return a.backward(ctx, request)
	}
	answer, err := a.Server.KvScan(ctx, request)
	if err == nil {
		unmarkedAll(answer.Pairs)
	}
	return answer, err
}

// backward reads all of the range, and gives its last rows, the last first.
func (a answers) backward(ctx context.Context, request *kvrpcpb.ScanRequest) (*kvrpcpb.ScanResponse, error) {
	forward := *request
	forward.Reverse, forward.Limit = false, pageRows
	forward.StartKey, forward.EndKey = request.EndKey, request.StartKey
	var last []*kvrpcpb.KvPair
	for {
		page, err := a.KvScan(ctx, &forward)
		if err != nil || page.RegionError != nil || page.Error != nil {
			return page, err
		}
		for _, pair := range page.Pairs {
			if pair.Error != nil {
				// Locked: the client waits for it, and asks once more.
				return &kvrpcpb.ScanResponse{Pairs: []*kvrpcpb.KvPair{pair}}, nil
			}
		}
		last = append(last, page.Pairs...)
		if extra := len(last) - int(request.Limit); extra > 0 {
			last = last[extra:]
		}
		if len(page.Pairs) < pageRows {
			break
		}
		forward.StartKey = append(append([]byte{}, page.Pairs[len(page.Pairs)-1].Key...), 0)
	}
	for i, j := 0, len(last)-1; i < j; i, j = i+1, j-1 {
		last[i], last[j] = last[j], last[i]
	}
	return &kvrpcpb.ScanResponse{Pairs: last}, nil
}

func (a answers) KvPrewrite(ctx context.Context, request *kvrpcpb.PrewriteRequest) (*kvrpcpb.PrewriteResponse, error) {
	if !request.UseAsyncCommit {
		request.Secondaries = nil
	}
	for _, mutation := range request.Mutations {
		switch mutation.Op {
		case kvrpcpb.Op_Put, kvrpcpb.Op_Insert:
			mutation.Value = marked(mutation.Value)
		case kvrpcpb.Op_Lock:
			refusal, err := a.asItWas(ctx, request, mutation)
			if refusal != nil || err != nil {
				return refusal, err
			}
		}
	}
	return a.Server.KvPrewrite(ctx, request)
}

// asItWas makes of a lock the writing of what is there already, or the removal of what is not.
func (a answers) asItWas(ctx context.Context, request *kvrpcpb.PrewriteRequest, mutation *kvrpcpb.Mutation) (*kvrpcpb.PrewriteResponse, error) {
	there, err := a.Server.KvGet(ctx, &kvrpcpb.GetRequest{Context: request.Context, Key: mutation.Key, Version: request.StartVersion})
	switch {
	case err != nil:
		return nil, err
	case there.RegionError != nil:
		return &kvrpcpb.PrewriteResponse{RegionError: there.RegionError}, nil
	case there.Error != nil && there.Error.Locked != nil && there.Error.Locked.LockVersion == request.StartVersion:
		return nil, nil // The same request once more: what it locked is locked by itself.
	case there.Error != nil:
		return &kvrpcpb.PrewriteResponse{Errors: []*kvrpcpb.KeyError{there.Error}}, nil
	case len(there.Value) > 0:
		mutation.Op, mutation.Value = kvrpcpb.Op_Put, there.Value
	default:
		mutation.Op = kvrpcpb.Op_Del
	}
	return nil, nil
}
