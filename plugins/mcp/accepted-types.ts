const JSON_TYPE = 'application/json';
const EVENTS = 'text/event-stream';
const DATA = 'data: ';
/** The library requires the names of both types in this spelling, and knows no ranges. */
export const BOTH_TYPES = `${JSON_TYPE}, ${EVENTS}`;

const EXCLUDED = /;\s*q=0(?:\.0{0,3})?\s*(?:;|$)/;

interface AcceptedTypes {
  readonly json: boolean;
  readonly events: boolean;
}

/** Which types an `accept` header covers, by name or by a range (RFC 9110, 12.5.1). */
export function readAccepted(accept: string | null): AcceptedTypes {
  if (accept === null) return { json: true, events: true };
  const ranges = accept
    .toLowerCase()
    .split(',')
    .filter((range) => !EXCLUDED.test(range))
    .map((range) => range.split(';', 1).join('').trim());
  const covers = (type: string) =>
    [type, type.replace(/\/.*/, '/*'), '*/*'].some((range) => ranges.includes(range));
  return { json: covers(JSON_TYPE), events: covers(EVENTS) };
}

/**
 * Turns a stream of events into JSON, for clients that read no streams: the response, or a list of
 * those of a batch. Notifications are left out. Returns before the response is complete, because
 * the host limits the time until then.
 */
export function toJsonResponse(response: Response, isBatch: boolean): Response {
  const { body, status, headers } = response;
  if (body === null || headers.get('content-type')?.startsWith(EVENTS) !== true) return response;
  const json = ReadableStream.from(writeJson(body, isBatch));
  return new Response(json, { status, headers: { 'content-type': JSON_TYPE } });
}

async function* writeJson(
  body: ReadableStream<Uint8Array>,
  isBatch: boolean,
): AsyncGenerator<Uint8Array, void> {
  let count = 0;
  for await (const messages of readMessages(body)) {
    const answers = messages.filter((message) => !('method' in JSON.parse(message)));
    // The host and proxies limit the pauses of a body; comments of the stream arrive in time.
    if (answers.length === 0) yield Buffer.from(' ');
    for (const answer of answers) {
      const separator = count === 0 ? '[' : ',';
      count += 1;
      yield Buffer.from(isBatch ? separator + answer : answer);
      if (!isBatch) return;
    }
  }
  if (count === 0) throw new Error('the stream of events ended without a response');
  yield Buffer.from(']');
}

/** The messages of each chunk. Their JSON has no line breaks, so that an event has one line of data. */
async function* readMessages(
  body: ReadableStream<Uint8Array>,
): AsyncGenerator<readonly string[], void> {
  const decoder = new TextDecoder();
  let pieces: string[] = [];
  for await (const chunk of body) {
    // JSON may contain U+2028 and U+2029, which are line breaks for regular expressions.
    const [end = '', ...starts] = decoder.decode(chunk, { stream: true }).split('\n');
    pieces.push(end);
    const lines = starts.map((start) => {
      const line = pieces.join('');
      pieces = [start];
      return line;
    });
    const data = lines.filter((line) => line.startsWith(DATA) && line !== DATA);
    yield data.map((line) => line.slice(DATA.length));
  }
}
