package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"time"
)

const (
	longList      = 5000 // objects
	longListAgain = 20   // how often each is listed again, whole and in pages
	longLists     = 3    // lists that are made, each of which has one first time
	pageSize      = 500
)

// longLists times lists that nobody has asked for before, the same lists again, and in pages. A page is small beside the
// work of finding where it begins, and so all pages of a list are one sample.
func (b *bench) longLists(ctx context.Context) ([]sample, error) {
	c := b.dial()
	defer c.close()
	var first, again, paged []time.Duration
	timed := func(to *[]time.Duration, list func() error) error {
		sent := time.Now()
		err := list()
		*to = append(*to, time.Since(sent))
		return err
	}
	for i := range longLists {
		label := fmt.Sprintf("long-%d", i)
		if _, err := b.repeat(ctx, "", manyClients, longList, func(ctx context.Context, c *client) error {
			_, err := c.do(ctx, http.MethodPost, b.path, b.object(b.nextName(), `"bench":"`+label+`"`))
			return err
		}); err != nil {
			return nil, err
		}
		whole := func() error {
			_, n, err := b.page(ctx, c, label, "")
			if want := longList / manyClients * manyClients; err == nil && n != want {
				err = fmt.Errorf("a list of %d has %d objects", want, n)
			}
			return err
		}
		if err := timed(&first, whole); err != nil {
			return nil, err
		}
		for range longListAgain {
			if err := timed(&again, whole); err != nil {
				return nil, err
			}
			if err := timed(&paged, func() error { return b.pages(ctx, c, label) }); err != nil {
				return nil, err
			}
		}
	}
	return []sample{
		summarise(fmt.Sprintf("list of %d, the first time", longList), first),
		summarise("the same list again", again),
		summarise(fmt.Sprintf("the same list in pages of %d", pageSize), paged),
	}, nil
}

// pages lists page by page.
func (b *bench) pages(ctx context.Context, c *client, label string) error {
	all := 0
	for next := fmt.Sprintf("&limit=%d", pageSize); ; {
		more, n, err := b.page(ctx, c, label, next)
		if err != nil {
			return err
		}
		if all += n; more == "" {
			break
		}
		next = fmt.Sprintf("&limit=%d&continue=%s", pageSize, url.QueryEscape(more))
	}
	if want := longList / manyClients * manyClients; all != want {
		return fmt.Errorf("%d of %d objects in pages", all, want)
	}
	return nil
}

// page reads one page, and returns the token of the next, "" for the last one, and how many objects are in it.
func (b *bench) page(ctx context.Context, c *client, label, query string) (next string, objects int, err error) {
	res, err := c.open(ctx, http.MethodGet, b.path+"?labelSelector=bench%3D"+label+query, "")
	if err != nil {
		return "", 0, err
	}
	defer res.Body.Close()
	// The client shall not be what takes the time: it reads into the memory of the page before, and what stands before the items
	// is all that it decodes.
	c.body.Reset()
	if _, err := c.body.ReadFrom(res.Body); err != nil {
		return "", 0, err
	}
	body := c.body.Bytes()
	head, _, found := bytes.Cut(body, []byte(`"items":[`))
	if !found {
		return "", 0, fmt.Errorf("%.200s: no list", body)
	}
	var list struct{ Metadata struct{ Continue string } }
	if err := json.Unmarshal(append(bytes.Clone(bytes.TrimSuffix(head, []byte(","))), '}'), &list); err != nil {
		return "", 0, fmt.Errorf("%.200s: %w", body, err)
	}
	return list.Metadata.Continue, bytes.Count(body, []byte(`"settings":`)), nil
}
