// An upstream on Go's net/http: says its port, then for every request what it was.
package main

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
)

func main() {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println(listener.Addr().(*net.TCPAddr).Port)
	// No mux: it would clean paths and redirect.
	err = http.Serve(listener, http.HandlerFunc(func(answer http.ResponseWriter, request *http.Request) {
		if _, err := io.Copy(io.Discard, request.Body); err != nil {
			panic(http.ErrAbortHandler)
		}
		answer.Header().Set("X-Seen", request.Method+" "+request.RequestURI)
		io.WriteString(answer, "fine")
	}))
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}
