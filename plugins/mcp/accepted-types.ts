const JSON_TYPE = 'application/json';
const EVENTS = 'text/event-stream';
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
 * those of a batch. Notifications are left out.
 */
export async function toJsonResponse(response: Response, isBatch: boolean): Promise<Response> {
  const { body, status, headers } = response;
  if (body === null || headers.get('content-type')?.startsWith(EVENTS) !== true) return response;
  const answers: string[] = [];
  for await (const message of readMessages(body)) {
    if (!('method' in JSON.parse(message))) answers.push(message);
    if (!isBatch && answers.length > 0) break;
  }
  const text = isBatch ? `[${answers.join(',')}]` : (answers[0] ?? '');
  return new Response(text, { status, headers: { 'content-type': JSON_TYPE } });
}

async function* readMessages(body: ReadableStream<Uint8Array>): AsyncGenerator<string, void> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const chunk of body) {
    const events = (rest + decoder.decode(chunk, { stream: true })).split('\n\n');
    rest = events.pop() ?? '';
    for (const event of events) {
      const [, data] = /^data: (.*)$/m.exec(event) ?? [];
      if (data !== undefined && data !== '') yield data;
    }
  }
}
