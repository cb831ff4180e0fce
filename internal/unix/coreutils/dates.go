package coreutils

import (
	"strconv"
	"strings"
	"time"
)

// dateLayouts are those of points in time that date -d takes.
var dateLayouts = []string{
	time.RFC3339Nano, "2006-01-02T15:04:05", "2006-01-02T15:04Z07:00", "2006-01-02T15:04", "2006-01-02 15:04:05 -0700", "2006-01-02 15:04:05 MST",
	"2006-01-02 15:04:05", "2006-01-02 15:04", "2006-01-02", "20060102", "2006/01/02", time.RFC1123, time.RFC1123Z, time.UnixDate, time.ANSIC,
	"2 Jan 2006", "Jan 2 2006", "2 January 2006", "January 2, 2006", "Jan 2, 2006",
}

// dateUnits are what date -d adds.
var dateUnits = map[string]func(t time.Time, n int) time.Time{
	"sec": seconds(time.Second), "second": seconds(time.Second), "min": seconds(time.Minute), "minute": seconds(time.Minute), "hour": seconds(time.Hour),
	"day":       func(t time.Time, n int) time.Time { return t.AddDate(0, 0, n) },
	"week":      func(t time.Time, n int) time.Time { return t.AddDate(0, 0, 7*n) },
	"fortnight": func(t time.Time, n int) time.Time { return t.AddDate(0, 0, 14*n) },
	"month":     func(t time.Time, n int) time.Time { return t.AddDate(0, n, 0) },
	"year":      func(t time.Time, n int) time.Time { return t.AddDate(n, 0, 0) },
}

func seconds(unit time.Duration) func(time.Time, int) time.Time {
	return func(t time.Time, n int) time.Time { return t.Add(time.Duration(n) * unit) }
}

// parseDate reads what date -d takes: a point in time, and what is to be added to it, such as 2 days ago, +1 hour or
// tomorrow.
func parseDate(text string, now time.Time) (when time.Time, ok bool) {
	if text, ok := strings.CutPrefix(text, "@"); ok {
		n, err := strconv.ParseFloat(text, 64)
		if err != nil || n < -1<<40 || n > 1<<40 {
			return now, false
		}
		whole := int64(n)
		return time.Unix(whole, int64((n-float64(whole))*1e9)).UTC(), true
	}
	words := strings.Fields(text)
	when = now
	if len(words) == 0 {
		return now.Truncate(24 * time.Hour), true
	}
	for n := min(len(words), 6); n > 0; n-- { // the longest beginning that is a point in time
		if at, ok := parsePoint(strings.Join(words[:n], " ")); ok {
			when, words = at, words[n:]
			break
		}
	}
	for len(words) > 0 {
		word := strings.ToLower(words[0])
		days, isDay := map[string]int{"now": 0, "today": 0, "tomorrow": 1, "yesterday": -1}[word]
		words = words[1:]
		if isDay {
			when = when.AddDate(0, 0, days)
			continue
		}
		digits := strings.TrimRight(word, "abcdefghijklmnopqrstuvwxyz")
		unit := word[len(digits):]
		n, err := strconv.Atoi(digits)
		switch {
		case digits == "" && (word == "next" || word == "last"):
			n, err = map[string]int{"next": 1, "last": -1}[word], nil
			unit = ""
		case digits == "":
			n, err = 1, nil
		}
		if unit == "" && len(words) > 0 {
			unit, words = strings.ToLower(words[0]), words[1:]
		}
		add := dateUnits[strings.TrimSuffix(unit, "s")]
		if err != nil || add == nil || n > 1e6 || n < -1e6 {
			return now, false
		}
		if len(words) > 0 && strings.EqualFold(words[0], "ago") {
			n, words = -n, words[1:]
		}
		when = add(when, n)
	}
	return when, true
}

func parsePoint(text string) (time.Time, bool) {
	for _, layout := range dateLayouts {
		if at, err := time.Parse(layout, text); err == nil {
			return at.UTC(), true
		}
	}
	return time.Time{}, false
}
