package share

// Stored answers who has stored content.
type Stored struct {
	ID string `json:"id"` // the content's path is /s/{id}
}

// Refusal is the answer of every request that fails.
type Refusal struct {
	Message string `json:"message"`
}
