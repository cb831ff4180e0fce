package tutorials

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
)

// Text is a sentence in both languages of the page.
type Text struct {
	EN string `json:"en" jsonschema:"minLength=1"`
	ZH string `json:"zh" jsonschema:"minLength=1"`
}

// Lesson is lesson.yaml.
type Lesson struct {
	// ID is the folder: part/lesson.
	ID      string `json:"id" jsonschema:"pattern=^[a-z0-9-]+/[a-z0-9-]+$"`
	Title   Text   `json:"title"`
	Minutes int    `json:"minutes" jsonschema:"minimum=1,maximum=60"`
	// Covers are headings of the reference by their numbers in reference.yaml, such as 2-21.
	Covers []string `json:"covers" jsonschema:"minItems=1"`
	// Namespace is made for the lesson and is the terminal's default.
	Namespace string `json:"namespace" jsonschema:"pattern=^[a-z0-9-]+$"`
	// Alone says that the lesson moves the clock, compacts the store, or does something else that would disturb other
	// lessons in the same cluster: tests give it a cluster of its own. A learner's lesson always has one.
	Alone bool `json:"alone,omitempty"`
	// Engine is what the engine is started with when the lesson begins; empty means as always.
	Engine *Engine `json:"engine,omitempty"`
	Clock  *Clock  `json:"clock,omitempty"`
	// Objects names what checks look at.
	Objects   map[string]Watched `json:"objects,omitempty"`
	Steps     []Step             `json:"steps" jsonschema:"minItems=1"`
	Challenge *Step              `json:"challenge,omitempty"`
}

// Engine is what an engine is started with for a lesson. What is empty is as always.
type Engine struct {
	// EmulatedVersion is as --emulated-version, such as "1.36".
	EmulatedVersion string `json:"emulatedVersion,omitempty"`
	// RuntimeConfig is as --runtime-config.
	RuntimeConfig map[string]string `json:"runtimeConfig,omitempty"`
	// FeatureGates is as --feature-gates.
	FeatureGates map[string]bool `json:"featureGates,omitempty"`
}

// Same reports whether two engines are started with the same. Nil is as an empty one.
func (e *Engine) Same(other *Engine) bool {
	a, b := cmp.Or(e, &Engine{}), cmp.Or(other, &Engine{})
	return a.EmulatedVersion == b.EmulatedVersion && maps.Equal(a.RuntimeConfig, b.RuntimeConfig) && maps.Equal(a.FeatureGates, b.FeatureGates)
}

// Clock is how the cluster's clock begins.
type Clock struct {
	Paused bool `json:"paused,omitempty"`
}

// Watched says which objects a name in checks stands for: "deployments.apps" in the lesson's namespace, or
// {resource: secrets, namespace: other}. Objects of cluster-scoped resources are all watched.
type Watched struct {
	// Resource is the plural and, after a dot, the group: configmaps, deployments.apps.
	Resource string `json:"resource" jsonschema:"pattern=^[a-z0-9]+([.][a-z0-9.-]+)?$"`
	// Namespace is another one than the lesson's; "*" means all.
	Namespace string `json:"namespace,omitempty"`
}

// UnmarshalJSON takes the short form, too.
func (w *Watched) UnmarshalJSON(data []byte) error {
	if len(data) > 0 && data[0] == '"' {
		return json.Unmarshal(data, &w.Resource)
	}
	type plain Watched
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	return d.Decode((*plain)(w))
}

// Step is a step of a lesson, or its challenge. Its text is the section with the same id.
type Step struct {
	ID string `json:"id" jsonschema:"pattern=^[a-z0-9-]+$"`
	// Engine is what the learner starts the engine again with in this step, on the same objects: all of its settings. An
	// empty one is the usual engine.
	Engine *Engine `json:"engine,omitempty"`
	Checks []Check `json:"checks" jsonschema:"minItems=1"`
	Hints  []Hint  `json:"hints,omitempty"`
	// Predict is a guess that the text asks for. It has no effect on checks.
	Predict *Prediction `json:"predict,omitempty"`
	// Solution are command lines that make this step's checks true, one after another in one terminal.
	Solution []string `json:"solution" jsonschema:"minItems=1"`
	// Wrong are wrong turns that bring a hint.
	Wrong []Wrong `json:"wrong,omitempty"`
}

// Who says whose requests a check or a hint looks at.
type Who string

const (
	Learner Who = ""     // the learner's: terminal, console, editor, scripts, a fetch of their own
	Pods    Who = "pods" // of programs in the lesson's Pods
	Anybody Who = "any"  // both
)

// Check is something that becomes true. Exactly one of Once, Now, None, Never and Answer says what.
type Check struct {
	// ID is unique in the lesson.
	ID string `json:"id" jsonschema:"pattern=^[a-zA-Z0-9-]+$"`
	// Title is what the learner sees beside the tick.
	Title Text `json:"title"`
	// Once is CEL that has been true: of a request, or of objects.
	Once string `json:"once,omitempty"`
	// Now is CEL over objects that is true.
	Now string `json:"now,omitempty"`
	// For is how long Now must have been true, such as 10s.
	For string `json:"for,omitempty" jsonschema:"pattern=^[0-9]+(s|m)$"`
	// None is CEL over objects that was true and is not any more.
	None string `json:"none,omitempty"`
	// Never is CEL that fails the check for good once it is true. The check is done when the others of its step are.
	Never string `json:"never,omitempty"`
	// Answer is what the learner has to find out.
	Answer *Answer `json:"answer,omitempty"`
	// Seen is CEL of a string: what was seen, shown beside the tick.
	Seen string `json:"seen,omitempty"`
	// After names a check of the lesson: only what comes after that one became true counts.
	After string `json:"after,omitempty"`
	// Who says whose requests count: the learner's if empty.
	Who Who `json:"who,omitempty" jsonschema:"enum=pods,enum=any"`
}

// Answer is a key of the ConfigMap answers in the lesson's namespace with its right value.
type Answer struct {
	Key    string `json:"key" jsonschema:"pattern=^[a-zA-Z0-9._-]+$"`
	Equals string `json:"equals"`
}

// AnswersName is the ConfigMap of what learners answer.
const AnswersName = "answers"

// Hint says what is wrong now and why. When is true of a request: the hint is shown from then on, until Until is true or
// the step is done. State is true of objects: the hint is shown while it is.
type Hint struct {
	ID    string `json:"id" jsonschema:"pattern=^[a-z0-9-]+$"`
	When  string `json:"when,omitempty"`
	State string `json:"state,omitempty"`
	Until string `json:"until,omitempty"`
	Who   Who    `json:"who,omitempty" jsonschema:"enum=pods,enum=any"`
	Text  Text   `json:"text"`
}

// Prediction is a question with its possible answers.
type Prediction struct {
	Question Text     `json:"question"`
	Options  []Option `json:"options" jsonschema:"minItems=2"`
	Why      Text     `json:"why"`
}

// Option is a possible answer to a prediction.
type Option struct {
	Text  Text `json:"text"`
	Right bool `json:"right,omitempty"`
}

// Wrong are command lines that bring a hint of the step.
type Wrong struct {
	Lines []string `json:"lines" jsonschema:"minItems=1"`
	Hint  string   `json:"hint"`
	// Early says that the turn is taken before the engine is started again that the step asks for.
	Early bool `json:"early,omitempty"`
	// Alone says that the lines of the solution do not go on from what the turn leaves: it is played by itself.
	Alone bool `json:"alone,omitempty"`
}

// All are the steps and the challenge.
func (l *Lesson) All() []Step {
	if l.Challenge == nil {
		return l.Steps
	}
	return append(slices.Clip(slices.Clone(l.Steps)), *l.Challenge)
}

// Condition returns which of the five a check is, with its CEL. It fails when there is none or more than one.
func (c *Check) Condition() (kind, expression string, err error) {
	for _, one := range []struct{ kind, expression string }{{"once", c.Once}, {"now", c.Now}, {"none", c.None}, {"never", c.Never}, {"answer", c.Answer.expression()}} {
		switch {
		case one.expression == "":
		case kind != "":
			return "", "", fmt.Errorf("check %s has both %s and %s: a check is one thing", c.ID, kind, one.kind)
		default:
			kind, expression = one.kind, one.expression
		}
	}
	if kind == "" {
		return "", "", fmt.Errorf("check %s has none of once, now, none, never and answer", c.ID)
	}
	return kind, expression, nil
}

// AnswersVariable is what CEL calls the ConfigMaps named answers in the lesson's namespace.
const AnswersVariable = "answers"

func (a *Answer) expression() string {
	if a == nil {
		return ""
	}
	return fmt.Sprintf("%s.exists(o, o.data[%q].trim() == %q)", AnswersVariable, a.Key, a.Equals)
}

// Course is course.yaml: the order of lessons.
type Course struct {
	Parts []Part `json:"parts" jsonschema:"minItems=1"`
}

// Part is a part of the course.
type Part struct {
	ID    string `json:"id" jsonschema:"pattern=^[a-z0-9-]+$"`
	Title Text   `json:"title"`
	// Lessons are ids of lessons that are complete.
	Lessons []string `json:"lessons,omitempty"`
}

// Heading is one of the reference that the lessons are to cover.
type Heading struct {
	Number string `json:"number"`
	Title  string `json:"title"`
}
