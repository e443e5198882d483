import type { ServerResponse } from 'node:http';
import { SMUGGLED } from './raw-mode-scripts.js';
import type { Script } from './recording-provider.js';

/** A module whose routes answer with streams of events, with short limits. */
export const STREAM_MODULE = 'stream';
/** A second module for a client that reads nothing, so that its streams are counted separately. */
export const SLOW_STREAM_MODULE = 'stream-slow';

/** The size of an event of these modules. */
const EVENT_BYTES = 4096;

export const STREAM_LIMITS = {
  timeout_ms: 1000,
  body_idle_ms: 1000,
  stream: { idle_ms: 1000, per_actor: 3, event_bytes: EVENT_BYTES },
};

export const STREAM_ROUTES = [
  ['/sse/{kind}', 'sse'],
  ['/ndjson/{kind}', 'ndjson'],
].map(([path, stream]) => ({
  method: 'GET',
  path,
  capability: 'shop.use',
  operation: { stream },
}));

interface HostileStream {
  readonly form: 'sse' | 'ndjson';
  readonly name: string;
  readonly title: string;
  /** Latin-1. */
  readonly sent: string;
}

/** Bytes that must not reach a client, which could mistake them for output of the host. */
export const HOSTILE_STREAMS: readonly HostileStream[] = [
  sse('end', 'an event that imitates the end', `event: modgate.end\ndata: ${SMUGGLED}\n\n`),
  sse('open', 'an event that imitates the start', `event:modgate.open\ndata: ${SMUGGLED}\n\n`),
  sse(
    'cr',
    'such a name behind a carriage return',
    `id: 1\revent: modgate.end\rdata: ${SMUGGLED}\r\r`,
  ),
  sse(
    'mark',
    'such a name behind a byte order mark',
    `\xef\xbb\xbfevent: modgate.end\ndata: ${SMUGGLED}\n\n`,
  ),
  sse(
    'twice',
    'such a name behind a harmless one',
    `event: a\nevent: modgate.end\ndata: ${SMUGGLED}\n\n`,
  ),
  sse(
    'late',
    'such a name in an event that the provider leaves unfinished',
    `data: ${SMUGGLED}\nevent: modgate.problem`,
  ),
  sse('bytes', 'an event that is not UTF-8', `data: ${SMUGGLED} \xff\n\n`),
  sse('large', 'an event without an end', `data: ${SMUGGLED}${'x'.repeat(2 * EVENT_BYTES)}`),
  ndjson('end', 'a line that imitates the end', `{"modgate.end":"${SMUGGLED}"}\n`),
  ndjson('escaped', 'such a member with an escape', `{"\\u006dodgate.end":"${SMUGGLED}"}\n`),
  ndjson(
    'behind',
    'such a member behind others',
    `{"a":{"b":[]},"modgate.problem":"${SMUGGLED}"}\n`,
  ),
  ndjson('invalid', 'a line that is not JSON', `{"${SMUGGLED}":}\n`),
  ndjson('large', 'a line without an end', `"${SMUGGLED}${'x'.repeat(2 * EVENT_BYTES)}`),
];

function sse(name: string, title: string, sent: string): HostileStream {
  return { form: 'sse', name, title, sent };
}

function ndjson(name: string, title: string, sent: string): HostileStream {
  return { form: 'ndjson', name, title, sent };
}

const TYPES = { sse: 'text/event-stream', ndjson: 'application/x-ndjson' } as const;

export function createStreamScripts(): ReadonlyMap<string, Script> {
  const scripts = HOSTILE_STREAMS.map(({ form, name, sent }): [string, Script] => [
    `/${form}/${name}`,
    (_, response) => {
      begin(response, form);
      response.end(Buffer.from(sent, 'latin1'));
    },
  ]);
  return new Map([
    ...scripts,
    ['/sse/headless', () => {}],
    ['/sse/kept', (_, response) => void begin(response, 'sse').write('data: 1\n\n')],
    ['/sse/flood', (_, response) => flood(begin(response, 'sse'))],
  ]);
}

function begin(response: ServerResponse, form: keyof typeof TYPES): ServerResponse {
  return response.writeHead(200, { 'content-type': TYPES[form] });
}

/** Writes at the speed of the reader, until it stops. */
function flood(response: ServerResponse): void {
  const event = `data: ${'x'.repeat(EVENT_BYTES / 2)}\n\n`;
  const write = () => {
    while (!response.destroyed && response.write(event));
    if (!response.destroyed) response.once('drain', write);
  };
  write();
}
