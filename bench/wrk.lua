-- Counts what failed and prints one line of JSON. The body of a request comes from a file: it may be long.
local path = os.getenv('BENCH_BODY')
if path then
  local file = assert(io.open(path, 'rb'))
  wrk.body = file:read('*a')
  file:close()
  wrk.method = 'POST'
  wrk.headers['content-type'] = 'application/json'
end

local think = tonumber(os.getenv('BENCH_THINK_MS') or '0')
if think > 0 then
  function delay() return math.random(0, 2 * think) end
end

function done(summary, latency)
  local errors = summary.errors
  local failed = errors.connect + errors.read + errors.write + errors.status + errors.timeout
  print(string.format(
    '{"requests":%d,"microseconds":%d,"bytes":%d,"failed":%d,"p50":%d,"p99":%d}',
    summary.requests, summary.duration, summary.bytes, failed,
    latency:percentile(50), latency:percentile(99)))
end
