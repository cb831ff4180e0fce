// Package tutorials has the types of lessons: what tutorials/<part>/<lesson>/lesson.yaml says, what a page gives to the
// evaluator, and what the evaluator answers. The lessons themselves lie beside it as data, see README.md.
//
//	lesson.yaml, en.md, zh.md --> load --> Lesson, Sections --> cmd/lessons --> files for the page
//	                                          |                                       |
//	                                          +--> play (tests) ----> evaluate <------+ PUT /kubetab/lesson
//	                                                                     |
//	                                   objects by watches, requests by the request log
//
// This package knows nothing of the engine, of Markdown and of CEL: everything imports it.
package tutorials
