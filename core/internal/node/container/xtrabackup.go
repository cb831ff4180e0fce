package container

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"strconv"
	"strings"

	"github.com/kubetab/kubetab/core/internal/node/database"
)

// mysqlDir is where the server of the image has its files.
const mysqlDir = "/var/lib/mysql"

// xtrabackup writes the files of a server as an archive, which is one of tar here. Preparing what has been unpacked takes nothing.
func xtrabackup(k *call) int {
	for _, arg := range k.Args {
		if arg == "--backup" {
			if err := backup(databaseFiles{k.session.c.tree()}, k.Stdout); err != nil {
				return k.Fail("%v", err)
			}
		}
	}
	fmt.Fprintln(k.Stderr, "completed OK!")
	return 0
}

// backup writes the folder of a server, and from where on a replica of it is to go on.
func backup(files databaseFiles, to io.Writer) error {
	w := tar.NewWriter(to)
	name, text := database.Backup(files, mysqlDir)
	err := errors.Join(pack(w, files, ""), packFile(w, name, []byte(text)))
	return errors.Join(err, w.Close())
}

func packFile(w *tar.Writer, name string, data []byte) error {
	if err := w.WriteHeader(&tar.Header{Name: name, Mode: 0o640, Size: int64(len(data)), Typeflag: tar.TypeReg}); err != nil {
		return err
	}
	_, err := w.Write(data)
	return err
}

// pack packs a folder. What tells where a server copies from is not part of it.
func pack(w *tar.Writer, files databaseFiles, dir string) error {
	entries, err := files.ReadDir(path.Join(mysqlDir, dir))
	if err != nil {
		return err
	}
	for _, e := range entries {
		name := path.Join(dir, e.Name())
		switch {
		case e.IsDir():
			err = errors.Join(w.WriteHeader(&tar.Header{Name: name + "/", Mode: 0o750, Typeflag: tar.TypeDir}), pack(w, files, name))
		case name != "mysql/source.json":
			var data []byte
			if data, err = files.ReadFile(path.Join(mysqlDir, name)); err == nil {
				err = packFile(w, name, data)
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// xbstream unpacks into a folder what xtrabackup has written: -x -C FOLDER.
func xbstream(k *call) int {
	dir := k.Dir
	for i, arg := range k.Args {
		if arg == "-C" && i+1 < len(k.Args) {
			dir = k.Path(k.Args[i+1])
		}
	}
	r := tar.NewReader(k.Stdin)
	for {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return 0
		} else if err != nil {
			return k.Fail("can't read the stream: %v", err)
		}
		name := path.Join(dir, path.Join("/", h.Name))
		if h.Typeflag == tar.TypeDir {
			err = k.Files.MkdirAll(name, fs.FileMode(h.Mode).Perm())
		} else {
			var data bytes.Buffer
			if _, err = io.Copy(&data, r); err == nil {
				err = k.Files.WriteFile(name, data.Bytes(), fs.FileMode(h.Mode).Perm())
			}
		}
		if err != nil {
			return k.Fail("can't unpack %s: %v", h.Name, err)
		}
	}
}

// ncatPort is the port that ncat is to listen at.
func ncatPort(args []string) int {
	for _, arg := range args {
		if port, err := strconv.Atoi(arg); err == nil && port > 0 && port < 1<<16 {
			return port
		}
	}
	return 31337
}

// ncatServer answers who connects with what xtrabackup writes, if that is the program that ncat is to run.
func (c *Container) ncatServer(args []string) *Server {
	l := Listener{}
	if strings.Contains(strings.Join(args, " "), "xtrabackup --backup") {
		l.Stream = func(_ context.Context, _ io.Reader, to io.Writer) { _ = backup(databaseFiles{c.tree()}, to) } // who reads may have gone
	}
	return &Server{Ports: map[int]Listener{ncatPort(args): l}}
}

// ncat connects, and writes what comes.
func ncat(k *call) int {
	var words []string
	for _, arg := range k.Args {
		if !strings.HasPrefix(arg, "-") {
			words = append(words, arg)
		}
	}
	if len(words) < 2 || !k.reaches(words[0], ncatPort(words[1:])) {
		fmt.Fprintln(k.Stderr, "Ncat: Connection refused.")
		return 1
	}
	l, err := k.session.c.cfg.Network.Connect(k, words[0], Port{Number: ncatPort(words[1:])})
	if err == nil && l.Stream != nil {
		l.Stream(k, strings.NewReader(""), k.Stdout)
	}
	return 0
}
