package database

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"
)

// A replica copies the files of its source before each statement that it is asked to run: nobody sees that it has waited, and
// nothing runs in between.

// source is the server that another one copies.
type source struct {
	Host     string `json:"host"`
	Port     int    `json:"port"`
	User     string `json:"user"`
	Password string `json:"password,omitempty"`
	Running  bool   `json:"running"`
	problem  error  // why it could not be copied; nil: it was
}

func (s *Server) sourceFile() string { return path.Join(s.Dir, "mysql", "source.json") }

// loadSource reads what an earlier server has kept of its source.
func (s *Server) loadSource() error {
	data, err := s.Files.ReadFile(s.sourceFile())
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	} else if err != nil {
		return err
	}
	return json.Unmarshal(data, &s.source)
}

// replicate is CHANGE MASTER TO, START and STOP SLAVE, and RESET, with the words of newer servers as well.
func (s *Server) replicate(_ context.Context, t []token) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case starts(t, "CHANGE", "MASTER", "TO"), starts(t, "CHANGE", "REPLICATION", "SOURCE"):
		to := source{Port: 3306}
		for i := 0; i+2 < len(t); i++ {
			name, _ := strings.CutPrefix(strings.TrimPrefix(strings.ToUpper(t[i].text), "SOURCE_"), "MASTER_")
			if !t[i+1].is("=") {
				continue
			}
			switch value := t[i+2].text; name {
			case "HOST":
				to.Host = value
			case "USER":
				to.User = value
			case "PASSWORD":
				to.Password = value
			case "PORT":
				if n, err := strconv.Atoi(value); err == nil {
					to.Port = n
				}
			}
		}
		if s.source.Running {
			return refused(3021, "HY000", "This operation cannot be performed with a running replica io thread; run STOP REPLICA IO_THREAD FOR CHANNEL '' first.")
		}
		s.source = to
	case len(t) > 1 && t[1].is("SLAVE", "REPLICA"):
		switch {
		case t[0].is("START") && s.source.Host == "":
			return refused(1200, "HY000", "The server is not configured as replica; fix in config file or with CHANGE REPLICATION SOURCE TO")
		case t[0].is("RESET"):
			s.source = source{}
		default:
			s.source.Running = t[0].is("START")
		}
	case starts(t, "RESET", "MASTER"), starts(t, "RESET", "BINARY"):
		return nil
	default:
		return unsupported(strings.ToUpper(written(t[:min(2, len(t))])))
	}
	data, err := json.Marshal(s.source)
	if err != nil {
		return err
	}
	return s.Files.WriteFile(s.sourceFile(), data, 0o640)
}

// catchUp has a replica take what its source has by now. It keeps what it has where the source is not there.
func (s *Server) catchUp(ctx context.Context) {
	s.mu.Lock()
	from := s.source
	s.mu.Unlock()
	if !from.Running || s.Dial == nil {
		return
	}
	err := s.copyFrom(ctx, from)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.source.problem = err
}

func (s *Server) copyFrom(ctx context.Context, from source) error {
	other, err := s.Dial(ctx, from.Host, from.Port)
	if err != nil {
		return err
	}
	m, ok := other.dialect.(mysql)
	if !ok || other == s {
		return errors.New("it is no server that can be copied")
	}
	if err := other.admits(Login{User: from.User, Password: from.Password, From: s.Hostname}); err != nil {
		return err
	}
	names := m.databases(other)
	for _, name := range m.databases(s) {
		if !slices.Contains(names, name) {
			err = errors.Join(err, s.Files.Remove(path.Join(s.Dir, name), true))
		}
	}
	for _, name := range names {
		err = errors.Join(err, s.copyDatabase(other, name))
	}
	return err
}

// copyDatabase copies a database that is not as the source has it. One that somebody uses in this moment is left to the next time.
func (s *Server) copyDatabase(from *Server, name string) error {
	if err := s.Files.MkdirAll(path.Join(s.Dir, name), 0o750); err != nil {
		return err
	}
	var data []byte
	there := from.dialect.file(from, name)
	read, err := from.disk.still(there, false, func() (err error) {
		data, err = from.Files.ReadFile(there)
		return err
	})
	if !read || errors.Is(err, fs.ErrNotExist) { // there is no table in it yet
		return nil
	} else if err != nil {
		return err
	}
	here := s.dialect.file(s, name)
	_, err = s.disk.still(here, true, func() error {
		if has, err := s.Files.ReadFile(here); err == nil && bytes.Equal(has, data) {
			return nil
		}
		return s.Files.WriteFile(here, data, 0o640)
	})
	return err
}

// showReplication is SHOW MASTER STATUS and SHOW SLAVE STATUS, with the words of newer servers as well.
func (s *Server) showReplication(t []token) (*Result, error) {
	if t[0].is("MASTER", "BINARY") {
		return tableOf([]string{"File", "Position", "Binlog_Do_DB", "Binlog_Ignore_DB", "Executed_Gtid_Set"}, []string{binaryLog, binaryPosition, "", "", ""}), nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.source.Host == "" {
		return &Result{}, nil
	}
	io, sql, state, behind, problem := "Yes", "Yes", "Waiting for master to send event", "0", ""
	switch {
	case !s.source.Running:
		io, sql, state, behind = "No", "No", "", null
	case s.source.problem != nil:
		io, state, behind = "Connecting", "Connecting to master", null
		problem = "error connecting to master '" + s.source.User + "@" + s.source.Host + ":" + strconv.Itoa(s.source.Port) + "'"
	}
	primary, replica := "Master", "Slave"
	if t[0].is("REPLICA", "REPLICAS") {
		primary, replica = "Source", "Replica"
		state = strings.ReplaceAll(state, "master", "source")
	}
	return tableOf([]string{replica + "_IO_State", primary + "_Host", primary + "_User", primary + "_Port", primary + "_Log_File", "Read_" + primary + "_Log_Pos", replica + "_IO_Running", replica + "_SQL_Running", "Seconds_Behind_" + primary, "Last_IO_Error"},
		[]string{state, s.source.Host, s.source.User, strconv.Itoa(s.source.Port), binaryLog, binaryPosition, io, sql, behind, problem}), nil
}

// Where the log of changes is said to be, which no server here has.
const (
	binaryLog      = "mysql-bin.000003"
	binaryPosition = "154"
)

// Backup says what xtrabackup writes of the place from which a copy of the folder of a server goes on: the file, and what is in it.
func Backup(files Files, dir string) (name, text string) {
	var from source
	if data, err := files.ReadFile(path.Join(dir, "mysql", "source.json")); err == nil && json.Unmarshal(data, &from) == nil && from.Host != "" {
		return "xtrabackup_slave_info", "CHANGE MASTER TO MASTER_LOG_FILE='" + binaryLog + "', MASTER_LOG_POS=" + binaryPosition + ";\n"
	}
	return "xtrabackup_binlog_info", binaryLog + "\t" + binaryPosition + "\n"
}
