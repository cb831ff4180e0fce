package coreutils

import (
	"io"
	"slices"
	"strconv"
	"strings"
)

func xargs(k *Call) int {
	f := k.Args
	perRun, marker := 0, ""
	for len(f) > 0 && strings.HasPrefix(f[0], "-") {
		flag := f[0]
		f = f[1:]
		value := func() string {
			if len(flag) > 2 {
				return flag[2:]
			}
			if len(f) == 0 {
				return ""
			}
			v := f[0]
			f = f[1:]
			return v
		}
		switch {
		case strings.HasPrefix(flag, "-n"):
			perRun, _ = strconv.Atoi(value())
		case strings.HasPrefix(flag, "-I"):
			marker = value()
		}
	}
	if len(f) == 0 {
		f = []string{"echo"}
	}
	data, err := io.ReadAll(k.Stdin)
	if err != nil {
		return k.Fail("%v", err)
	}
	code := 0
	if marker != "" { // a run for each line, which takes the marker's place
		for line := range strings.Lines(string(data)) {
			argv := slices.Clone(f)
			for i := range argv {
				argv[i] = strings.ReplaceAll(argv[i], marker, strings.TrimSpace(line))
			}
			code = max(code, k.System.Run(k, k.Environ(), argv))
		}
		return code
	}
	words := strings.Fields(string(data))
	if perRun <= 0 {
		perRun = max(len(words), 1)
	}
	for chunk := range slices.Chunk(words, perRun) {
		code = max(code, k.System.Run(k, k.Environ(), append(slices.Clone(f), chunk...)))
	}
	return code
}
