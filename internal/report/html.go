package report

import (
	"bytes"
	"embed"
	"encoding/json"
	"io"
	"strings"
	"text/template"
)

//go:embed page
var page embed.FS

var pageTemplate = template.Must(template.ParseFS(page, "page/page.html"))

// WriteHTML writes the report as one page that refers to nothing else.
func (r *Report) WriteHTML(w io.Writer) error {
	// Marshal escapes <, > and &, so the text cannot end the element that holds it.
	data, err := json.Marshal(r)
	if err != nil {
		return err
	}
	read := func(names ...string) string {
		var b strings.Builder
		for _, n := range names {
			text, _ := page.ReadFile("page/" + n) // embedded
			b.Write(bytes.TrimPrefix(text, []byte("\"use strict\";\n")))
		}
		return b.String()
	}
	parts := map[string]string{
		"Title": template.HTMLEscapeString(r.Title), "Style": read("page.css"), "Data": string(data),
		"Script": "\"use strict\";\n" + read("base.js", "timeline.js", "sections.js", "main.js"),
	}
	return pageTemplate.Execute(w, parts)
}
