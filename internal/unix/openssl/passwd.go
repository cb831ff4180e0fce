package openssl

import (
	"bytes"
	"crypto/md5"
	"crypto/rand"
	"crypto/sha256"
	"crypto/sha512"
	"errors"
	"fmt"
	"hash"
	"slices"
	"strings"
)

var passwdCommand = command{
	usage: "passwd [options] [password...]", flags: "1 apr1 5 6 stdin noverify quiet", values: "salt in", free: true, do: passwd,
}

// crypts are the ways to hash passwords, by their options.
var crypts = map[string]struct {
	salt int // how many characters it has at most
	hash func(password, salt string) string
}{
	"1":    {8, func(password, salt string) string { return md5crypt(password, salt, "1") }},
	"apr1": {8, func(password, salt string) string { return md5crypt(password, salt, "apr1") }},
	"5":    {16, func(password, salt string) string { return shacrypt(password, salt, "5", sha256.New) }},
	"6":    {16, func(password, salt string) string { return shacrypt(password, salt, "6", sha512.New) }},
}

const (
	// mostPassword is how many bytes of a password count.
	mostPassword = 256
	alphabet     = "./0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
)

// passwd hashes passwords, as files of basic authentication have them.
func passwd(r *run) error {
	way := "1"
	for _, o := range r.given {
		if crypts[o.name].hash != nil {
			way = o.name
		}
	}
	passwords := r.rest
	if len(passwords) == 0 || r.has("stdin", "in") {
		data, err := r.read(r.value("in"))
		if err != nil {
			return err
		}
		for line := range strings.Lines(string(data)) {
			passwords = append(passwords, strings.TrimRight(line, "\r\n"))
		}
	}
	for _, password := range passwords {
		if r.Err() != nil {
			return status(1)
		}
		salt, err := r.salt(crypts[way].salt)
		if err != nil {
			return err
		}
		password = password[:min(len(password), mostPassword)]
		fmt.Fprintln(&r.out, crypts[way].hash(password, salt))
	}
	return nil
}

// salt returns what of -salt counts, or a random one. The error is that of one that is empty.
func (r *run) salt(most int) (string, error) {
	if r.has("salt") {
		salt := r.value("salt")
		if salt == "" || strings.ContainsAny(salt, "$:\n") {
			return "", errors.New("passwd: the salt has none of these characters: $ and :, and at least one other")
		}
		return salt[:min(len(salt), most)], nil
	}
	b := make([]byte, most)
	if _, err := rand.Read(b); err != nil {
		return "", err
	}
	for i, c := range b {
		b[i] = alphabet[c%64]
	}
	return string(b), nil
}

// repeated returns the first n bytes of sum after sum after sum.
func repeated(sum []byte, n int) []byte {
	return bytes.Repeat(sum, n/len(sum)+1)[:n]
}

func sumOf(h hash.Hash, parts ...[]byte) []byte {
	h.Reset()
	for _, p := range parts {
		h.Write(p)
	}
	return h.Sum(nil)
}

// md5crypt is the algorithm of FreeBSD's crypt(3), and of Apache's with the identifier apr1.
func md5crypt(password, salt, id string) string {
	key, seasoning := []byte(password), []byte(salt)
	h := md5.New()
	inner := sumOf(h, key, seasoning, key)
	begin := append([]byte(password+"$"+id+"$"+salt), repeated(inner, len(key))...)
	for n := len(key); n > 0; n >>= 1 {
		if n&1 == 1 {
			begin = append(begin, 0)
		} else {
			begin = append(begin, key[0])
		}
	}
	sum := sumOf(h, begin)
	for round := range 1000 {
		sum = sumOf(h, mixed(round, sum, key, seasoning)...)
	}
	var order []int
	for i := range 5 {
		order = append(order, i, i+6, []int{12, 13, 14, 15, 5}[i])
	}
	return "$" + id + "$" + salt + "$" + encode64(sum, append(order, -1, -1, 11))
}

// mixed returns what is digested in a round of either algorithm.
func mixed(round int, sum, key, salt []byte) [][]byte {
	var parts [][]byte
	if round%2 == 1 {
		parts = append(parts, key)
	} else {
		parts = append(parts, sum)
	}
	if round%3 != 0 {
		parts = append(parts, salt)
	}
	if round%7 != 0 {
		parts = append(parts, key)
	}
	if round%2 == 1 {
		return append(parts, sum)
	}
	return append(parts, key)
}

// shacrypt is the algorithm of https://www.akkadia.org/drepper/SHA-crypt.txt, with its 5000 rounds.
func shacrypt(password, salt, id string, algorithm func() hash.Hash) string {
	key, seasoning, h := []byte(password), []byte(salt), algorithm()
	inner := sumOf(h, key, seasoning, key)
	begin := slices.Concat(key, seasoning, repeated(inner, len(key)))
	for n := len(key); n > 0; n >>= 1 {
		if n&1 == 1 {
			begin = append(begin, inner...)
		} else {
			begin = append(begin, key...)
		}
	}
	sum := sumOf(h, begin)
	longKey := repeated(sumOf(h, bytes.Repeat(key, len(key))), len(key))
	longSalt := repeated(sumOf(h, bytes.Repeat(seasoning, 16+int(sum[0]))), len(salt))
	for round := range 5000 {
		sum = sumOf(h, mixed(round, sum, longKey, longSalt)...)
	}
	return "$" + id + "$" + salt + "$" + encode64(sum, shaOrder(len(sum)))
}

// shaOrder is the order in which shacrypt writes the bytes of its result: three by three, of which the first is each time another.
func shaOrder(size int) []int {
	third := size / 3
	var order []int
	a, b, c := 0, third, 2*third
	for range third {
		order = append(order, a, b, c)
		if size == 64 {
			a, b, c = b+1, c+1, a+1
		} else {
			a, b, c = c+1, a+1, b+1
		}
	}
	if size == 64 {
		return append(order, -1, -1, 63)
	}
	return append(order, -1, 31, 30)
}

// encode64 returns the bytes in that order in base 64 of crypt(3): the last three of a group of four digits first. Where the order has
// -1 there is no byte, and no digits for it.
func encode64(sum []byte, order []int) string {
	var b strings.Builder
	for group := range slices.Chunk(order, 3) {
		bits, digits := 0, 4
		for _, at := range group {
			bits <<= 8
			if at < 0 {
				digits--
			} else {
				bits |= int(sum[at])
			}
		}
		for range digits {
			b.WriteByte(alphabet[bits&63])
			bits >>= 6
		}
	}
	return b.String()
}
