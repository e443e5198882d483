type Line = Readonly<Record<string, unknown>>;

/**
 * Shortens the log line of a request for people; other lines are unchanged. Never throws.
 */
export function toTerminalLine(text: string): string {
  const line = parseLine(text);
  return line?.['msg'] === 'request' ? `${JSON.stringify(shorten(line))}\n` : text;
}

function shorten(line: Line): Line {
  const { level, time, request_id, actor, attempts, failure } = line;
  return {
    level,
    time,
    msg: describeRequest(line),
    request_id,
    ...(actor !== null && { actor }),
    ...(typeof attempts === 'number' && attempts > 1 && { attempts }),
    ...(failure !== null && { failure }),
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
