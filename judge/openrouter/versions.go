package openrouter

import (
	"crypto/sha256"
	"encoding/hex"

	"ibid/judge"
)

var (
	versionPlain     = versionOf(judge.Schema)
	versionNecessity = versionOf(judge.SchemaNecessity)
)

// schemaVersion identifies the schema of replies.
func schemaVersion(necessity bool) string {
	if necessity {
		return versionNecessity
	}
	return versionPlain
}

func versionOf(schema string) string {
	h := sha256.Sum256([]byte(schema))
	return hex.EncodeToString(h[:])[:12]
}
