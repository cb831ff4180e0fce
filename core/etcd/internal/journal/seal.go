package journal

import (
	"encoding/binary"
	"errors"
	"hash/crc32"

	"github.com/kubetab/kubetab/core/etcd/internal/borrow"
)

// SealSize is how many bytes Seal appends.
const SealSize = crc32.Size

// castagnoli is a table of constants.
var castagnoli = crc32.MakeTable(crc32.Castagnoli)

var (
	errSeal = errors.New("the checksum of a record does not match")
	errKey  = errors.New("the checksum of a name does not match")
)

// Seal appends the checksum of name and payload to payload and returns the whole
// as a string without copying it: payload belongs to the result from then on, and
// no one may change it. It should have SealSize bytes of spare capacity.
func Seal(name string, payload []byte) string {
	return borrow.String(binary.BigEndian.AppendUint32(payload, checksum(name, borrow.String(payload))))
}

// Unseal returns the payload of a sealed record, a substring of it. It fails when
// the record is not what was sealed.
func Unseal(name, record string) (string, error) {
	n := len(record) - SealSize
	if n < 0 || checksum(name, record[:n]) != binary.BigEndian.Uint32([]byte(record[n:])) {
		return "", errSeal
	}
	return record[:n], nil
}

// keyOf returns the key under which buntdb has the record of name: the name and
// its checksum, because a delete has nothing else that could carry one.
func keyOf(name string) string {
	key := make([]byte, 0, len(name)+crc32.Size)
	key = append(key, name...)
	key = binary.BigEndian.AppendUint32(key, checksum(name, ""))
	return borrow.String(key)
}

// nameOf is the inverse of keyOf.
func nameOf(key string) (string, error) {
	n := len(key) - crc32.Size
	if n < 0 || checksum(key[:n], "") != binary.BigEndian.Uint32([]byte(key[n:])) {
		return "", errKey
	}
	return key[:n], nil
}

// open takes apart what buntdb has.
func open(key, record string) (name, payload string, err error) {
	if name, err = nameOf(key); err != nil {
		return "", "", err
	}
	payload, err = Unseal(name, record)
	return name, payload, err
}

func checksum(a, b string) uint32 {
	return crc32.Update(crc32.Checksum(borrow.Bytes(a), castagnoli), castagnoli, borrow.Bytes(b))
}
