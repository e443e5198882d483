type Line = Readonly<Record<string, unknown>>;

/**
 * Shortens a log line for people: a request is one phrase, and empty fields are omitted. Never
 * throws.
 */
export function toTerminalLine(text: string): string {
  const line = parseLine(text);
  if (line === null) return text;
  const short = line['msg'] === 'request' ? shorten(line) : omitEmpty(line);
  return JSON.stringify(short);
}

function omitEmpty(line: Line): Line {
  const isFilled = (value: unknown) =>
    value !== null && !(Array.isArray(value) && value.length === 0);
  return Object.fromEntries(Object.entries(line).filter(([, value]) => isFilled(value)));
}

function shorten(line: Line): Line {
  const { level, time, request_id, actor, attempts, failure, failure_detail } = line;
  return {
    level,
    time,
    msg: describeRequest(line),
    request_id,
    ...(actor !== null && { actor }),
    ...(typeof attempts === 'number' && attempts > 1 && { attempts }),
    ...(failure !== null && { failure }),
    ...(failure_detail !== null && { failure_detail }),
  };
}

/** `GET shop /items/{id} 200 1.9 ms, provider 1.2 ms` */
function describeRequest({
  method,
  module,
  route,
  status,
  duration_ms,
  provider_ms,
}: Line): string {
  const words = [method, module, route, status].filter((word) => word !== null);
  const provider = provider_ms === null ? '' : `, provider ${formatMs(provider_ms)}`;
  return `${words.join(' ')} ${formatMs(duration_ms)}${provider}`;
}

function formatMs(ms: unknown): string {
  return `${Number(ms).toFixed(1)} ms`;
}

function parseLine(text: string): Line | null {
  try {
    return JSON.parse(text) as Line;
  } catch {
    return null;
  }
}
