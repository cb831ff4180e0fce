package coreutils

import (
	"encoding/base64"
	"fmt"
	"hash"
	"io"
	"strings"
)

func base64Command(k *Call) int {
	f := k.Flags("w")
	return k.each(f.Rest, func(_ string, r io.Reader) error {
		data, err := io.ReadAll(r)
		if err != nil {
			return err
		}
		if f.On['d'] || f.On['D'] {
			decoded, err := base64.StdEncoding.DecodeString(strings.Join(strings.Fields(string(data)), ""))
			_, _ = k.Stdout.Write(decoded)
			return err
		}
		text := base64.StdEncoding.EncodeToString(data)
		for len(text) > 76 && !f.On['w'] {
			fmt.Fprintln(k.Stdout, text[:76])
			text = text[76:]
		}
		fmt.Fprintln(k.Stdout, text)
		return nil
	})
}

func sum(k *Call, algorithm func() hash.Hash) int {
	return k.each(k.Flags("").Rest, func(name string, r io.Reader) error {
		h := algorithm()
		_, err := io.Copy(h, r)
		fmt.Fprintf(k.Stdout, "%x  %s\n", h.Sum(nil), name)
		return err
	})
}
