// Package awk interprets AWK as POSIX has it: patterns, fields, arrays, functions
// with recursion, getline, output to files and commands. What gawk
// adds is not there. (There is no interpreter among the
// libraries that this project can have.)
//
//	program --> lexer --> parser --> rules of nodes --> Run, record by record
package awk
