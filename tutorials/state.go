package tutorials

import "encoding/json"

// File is a file of a lesson with its name in its folder.
type File struct {
	Name string `json:"name"`
	Text string `json:"text"`
}

// Begin is the body of PUT /kubetab/lesson.
type Begin struct {
	Lesson Lesson `json:"lesson"`
	// Start are the manifests of start/, in the order in which they are applied.
	Start []File `json:"start,omitempty"`
	// Progress is how the lesson stood when it was last looked at, for one that somebody comes back to: the Steps of that
	// State. Steps and checks that the lesson does not have are passed over.
	Progress []StepState `json:"progress,omitempty"`
}

// State is what GET /kubetab/lesson answers.
type State struct {
	// ID is empty when there is no lesson.
	ID string `json:"id"`
	// Ready says that start/ has been applied and the checks are being looked at.
	Ready bool `json:"ready"`
	// Steps are in the order of the lesson; the challenge is last.
	Steps []StepState `json:"steps"`
	// Error is why the lesson could not begin, or what was wrong with it since.
	Error string `json:"error,omitempty"`
}

// StepState is a step as it stands.
type StepState struct {
	ID string `json:"id"`
	// Done: all checks were true at one time and none had failed. It stays.
	Done   bool         `json:"done"`
	Checks []CheckState `json:"checks"`
	// Hints are those that are shown.
	Hints []string `json:"hints"`
}

// CheckState is a check as it stands.
type CheckState struct {
	ID   string `json:"id"`
	Done bool   `json:"done"`
	// Failed is for a never that has been true.
	Failed bool   `json:"failed,omitempty"`
	Seen   string `json:"seen,omitempty"`
	// At is when it became true, in RFC 3339.
	At string `json:"at,omitempty"`
	// Request is what made the check true, for the `earlier` of a later engine, and without what is large in it. It is
	// there if an expression of the lesson looks at it.
	Request json.RawMessage `json:"request,omitempty"`
	// Error is why the check cannot be looked at.
	Error string `json:"error,omitempty"`
}
