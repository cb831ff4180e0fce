package lines

import "testing"

func TestFileIsFormatted(t *testing.T) {
	all, err := All()
	if err != nil {
		t.Fatal(err)
	}
	if len(all) < 80 {
		t.Errorf("%d command lines: there have to be 80", len(all))
	}
	if Format(all) != text {
		t.Error("lines.txt is not as Format writes it: go test ./core/shell -run TestLines -update")
	}
}
