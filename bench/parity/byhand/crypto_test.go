package byhand

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/sha3"
	"encoding/binary"
	"testing"
)

func TestAESMatchesStandardLibrary(t *testing.T) {
	var key, iv [16]byte
	plain := make([]byte, 16*300) // the counter exceeds a byte
	for i := range plain {
		plain[i] = byte(11 * i)
	}
	for i := range key {
		key[i], iv[i] = byte(37*i+1), byte(53*i+2)
	}
	clear(iv[12:])
	block, err := aes.NewCipher(key[:])
	if err != nil {
		t.Fatal(err)
	}
	want := make([]byte, len(plain))
	cipher.NewCTR(block, iv[:]).XORKeyStream(want, plain)

	var nonce [3]uint32
	for i := range nonce {
		nonce[i] = binary.BigEndian.Uint32(iv[4*i:])
	}
	in, out := make([][4]uint32, len(plain)/16), make([][4]uint32, len(plain)/16)
	if _, err := binary.Decode(plain, binary.LittleEndian, in); err != nil {
		t.Fatal(err)
	}
	AES(ExpandAESKey(key), nonce, AESTable(), in, out)
	got, err := binary.Append(nil, binary.LittleEndian, out)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("the cipher text begins with %x, want %x", got[:16], want[:16])
	}
}

func TestSHA3MatchesStandardLibrary(t *testing.T) {
	text := make([]byte, 2*64)
	for i := range text {
		text[i] = byte(7 * i)
	}
	messages, digests := make([]uint64, 16), make([]uint64, 8)
	if _, err := binary.Decode(text, binary.LittleEndian, messages); err != nil {
		t.Fatal(err)
	}
	SHA3(messages, digests)
	got, err := binary.Append(nil, binary.LittleEndian, digests)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 2 {
		want := sha3.Sum256(text[64*i : 64*(i+1)])
		if !bytes.Equal(got[32*i:32*(i+1)], want[:]) {
			t.Errorf("the hash of message %d is %x, want %x", i, got[32*i:32*(i+1)], want)
		}
	}
}
