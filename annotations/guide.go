package annotations

import _ "embed"

// Guide is the guide for annotators, as Markdown.
//
//go:embed GUIDE.md
var Guide string

// Exercise are the items of the guide's exercise with its marks, as JSON Lines of a
// dataset.
//
//go:embed exercise.jsonl
var Exercise string
