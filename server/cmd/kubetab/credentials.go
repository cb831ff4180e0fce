package main

import (
	"encoding/csv"
	"errors"
	"fmt"
	"os"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apiserver/pkg/authentication/user"
)

// staticTokens returns the tokens in file ("" for none): the format of kube-apiserver's --token-auth-file, a CSV of
// token, user name, uid and, quoted, a comma-separated list of groups.
func staticTokens(file string) (map[string]user.Info, error) {
	tokens := map[string]user.Info{}
	if file == "" {
		return tokens, nil
	}
	f, err := os.Open(file)
	if err != nil {
		return nil, fmt.Errorf("--token-auth-file: %w", err)
	}
	defer f.Close()
	r := csv.NewReader(f)
	r.FieldsPerRecord = -1
	records, err := r.ReadAll()
	if err != nil {
		return nil, fmt.Errorf("--token-auth-file %s: %w", file, err)
	}
	for i, record := range records {
		if len(record) < 3 {
			return nil, fmt.Errorf("--token-auth-file %s: entry %d has %d columns: it needs token, user name and uid", file, i+1, len(record))
		}
		token := strings.TrimSpace(record[0])
		if token == "" {
			return nil, fmt.Errorf("--token-auth-file %s: entry %d has an empty token", file, i+1)
		}
		groups := []string{user.AllAuthenticated}
		if len(record) > 3 && record[3] != "" {
			groups = append(strings.Split(record[3], ","), groups...)
		}
		tokens[token] = &user.DefaultInfo{Name: record[1], UID: record[2], Groups: groups}
	}
	return tokens, nil
}

// clientAuthorities returns what is in file, a PEM bundle; "" is none.
func clientAuthorities(file string) ([]byte, error) {
	if file == "" {
		return nil, nil
	}
	data, err := os.ReadFile(file)
	if err == nil && !strings.Contains(string(data), "-----BEGIN CERTIFICATE-----") {
		err = errors.New(file + ": no PEM certificate in it")
	}
	if err != nil {
		return nil, fmt.Errorf("--client-ca-file: %w", err)
	}
	return append([]byte("\n"), data...), nil
}

func isDNSName(s string) bool {
	return len(validation.IsDNS1123Subdomain(strings.ToLower(strings.TrimPrefix(s, "*.")))) == 0
}
