package main

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"github.com/kubetab/kubetab/tutorials"
	"github.com/kubetab/kubetab/tutorials/load"
)

// What the page reads; web/src/page/lessons/course/course.ts has the same types.
type (
	course struct {
		Parts []part `json:"parts"`
	}
	part struct {
		ID      string         `json:"id"`
		Title   tutorials.Text `json:"title"`
		Lessons []entry        `json:"lessons"`
	}
	entry struct {
		ID      string         `json:"id"`
		Title   tutorials.Text `json:"title"`
		Minutes int            `json:"minutes"`
	}
	lesson struct {
		ID        string            `json:"id"`
		Title     string            `json:"title"`
		Minutes   int               `json:"minutes"`
		Namespace string            `json:"namespace"`
		Engine    *tutorials.Engine `json:"engine,omitempty"`
		Clock     *tutorials.Clock  `json:"clock,omitempty"`
		// Lesson is the body of PUT /kubetab/lesson.
		Lesson any `json:"lesson"`
		// Files are those of the workspace by name, and SolutionFiles those that the solution reads.
		Files         map[string]string `json:"files,omitempty"`
		SolutionFiles map[string]string `json:"solutionFiles,omitempty"`
		Intro         []load.Block      `json:"intro"`
		Steps         []step            `json:"steps"`
	}
	step struct {
		ID        string `json:"id"`
		Title     string `json:"title"`
		Challenge bool   `json:"challenge,omitempty"`
		// Engine is what the step has the engine restarted with.
		Engine   *tutorials.Engine `json:"engine,omitempty"`
		Blocks   []load.Block      `json:"blocks"`
		Checks   []check           `json:"checks"`
		Hints    []hint            `json:"hints,omitempty"`
		Predict  *prediction       `json:"predict,omitempty"`
		Solution []string          `json:"solution"`
	}
	check struct {
		ID     string  `json:"id"`
		Title  string  `json:"title"`
		Answer *answer `json:"answer,omitempty"`
	}
	answer struct {
		Key string `json:"key"`
	}
	hint struct {
		ID   string `json:"id"`
		Text string `json:"text"`
	}
	prediction struct {
		Question string   `json:"question"`
		Options  []option `json:"options"`
		Why      string   `json:"why"`
	}
	option struct {
		Text  string `json:"text"`
		Right bool   `json:"right,omitempty"`
	}
)

// pageFiles are the files of the page by name: the course without texts, and each lesson in each language.
func pageFiles(all *load.Tutorials) (map[string][]byte, error) {
	files := map[string][]byte{}
	add := func(name string, value any) error {
		var out bytes.Buffer
		encoder := json.NewEncoder(&out)
		encoder.SetEscapeHTML(false) // it is no part of a page's markup
		err := encoder.Encode(value)
		files[name] = out.Bytes()
		return err
	}
	index := course{Parts: []part{}}
	for _, p := range all.Course.Parts {
		out := part{p.ID, p.Title, []entry{}}
		for _, id := range p.Lessons {
			l := all.Lessons[id]
			out.Lessons = append(out.Lessons, entry{id, l.Title, l.Minutes})
			for _, language := range load.Languages {
				if err := add(id+"."+language+".json", pageLesson(l, language)); err != nil {
					return nil, err
				}
			}
		}
		index.Parts = append(index.Parts, out)
	}
	return files, add("index.json", index)
}

func pageLesson(l *load.Lesson, language string) lesson {
	in := func(t tutorials.Text) string {
		if language == "zh" {
			return t.ZH
		}
		return t.EN
	}
	prose := l.Texts[language]
	out := lesson{
		ID: l.ID, Title: in(l.Title), Minutes: l.Minutes, Namespace: l.Namespace, Engine: l.Engine, Clock: l.Clock,
		Lesson: armed(l.Begin()), Files: byName(l.FilesIn(language)), SolutionFiles: byName(l.Solution), Intro: orEmpty(prose.Intro), Steps: []step{},
	}
	for i, s := range l.All() {
		section := prose.Sections[i]
		one := step{
			ID: s.ID, Title: section.Title, Challenge: i == len(l.Steps), Engine: s.Engine, Blocks: orEmpty(section.Blocks),
			Checks: []check{}, Solution: s.Solution,
		}
		for _, c := range s.Checks {
			shown := check{ID: c.ID, Title: in(c.Title)}
			if c.Answer != nil {
				shown.Answer = &answer{c.Answer.Key}
			}
			one.Checks = append(one.Checks, shown)
		}
		for _, h := range s.Hints {
			one.Hints = append(one.Hints, hint{h.ID, in(h.Text)})
		}
		if p := s.Predict; p != nil {
			one.Predict = &prediction{Question: in(p.Question), Why: in(p.Why)}
			for _, o := range p.Options {
				one.Predict.Options = append(one.Predict.Options, option{in(o.Text), o.Right})
			}
		}
		out.Steps = append(out.Steps, one)
	}
	return out
}

func orEmpty(blocks []load.Block) []load.Block {
	if blocks == nil {
		return []load.Block{}
	}
	return blocks
}

func byName(files []tutorials.File) map[string]string {
	if len(files) == 0 {
		return nil
	}
	m := map[string]string{}
	for _, f := range files {
		m[f.Name] = f.Text
	}
	return m
}

// armed is what the evaluator needs of a lesson: what only the page shows is left out, since it is there already.
func armed(b tutorials.Begin) any {
	text, err := json.Marshal(b)
	if err != nil {
		panic(err) // of strings, numbers and lists of them
	}
	var all map[string]any
	if err := json.Unmarshal(text, &all); err != nil {
		panic(err) // it was just written
	}
	prune(all["lesson"], "title", "minutes", "covers", "predict", "solution", "wrong", "text", "engine", "clock", "alone")
	requote(all["lesson"], "once", "now", "none", "never", "seen", "when", "state", "until")
	return all
}

// requote gives CEL single quotes, which JSON does not escape. Where there is neither another quote nor an escape, each
// double quote is one end of a string.
func requote(value any, keys ...string) {
	switch v := value.(type) {
	case []any:
		for _, one := range v {
			requote(one, keys...)
		}
	case map[string]any:
		for name, one := range v {
			text, isText := one.(string)
			if isText && slices.Contains(keys, name) && !strings.ContainsAny(text, `'\`) {
				v[name] = strings.ReplaceAll(text, `"`, "'")
			} else if name != "objects" {
				requote(one, keys...)
			}
		}
	}
}

// prune drops keys at any depth of what a lesson's maps and lists are; objects, which names are free in, has none of them.
func prune(value any, keys ...string) {
	switch v := value.(type) {
	case []any:
		for _, one := range v {
			prune(one, keys...)
		}
	case map[string]any:
		for _, key := range keys {
			delete(v, key)
		}
		for name, one := range v {
			if name != "objects" {
				prune(one, keys...)
			}
		}
	}
}
