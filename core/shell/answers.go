package shell

import "time"

// Identity is who kubectl is in the terminal, by its kubeconfig: a person of
// people.All, or somebody whom the first of them impersonates.
type Identity struct {
	// Context is the current one; empty when there is none.
	Context string `json:"context"`
	// User is the name that the API server knows; empty when the kubeconfig
	// does not say it, as for a certificate.
	User   string   `json:"user"`
	Groups []string `json:"groups"`
}

// Result is what a command line did.
type Result struct {
	Stdout   string `json:"stdout"`
	Stderr   string `json:"stderr"`
	ExitCode int    `json:"exitCode"`
}

// Folder is the listing of a folder.
type Folder struct {
	Entries []FileEntry `json:"entries"`
	Path    string      `json:"path"`
}

// FileEntry is a file or a folder in the listing of the folder that it is in.
type FileEntry struct {
	Name     string    `json:"name"`
	Folder   bool      `json:"folder"`
	Size     int64     `json:"size"` // bytes
	Modified time.Time `json:"modified"`
}

// FileChange is a change of a file below a folder that somebody watches.
type FileChange struct {
	Type string `json:"type" tstype:"'changed' | 'deleted'"`
	Path string `json:"path"` // absolute
}

// NewTerminal is a terminal that was opened.
type NewTerminal struct {
	Home string `json:"home"` // the home folder
	ID   string `json:"id"`   // of its paths: /kubetab/terminals/{id}
}

// Script is a file of JavaScript that the page shall run, for a command that waits.
type Script struct {
	Name string `json:"name"` // as the command names the file
	Text string `json:"text"`
}

// Download is a file of another site that the page shall fetch, for a command that waits.
type Download struct {
	Address string `json:"address"`
	Most    int64  `json:"most"` // bytes
}
