package controllers

// Choice is a controller that Config.Enabled can turn on and off.
type Choice struct {
	Name string `json:"name"`
	// Default says that it is among the "*" of Config.Enabled.
	Default bool   `json:"default"`
	Note    string `json:"note,omitempty"`
}

// Choices returns all controllers that run here, in the order of the table.
func Choices() []Choice {
	enabled, err := enabledControllers(nil)
	if err != nil {
		panic(err) // the defaults are names of the table
	}
	var choices []Choice
	for _, row := range table {
		if row.absent == "" {
			choices = append(choices, Choice{row.name, enabled[row.name], row.note})
		}
	}
	return choices
}
