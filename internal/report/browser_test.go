package report

import (
	"context"
	"encoding/json"
	"html"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"quern.dev/internal/trace"
)

// browser returns the path of Chromium, or skips the test.
func browser(t *testing.T) string {
	t.Helper()
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	t.Skip("no Chromium on PATH")
	return ""
}

// probe uses the page as a reader does, and writes what it finds into the document.
const probe = `
const found = { errors: window.failures };
const press = (target, key) => target.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));
found.sections = [...document.querySelectorAll("main > [id]")].map(e => e.id);
found.theme = [document.documentElement.dataset.theme];
press(document.body, "t");
found.theme.push(document.documentElement.dataset.theme, getComputedStyle(document.body).backgroundColor);
const spans = [view.to - view.from];
view.canvas.focus();
for (const key of ["+", "+", "ArrowRight", "-", "0"]) { press(view.canvas, key); spans.push(Math.round(view.to - view.from)); }
found.spans = spans;
press(view.canvas, "n");
found.picked = document.getElementById("picked").textContent;
const row = document.querySelector("#kernels tbody tr");
press(row, "Enter");
found.expanded = row.getAttribute("aria-expanded");
found.detail = row.nextSibling.textContent;
document.querySelectorAll("#kernels th button")[2].click();
found.sorted = document.querySelectorAll("#kernels th")[3].getAttribute("aria-sort");
press(document.body, "?");
found.dialog = document.getElementById("keys").open;
document.getElementById("keys").close();
view.paint();
const pixels = view.canvas.getContext("2d").getImageData(0, 0, view.canvas.width, view.canvas.height).data;
const colors = new Set();
for (let i = 0; i < pixels.length; i += 4) colors.add(pixels[i] << 16 | pixels[i + 1] << 8 | pixels[i + 2]);
found.colors = colors.size;
found.text = document.querySelector("main").innerText;
found.overflow = document.documentElement.scrollWidth > innerWidth;
document.body.append(Object.assign(document.createElement("pre"), { id: "found", textContent: JSON.stringify(found) }));
`

type foundInBrowser struct {
	Errors, Sections, Theme  []string
	Spans                    []float64
	Picked, Expanded, Detail string
	Sorted, Text             string
	Dialog, Overflow         bool
	Colors                   int
}

// open loads a report in Chromium and runs the probe in it.
func openInBrowser(t *testing.T, rep *Report, flags ...string) (found foundInBrowser) {
	t.Helper()
	chromium := browser(t)
	var b strings.Builder
	if err := rep.WriteHTML(&b); err != nil {
		t.Fatal(err)
	}
	page := strings.Replace(b.String(), "<body>", `<body><script>window.failures = []; addEventListener("error", e => failures.push(e.message)); addEventListener("securitypolicyviolation", e => failures.push(e.blockedURI));</script>`, 1)
	page = strings.Replace(page, "</body>", "<script>"+probe+"</script></body>", 1)
	file := filepath.Join(t.TempDir(), "report.html")
	if err := os.WriteFile(file, []byte(page), 0o666); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithTimeout(t.Context(), time.Minute)
	defer stop()
	args := append([]string{"--headless=new", "--no-sandbox", "--disable-gpu", "--user-data-dir=" + t.TempDir(), "--window-size=1400,900", "--virtual-time-budget=2000", "--dump-dom"}, flags...)
	out, err := exec.CommandContext(ctx, chromium, append(args, "file://"+file)...).Output()
	if err != nil {
		t.Skipf("Chromium does not run here: %v", err)
	}
	m := regexp.MustCompile(`(?s)<pre id="found">(.*?)</pre>`).FindSubmatch(out)
	if m == nil {
		t.Fatalf("the page did not finish:\n%.2000s", out)
	}
	if err := json.Unmarshal([]byte(html.UnescapeString(string(m[1]))), &found); err != nil {
		t.Fatal(err)
	}
	return found
}

func fullReport(t *testing.T) *Report {
	p := newProgram()
	shape := &trace.Shape{Grid: [3]int32{64, 1, 1}, Block: [3]int32{256, 1, 1}, Registers: 64, Read: 1 << 20}
	for i := range 50 {
		p.do(trace.CopyIn, "", 40_000, func(e *trace.Event) { e.Bytes, e.Host, e.Data = 1<<20, 0x1000, 7 })
		p.do(trace.Launch, "blur", 200_000, func(e *trace.Event) { e.Shape = shape })
		p.do(trace.Launch, "sharpen", int64(50_000+i*500), nil)
		p.now += 60_000
	}
	track := &trace.Track{Process: "cuda:0", Thread: "memory"}
	p.Event(&trace.Event{Kind: trace.Alloc, Label: &trace.Label{Name: "memory"}, Track: track, Start: 10, Op: 9999, Bytes: 1 << 24})
	return p.report(t, Input{
		Counts: counts(), Sources: filters(t), Machine: &Machine{CopyBandwidth: 4e12, Flops32: 60e12},
		CPU: []CPUSample{{Stack: []Frame{{Function: "main.decode", File: "decode.go", Line: 7}}, Nanoseconds: 3e6}},
	})
}

func TestThePageWorksInABrowser(t *testing.T) {
	found := openInBrowser(t, fullReport(t))
	if len(found.Errors) > 0 {
		t.Errorf("errors in the page: %q", found.Errors)
	}
	if want := "overview timeline kernels lines copies gaps memory source"; strings.Join(found.Sections, " ") != want {
		t.Errorf("sections are %q, want %q", found.Sections, want)
	}
	if len(found.Theme) != 3 || found.Theme[0] != "light" || found.Theme[1] != "dark" || found.Theme[2] != "rgb(14, 17, 22)" {
		t.Errorf("pressing t switches %q", found.Theme)
	}
	if s := found.Spans; len(s) != 6 || !(s[1] < s[0] && s[2] < s[1] && s[3] == s[2] && s[4] > s[3] && s[5] == s[0]) {
		t.Errorf("keys change the visible time to %v", found.Spans)
	}
	for what, text := range map[string][2]string{
		"the chosen event":   {found.Picked, "on cuda:0, default stream"},
		"an opened row":      {found.Detail, "64 blocks of 256 threads"},
		"its state":          {found.Expanded, "true"},
		"the sorted column":  {found.Sorted, "descending"},
		"the report":         {found.Text, "the same 49 MiB were uploaded again, 49 times"},
		"memory":             {found.Text, "16.0 MiB in 1"},
		"the lines":          {found.Text, "main.decode"},
		"the source":         {found.Text, "y[i] = tile[i*32]"},
		"the roofline":       {found.Text, "Roofline"},
		"the list of copies": {found.Text, "repeated upload"},
	} {
		if !strings.Contains(text[0], text[1]) {
			t.Errorf("%s is %.300q, want %q in it", what, text[0], text[1])
		}
	}
	if strings.Contains(found.Text, "[object") || strings.Contains(found.Text, "NaN") || strings.Contains(found.Text, "undefined") {
		t.Errorf("the page shows values that are not text:\n%s", found.Text)
	}
	if !found.Dialog || found.Overflow || found.Colors < 20 {
		t.Errorf("dialog opens: %v; page is wider than the window: %v; colors of the timeline: %d", found.Dialog, found.Overflow, found.Colors)
	}
}

func TestTheEmptyReportWorksInABrowser(t *testing.T) {
	p := newProgram()
	p.do(trace.Launch, "blur", 1000, nil)
	found := openInBrowser(t, p.report(t, Input{}), "--blink-settings=preferredColorScheme=0")
	if len(found.Errors) > 0 {
		t.Errorf("errors in the page: %q", found.Errors)
	}
	if len(found.Theme) == 0 || found.Theme[0] != "dark" {
		t.Errorf("the theme of a dark system is %q", found.Theme)
	}
}
