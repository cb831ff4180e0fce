package etcd

import (
	"reflect"
	"testing"

	"github.com/kubetab/kubetab/core/etcd/internal/journal"
)

func TestRecordsReadWhatWasWritten(t *testing.T) {
	ops := []op{
		{kind: opPut, key: "a", value: "value", create: 3, ver: 2, lease: 1<<63 - 1},
		{kind: opPut, key: "\x00", value: "", create: 7, ver: 1},
		{kind: opDelete, key: "b"},
		{kind: opRevoke, lease: 42},
		{kind: opDelete, key: ""},
	}
	record, made := encodeOps(7, ops)
	payload, err := journal.Unseal(revisionKey(7), record)
	if err != nil {
		t.Fatal(err)
	}
	read, revoked, err := decodeOps(7, payload)
	if err != nil || !reflect.DeepEqual(read, made) || !reflect.DeepEqual(revoked, []int64{42}) {
		t.Errorf("read %v, %v, %v", read, revoked, err)
	}
	if len(made) != 4 || *made[0] != (version{key: "a", value: "value", create: 3, mod: 7, ver: 2, lease: 1<<63 - 1}) || !made[2].deleted() {
		t.Errorf("made %v", made)
	}
	// Whatever is missing or too much is noticed.
	for i := range payload {
		if _, _, err := decodeOps(7, payload[:i]); err == nil {
			t.Errorf("%d of %d bytes are a record", i, len(payload))
		}
	}
	if _, _, err := decodeOps(7, payload+"x"); err == nil {
		t.Error("a byte more is a record")
	}
	if _, _, err := decodeOps(7, "\x01\x09"); err == nil {
		t.Error("an unknown operation is a record")
	}
}

// TestRecordKeysAreInOrder: the journal loads by name, and revisions must come in
// their order.
func TestRecordKeysAreInOrder(t *testing.T) {
	last := ""
	for _, rev := range []int64{1, 2, 255, 256, 65535, 1 << 20, 1 << 40, 1<<63 - 1} {
		key := revisionKey(rev)
		if key <= last {
			t.Errorf("%d is not after the one before", rev)
		}
		if n, err := parseNumberedKey(key); n != rev || err != nil {
			t.Error(n, err)
		}
		last = key
	}
	if _, err := parseNumberedKey("r"); err == nil {
		t.Error("a short key has a number")
	}
}

func FuzzDecodeOps(f *testing.F) {
	record, _ := encodeOps(7, []op{{kind: opPut, key: "a", value: "value", create: 3, ver: 2, lease: 5}, {kind: opDelete, key: "b"}})
	f.Add(record)
	f.Add("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\x01")
	f.Fuzz(func(t *testing.T, record string) {
		versions, _, err := decodeOps(7, record)
		if err != nil {
			return
		}
		for _, v := range versions {
			if len(v.key)+len(v.value) > len(record) {
				t.Errorf("%d bytes from %d", len(v.key)+len(v.value), len(record))
			}
		}
	})
}
