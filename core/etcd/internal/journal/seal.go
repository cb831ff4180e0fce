package journal

import (
	"encoding/binary"
	"errors"
	"hash/crc32"
	"unsafe"
)

// SealSize is how many bytes Seal appends.
const SealSize = 4

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// errSeal is returned for a record whose checksum is not that of its bytes.
var errSeal = errors.New("checksum does not match")

// Seal appends the checksum of key and payload to payload and returns the whole
// as a string without copying it: payload belongs to the result from then on,
// and no one may change it. Give payload SealSize bytes of spare capacity.
func Seal(key string, payload []byte) string {
	sum := crc32.Checksum(unsafe.Slice(unsafe.StringData(key), len(key)), castagnoli)
	sum = crc32.Update(sum, castagnoli, payload)
	payload = binary.BigEndian.AppendUint32(payload, sum)
	return unsafe.String(unsafe.SliceData(payload), len(payload))
}

// Unseal returns the payload of a sealed record, a substring of it.
func Unseal(key, record string) (string, error) {
	n := len(record) - SealSize
	if n < 0 {
		return "", errSeal
	}
	sum := crc32.Checksum(unsafe.Slice(unsafe.StringData(key), len(key)), castagnoli)
	sum = crc32.Update(sum, castagnoli, unsafe.Slice(unsafe.StringData(record), n))
	if sum != binary.BigEndian.Uint32([]byte(record[n:])) {
		return "", errSeal
	}
	return record[:n], nil
}
