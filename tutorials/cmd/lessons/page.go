package main

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"github.com/kubetab/kubetab/tutorials"
	"github.com/kubetab/kubetab/tutorials/load"
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
	index := Course{Parts: []Part{}}
	for _, p := range all.Course.Parts {
		out := Part{p.ID, p.Title, []Entry{}}
		for _, id := range p.Lessons {
			l := all.Lessons[id]
			out.Lessons = append(out.Lessons, Entry{id, l.Title, l.Minutes})
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

func pageLesson(l *load.Lesson, language string) Lesson {
	in := func(t tutorials.Text) string {
		if language == "zh" {
			return t.ZH
		}
		return t.EN
	}
	prose := l.Texts[language]
	out := Lesson{
		ID: l.ID, Title: in(l.Title), Minutes: l.Minutes, Namespace: l.Namespace, Engine: l.Engine, Clock: l.Clock,
		Lesson: armed(l.Begin()), Files: byName(l.FilesIn(language)), SolutionFiles: byName(l.Solution), Intro: orEmpty(prose.Intro), Steps: []Step{},
	}
	for i, s := range l.All() {
		section := prose.Sections[i]
		one := Step{
			ID: s.ID, Title: section.Title, Challenge: i == len(l.Steps), Engine: s.Engine, Blocks: orEmpty(section.Blocks),
			Checks: []Check{}, Solution: s.Solution,
		}
		for _, c := range s.Checks {
			shown := Check{ID: c.ID, Title: in(c.Title)}
			if c.Answer != nil {
				shown.Answer = &Answer{c.Answer.Key}
			}
			one.Checks = append(one.Checks, shown)
		}
		for _, h := range s.Hints {
			one.Hints = append(one.Hints, Hint{h.ID, in(h.Text)})
		}
		if p := s.Predict; p != nil {
			one.Predict = &Prediction{Question: in(p.Question), Why: in(p.Why)}
			for _, o := range p.Options {
				one.Predict.Options = append(one.Predict.Options, Option{in(o.Text), o.Right})
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
func armed(b tutorials.Begin) map[string]any {
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
