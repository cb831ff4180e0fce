package load

// Block is HTML, code, or a table.
type Block struct {
	// Kind is of a table "table". HTML and code are told apart by what they have, because there are many of them in a
	// lesson, whose size is limited.
	Kind string `json:"kind,omitempty" tstype:"'table'"`
	HTML string `json:"html,omitempty"`
	// Language, Actions (run, put, open), File (of open) and Text are those of code. A table has its heads as Text, and
	// its rows in the file File of the lesson; see Cells.
	Language string   `json:"language,omitempty"`
	Actions  []string `json:"actions,omitempty"`
	File     string   `json:"file,omitempty"`
	Text     string   `json:"text,omitempty"`

	line int
}
