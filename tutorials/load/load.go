// Package load reads lessons from their folders. It refuses a folder that is no valid lesson, and reports all faults at
// once, each with its file and line.
package load

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/kubetab/kubetab/tutorials"
	"github.com/kubetab/kubetab/tutorials/checks"
)

// Languages are those that every text is in.
var Languages = []string{"en", "zh"}

// Lesson is a folder that has been read.
type Lesson struct {
	tutorials.Lesson
	// Start are the manifests that are applied first, Files what the workspace begins with, and Solution what the
	// solution's command lines read. All are in the order of their names.
	Start, Files, Solution []tutorials.File
	// Translated are the texts of those Files that are prose, by language and name: files/NAME.zh.EXT takes the place of
	// NAME.EXT for whoever reads the lesson in Chinese. Checks and solutions know no language.
	Translated map[string]map[string]string
	// Texts are by language.
	Texts map[string]*Prose
}

// FilesIn are Files for whoever reads the lesson in a language.
func (l *Lesson) FilesIn(language string) []tutorials.File {
	files := slices.Clone(l.Files)
	for i, f := range files {
		if text, ok := l.Translated[language][f.Name]; ok {
			files[i].Text = text
		}
	}
	return files
}

// Begin is what the evaluator is given.
func (l *Lesson) Begin() tutorials.Begin {
	return tutorials.Begin{Lesson: l.Lesson, Start: l.Start}
}

// Tutorials are all lessons.
type Tutorials struct {
	Course tutorials.Course
	// Headings are those of the reference.
	Headings []tutorials.Heading
	// Lessons are by id: those of the course, and those that are not in it yet.
	Lessons map[string]*Lesson
}

// IDs are those of all lessons, in the order of the course; what is not in it yet comes last.
func (t *Tutorials) IDs() []string {
	var ids []string
	for _, part := range t.Course.Parts {
		ids = append(ids, part.Lessons...)
	}
	var rest []string
	for id := range t.Lessons {
		if !slices.Contains(ids, id) {
			rest = append(rest, id)
		}
	}
	slices.Sort(rest)
	return append(ids, rest...)
}

// Problem is a fault in a file. Line is 0 where there is none to name.
type Problem struct {
	File    string
	Line    int
	Message string
}

func (p *Problem) Error() string {
	if p.Line == 0 {
		return p.File + ": " + p.Message
	}
	return fmt.Sprintf("%s:%d: %s", p.File, p.Line, p.Message)
}

// reader collects the faults of what it reads.
type reader struct {
	fs       fs.FS
	problems []*Problem
	known    map[string]bool // ids of the lessons that are there
	headings map[string]bool // nil: not checked
}

func (r *reader) problem(file string, line int, format string, args ...any) {
	r.problems = append(r.problems, &Problem{file, line, fmt.Sprintf(format, args...)})
}

// err joins the problems in the order of files and lines.
func (r *reader) err() error {
	slices.SortStableFunc(r.problems, func(a, b *Problem) int {
		if c := strings.Compare(a.File, b.File); c != 0 {
			return c
		}
		return a.Line - b.Line
	})
	all := make([]error, len(r.problems))
	for i, p := range r.problems {
		all[i] = p
	}
	return errors.Join(all...)
}

// All reads the folder of tutorials: course.yaml, reference.yaml and every lesson. The error joins a *Problem for each
// fault; what could be read is returned with it.
func All(from fs.FS) (*Tutorials, error) {
	r, err := newReader(from)
	if err != nil {
		return nil, err
	}
	t := &Tutorials{Lessons: map[string]*Lesson{}}
	r.yaml("course.yaml", &t.Course)
	t.Headings = r.readHeadings()
	listed := map[string]bool{}
	for _, part := range t.Course.Parts {
		if listed[part.ID] {
			r.problem("course.yaml", 0, "two parts have the id %s", part.ID)
		}
		listed[part.ID] = true
		for _, id := range part.Lessons {
			if listed[id] {
				r.problem("course.yaml", 0, "lesson %s is listed twice", id)
			}
			listed[id] = true
			if !r.known[id] {
				r.problem("course.yaml", 0, "there is no lesson %s", id)
			}
			if !strings.HasPrefix(id, part.ID+"/") {
				r.problem("course.yaml", 0, "lesson %s is in another part's folder than %s", id, part.ID)
			}
		}
	}
	namespaces := map[string]string{}
	for id := range r.known {
		l := r.lesson(id)
		if l == nil {
			continue
		}
		t.Lessons[id] = l
		if other := namespaces[l.Namespace]; other != "" {
			r.problem(id+"/lesson.yaml", 0, "lesson %s has the namespace %s, too", other, l.Namespace)
		}
		namespaces[l.Namespace] = id
	}
	return t, r.err()
}

// One reads a single lesson. Links to others and headings of the reference are checked if the folder has them.
func One(from fs.FS, id string) (*Lesson, error) {
	r, err := newReader(from)
	if err != nil {
		return nil, err
	}
	r.readHeadings()
	l := r.lesson(id)
	return l, r.err()
}

func newReader(from fs.FS) (*reader, error) {
	r := &reader{fs: from, known: map[string]bool{}}
	found, err := fs.Glob(from, "*/*/lesson.yaml")
	if err != nil {
		return nil, err
	}
	for _, name := range found {
		r.known[path.Dir(name)] = true
	}
	return r, nil
}

func (r *reader) readHeadings() []tutorials.Heading {
	var list []tutorials.Heading
	r.yaml("reference.yaml", &list)
	r.headings = map[string]bool{}
	for _, h := range list {
		if r.headings[h.Number] {
			r.problem("reference.yaml", 0, "heading %s is there twice", h.Number)
		}
		r.headings[h.Number] = true
	}
	return list
}

// lesson reads a folder. It is nil when lesson.yaml cannot be read at all.
func (r *reader) lesson(id string) *Lesson {
	file := id + "/lesson.yaml"
	l := &Lesson{Texts: map[string]*Prose{}}
	lines := r.yaml(file, &l.Lesson)
	if lines == nil {
		return nil
	}
	if l.ID != id {
		r.problem(file, lines.of("id"), "the id is %q and the folder %s", l.ID, id)
	}
	if l.Minutes < 1 || l.Minutes > 60 {
		r.problem(file, lines.of("minutes"), "minutes is %d: say how long the lesson takes, 1 to 60", l.Minutes)
	}
	if len(l.Covers) == 0 {
		r.problem(file, lines.of("covers"), "covers is empty: name the headings of reference.yaml that the lesson teaches")
	}
	for i, number := range l.Covers {
		if !r.headings[number] {
			r.problem(file, lines.of(fmt.Sprintf("covers[%d]", i)), "the reference has no heading %s", number)
		}
	}
	if l.Namespace == "" {
		r.problem(file, lines.of("namespace"), "a lesson needs a namespace")
	}
	if len(l.Steps) == 0 {
		r.problem(file, lines.of("steps"), "a lesson needs steps")
	}
	r.steps(file, lines, &l.Lesson)
	r.engines(file, lines, &l.Lesson)
	if _, _, err := checks.Compile(&l.Lesson); err != nil {
		for _, one := range unjoin(err) {
			var fault *checks.Fault
			if errors.As(one, &fault) {
				r.problem(file, lines.of(fault.Path), "%s %s", lastName(fault.Path), fault.Message)
			} else {
				r.problem(file, 0, "%v", one)
			}
		}
	}
	l.Start = r.files(id, "start")
	l.Files, l.Translated = r.translated(id, r.files(id, "files"))
	l.Solution = r.files(id, "solution")
	for _, f := range l.Start {
		r.manifests(id+"/start/"+f.Name, f.Text)
	}
	for _, language := range Languages {
		l.Texts[language] = r.prose(id, language, &l.Lesson)
	}
	r.alike(id, l.Texts)
	return l
}

// steps checks what the types cannot say.
func (r *reader) steps(file string, lines *lineMap, l *tutorials.Lesson) {
	ids := map[string]bool{}
	for i, step := range l.All() {
		at := fmt.Sprintf("steps[%d]", i)
		if i == len(l.Steps) {
			at = "challenge"
		}
		if step.ID == "" {
			r.problem(file, lines.of(at), "a step needs an id")
		} else if ids[step.ID] {
			r.problem(file, lines.of(at+".id"), "two steps have the id %s", step.ID)
		}
		ids[step.ID] = true
		if len(step.Checks) == 0 {
			r.problem(file, lines.of(at), "step %s has no checks", step.ID)
		}
		if len(step.Solution) == 0 {
			r.problem(file, lines.of(at), "step %s has no solution", step.ID)
		}
		hints := map[string]bool{}
		for j, hint := range step.Hints {
			if hint.ID == "" || hints[hint.ID] {
				r.problem(file, lines.of(fmt.Sprintf("%s.hints[%d]", at, j)), "a hint needs an id that no other of the step has, not %q", hint.ID)
			}
			hints[hint.ID] = true
		}
		for j, check := range step.Checks {
			path := fmt.Sprintf("%s.checks[%d]", at, j)
			if check.ID == "" {
				r.problem(file, lines.of(path), "a check needs an id")
			}
			if check.Who != tutorials.Learner && check.Who != tutorials.Pods && check.Who != tutorials.Anybody {
				r.problem(file, lines.of(path+".who"), "who is %q: pods and any can be", check.Who)
			}
		}
		for j, wrong := range step.Wrong {
			path := fmt.Sprintf("%s.wrong[%d]", at, j)
			if !hints[wrong.Hint] {
				r.problem(file, lines.of(path+".hint"), "step %s has no hint %q", step.ID, wrong.Hint)
			}
			if wrong.Early && step.Engine == nil {
				r.problem(file, lines.of(path+".early"), "step %s has no engine that the turn could come before", step.ID)
			}
			if len(wrong.Lines) == 0 {
				r.problem(file, lines.of(path), "a wrong turn needs lines")
			}
		}
		if p := step.Predict; p != nil && !slices.ContainsFunc(p.Options, func(o tutorials.Option) bool { return o.Right }) {
			r.problem(file, lines.of(at+".predict"), "none of the options is right")
		}
	}
}

var (
	emulatedPattern = regexp.MustCompile(`^1\.[0-9]+$`)
	gatePattern     = regexp.MustCompile(`^[A-Z][A-Za-z0-9]*$`)
	// runtimePattern is a key of --runtime-config: api/beta, v1, batch/v1, storage.k8s.io/v1beta1/csistoragecapacities.
	runtimePattern = regexp.MustCompile(`^(api/(all|ga|beta|alpha)|([a-z0-9.-]+/)?v[0-9]+((alpha|beta)[0-9]+)?(/[a-z]+)?)$`)
)

// engines checks the settings of the lesson and of its steps, as far as that can be done without an engine: whether one
// starts with them is what a test of package play asks it.
func (r *reader) engines(file string, lines *lineMap, l *tutorials.Lesson) {
	one := func(at string, e *tutorials.Engine) {
		if e == nil {
			return
		}
		if v := e.EmulatedVersion; v != "" && !emulatedPattern.MatchString(v) {
			r.problem(file, lines.of(at+".emulatedVersion"), "emulatedVersion is %q: it should be as \"1.36\"", v)
		}
		for name, value := range e.RuntimeConfig {
			if !runtimePattern.MatchString(name) || value != "true" && value != "false" {
				r.problem(file, lines.of(at+".runtimeConfig."+name), "runtimeConfig has %s=%s: it should be as batch/v1: \"false\"", name, value)
			}
		}
		for name := range e.FeatureGates {
			if !gatePattern.MatchString(name) {
				r.problem(file, lines.of(at+".featureGates."+name), "%q is no name of a feature gate", name)
			}
		}
	}
	one("engine", l.Engine)
	before := l.Engine
	for i, step := range l.All() {
		at := fmt.Sprintf("steps[%d].engine", i)
		if i == len(l.Steps) {
			at = "challenge.engine"
		}
		one(at, step.Engine)
		if step.Engine == nil {
			continue
		}
		if step.Engine.Same(before) {
			r.problem(file, lines.of(at), "step %s starts the engine again with the settings that it has", step.ID)
		}
		before = step.Engine
	}
}

// files reads the files of a folder and of those in it.
func (r *reader) files(id, folder string) []tutorials.File {
	var files []tutorials.File
	root := id + "/" + folder
	err := fs.WalkDir(r.fs, root, func(name string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) && name == root {
			return fs.SkipAll
		}
		if err != nil || d.IsDir() {
			return err
		}
		text, err := fs.ReadFile(r.fs, name)
		files = append(files, tutorials.File{Name: strings.TrimPrefix(name, root+"/"), Text: string(text)})
		return err
	})
	if err != nil {
		r.problem(root, 0, "%v", err)
	}
	return files
}

// translated takes the translations out of the files of a workspace, and gives them by language and name.
func (r *reader) translated(id string, files []tutorials.File) ([]tutorials.File, map[string]map[string]string) {
	var plain []tutorials.File
	translated := map[string]map[string]string{}
	for _, f := range files {
		name, language := originalOf(f.Name)
		switch {
		case language == "":
			plain = append(plain, f)
		case !slices.ContainsFunc(files, func(other tutorials.File) bool { return other.Name == name }):
			r.problem(id+"/files/"+f.Name, 0, "there is no file %s that this one could be a translation of", name)
		default:
			if translated[language] == nil {
				translated[language] = map[string]string{}
			}
			translated[language][name] = f.Text
		}
	}
	return plain, translated
}

// originalOf returns what a file of a workspace is a translation of, and to which language: notes.zh.txt of notes.txt. A
// file that is no translation is its own, and its language "".
func originalOf(name string) (original, language string) {
	extension := path.Ext(name)
	base := strings.TrimSuffix(name, extension)
	for _, language := range Languages[1:] {
		if original, ok := strings.CutSuffix(base, "."+language); ok {
			return original + extension, language
		}
	}
	return name, ""
}

// translationOf is the name of the file that takes the place of another in a language; see originalOf.
func translationOf(name, language string) string {
	extension := path.Ext(name)
	return strings.TrimSuffix(name, extension) + "." + language + extension
}

func unjoin(err error) []error {
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		return joined.Unwrap()
	}
	return []error{err}
}

func lastName(path string) string { return path[strings.LastIndex(path, ".")+1:] }

// decode turns what YAML said into a type with JSON's tags.
func decode(value, into any) error {
	text, err := json.Marshal(value)
	if err != nil {
		return err
	}
	return json.Unmarshal(text, into)
}
