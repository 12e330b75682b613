-- Prints the figures of wrk's report as JSON, with the 95th percentile, which `--latency` leaves out. Times in microseconds.
done = function(summary, latency, requests)
  io.write(string.format('{"requests":%d,"p95":%d,"p99":%d,"max":%d}\n',
    summary.requests, latency:percentile(95), latency:percentile(99), latency.max))
end
