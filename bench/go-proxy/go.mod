module plimsoll.bench/go-proxy

go 1.21
