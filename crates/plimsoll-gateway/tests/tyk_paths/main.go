// Writes table.txt: which paths match which patterns when Go's regexp reads them as Tyk does, for the tests of the gateway's own matcher.
//
//	go run main.go > table.txt
//
// The rule is stated anew here (Tyk 5.15, internal/httputil/mux.go, PreparePathRegexp); the expressions are Go's own.
package main

import (
	"fmt"
	"regexp"
	"strings"
)

var paths = []string{
	"/", "/users", "/users/", "/users/42", "/users/42/", "/users/42/secret", "/users/42/secret/", "/users/42/7/secret",
	"/users//secret", "/users/secret", "/Users/42/Secret", "/xusers/42/secret", "/v1/users/42/secret", "/users/42/secrets",
	"/public", "/public/", "/public/a", "/public/a/b", "/public-internal/keys", "/publicity", "/v1/7/read", "/v1/7/8/read",
	"/v1/read", "/v2/7/read", "/v1/7/read/x", "/a/2", "/a/22", "/a/b/c", "/a.b", "/axb", "/a+b", "/aab", "/n/42", "/n/421",
	"/n/٤٢", "/n/x1_y", "/n/é", "/n/a b", "/n/a\tb", "/n/a\vb", "/n/a-b", "/n/a]b", "/n/a&b", "/n/a^b", "/n/ſ", "/n/K", "/n/k",
	"/{id}", "/a{", "/a}b", "/x<y>z", "/q\\e", "/api/admin", "/admin", "/Admin", "/administrator", "/x/admin/y", "/n/1.5", "/$", "/^",
}

var patterns = []string{
	"", "/", "^/$", "/users", "/users/", "^/users", "/users$", "^/users$", "/users/*", "/users/*/secret", "/users/*/", "/users*", "/*",
	"/*/", "/*/secret", "/users/*/*/secret", "/*/*", "/**", "^/users/*/secret$", "/public/*", "^/public/*", "/public/*$", "/v1/*/read",
	"/v1/{id}/read", "/v1/{id}/read$", "^/v1/{id}/{x}/read", "/a/{2}", "/a/{2}$", "/a/[0-9]{2}", "/n/[0-9]{2}$", "/{}", "/{}}", "/a{", "/a{2",
	"/a{,2}b", "/a}b", "/a{{x}", "/n/{id}", "/n/{id}$", "/{a}/{b}", "/{a{b}c}",
	`/n/\d+$`, `/n/\D+$`, `/n/\w+$`, `/n/\W+$`, `/n/a\sb`, `/n/a\Sb`, `/n/[\d]+$`, `/n/[^\d]+$`, `/n/[\w-]+$`, `/n/[\D]+$`, `/n/[a\]]+b`, `/n/[]a]+b`,
	`\badmin\b`, `/n/\bk`, `/n/a[&&b]b`, `/n/a[&&^]b`, `/n/[a--z]+`, `/n/[a~~b]+`, `/n/[a-c-e]+b`, `/n/[-a]+`, `/n/[a-]+`, `/n/[[a]+`, `/n/[[:alpha:]]+$`,
	`/n/[[:^alpha:]]+$`, `/n/[[:space:]a]+b`, `/n/[[:nothing:]]`, `/n/[z-a]`, `/n/\pL+$`, `/n/\p{Greek}`, `/n/\P{L}+$`, `/n/\p{^L}+$`, `/n/.`, `/n/a.b$`,
	`(?s)/n/a.b$`, `(?i)/ADMIN`, `/(?i:ADMIN)$`, `(?i)/n/k$`, `(?i)/n/s$`, `(?i)/n/\w$`, `(?i)/n/[k]$`, `(?x)/admin # x`, `(?U)/n/.+`, `(?m)^b$`,
	`\A/admin\z`, `/admin\Z`, `\Q/a.b\E`, `\Q/n/a`, `/x\<y\>z`, `/q\\e`, `/a\.b`, `/a\-b`, `/n\/a`, `/n/\x61`, `/n/\x{6B}`, `/n/\101`, `/n/\07`, `/n/\1`,
	`/n/\_`, `/n/\e`, `/n/\é`, `/n/a\tb`, `/n/a\vb`, `/n/a\nb`, "/a+b", `/a\+b`, "/a++b", "/a*b", "/a**b", "/a*?b", "/a??b", "/a?+b", "*a", "+a", "(*a)", "a|*b",
	"/(users|public)/", "/(?:users|public)$", "(?P<id>/users)", "(?<id>/users)", "(?P<id/users)", "/(users", "/users)", "(/users)+/42", "()", "(|/admin)",
	"/a{2}{3", "/a{1001}{", "/n/[0-9]{2,1}{", "/n/[0-9]{02}{", "/n/1.5", `/n/1\.5$`, "/$", `/\$`, "/^", `/\^`, "$", "^", "^/api/admin", "admin", "Admin", "/admin$", "/.*/admin",
}

// expression is what is compiled of a pattern.
func expression(pattern string, prefix, suffix, anyCase bool) string {
	if open := strings.Count(pattern, "{"); open > 0 && open == strings.Count(pattern, "}") {
		pattern = regexp.MustCompile(`{([^}]+)}`).ReplaceAllString(pattern, `([^/]+)`)
	}
	pattern = strings.ReplaceAll(pattern, "/*/", "/[^/]+/")
	pattern = strings.ReplaceAll(pattern, "/*", "/.*")
	if prefix && strings.HasPrefix(pattern, "/") {
		pattern = "^" + pattern
	}
	if suffix && !strings.HasSuffix(pattern, "$") {
		pattern += "$"
	}
	if anyCase {
		pattern = "(?i)" + pattern
	}
	return pattern
}

func bits(expression string) string {
	compiled, err := regexp.Compile(expression)
	if err != nil {
		return "!"
	}
	var bits strings.Builder
	for _, path := range paths {
		if compiled.MatchString(path) {
			bits.WriteByte('1')
		} else {
			bits.WriteByte('0')
		}
	}
	return bits.String()
}

func main() {
	for _, path := range paths {
		fmt.Println(path)
	}
	fmt.Println()
	for _, settings := range []string{"", "p", "s", "ps", "i"} {
		for _, pattern := range patterns {
			has := func(flag string) bool { return strings.Contains(settings, flag) }
			of := expression(pattern, has("p"), has("s"), has("i"))
			fmt.Printf("%s\t%s\t%s\n", pattern, settings, bits(of))
		}
	}
}
