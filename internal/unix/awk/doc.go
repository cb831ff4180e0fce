// Package awk interprets AWK as POSIX has it: patterns, fields, arrays, functions
// with recursion, getline, output to files and commands. The extensions of gawk
// are missing. (There is no interpreter among the libraries that this project can
// have.)
//
//	program --> lexer --> parser --> rules of nodes --> Run, record by record
package awk
