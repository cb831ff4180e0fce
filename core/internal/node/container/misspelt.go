package container

import "strings"

// misspelt reports whether the name of an image without an owner is that of a known
// one but for a slip: ngnix, bussybox, postgress. Such an image is not on Docker Hub,
// where names without an owner are those of official images.
func misspelt(familiar string) bool {
	if strings.Contains(familiar, "/") {
		return false
	}
	for name := range knownImages {
		most := 1
		if len(name) > 5 && len(familiar) > 5 {
			most = 2
		}
		if !strings.Contains(name, "/") && slips(familiar, name) <= most {
			return true
		}
	}
	return false
}

// slips counts how many letters were left out, added, replaced or exchanged with their
// neighbour between two names: the distance of Damerau and Levenshtein, in which no
// letter is changed twice.
func slips(a, b string) int {
	rows := [3][]int{make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)}
	for j := range rows[1] {
		rows[1][j] = j
	}
	for i := 1; i <= len(a); i++ {
		before, last, row := rows[(i+2)%3], rows[i%3], rows[(i+1)%3]
		row[0] = i
		for j := 1; j <= len(b); j++ {
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+1)
			switch {
			case a[i-1] == b[j-1]:
				row[j] = min(row[j], last[j-1])
			case i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1]:
				row[j] = min(row[j], before[j-2]+1)
			}
		}
	}
	return rows[(len(a)+1)%3][len(b)]
}
