// Edge is the share store of a page that an edge Worker serves: package share over Cloudflare's KV. worker.mjs is what a
// request reaches first. It serves the files of the page by itself, and starts this program for the paths of the store.
//
// A new instance of this program answers each request, so nothing lives between two of them: KV has the records, and the
// platform's rate limit bindings count. Bindings of the Worker:
//
//	SHARES         a KV namespace
//	WRITES, READS  rate limits
//	TOKEN          a secret, with which content can be taken down (optional)
//	ASSETS         the files of the page
package main

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"syscall/js"
	"time"

	"github.com/syumai/workers"
	"github.com/syumai/workers/cloudflare"
	"github.com/syumai/workers/cloudflare/kv"

	"github.com/kubetab/kubetab/server/share"
)

func main() {
	namespace, err := cloudflare.NewKVNamespace("SHARES")
	if err != nil {
		panic(err) // the Worker is not configured, and its log says so
	}
	config := share.Config{Storage: storage{namespace}, Writes: limit("WRITES"), Reads: limit("READS")}
	if token := cloudflare.GetBinding("TOKEN"); token.Type() == js.TypeString {
		config.Token = token.String()
	}
	workers.Serve(share.New(config))
}

// storage is a KV namespace. Values are in base64, because the library reads them as text.
type storage struct{ namespace *kv.Namespace }

// Get implements share.Storage. For a key that is not there the library returns the word that Go has for JavaScript's null,
// which is no base64.
func (s storage) Get(_ context.Context, key string) ([]byte, error) {
	text, err := s.namespace.GetString(key, nil)
	if err != nil {
		return nil, err
	}
	record, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		return nil, share.ErrMissing
	}
	return record, nil
}

// Put implements share.Storage.
func (s storage) Put(_ context.Context, key string, record []byte, ttl time.Duration) error {
	return s.namespace.PutString(key, base64.StdEncoding.EncodeToString(record), &kv.PutOptions{ExpirationTTL: int(ttl / time.Second)})
}

// limit is the rate limit binding of a name.
type limit string

// Allow implements share.Limiter. It fails where there is no such binding: a store without a limit is open to anybody's
// files.
func (l limit) Allow(_ context.Context, address string) (bool, error) {
	binding := cloudflare.GetBinding(string(l))
	if binding.Type() != js.TypeObject {
		return false, fmt.Errorf("the Worker has no rate limit %s", string(l))
	}
	answer, err := await(binding.Call("limit", map[string]any{"key": address}))
	if err != nil {
		return false, err
	}
	return answer.Get("success").Bool(), nil
}

// await waits for a promise. The error is what it was rejected with.
func await(promise js.Value) (js.Value, error) {
	type result struct {
		value js.Value
		err   error
	}
	settled := make(chan result, 1)
	done := js.FuncOf(func(_ js.Value, args []js.Value) any {
		settled <- result{args[0], nil}
		return nil
	})
	defer done.Release()
	failed := js.FuncOf(func(_ js.Value, args []js.Value) any {
		settled <- result{js.Undefined(), errors.New(args[0].Call("toString").String())}
		return nil
	})
	defer failed.Release()
	promise.Call("then", done, failed)
	r := <-settled
	return r.value, r.err
}
