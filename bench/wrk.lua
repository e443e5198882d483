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

-- Calls so many modules in turn, instead of the last of them alone.
local modules = tonumber(os.getenv('BENCH_SPREAD') or '0')
if modules > 0 then
  local requests, at = {}, 0
  function init()
    for number = 0, modules - 1 do
      local called = wrk.path:gsub('/bench%d+/', string.format('/bench%04d/', number), 1)
      requests[number] = wrk.format(nil, called)
    end
  end
  function request()
    at = (at + 1) % modules
    return requests[at]
  end
end

function done(summary, latency)
  local errors = summary.errors
  local failed = errors.connect + errors.read + errors.write + errors.status + errors.timeout
  print(string.format(
    '{"requests":%d,"microseconds":%d,"bytes":%d,"failed":%d,"p50":%d,"p99":%d}',
    summary.requests, summary.duration, summary.bytes, failed,
    latency:percentile(50), latency:percentile(99)))
end
