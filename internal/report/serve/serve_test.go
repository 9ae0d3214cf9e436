package serve

import (
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/pprof/profile"

	"github.com/dynolab/dyno/internal/calibrate"
	"github.com/dynolab/dyno/internal/why"
)

// recorded is a complete run of 6 blocks, which anyone has.
const recorded = "../../../results/amd-epyc-2c-linux-amd64/20261121-170929-e08f0212.bench"

func recordedRun(t testing.TB) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.FromSlash(recorded))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

const secret = "BenchmarkSecret 1 12345 ns/op\n"

// folder makes results below a new folder, and beside them what must not be seen. It
// has a complete run with explanations, m/run.bench.
func folder(t testing.TB) (dir string) {
	t.Helper()
	top := t.TempDir()
	dir = filepath.Join(top, "results")
	write(t, filepath.Join(top, "secret.bench"), []byte(secret))
	write(t, filepath.Join(dir, "m", "run.bench"), recordedRun(t))
	write(t, filepath.Join(dir, "plain.bench"), []byte("machine: x\nBenchmarkX/impl=a 1 5 ns/op\nBenchmarkX/impl=b 1 6 ns/op\n"))
	write(t, filepath.Join(dir, ".hidden", "no.bench"), []byte(secret))
	explain(t, filepath.Join(dir, "m", "run.bench"), "Actor/workload=ask-2", "lockbased", "channel")
	return dir
}

func write(t testing.TB, path string, data []byte) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, data, 0o644); err != nil {
		t.Fatal(err)
	}
}

// explain puts an explanation with a profile beside a results file. The profile
// claims that its source is a file of the system.
func explain(t testing.TB, results, row, base, column string) {
	t.Helper()
	f := &profile.Function{ID: 1, Name: "example.com/p.Spin", SystemName: "example.com/p.Spin", Filename: "/etc/passwd"}
	m := &profile.Mapping{ID: 1, Start: 0x1000, Limit: 0x9000, File: "/bin/sh", HasFunctions: true, HasFilenames: true, HasLineNumbers: true}
	l := &profile.Location{ID: 1, Mapping: m, Address: 0x1100, Line: []profile.Line{{Function: f, Line: 1}}}
	p := &profile.Profile{
		SampleType: []*profile.ValueType{{Type: "samples", Unit: "count"}, {Type: "cpu", Unit: "nanoseconds"}},
		Sample:     []*profile.Sample{{Location: []*profile.Location{l}, Value: []int64{7, 7e7}}},
		Mapping:    []*profile.Mapping{m}, Location: []*profile.Location{l}, Function: []*profile.Function{f},
		PeriodType: &profile.ValueType{Type: "cpu", Unit: "nanoseconds"}, Period: 1e7, DurationNanos: 1e9,
	}
	var b bytes.Buffer
	if err := p.Write(&b); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(why.Folder(results), "a", "cpu.pb.gz"), b.Bytes())
	x := &why.Index{Schema: why.Schema, Cells: []why.Cell{{
		Row: row, Base: base, Column: column, Folder: "a", Notes: []string{"It parks for every message."},
		Profiles: []why.Profile{{Kind: why.CPU, Unit: "ns/op", Base: why.Side{Path: "a/cpu.pb.gz"}, This: why.Side{Path: "a/cpu.pb.gz"}}},
	}}}
	if err := x.Write(results); err != nil {
		t.Fatal(err)
	}
}

// serving returns the handler of a folder.
func serving(t testing.TB, dir string, o Options) http.Handler {
	t.Helper()
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = root.Close() })
	return New(root, o)
}

// ask makes a request whose path is not cleaned up, as an attacker's is not.
func ask(t testing.TB, h http.Handler, method, path string, header ...string) (*http.Response, string) {
	t.Helper()
	r := httptest.NewRequest(method, "/", nil)
	u, err := url.ParseRequestURI(path)
	if err != nil {
		t.Fatalf("%q: %v", path, err)
	}
	r.URL, r.RequestURI, r.Host = u, path, "127.0.0.1:8137"
	for i := 0; i+1 < len(header); i += 2 {
		if header[i] == "Host" {
			r.Host = header[i+1]
		}
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	body, err := io.ReadAll(w.Result().Body)
	if err != nil {
		t.Fatal(err)
	}
	return w.Result(), string(body)
}

func want(t *testing.T, h http.Handler, path string, status int, texts ...string) (*http.Response, string) {
	t.Helper()
	res, body := ask(t, h, "GET", path)
	if res.StatusCode != status {
		t.Errorf("%s is %s, want %d: %.300s", path, res.Status, status, body)
	}
	for _, text := range texts {
		if !strings.Contains(body, text) {
			t.Errorf("%s lacks %q", path, text)
		}
	}
	return res, body
}

func TestPages(t *testing.T) {
	h := serving(t, folder(t), Options{})
	_, index := want(t, h, "/", 200, `href="/run/m/run.bench/"`, "complete: 6 of 6 blocks", "e08f0212", `href="/run/plain.bench/live"`)
	if strings.Contains(index, "hidden") && strings.Contains(index, "no.bench") {
		t.Error("a hidden folder is listed")
	}
	res, _ := want(t, h, "/run/m/run.bench", 301)
	if to := res.Header.Get("Location"); to != "/run/m/run.bench/" {
		t.Errorf("it leads to %q", to)
	}
	want(t, h, "/run/m/run.bench/", 200, "The answer", "It parks for every message.", `href="profile/a/cpu.pb.gz/"`, `<a href="/">All runs</a>`)
	want(t, h, "/run/m/run.bench/live", 200, "complete: 6 of 6 blocks", "What it found", "/live.js")
	want(t, h, "/run/plain.bench/", 200, "The answer")
	want(t, h, "/live.js", 200, "live/part")
	if _, text := want(t, h, "/run/m/run.bench/results.txt", 200); text != string(recordedRun(t)) {
		t.Error("the results are not as they are")
	}
	for _, path := range []string{"/nothing", "/run/", "/run/m/", "/run/no.bench/", "/run/m/run.bench/nothing", "/run/m/run.bench/live/more", "/run/m/run.bench/profile/a/none.pb.gz/"} {
		want(t, h, path, 404)
	}
	// HEAD is GET without a body.
	res, body := ask(t, h, "HEAD", "/run/m/run.bench/")
	if res.StatusCode != 200 || body != "" {
		t.Errorf("HEAD is %s", res.Status)
	}
}

// The list opens on the run that began last, whatever its folder, its name and the time of its
// file, and with what came of it in a sentence.
func TestListOpensOnTheNewest(t *testing.T) {
	dir := t.TempDir()
	run := func(name, started string, fast int) {
		if started != "" {
			started = "started: " + started + "\n"
		}
		write(t, filepath.Join(dir, name), []byte(started+strings.Repeat(fmt.Sprintf("BenchmarkX/impl=ref-a 1 5 ns/op\nBenchmarkX/impl=b 1 %d ns/op\n", fast), 8)))
	}
	run("board/nothing.bench", "2026-11-26T10:00:00Z", 5)
	run("a/newest.bench", "2026-11-28T10:00:00Z", 2)
	run("z/20261127-100000-abc.bench", "", 9) // said by the name only, and written last
	_, body := want(t, serving(t, dir, Options{}), "/", 200)
	cards := strings.Split(body, "<li ")[1:]
	for i, want := range []string{"a/newest.bench", "z/20261127-100000-abc.bench", "board/nothing.bench"} {
		if !strings.Contains(cards[i], ">"+want+"</a>") {
			t.Errorf("card %d is not %s:\n%s", i, want, cards[i])
		}
	}
	if !strings.Contains(cards[0], "<h2>The newest run</h2>") || !strings.Contains(cards[0], `<p class="lead">b: no difference proven on 1 of 1; 0.400`) || strings.Contains(cards[1], "newest run") || !strings.Contains(cards[1], "1.800") {
		t.Errorf("it opens on %s", cards[0])
	}
}

// What the file holds now is what is shown, and what explains it.
func TestReportFollowsTheFile(t *testing.T) {
	dir := folder(t)
	h := serving(t, dir, Options{})
	want(t, h, "/run/plain.bench/", 200, "X")
	write(t, filepath.Join(dir, "plain.bench"), []byte("BenchmarkOther/impl=a 1 5 ns/op\nBenchmarkOther/impl=b 1 6 ns/op\n"))
	want(t, h, "/run/plain.bench/", 200, "Other")
	write(t, filepath.Join(why.Folder(filepath.Join(dir, "m", "run.bench")), "why.json"), []byte("{"))
	want(t, h, "/run/m/run.bench/", 200, "what explains the differences cannot be read")
}

// The calibration beside the results is quoted, a new one too, and none from
// elsewhere.
func TestCalibration(t *testing.T) {
	dir := folder(t)
	h := serving(t, dir, Options{})
	const quoted = "On this kind of machine"
	if _, body := want(t, h, "/run/plain.bench/", 200); strings.Contains(body, quoted) {
		t.Error("there is no calibration yet")
	}
	text := `{"schema":"` + calibrate.CalibrationSchema + `","measured":"2026-11-20T10:00:00Z","circumstances":{"machine":"x"},"alarms":{"k":1,"n":20},"wrong":{"k":0,"n":20}}`
	outside := filepath.Join(filepath.Dir(dir), "calibration-0.json")
	write(t, outside, []byte(text))
	if err := os.Symlink(outside, filepath.Join(dir, "calibration-0.json")); err != nil {
		t.Logf("no symbolic links here: %v", err)
	}
	pipe(t, filepath.Join(dir, "calibration-1.json"))
	if _, body := want(t, h, "/run/plain.bench/", 200); strings.Contains(body, quoted) {
		t.Error("a calibration from elsewhere is quoted")
	}
	write(t, filepath.Join(dir, "calibration-2.json"), []byte(text))
	want(t, h, "/run/plain.bench/", 200, quoted)
}

// Nothing can be changed, whatever the method and the path.
func TestOnlyReads(t *testing.T) {
	h := serving(t, folder(t), Options{})
	for _, path := range []string{"/", "/run/m/run.bench/", "/run/m/run.bench/live", "/run/m/run.bench/profile/a/cpu.pb.gz/top", "/nothing"} {
		for _, method := range []string{"POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "CONNECT", "PROPFIND", "get"} {
			if res, _ := ask(t, h, method, path); res.StatusCode != 405 || res.Header.Get("Allow") != "GET, HEAD" {
				t.Errorf("%s %s is %s", method, path, res.Status)
			}
		}
	}
}

// A page of another site can make its own name mean this machine; it cannot leave
// that name out of the request.
func TestOtherHostsAreRefused(t *testing.T) {
	h := serving(t, folder(t), Options{Host: "bench.example"})
	for host, status := range map[string]int{
		"127.0.0.1": 200, "127.0.0.1:8137": 200, "localhost:1": 200, "LOCALHOST": 200, "[::1]:8137": 200, "192.168.1.7:80": 200, "bench.example:8137": 200,
		"evil.example": 421, "evil.example:8137": 421, "127.0.0.1.evil.example": 421, "localhost.evil.example:1": 421, "": 421, "localhost.": 421,
	} {
		for _, path := range []string{"/", "/run/m/run.bench/results.txt", "/run/m/run.bench/profile/a/cpu.pb.gz/download"} {
			res, body := ask(t, h, "GET", path, "Host", host)
			if res.StatusCode != status || status != 200 && strings.Contains(body, "pingpong") {
				t.Errorf("%q for %s is %s", host, path, res.Status)
			}
		}
	}
}

func TestHeaders(t *testing.T) {
	h := serving(t, folder(t), Options{})
	for _, path := range []string{"/", "/run/m/run.bench/", "/run/m/run.bench/live", "/run/m/run.bench/results.txt", "/run/m/run.bench/profile/a/cpu.pb.gz/top", "/nothing"} {
		res, _ := ask(t, h, "GET", path)
		policy := res.Header.Get("Content-Security-Policy")
		if !strings.Contains(policy, "default-src 'none'") || !strings.Contains(policy, "frame-ancestors 'none'") || strings.Contains(policy, "unsafe-eval") {
			t.Errorf("%s has the policy %q", path, policy)
		}
		if strings.Contains(policy, "script-src 'unsafe-inline'") != strings.Contains(path, "profile") {
			t.Errorf("%s has the policy %q", path, policy)
		}
		if res.Header.Get("X-Content-Type-Options") != "nosniff" || res.Header.Get("Cross-Origin-Resource-Policy") != "same-origin" {
			t.Errorf("%s: %v", path, res.Header)
		}
	}
}

// No path leads out of the folder.
func TestPathsDoNotEscape(t *testing.T) {
	dir := folder(t)
	h := serving(t, dir, Options{})
	abs := filepath.ToSlash(filepath.Join(filepath.Dir(dir), "secret.bench"))
	for _, path := range []string{
		"/run/../secret.bench/", "/run/../secret.bench/results.txt", "/run/%2e%2e/secret.bench/results.txt", "/run/m/../../secret.bench/results.txt",
		"/run/..%2fsecret.bench/results.txt", "/run/m/%2e%2e/%2e%2e/secret.bench/results.txt", "/run/" + abs + "/results.txt", "/run//" + abs + "/results.txt",
		"/run/%2F" + abs[1:] + "/results.txt", `/run/..%5csecret.bench/results.txt`, "/run/./../secret.bench/results.txt", "/run/m/run.bench/../../../secret.bench/results.txt",
		"/run/secret.bench%00/results.txt", "/run/.hidden/../../secret.bench/live", "/run/../secret.bench/live/part",
		"/run/m/run.bench/profile/../../../../secret.pb.gz/download", "/run/m/run.bench/profile/%2e%2e/%2e%2e/x.pb.gz/top", "/run/m/run.bench/profile//etc/x.pb.gz/top",
		"/../secret.bench", "//secret.bench",
	} {
		res, body := ask(t, h, "GET", path)
		if res.StatusCode < 300 || strings.Contains(body, "12345") || strings.Contains(body, "Secret") {
			t.Errorf("%s is %s: %.200s", path, res.Status, body)
		}
	}
}

// No link leads out either, nor is anything opened that is no file.
func TestLinksDoNotEscape(t *testing.T) {
	dir := folder(t)
	outside := filepath.Dir(dir)
	explain(t, filepath.Join(outside, "secret.bench"), "X", "a", "b")
	for link, target := range map[string]string{
		"out.bench": filepath.Join(outside, "secret.bench"), "up.bench": filepath.Join("..", "secret.bench"), "dir": outside,
		"in.bench": filepath.Join("m", "run.bench"), "loop.bench": "loop.bench", "device.bench": os.DevNull,
		"plain": filepath.Join(outside, "secret"), // where plain.bench's explanations would be
	} {
		if err := os.Symlink(target, filepath.Join(dir, link)); err != nil {
			t.Skipf("no symbolic links here: %v", err)
		}
	}
	pipe(t, filepath.Join(dir, "pipe.bench"))
	if err := os.Mkdir(filepath.Join(dir, "folder.bench"), 0o755); err != nil {
		t.Fatal(err)
	}
	h := serving(t, dir, Options{})
	for _, name := range []string{"out.bench", "up.bench", "dir/secret.bench", "loop.bench", "device.bench", "pipe.bench", "folder.bench", "out.bench/../out.bench"} {
		for _, what := range []string{"", "live", "live/part", "results.txt"} {
			res, body := ask(t, h, "GET", "/run/"+name+"/"+what)
			if res.StatusCode < 300 || strings.Contains(body, "12345") {
				t.Errorf("%s/%s is %s", name, what, res.Status)
			}
		}
	}
	want(t, h, "/run/in.bench/results.txt", 200, "pingpong")
	if _, body := want(t, h, "/run/plain.bench/", 200); strings.Contains(body, "It parks for every message.") {
		t.Error("an explanation outside of the folder is shown")
	}
	want(t, h, "/run/plain.bench/profile/a/cpu.pb.gz/top", 403)
	if _, body := want(t, h, "/", 200, "unreadable"); strings.Contains(body, "dir/secret") || strings.Contains(body, "12345") {
		t.Error("the list follows a link out of the folder")
	}
}

// pprof's pages show the profile and nothing else, and write nothing.
func TestProfiles(t *testing.T) {
	home := t.TempDir()
	for _, name := range []string{"HOME", "XDG_CONFIG_HOME", "AppData", "PPROF_TMPDIR"} {
		t.Setenv(name, home)
	}
	dir := folder(t)
	before := listing(t, dir)
	h := serving(t, dir, Options{})
	const at = "/run/m/run.bench/profile/a/cpu.pb.gz"
	res, _ := want(t, h, at, 301)
	if to := res.Header.Get("Location"); to != at+"/" {
		t.Errorf("it leads to %q", to)
	}
	for _, page := range []string{"/top", "/flamegraph", "/peek?f=Spin", "/top?f=Spin&si=samples"} {
		if _, body := want(t, h, at+page, 200, "Spin"); strings.Contains(body, "root:") {
			t.Errorf("%s has a file of the system", page)
		}
	}
	if res, _ := want(t, h, at+"/", 301); res.Header.Get("Location") != "flamegraph" {
		t.Errorf("the first page is %q", res.Header.Get("Location"))
	}
	if _, body := want(t, h, at+"/download", 200); !strings.HasPrefix(body, "\x1f\x8b") {
		t.Error("the download is no profile")
	}
	for _, page := range []string{"/source?f=Spin", "/disasm?f=Spin", "/saveconfig?config=evil", "/deleteconfig?config=evil"} {
		if _, body := want(t, h, at+page, 403); strings.Contains(body, "root:") {
			t.Errorf("%s has a file of the system", page)
		}
	}
	want(t, h, at+"/nothing", 404)
	if after := listing(t, dir); after != before {
		t.Errorf("the folder was\n%s\nand is\n%s", before, after)
	}
	if left := listing(t, home); left != ".\n" {
		t.Errorf("pprof has written\n%s", left)
	}
	// A profile that has changed is read again, and one that is none is refused.
	write(t, filepath.Join(why.Folder(filepath.Join(dir, "m", "run.bench")), "a", "cpu.pb.gz"), []byte("\x1f\x8bno"))
	want(t, h, at+"/top", 403, "no profile")
}

// listing is the names below dir, with their sizes.
func listing(t testing.TB, dir string) string {
	t.Helper()
	var b strings.Builder
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		size := ""
		if info, err := d.Info(); err == nil && !d.IsDir() {
			size = fmt.Sprint(" ", info.Size())
		}
		fmt.Fprintln(&b, rel+size)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// A file that ends anywhere has a page that says how far it got, and a report of what
// there is.
func TestTornFiles(t *testing.T) {
	data := recordedRun(t)
	dir := t.TempDir()
	h := serving(t, dir, Options{})
	path := filepath.Join(dir, "run.bench")
	reports := 0
	for cut := 0; cut <= len(data); cut += 7919 {
		write(t, path, data[:cut])
		want(t, h, "/", 200, "run.bench")
		want(t, h, "/run/run.bench/live/part", 200)
		res, body := ask(t, h, "GET", "/run/run.bench/")
		switch {
		case res.StatusCode == 200:
			reports++
		case res.StatusCode != 422 || !strings.Contains(body, "There is no report of this file"):
			t.Errorf("cut at %d it is %s: %.200s", cut, res.Status, body)
		}
	}
	if reports < len(data)/7919-2 {
		t.Errorf("%d reports of %d files", reports, len(data)/7919)
	}
}

// The progress of a run follows its file: block by block, until it is complete, and
// what it says of those that are there is no verdict.
func TestGrowingFile(t *testing.T) {
	data := recordedRun(t)
	dir := t.TempDir()
	path := filepath.Join(dir, "run.bench")
	now := time.Now()
	h := serving(t, dir, Options{Now: func() time.Time { return now }})
	const part = "/run/run.bench/live/part"
	upTo := func(mark string) []byte {
		i := bytes.Index(data, []byte(mark))
		if i < 0 {
			t.Fatalf("no %q in %s", mark, recorded)
		}
		return data[: i+len(mark) : i+len(mark)]
	}
	grow := func(d []byte) {
		write(t, path, d)
		if err := os.Chtimes(path, now, now); err != nil {
			t.Fatal(err)
		}
	}
	grow(upTo("\nblock: 1\n"))
	want(t, h, part, 200, "goes on: 0 of 6 blocks", "Block 1 goes on, 0 results of 55", "0 %", "Nothing yet")

	grow(append(upTo("# end of block 1\n"), "block: 2\nBenchmarkActor/workload=ask/impl=early-2 1 5 ns/op\nBenchmarkActor/workload=ask/impl=chan"...))
	res, body := want(t, h, part, 200, "goes on: 1 of 6 blocks", "Block 2 goes on, 1 results of 55", "Actor/workload=ask/impl=early-2", "It is not finished", "1 complete blocks", "not verdicts")
	if strings.Contains(body, "faster") || strings.Contains(body, "slower") {
		t.Error("it judges before the end")
	}
	if strings.Contains(body, "early</th>") {
		t.Error("it compares what is in a block that goes on")
	}
	tag := res.Header.Get("ETag")
	if same, _ := ask(t, h, "GET", part, "If-None-Match", tag); tag == "" || same.StatusCode != http.StatusNotModified {
		t.Errorf("without a change it is %s, tag %q", same.Status, tag)
	}

	// Nothing more comes: after a while that is no pause any more.
	now = now.Add(recently)
	if res, body := ask(t, h, "GET", part, "If-None-Match", tag); res.StatusCode != 200 || !strings.Contains(body, "interrupted: 1 of 6 blocks") || !strings.Contains(body, "--resume run.bench") {
		t.Errorf("it is %s: %.300s", res.Status, body)
	}

	grow(upTo("# end of block 3\n"))
	res, _ = want(t, h, part, 200, "goes on: 3 of 6 blocks", "50 %", "3 complete blocks", "0.")
	if res.Header.Get("Dyno-Done") != "" {
		t.Error("it is done before the end")
	}
	grow(data)
	res, _ = want(t, h, part, 200, "complete: 6 of 6 blocks", "100 %")
	if res.Header.Get("Dyno-Done") == "" {
		t.Error("it is not done at the end")
	}
}

// What is shown of an unfinished run is of complete blocks: in a part of one, what
// ran first would be compared with nothing.
func TestComplete(t *testing.T) {
	for in, want := range map[string]string{
		"a\n": "a\n", "": "", "# end of block 1\n": "# end of block 1\n",
		"a\n# end of block 1\nb\n":                    "a\n# end of block 1\n",
		"a\n# end of block 1\nb\n# end of block 2\nc": "a\n# end of block 1\nb\n# end of block 2\n",
		"a\n# end of block 1":                         "a\n# end of block 1",
	} {
		if got := string(complete([]byte(in))); got != want {
			t.Errorf("%q is complete up to %q, want %q", in, got, want)
		}
	}
}

// Whatever a file holds, reading its progress neither panics nor counts more than is
// there.
func FuzzParseRun(f *testing.F) {
	f.Add(recordedRun(f))
	f.Add([]byte("block: 1\nBenchmarkX 1 5 ns/op\n# end of block 9223372036854775807\nblock: -1\n# hole: \n# resumed \n: \n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		r := parseRun("a.bench", data)
		if lines := bytes.Count(data, []byte("\n")); r.Results+r.Holes > lines {
			t.Fatalf("%d results and %d holes in %d lines", r.Results, r.Holes, lines)
		}
		if p := r.Percent(); p < 0 || p > 100 {
			t.Fatalf("%d %% are done", p)
		}
		if s := r.State(time.Now()); s == "" {
			t.Fatal("no state")
		}
		_ = r.left()
	})
}

// A board's run has the board's name, and says if that was emulated.
func TestRunOfBoard(t *testing.T) {
	for text, want := range map[string]string{
		"machine: host\nemulated: false\n": "host",
		"board: m3\nemulated: yes\n":       "m3, emulated",
		"board: pico\nemulated: no\n":      "pico",
		"commit: 1\n":                      "folder",
	} {
		if r := parseRun("folder/a.bench", []byte(text+"BenchmarkX 1 1 ns/op\n")); r.Machine != want {
			t.Errorf("%q is of %q, want %q", text, r.Machine, want)
		}
	}
}
