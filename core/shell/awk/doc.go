// Package awk interprets AWK as people use it between two pipes: patterns,
// fields, arrays, printf, and the string functions. There is no getline, no
// output to files and pipes, and no function of the program's own: each is
// refused with a message. (There is no interpreter among the libraries that
// this project can have.)
//
//	program --> lexer --> parser --> rules of nodes --> Run, record by record
package awk
