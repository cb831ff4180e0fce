package shell_test

import "testing"

// TestLargeFiles: kubectl refuses files that take too much memory to parse before it reads them.
func TestLargeFiles(t *testing.T) {
	for _, c := range []struct{ line, want string }{
		{"(echo 'a: |'; head -c 17000000 /dev/zero | tr '\\0' ' ') > large; kubectl apply -f large", "error: large: a document has more than 16777216 bytes\n"},
		{"kubectl apply -f - < large", "error: standard input: a document has more than 16777216 bytes\n"},
		{"mkdir -p folder; cp large folder/large.yaml; kubectl delete -f folder; rm -r folder", "error: folder/large.yaml: a document has more than 16777216 bytes\n"},
		{"kubectl create configmap large --from-file=key=large", "error: large: request entity too large: limit is 3145728\n"},
		{"head -c 2000000 large > one; kubectl create cm large --from-file one --from-file=two=one; rm one", "error: one: request entity too large: limit is 3145728\n"},
		{"kubectl create configmap large --from-file=/dev/zero", "error: /dev/zero: not a regular file\n"},
		{"kubectl patch pod none --patch-file=large; rm large", "error: large: request entity too large: limit is 3145728\n"},
		// Many documents are as large as they like.
		{"(head -c 9000000 /dev/zero | tr '\\0' '#'; echo; echo ---) > many; cat many many > more; kubectl apply -f more; rm many more", "error: no objects passed to apply\n"},
	} {
		result, err := shared.shell.Run(t.Context(), c.line, "", "")
		if err != nil {
			t.Fatal(err)
		}
		if result.Stderr != c.want {
			t.Errorf("%s: said %q, want %q", c.line, result.Stderr, c.want)
		}
	}
}
