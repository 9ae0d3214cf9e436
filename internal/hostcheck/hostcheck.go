// Package hostcheck tells the requests that a page of another site can have a browser make of
// this machine's own pages (DNS rebinding) by their Host header.
package hostcheck

import (
	"net"
	"net/http"
	"net/netip"
	"strings"
)

// Allowed reports whether a Host header is one that a page of another site cannot have: an IP
// address, localhost, or name if that is not empty.
func Allowed(host, name string) bool {
	if h, _, err := net.SplitHostPort(host); err == nil {
		host = h
	}
	host = strings.Trim(host, "[]")
	if _, err := netip.ParseAddr(host); err == nil {
		return true
	}
	return strings.EqualFold(host, "localhost") || name != "" && strings.EqualFold(host, name)
}

// Only passes on requests whose Host header is allowed, and refuses others.
func Only(name string, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !Allowed(r.Host, name) {
			http.Error(w, "This is not the address of that page: use the one that was printed.", http.StatusMisdirectedRequest)
			return
		}
		next.ServeHTTP(w, r)
	})
}
