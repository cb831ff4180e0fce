package load

import (
	"errors"
	"io/fs"
	"os"
	"strings"
	"testing"
	"testing/fstest"
)

// specimen is a folder of one lesson without faults, as files.
func specimen() fstest.MapFS {
	file := func(text string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(text)} }
	return fstest.MapFS{
		"course.yaml":    file("parts:\n- id: part\n  title: {en: Part, zh: 部分}\n  lessons: [part/one]\n"),
		"reference.yaml": file("- {number: 0-1, title: Introduction}\n"),
		"part/one/lesson.yaml": file(`id: part/one
title: {en: One, zh: 一}
minutes: 5
covers: [0-1]
namespace: part-one
objects:
  cm: configmaps
steps:
- id: first
  checks:
  - id: made
    title: {en: made, zh: 创建了}
    now: cm.exists(o, o.metadata.name == "a")
  hints:
  - id: elsewhere
    when: request.namespace == "default"
    text: {en: look, zh: 看}
  solution: [kubectl create configmap a]
  wrong:
  - {lines: [kubectl create configmap a -n default], hint: elsewhere}
`),
		"part/one/start/a.yaml": file("apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: b\n"),
		"part/one/en.md":        file("# One\n\nIntro.\n\n## First {#first}\n\nDo [this](#/lesson/part/one/first).\n\n```sh run\nkubectl get cm\n```\n"),
		"part/one/zh.md":        file("# 一\n\n介绍。\n\n## 第一 {#first}\n\n做。\n\n```sh run\nkubectl get cm\n```\n"),
	}
}

// TestTable: a table has its rows in a file of the lesson, and as many cells in each as it has heads.
func TestTable(t *testing.T) {
	with := func(rows string) fstest.MapFS {
		fs := specimen()
		for _, name := range []string{"part/one/en.md", "part/one/zh.md"} {
			fs[name] = &fstest.MapFile{Data: append(fs[name].Data, "\n```text table=rows.txt\nKind | Removed\n```\n"...)}
		}
		if rows != "" {
			fs["part/one/files/rows.txt"] = &fstest.MapFile{Data: []byte(rows)}
		}
		return fs
	}
	all, err := All(with("Lease | 1.22\nJob, CronJob | 1.25\n"))
	if err != nil {
		t.Fatal(err)
	}
	if b := all.Lessons["part/one"].Texts["zh"].Sections[0].Blocks[2]; b.Kind != "table" || b.File != "rows.txt" || b.Text != "Kind | Removed" || b.Language != "" {
		t.Errorf("%+v", b)
	}
	for rows, want := range map[string]string{
		"":                      "there is no file files/rows.txt",
		"Lease | 1.22\nJob\n":   "part/one/files/rows.txt:2: a row has 1 cells, and the table has 2 heads",
		"Lease | 1.22 | more\n": "rows.txt:1: a row has 3 cells",
	} {
		if _, err := All(with(rows)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", rows, err, want)
		}
	}
}

// TestTranslatedFile: a file of the workspace may have a translation, which takes its place in that language alone.
func TestTranslatedFile(t *testing.T) {
	with := func(translation string) fstest.MapFS {
		fs := specimen()
		for _, name := range []string{"part/one/en.md", "part/one/zh.md"} {
			fs[name] = &fstest.MapFile{Data: append(fs[name].Data, "\n```text table=old/rows.txt\nKind | Removed\n```\n"...)}
		}
		fs["part/one/files/old/rows.txt"] = &fstest.MapFile{Data: []byte("Lease | never\nJob | 1.25\n")}
		fs["part/one/files/old/rows.zh.txt"] = &fstest.MapFile{Data: []byte(translation)}
		return fs
	}
	all, err := All(with("Lease | 从未\nJob | 1.25\n"))
	if err != nil {
		t.Fatal(err)
	}
	l := all.Lessons["part/one"]
	for language, want := range map[string]string{"en": "Lease | never\nJob | 1.25\n", "zh": "Lease | 从未\nJob | 1.25\n"} {
		files := l.FilesIn(language)
		if len(files) != 1 || files[0].Name != "old/rows.txt" || files[0].Text != want {
			t.Errorf("%s: %+v", language, files)
		}
	}
	if len(l.Files) != 1 || l.Files[0].Text != "Lease | never\nJob | 1.25\n" {
		t.Errorf("Files: %+v", l.Files)
	}
	for rows, want := range map[string]string{
		"Lease | 从未\n":      "part/one/files/old/rows.zh.txt: the translation has 1 rows, and old/rows.txt has 2",
		"Lease | 从未\nJob\n": "rows.zh.txt:2: a row has 1 cells, and the table has 2 heads",
	} {
		if _, err := All(with(rows)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", rows, err, want)
		}
	}
	fs := with("Lease | 从未\nJob | 1.25\n")
	fs["part/one/files/alone.zh.txt"] = &fstest.MapFile{Data: []byte("text")}
	if _, err := All(fs); err == nil || !strings.Contains(err.Error(), "there is no file alone.txt that this one could be a translation of") {
		t.Errorf("a translation of nothing: %v", err)
	}
}

func TestLessonIsRead(t *testing.T) {
	all, err := All(specimen())
	if err != nil {
		t.Fatal(err)
	}
	l := all.Lessons["part/one"]
	if l.Objects["cm"].Resource != "configmaps" || len(l.Start) != 1 || l.Start[0].Name != "a.yaml" {
		t.Errorf("%+v", l)
	}
	blocks := l.Texts["en"].Sections[0].Blocks
	if len(blocks) != 2 || blocks[0].HTML != `<p>Do <a href="#/lesson/part/one/1">this</a>.</p>` ||
		blocks[1].Language != "sh" || blocks[1].Actions[0] != "run" || blocks[1].Text != "kubectl get cm" {
		t.Errorf("%+v", blocks)
	}
}

// TestFaultsAreRefused changes the specimen in one place and expects the fault with its file and line.
func TestFaultsAreRefused(t *testing.T) {
	const lesson, en = "part/one/lesson.yaml", "part/one/en.md"
	for _, c := range []struct{ name, file, old, new, want string }{
		{"unknown key", lesson, "minutes: 5", "minuets: 5", `part/one/lesson.yaml:3: the document has no key "minuets"`},
		{"unknown key deep down", lesson, "    now: cm", "    nwo: cm", `part/one/lesson.yaml:13: steps[0].checks[0] has no key "nwo"`},
		{"no minutes", lesson, "minutes: 5\n", "", "minutes is 0"},
		{"wrong type", lesson, "minutes: 5", "minutes: five", "part/one/lesson.yaml:3: minutes should be a number"},
		{"no covers", lesson, "covers: [0-1]\n", "", "covers is empty"},
		{"unknown heading", lesson, "[0-1]", "[0-1, 7-3]", "part/one/lesson.yaml:4: the reference has no heading 7-3"},
		{"missing translation", lesson, "{en: made, zh: 创建了}", "{en: made}", "part/one/lesson.yaml:12: steps[0].checks[0].title has no translation to zh"},
		{"empty translation", lesson, "{en: made, zh: 创建了}", `{en: made, zh: ""}`, "part/one/lesson.yaml:12: steps[0].checks[0].title has no translation to zh"},
		{"no title", lesson, "    title: {en: made, zh: 创建了}\n", "", "part/one/lesson.yaml:11: steps[0].checks[0] has no title"},
		{"does not compile", lesson, "cm.exists(o,", "cm.exists(", "part/one/lesson.yaml:13: now does not compile"},
		{"unknown variable", lesson, "cm.exists(o, o.meta", "deploy.exists(o, o.meta", "undeclared reference to 'deploy'"},
		{"unknown field of a request", lesson, "request.namespace", "request.namespce", `part/one/lesson.yaml:16: when a request has no "namespce"`},
		{"not a truth", lesson, `cm.exists(o, o.metadata.name == "a")`, "cm.size()", "is a int and should be a bool"},
		{"a request in now", lesson, `cm.exists(o, o.metadata.name == "a")`, `request.verb == "get"`, "looks at request"},
		{"costs too much", lesson, `cm.exists(o, o.metadata.name == "a")`, `cm.all(a, cm.all(b, cm.all(c, cm.all(d, a == b && c == d))))`, "part/one/lesson.yaml:13: now costs too much"},
		{"two conditions", lesson, "    now: cm", "    none: cm.size() > 0\n    now: cm", "a check is one thing"},
		{"emulated version", lesson, "steps:\n", "engine: {emulatedVersion: v1.36}\nsteps:\n", `part/one/lesson.yaml:8: emulatedVersion is "v1.36"`},
		{"runtime config", lesson, "- id: first\n", "- id: first\n  engine:\n    runtimeConfig:\n      batch: \"false\"\n", `part/one/lesson.yaml:12: runtimeConfig has batch=false`},
		{"runtime config without quotes", lesson, "- id: first\n", "- id: first\n  engine: {runtimeConfig: {batch/v1: false}}\n", `part/one/lesson.yaml:10: steps[0].engine.runtimeConfig.batch/v1 should be a text`},
		{"feature gate", lesson, "- id: first\n", "- id: first\n  engine: {featureGates: {no-gate: true}}\n", `part/one/lesson.yaml:10: "no-gate" is no name of a feature gate`},
		{"a step with the engine that there is", lesson, "- id: first\n", "- id: first\n  engine: {}\n", `part/one/lesson.yaml:10: step first starts the engine again with the settings that it has`},
		{"early without an engine", lesson, "hint: elsewhere}", "hint: elsewhere, early: true}", `part/one/lesson.yaml:20: step first has no engine that the turn could come before`},
		{"unknown setting", lesson, "- id: first\n", "- id: first\n  engine: {nodes: 3}\n", `part/one/lesson.yaml:10: steps[0].engine has no key "nodes"`},
		{"unknown hint", lesson, "hint: elsewhere", "hint: nowhere", `part/one/lesson.yaml:20: step first has no hint "nowhere"`},
		{"another id", lesson, "id: part/one", "id: part/two", `part/one/lesson.yaml:1: the id is "part/two"`},
		{"duplicate key", lesson, "minutes: 5", "minutes: 5\nminutes: 6", `mapping key "minutes" already defined`},
		{"not YAML", lesson, "minutes: 5", "minutes: [5", "part/one/lesson.yaml:"},
		{"after nothing", lesson, "    now: cm", "    after: other\n    now: cm", `there is no other check "other"`},
		{"missing section", en, "## First {#first}", "## First {#frist}", "part/one/en.md: there is no section {#first}"},
		{"unknown section", en, "## First {#first}", "## First {#frist}", `part/one/en.md:5: lesson.yaml has no step "frist"`},
		{"section without id", en, " {#first}", "", `part/one/en.md:5: the section "First" has no id`},
		{"code without language", en, "```sh run", "```", "part/one/en.md:9: a code block needs a language"},
		{"unknown action", en, "```sh run", "```sh rnu", `part/one/en.md:9: a code block cannot have "rnu"`},
		{"dead link", en, "#/lesson/part/one/first", "#/lesson/part/three", "part/one/en.md:7: dead link: there is no lesson part/three"},
		{"dead link to a step", en, "#/lesson/part/one/first", "#/lesson/part/one/last", "part/one/en.md:7: dead link: lesson part/one has no step last"},
		{"link elsewhere", en, "#/lesson/part/one/first", "https://example.com/", "dead link"},
		{"a sentence that is a list", en, "Do [", "409. Do [", "part/one/en.md:7: a list begins with 409"},
		{"raw HTML", en, "Do [", "Do <b>now</b> [", "part/one/en.md:7: HTML is not allowed"},
		{"other code in the translation", en, "```sh run", "```sh put", "part/one/zh.md: section first: its code blocks are sh run, and in en.md sh put"},
		{"another command in the translation", en, "kubectl get cm", "kubectl get pods", "part/one/zh.md:9: section first: the code is not that of en.md:9"},
		{"too many words", en, "Do [", strings.Repeat("word ", 120) + "[", "121 words are too many"},
		{"unreadable manifest", "part/one/start/a.yaml", "kind: ConfigMap\n", "", "part/one/start/a.yaml:1: a manifest needs"},
		{"unknown lesson in the course", "course.yaml", "[part/one]", "[part/one, part/two]", "course.yaml: there is no lesson part/two"},
	} {
		t.Run(c.name, func(t *testing.T) {
			files := specimen()
			text := string(files[c.file].Data)
			if !strings.Contains(text, c.old) {
				t.Fatalf("the specimen has no %q", c.old)
			}
			files[c.file] = &fstest.MapFile{Data: []byte(strings.Replace(text, c.old, c.new, 1))}
			_, err := All(files)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("the error is\n%v\nand should have\n%s", err, c.want)
			}
		})
	}
}

func TestAllFaultsAreTold(t *testing.T) {
	files := specimen()
	files["part/one/lesson.yaml"].Data = []byte(strings.NewReplacer("minutes: 5", "minutes: 0", "[0-1]", "[9-9]").Replace(string(files["part/one/lesson.yaml"].Data)))
	delete(files, "part/one/zh.md")
	_, err := All(files)
	for _, want := range []string{"minutes is 0", "no heading 9-9", "part/one/zh.md: the file is missing"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v\nhas no %s", err, want)
		}
	}
	var p *Problem
	if !errors.As(err, &p) {
		t.Errorf("%v has no Problem", err)
	}
}

// TestEveryLessonIsSound reads the lessons themselves.
func TestEveryLessonIsSound(t *testing.T) {
	all, err := All(os.DirFS(".."))
	if err != nil {
		t.Fatal(err)
	}
	if len(all.Lessons) == 0 || len(all.Headings) != 197 {
		t.Errorf("%d lessons, %d headings", len(all.Lessons), len(all.Headings))
	}
}

var _ fs.FS = specimen()
