package identity

import (
	"crypto/ecdsa"
	"testing"

	"github.com/kubetab/kubetab/core/controllers"
)

// What is kept of an identity is the identity; what is not is refused.
func TestKept(t *testing.T) {
	id, err := Complete(controllers.Identity{})
	if err != nil {
		t.Fatal(err)
	}
	kept, err := Marshal(id)
	if err != nil {
		t.Fatal(err)
	}
	back, err := Unmarshal(kept)
	if err != nil {
		t.Fatal(err)
	}
	if !id.ServiceAccountKey.(*ecdsa.PrivateKey).Equal(back.ServiceAccountKey) || !id.CA.Key.(*ecdsa.PrivateKey).Equal(back.CA.Key) || string(id.RootCA) != string(back.RootCA) {
		t.Error("another identity came back")
	}
	for what, damaged := range map[string][]byte{"nothing": nil, "half": kept[:len(kept)/2], "no keys": []byte("{}")} {
		if _, err := Unmarshal(damaged); err == nil {
			t.Errorf("%s: taken for an identity", what)
		}
	}
}

// What is given stays.
func TestComplete(t *testing.T) {
	first, err := Complete(controllers.Identity{})
	if err != nil {
		t.Fatal(err)
	}
	second, err := Complete(controllers.Identity{ServiceAccountKey: first.ServiceAccountKey, RootCA: []byte("of another")})
	if err != nil {
		t.Fatal(err)
	}
	if second.ServiceAccountKey != first.ServiceAccountKey || second.CA == nil || second.CA == first.CA || string(second.RootCA) != "of another" {
		t.Errorf("%+v", second)
	}
}
