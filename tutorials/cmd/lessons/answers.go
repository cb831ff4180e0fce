package main

import (
	"github.com/kubetab/kubetab/tutorials"
	"github.com/kubetab/kubetab/tutorials/load"
)

// Course is index.json: what the page shows of the lessons before one of them is opened.
type Course struct {
	Parts []Part `json:"parts"`
}

// Part is a part of the course, with its lessons in their order.
type Part struct {
	ID      string         `json:"id"`
	Title   tutorials.Text `json:"title"`
	Lessons []Entry        `json:"lessons"`
}

// Entry is a lesson as the map of the course shows it.
type Entry struct {
	ID      string         `json:"id"` // its folder under tutorials/, such as first/request
	Title   tutorials.Text `json:"title"`
	Minutes int            `json:"minutes"`
}

// Lesson is a lesson in one language.
type Lesson struct {
	ID      string `json:"id"`
	Title   string `json:"title"`
	Minutes int    `json:"minutes"`
	// Namespace is the one that the lesson plays in, and the terminal's default there.
	Namespace string `json:"namespace"`
	// Engine is what the engine is started with when the lesson begins, beside the defaults.
	Engine *tutorials.Engine `json:"engine,omitempty"`
	Clock  *tutorials.Clock  `json:"clock,omitempty"`
	// Lesson is the body of PUT /kubetab/lesson.
	Lesson map[string]any `json:"lesson"`
	// Files are those of the workspace by name, and SolutionFiles those that the solution reads.
	Files         map[string]string `json:"files,omitempty"`
	SolutionFiles map[string]string `json:"solutionFiles,omitempty"`
	Intro         []load.Block      `json:"intro"`
	Steps         []Step            `json:"steps"`
}

// Step is a step of a lesson.
type Step struct {
	ID        string `json:"id"`
	Title     string `json:"title"`
	Challenge bool   `json:"challenge,omitempty"`
	// Engine is what the step has the engine restarted with.
	Engine  *tutorials.Engine `json:"engine,omitempty"`
	Blocks  []load.Block      `json:"blocks"`
	Checks  []Check           `json:"checks"`
	Hints   []Hint            `json:"hints,omitempty"`
	Predict *Prediction       `json:"predict,omitempty"`
	// Solution is command lines, which are run in the terminal one after another.
	Solution []string `json:"solution"`
}

// Check is a check of a step.
type Check struct {
	ID     string  `json:"id"`
	Title  string  `json:"title"`
	Answer *Answer `json:"answer,omitempty"`
}

// Answer is a word that the learner answers a check by.
type Answer struct {
	Key string `json:"key"` // in the ConfigMap answers
}

// Hint is a hint of a step.
type Hint struct {
	ID   string `json:"id"`
	Text string `json:"text"`
}

// Prediction is a guess before a surprise.
type Prediction struct {
	Question string   `json:"question"`
	Options  []Option `json:"options"`
	Why      string   `json:"why"`
}

// Option is one of the guesses.
type Option struct {
	Text  string `json:"text"`
	Right bool   `json:"right,omitempty"`
}
