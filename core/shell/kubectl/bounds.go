package kubectl

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// What a command may read. kubectl has a multiple of it in memory, which is the API server's as well, and nobody can end it
// in the middle of a file.
const (
	// mostDocument is how many bytes a document of a manifest may have: the server takes mostFile for an object, and a List has
	// many.
	mostDocument = 16 << 20
	// mostFile is how many bytes files may have together that become one object, as the body of a request to the server.
	mostFile = 3 << 20
	// mostStdin is how many bytes of standard input are kept for a command that wants a file of it.
	mostStdin = 256 << 20
)

// affordable fails for a command that would read more than it may, with an error that names the file. input is what stands
// for standard input, and may be nil. It is to be called in the command's folder.
func affordable(args []string, input *os.File) error {
	if input != nil {
		if err := affordableManifest(input, "standard input"); err != nil {
			return err
		}
	}
	sum := int64(0)
	for flag, value := range fileArguments(args) {
		if slices.Contains(manifestFlags, flag) || !strings.HasPrefix(flag, "--") {
			for name := range strings.SplitSeq(value, ",") {
				if err := affordableManifests(name); err != nil {
					return err
				}
			}
			continue
		}
		if flag == "--from-file" {
			if _, name, named := strings.Cut(value, "="); named {
				value = name
			}
		}
		size, err := sizeOf(value)
		if err != nil {
			return err
		}
		if sum += size; sum > mostFile {
			return fmt.Errorf("%s: request entity too large: limit is %d", value, mostFile)
		}
	}
	return nil
}

// manifestFlags take names of files with objects. -f and -k are the short ones.
var manifestFlags = []string{"--filename", "--kustomize"}

// sizeOf is how many bytes a file has, or the files of a folder; 0 where there is none, which kubectl says itself.
func sizeOf(name string) (int64, error) {
	info, err := os.Stat(name)
	if err != nil || name == os.DevNull {
		return 0, nil
	}
	if !info.IsDir() {
		return info.Size(), regular(name, info)
	}
	entries, err := os.ReadDir(name)
	if err != nil {
		return 0, nil
	}
	sum := int64(0)
	for _, entry := range entries {
		if info, err := entry.Info(); err == nil && info.Mode().IsRegular() {
			sum += info.Size()
		}
	}
	return sum, nil
}

// regular fails for what can be read without end.
func regular(name string, info fs.FileInfo) error {
	if info.Mode().IsRegular() {
		return nil
	}
	return fmt.Errorf("%s: not a regular file", name)
}

// affordableManifests looks at the files that -f means: one, those that a pattern has, or those of a folder.
func affordableManifests(name string) error {
	if name == "-" || name == os.DevNull {
		return nil
	}
	names, err := filepath.Glob(name)
	if err != nil || len(names) == 0 {
		names = []string{name}
	}
	for _, name := range names {
		info, err := os.Stat(name)
		if err != nil {
			continue // an address, or kubectl says it
		}
		if !info.IsDir() {
			if err := affordableFile(name, info); err != nil {
				return err
			}
			continue
		}
		err = filepath.WalkDir(name, func(path string, entry fs.DirEntry, err error) error {
			if err != nil || !slices.Contains([]string{".json", ".yaml", ".yml"}, filepath.Ext(path)) {
				return nil
			}
			if info, err := os.Stat(path); err == nil && !info.IsDir() {
				return affordableFile(path, info)
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func affordableFile(name string, info fs.FileInfo) error {
	if err := regular(name, info); err != nil || info.Size() <= mostDocument {
		return err
	}
	f, err := os.Open(name)
	if err != nil {
		return nil // kubectl says it
	}
	defer f.Close()
	return affordableManifest(f, name)
}

// affordableManifest looks at the documents of a file, which it leaves at its beginning.
func affordableManifest(f *os.File, name string) error {
	info, err := f.Stat()
	if err != nil || info.Size() <= mostDocument {
		return err
	}
	lines := bufio.NewReaderSize(f, 64<<10)
	size, starts := 0, true // of the document, and whether a line does
	for {
		part, err := lines.ReadSlice('\n')
		if starts && bytes.HasPrefix(part, []byte("---")) {
			size = 0
		}
		if size += len(part); size > mostDocument {
			return fmt.Errorf("%s: a document has more than %d bytes", name, mostDocument)
		}
		starts = err == nil
		switch {
		case errors.Is(err, io.EOF):
			_, err := f.Seek(0, io.SeekStart)
			return err
		case err != nil && !errors.Is(err, bufio.ErrBufferFull):
			return fmt.Errorf("%s: %w", name, err)
		}
	}
}
