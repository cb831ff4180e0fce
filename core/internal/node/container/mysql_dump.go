package container

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/kubetab/kubetab/core/internal/node/database"
)

// mysqlDump is mysqldump: the tables of databases as statements that make them.
func mysqlDump(k *call) int {
	o, ok := k.mysqlFlags()
	if !ok {
		return 1
	}
	if len(o.rest) == 0 && !o.whole {
		fmt.Fprintf(k.Stderr, "Usage: %s [OPTIONS] database [tables]\nOR     %s [OPTIONS] --databases [OPTIONS] DB1 [DB2 DB3...]\nOR     %s [OPTIONS] --all-databases [OPTIONS]\n", k.Name, k.Name, k.Name)
		return 1
	}
	d := k.mysqlDial(o)
	if d == nil {
		return 1
	}
	defer d.Close()
	names, only := o.rest, []string(nil)
	switch {
	case o.whole:
		names = nil
		r, _ := d.run("SHOW DATABASES") // never fails
		for _, row := range r.Rows {
			if name := *row[0]; !slices.Contains([]string{"information_schema", "performance_schema", "sys", "mysql"}, name) {
				names = append(names, name)
			}
		}
	case !o.databases:
		names, only = o.rest[:1], o.rest[1:]
	}
	fmt.Fprintf(k.Stdout, "-- MySQL dump  Distrib %s, for Linux (x86_64)\n--\n-- Host: %s    Database: %s\n-- ------------------------------------------------------\n", d.Server().Version, cmp.Or(o.host, "localhost"), strings.Join(names, " "))
	for _, name := range names {
		if o.whole || o.databases {
			fmt.Fprintf(k.Stdout, "\nCREATE DATABASE IF NOT EXISTS `%s`;\nUSE `%s`;\n", name, name)
		}
		if told := k.dump(d, name, only); told != nil {
			fmt.Fprintf(k.Stderr, "%s: Got error: %d: %s when selecting the database\n", k.Name, told.Code, told.Message)
			return 2
		}
	}
	fmt.Fprintf(k.Stdout, "\n-- Dump completed on %s\n", k.session.c.cfg.Clock.Now().UTC().Format(time.DateTime))
	return 0
}

// dump writes the tables of a database, or only some.
func (k *call) dump(d *dialed, name string, only []string) *database.Error {
	if _, told := d.run("USE `" + name + "`"); told != nil {
		return told
	}
	list, told := d.run("SHOW TABLES")
	if told != nil {
		return told
	}
	for _, row := range list.Rows {
		table := *row[0]
		if len(only) > 0 && !slices.Contains(only, table) {
			continue
		}
		made, told := d.run("SHOW CREATE TABLE `" + table + "`")
		if told != nil {
			return told
		}
		fmt.Fprintf(k.Stdout, "\n--\n-- Table structure for table `%s`\n--\n\nDROP TABLE IF EXISTS `%s`;\n%s;\n", table, table, *made.Rows[0][1])
		all, told := d.run("SELECT * FROM `" + table + "`")
		if told != nil {
			return told
		}
		var values []string
		for _, row := range all.Rows {
			one := make([]string, len(row))
			for i, cell := range row {
				switch {
				case cell == nil:
					one[i] = "NULL"
				case all.Columns[i].Numeric:
					one[i] = *cell
				default:
					one[i] = "'" + strings.NewReplacer(`\`, `\\`, "'", "''", "\n", `\n`).Replace(*cell) + "'"
				}
			}
			values = append(values, "("+strings.Join(one, ",")+")")
		}
		fmt.Fprintf(k.Stdout, "\n--\n-- Dumping data for table `%s`\n--\n\n", path.Base(table))
		if len(values) > 0 {
			fmt.Fprintf(k.Stdout, "INSERT INTO `%s` VALUES %s;\n", table, strings.Join(values, ","))
		}
	}
	return nil
}
