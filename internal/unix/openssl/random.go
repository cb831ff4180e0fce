package openssl

import (
	"crypto/rand"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"io"
	"slices"
)

// mostRandom is how many bytes of random data are made at once.
const mostRandom = 16 << 20

var (
	randCommand   = command{usage: "rand [options] num", flags: "hex base64", values: "out", free: true, do: random}
	base64Command = command{usage: "base64 [options]", flags: "e d a A base64", values: "in out", cipher: true, do: encode}
	encCommand    = command{usage: "enc -base64 [options]", flags: "e d a A base64", values: "in out", cipher: true, do: encode}
)

// random prints random bytes.
func random(r *run) error {
	if len(r.rest) != 1 {
		return r.misused("the number of bytes is what is wanted")
	}
	n, err := integer(r.rest[0])
	switch {
	case err != nil:
		return r.misused("%v", err)
	case n < 1 || n > mostRandom:
		return r.misused("%d bytes are not what there is: from 1 to %d", n, mostRandom)
	}
	b := make([]byte, n)
	if _, err := rand.Read(b); err != nil {
		return err
	}
	switch {
	case r.has("hex"):
		r.out.WriteString(hex.EncodeToString(b) + "\n")
	case r.has("base64"):
		return writeBase64(&r.out, b, false)
	default:
		r.out.Write(b)
	}
	return nil
}

// writeBase64 prints data in lines of 64 characters or, with sole, in one line. Of several pieces of a text each but the last has a
// multiple of 48 bytes, which are a line.
func writeBase64(out io.Writer, data []byte, sole bool) error {
	text := base64.StdEncoding.AppendEncode(nil, data)
	if sole {
		_, err := out.Write(text)
		return err
	}
	var lines []byte
	for line := range slices.Chunk(text, 64) {
		lines = append(append(lines, line...), '\n')
	}
	_, err := out.Write(lines)
	return err
}

// encode is `openssl base64` and `openssl enc -base64`, of any amount. OpenSSL decodes nothing, and says nothing, where the last line
// has no end, and where -A meets several lines or -d what is not base64; this one decodes the first two, and says so of the third.
func encode(r *run) error {
	if r.name == "enc" && !r.has("base64", "a") {
		return errors.New("enc: nothing is encrypted here: enc -base64 encodes")
	}
	in, err := r.open(r.value("in"))
	if err != nil {
		return notOpened(r.value("in"), err)
	}
	defer in.Close()
	out, err := r.create(r.value("out"), 0o644)
	if err != nil {
		return err
	}
	decodes, sole := r.has("d"), r.has("A")
	r.given = nil // -out is written here
	if err := recode(out, in, decodes, sole); err != nil {
		out.Close()
		return r.failed(err)
	}
	return r.failed(out.Close())
}

// recode writes what is read in base64, or with decodes what that stands for.
func recode(out io.Writer, in io.Reader, decodes, sole bool) error {
	if decodes {
		_, err := io.Copy(out, base64.NewDecoder(base64.StdEncoding, in))
		return err
	}
	piece := make([]byte, 1024*48)
	for {
		n, err := io.ReadFull(in, piece)
		if failed := writeBase64(out, piece[:n], sole); failed != nil {
			return failed
		}
		switch {
		case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
			return nil
		case err != nil:
			return err
		}
	}
}
