package database

import (
	"crypto/md5" //nolint:gosec // it is a function of PostgreSQL
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	mathrand "math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/ncruces/go-sqlite3"
)

// pgStamp is how PostgreSQL writes a time.
const pgStamp = "2006-01-02 15:04:05.999999"

// moments are forms in which times are written.
var moments = []string{time.DateOnly, "2006-01-02 15:04", "2006-01-02 15:04:05.999999999", "2006-01-02 15:04:05.999999999Z07", "2006-01-02 15:04:05.999999999Z07:00", "2006-01-02T15:04:05.999999999Z07:00", "2006-01-02T15:04:05.999999999", "2006-01-02 15:04Z07:00"}

var isUUID = regexp.MustCompile(`^(?i)[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$`)

// limits are those of whole numbers.
var limits = map[string][2]float64{"smallint": {math.MinInt16, math.MaxInt16}, "int": {math.MinInt32, math.MaxInt32}, "bigint": {math.MinInt64, math.MaxInt64}}

// valueAs is a value as one of a type that SQLite has been told, or why it is none. explicit: it is cast, so that a text that is too
// long is cut off and a number is rounded. The function is long because it has a case for each type.
func valueAs(declared string, v sqlite3.Value, explicit bool) (any, error) {
	kind, size, _ := strings.Cut(strings.TrimSuffix(declared, ")"), "(")
	of, _ := fullType(kind)
	given := v.Text()
	trimmed := strings.TrimSpace(given)
	wrong := fmt.Errorf("invalid input syntax for type %s: \"%s\"", of, given)
	switch kind {
	case "int", "bigint", "smallint", "serial":
		if v.Type() == sqlite3.INTEGER {
			if l, ok := limits[kind]; ok && kind != "bigint" && (float64(v.Int64()) < l[0] || float64(v.Int64()) > l[1]) {
				return nil, fmt.Errorf("%s out of range", of)
			}
			return v.Int64(), nil
		}
		if v.Type() == sqlite3.FLOAT {
			if math.Abs(v.Float()) > limits["bigint"][1] {
				return nil, fmt.Errorf("%s out of range", of)
			}
			return int64(math.RoundToEven(v.Float())), nil
		}
		n, err := strconv.ParseInt(trimmed, 10, 64)
		if errors.Is(err, strconv.ErrRange) {
			return nil, fmt.Errorf("value \"%s\" is out of range for type %s", given, of)
		}
		if err != nil {
			return nil, wrong
		}
		return n, nil
	case "numeric", "real", "float8":
		f, err := strconv.ParseFloat(trimmed, 64)
		if err != nil || strings.ContainsAny(trimmed, "xXpP_") {
			return nil, wrong
		}
		precision, scale, _ := strings.Cut(size, ",")
		if p, err := strconv.Atoi(precision); err == nil && kind == "numeric" {
			digits, _ := strconv.Atoi(scale) // none is 0
			if math.Abs(f) >= math.Pow10(p-digits) {
				return nil, errors.New("numeric field overflow")
			}
			f = math.Round(f*math.Pow10(digits)) / math.Pow10(digits)
		}
		if f == math.Trunc(f) && math.Abs(f) < 1<<53 {
			return int64(f), nil
		}
		return f, nil
	case "boolean":
		switch strings.ToLower(trimmed) {
		case "1", "t", "true", "yes", "on", "y":
			return int64(1), nil
		case "0", "f", "false", "no", "off", "n":
			return int64(0), nil
		}
		if v.Type() == sqlite3.INTEGER {
			return int64(1), nil
		}
		return nil, wrong
	case "varchar", "char":
		if n, err := strconv.Atoi(size); err == nil && utf8.RuneCountInString(given) > n {
			if explicit {
				return string([]rune(given)[:n]), nil
			}
			if strings.TrimRight(string([]rune(given)[n:]), " ") != "" {
				return nil, fmt.Errorf("value too long for type %s(%d)", of, n)
			}
		}
	case "date_text", "timestamp_text", "timestamptz_text":
		if strings.EqualFold(trimmed, "now") || strings.EqualFold(trimmed, "infinity") {
			return nil, fmt.Errorf("this server is simulated: it has no %s '%s'", of, given)
		}
		for _, form := range moments {
			if t, err := time.Parse(form, trimmed); err == nil {
				switch {
				case kind == "date_text":
					return t.Format(time.DateOnly), nil
				case kind == "timestamptz_text":
					return t.UTC().Format(pgStamp) + "+00", nil
				}
				return t.Format(pgStamp), nil
			}
		}
		return nil, wrong
	case "uuid_text":
		if !isUUID.MatchString(trimmed) {
			return nil, wrong
		}
		return strings.ToLower(trimmed), nil
	case "json_text", "jsonb_text":
		if !json.Valid([]byte(given)) {
			return nil, fmt.Errorf("invalid input syntax for type %s", of)
		}
	}
	return given, nil
}

func give(ctx sqlite3.Context, value any, err error) {
	switch value := value.(type) {
	case int64:
		ctx.ResultInt64(value)
	case float64:
		ctx.ResultFloat(value)
	case string:
		ctx.ResultText(value)
	}
	if err != nil {
		ctx.ResultError(err)
	}
}

// matcher is an operator on texts: who matches stands behind the pattern.
func matcher(match func(pattern, s string) (bool, error)) sqlite3.ScalarFunction {
	return func(ctx sqlite3.Context, arg ...sqlite3.Value) {
		if arg[0].Type() == sqlite3.NULL || arg[1].Type() == sqlite3.NULL {
			return
		}
		ok, err := match(arg[0].Text(), arg[1].Text())
		if err != nil {
			ctx.ResultError(err)
			return
		}
		ctx.ResultBool(ok)
	}
}

func expression(before string) func(pattern, s string) (bool, error) {
	return func(pattern, s string) (bool, error) {
		compiled, err := regexp.Compile(before + pattern)
		if err != nil {
			return false, fmt.Errorf("invalid regular expression: %s", pattern)
		}
		return compiled.MatchString(s), nil
	}
}

// likeExpression is a pattern of LIKE as a regular expression.
func likeExpression(pattern string, escape rune) string {
	var b strings.Builder
	b.WriteString("^")
	escaped := false
	for _, r := range pattern {
		switch {
		case !escaped && r == escape:
			escaped = true
			continue
		case !escaped && r == '%':
			b.WriteString(".*")
		case !escaped && r == '_':
			b.WriteString(".")
		default:
			b.WriteString(regexp.QuoteMeta(string(r)))
		}
		escaped = false
	}
	return b.String() + "$"
}

// extreme is GREATEST or LEAST, for which NULL is nothing.
func extreme(sign int) sqlite3.ScalarFunction {
	return func(ctx sqlite3.Context, arg ...sqlite3.Value) {
		best := -1
		for i := range arg {
			if arg[i].Type() == sqlite3.NULL {
				continue
			}
			if best < 0 {
				best = i
				continue
			}
			order := strings.Compare(arg[i].Text(), arg[best].Text())
			if arg[i].Type() != sqlite3.TEXT && arg[best].Type() != sqlite3.TEXT {
				order = int(math.Copysign(1, arg[i].Float()-arg[best].Float()))
			}
			if order*sign > 0 {
				best = i
			}
		}
		if best >= 0 {
			ctx.ResultValue(arg[best])
		}
	}
}

var errTooLarge = errors.New("requested length too large")

// pad is lpad and rpad.
func pad(left bool) sqlite3.ScalarFunction {
	return func(ctx sqlite3.Context, arg ...sqlite3.Value) {
		fill := " "
		if len(arg) > 2 {
			fill = arg[2].Text()
		}
		r, n := []rune(arg[0].Text()), max(arg[1].Int(), 0)
		if n > mostText {
			ctx.ResultError(errTooLarge)
			return
		}
		if len(r) >= n || fill == "" {
			ctx.ResultText(string(r[:min(n, len(r))]))
			return
		}
		missing := n - len(r)
		more := string([]rune(strings.Repeat(fill, missing/utf8.RuneCountInString(fill)+1))[:missing])
		if left {
			ctx.ResultText(more + string(r))
		} else {
			ctx.ResultText(string(r) + more)
		}
	}
}

// side is left and right.
func side(left bool) sqlite3.ScalarFunction {
	return func(ctx sqlite3.Context, arg ...sqlite3.Value) {
		r, n := []rune(arg[0].Text()), arg[1].Int()
		if n < 0 {
			n = max(0, len(r)+n)
		}
		if n = min(n, len(r)); left {
			ctx.ResultText(string(r[:n]))
		} else {
			ctx.ResultText(string(r[len(r)-n:]))
		}
	}
}

// strict is a function that is NULL where an argument is.
func strict(f sqlite3.ScalarFunction) sqlite3.ScalarFunction {
	return func(ctx sqlite3.Context, arg ...sqlite3.Value) {
		if !slices.ContainsFunc(arg, func(v sqlite3.Value) bool { return v.Type() == sqlite3.NULL }) {
			f(ctx, arg...)
		}
	}
}

// nextval counts a sequence on.
func nextval(ctx sqlite3.Context, arg ...sqlite3.Value) {
	name := arg[0].Text()
	stmt, _, err := ctx.Conn().Prepare("UPDATE " + sequences + " SET last = last + step WHERE name = " + said("", name).raw + " RETURNING last")
	if err != nil {
		ctx.ResultError(fmt.Errorf("relation \"%s\" does not exist", name))
		return
	}
	defer stmt.Close()
	if !stmt.Step() {
		if err = stmt.Err(); err == nil {
			err = fmt.Errorf("relation \"%s\" does not exist", name)
		}
		ctx.ResultError(err)
		return
	}
	ctx.ResultInt64(stmt.ColumnInt64(0))
}

// prettySize is pg_size_pretty.
func prettySize(n int64) string {
	units := []string{"bytes", "kB", "MB", "GB", "TB"}
	i := 0
	for ; i+1 < len(units) && n >= 10<<10; i++ {
		n = (n + 512) >> 10
	}
	return strconv.FormatInt(n, 10) + " " + units[i]
}

// functions are those that SQLite does not have. It is long because there are many.
func (p postgres) functions(s *Session) error {
	now := func() time.Time { return s.at }
	moment := constant(func() string { return now().Format(pgStamp) + "+00" })
	var errs []error
	add := func(n int, flag sqlite3.FunctionFlag, all map[string]sqlite3.ScalarFunction) {
		for name, f := range all {
			errs = append(errs, s.conn.CreateFunction(name, n, sqlite3.INNOCUOUS|flag, f))
		}
	}
	add(0, 0, map[string]sqlite3.ScalarFunction{
		"now": moment, "pg_now": moment, "pg_date": constant(func() string { return now().Format(time.DateOnly) }),
		"pg_time": constant(func() string { return now().Format("15:04:05.999999") }), "pg_local": constant(func() string { return now().Format(pgStamp) }),
		"version": constant(func() string {
			return "PostgreSQL " + s.server.Version + " on x86_64-pc-linux-gnu, compiled by gcc (Debian 14.2.0-19) 14.2.0, 64-bit"
		}),
		"current_database": constant(func() string { return s.database }), "current_user": constant(func() string { return s.user }),
		"current_schema": constant(func() string { return "public" }), "gen_random_uuid": constant(uuid),
		"pg_is_in_recovery": func(ctx sqlite3.Context, _ ...sqlite3.Value) { ctx.ResultBool(false) },
		"pg_backend_pid":    func(ctx sqlite3.Context, _ ...sqlite3.Value) { ctx.ResultInt(s.id + 60) },
		"random":            func(ctx sqlite3.Context, _ ...sqlite3.Value) { ctx.ResultFloat(mathrand.Float64()) },
		"inet_server_addr": func(ctx sqlite3.Context, _ ...sqlite3.Value) {
			if s.from != "" && s.server.Address != "" {
				ctx.ResultText(s.server.Address)
			}
		},
		"inet_server_port": func(ctx sqlite3.Context, _ ...sqlite3.Value) {
			if s.from != "" {
				ctx.ResultInt(5432)
			}
		},
		"inet_client_addr": func(ctx sqlite3.Context, _ ...sqlite3.Value) {
			if s.from != "" {
				ctx.ResultText(s.from)
			}
		},
	})
	add(1, sqlite3.DETERMINISTIC, map[string]sqlite3.ScalarFunction{
		"md5":     text1(func(t string) string { sum := md5.Sum([]byte(t)); return hex.EncodeToString(sum[:]) }),
		"reverse": text1(func(t string) string { r := []rune(t); slices.Reverse(r); return string(r) }),
		"initcap": text1(func(t string) string {
			before := ' '
			return strings.Map(func(r rune) rune {
				begins := !unicode.IsLetter(before) && !unicode.IsDigit(before)
				if before = r; begins {
					return unicode.ToUpper(r)
				}
				return unicode.ToLower(r)
			}, t)
		}),
		"upper": text1(strings.ToUpper), "lower": text1(strings.ToLower),
		"pg_size_pretty": strict(func(ctx sqlite3.Context, arg ...sqlite3.Value) { ctx.ResultText(prettySize(arg[0].Int64())) }),
	})
	add(1, 0, map[string]sqlite3.ScalarFunction{
		"nextval": strict(nextval),
		"pg_sleep": strict(func(ctx sqlite3.Context, arg ...sqlite3.Value) {
			select {
			case <-s.conn.GetInterrupt().Done():
			case <-time.After(time.Duration(min(arg[0].Float(), 3600) * float64(time.Second))):
			}
			ctx.ResultText("")
		}),
		"pg_database_size": strict(func(ctx sqlite3.Context, arg ...sqlite3.Value) {
			f, err := s.server.Files.OpenFile(p.file(s.server, arg[0].Text()), false)
			if err != nil {
				ctx.ResultError(fmt.Errorf("database \"%s\" does not exist", arg[0].Text()))
				return
			}
			defer f.Close()
			ctx.ResultInt64(f.Size())
		}),
		"pg_now": moment,
	})
	add(2, sqlite3.DETERMINISTIC, map[string]sqlite3.ScalarFunction{
		"like":   matcher(func(pattern, s string) (bool, error) { return expression("(?s)")(likeExpression(pattern, '\\'), s) }),
		"match":  matcher(func(pattern, s string) (bool, error) { return expression("(?is)")(likeExpression(pattern, '\\'), s) }),
		"regexp": matcher(expression("")), "glob": matcher(expression("(?i)")),
		"starts_with": matcher(func(s, before string) (bool, error) { return strings.HasPrefix(s, before), nil }),
		"left":        strict(side(true)), "right": strict(side(false)), "lpad": strict(pad(true)), "rpad": strict(pad(false)),
		"repeat": strict(func(ctx sqlite3.Context, arg ...sqlite3.Value) {
			one, n := arg[0].Text(), max(arg[1].Int(), 0)
			if len(one) > 0 && n > mostText/len(one) {
				ctx.ResultError(errTooLarge)
				return
			}
			ctx.ResultText(strings.Repeat(one, n))
		}),
		"pg_is": strict(func(ctx sqlite3.Context, arg ...sqlite3.Value) {
			switch _, err := valueAs(arg[0].Text(), arg[1], false); {
			case err != nil:
				ctx.ResultError(err)
			case arg[0].Text() == "boolean" && arg[1].Type() == sqlite3.TEXT:
				ctx.ResultError(errors.New("this server is simulated: it has no text for a boolean, write TRUE or FALSE"))
			default:
				ctx.ResultBool(true)
			}
		}),
		"pg_truth": func(ctx sqlite3.Context, arg ...sqlite3.Value) {
			if arg[0].Type() == sqlite3.TEXT {
				ctx.ResultValue(arg[1])
				return
			}
			value, err := valueAs("boolean", arg[1], true)
			give(ctx, value, err)
		},
		"pg_cast": strict(func(ctx sqlite3.Context, arg ...sqlite3.Value) {
			value, err := valueAs(arg[0].Text(), arg[1], true)
			give(ctx, value, err)
		}),
	})
	add(3, sqlite3.DETERMINISTIC, map[string]sqlite3.ScalarFunction{
		"lpad": strict(pad(true)), "rpad": strict(pad(false)),
		"like": strict(func(ctx sqlite3.Context, arg ...sqlite3.Value) {
			escape, _ := utf8.DecodeRuneInString(arg[2].Text())
			ok, err := expression("(?s)")(likeExpression(arg[0].Text(), escape), arg[1].Text())
			if err != nil {
				ctx.ResultError(err)
				return
			}
			ctx.ResultBool(ok)
		}),
		"split_part": strict(func(ctx sqlite3.Context, arg ...sqlite3.Value) {
			parts, n := strings.Split(arg[0].Text(), arg[1].Text()), arg[2].Int()
			if n < 0 {
				n += len(parts) + 1
			}
			if n >= 1 && n <= len(parts) {
				ctx.ResultText(parts[n-1])
				return
			}
			ctx.ResultText("")
		}),
	})
	add(-1, sqlite3.DETERMINISTIC, map[string]sqlite3.ScalarFunction{"greatest": extreme(1), "least": extreme(-1)})
	return errors.Join(errs...)
}
