import type { ServerResponse } from 'node:http';
import { describeModule } from './modules.js';
import { type ScriptedHost, useScriptedProvider } from './use-scripted-provider.js';

const route = (method: string, path: string, operation: object) => ({
  method,
  path,
  capability: 'chat.use',
  operation,
});

const ROUTES = [
  route('GET', '/events/{id}', { stream: 'sse' }),
  route('POST', '/chat', { stream: 'sse' }),
  route('POST', '/upload', { stream: 'sse', body: 'bytes' }),
  route('GET', '/lines', { stream: 'ndjson' }),
  route('GET', '/watch', { stream: 'ndjson', stream_types: ['application/json'] }),
  { method: 'GET', path: '/items', capability: 'chat.use' },
];

/** Shorter than the defaults, so that no test waits for them. */
const QUICK = {
  timeout_ms: 2000,
  concurrency: 2,
  queue: 0,
  stream: {
    idle_ms: 1500,
    max_ms: 100_000,
    per_actor: 3,
    total: 4,
    event_bytes: 64,
    heartbeat_ms: 200,
  },
};

/** Long responses of JSON are streamed. */
const HELD = { response_bytes: 400_000, hold_bytes: 1000 };

/**
 * Starts a host with streams of events: `events` in envelope mode, and `raw`. `quick` has short
 * limits, and the streams of `short` end soon; both also exist in raw mode. `held-raw` streams long
 * responses of JSON.
 */
export function useStreams(): ScriptedHost {
  return useScriptedProvider((url) => {
    const describe = (name: string, overrides: object) =>
      describeModule(name, url, ROUTES, overrides);
    const responses = { mode: 'raw' };
    const short = { ...QUICK, stream: { max_ms: 1000 } };
    return {
      'events.json': describe('events', {}),
      'raw.json': describe('raw', { responses }),
      'quick.json': describe('quick', { limits: QUICK }),
      'quick-raw.json': describe('quick-raw', { limits: QUICK, responses }),
      'held-raw.json': describe('held-raw', { limits: HELD, responses }),
      'short.json': describe('short', { limits: short }),
      'short-raw.json': describe('short-raw', { limits: short, responses }),
    };
  });
}

export const SSE = { accept: 'text/event-stream' };
export const NDJSON = { accept: 'application/x-ndjson' };

export function beginEvents(response: ServerResponse, type = 'text/event-stream'): void {
  response.writeHead(200, { 'content-type': type });
}

export interface StreamReader {
  /** Reads on until the text so far holds this. @returns the text so far */
  until(text: string | RegExp): Promise<string>;
  /** Reads to the end. @returns the whole text */
  end(): Promise<string>;
  cancel(): Promise<void>;
}

export function readStream({ body }: Response): StreamReader {
  if (body === null) throw new Error('the response has no body');
  const reader = body.getReader();
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  let text = '';
  const readOn = async () => {
    const { done, value } = await reader.read();
    text += decoder.decode(value, { stream: !done });
    return !done;
  };
  return {
    async until(expected) {
      const isThere = () =>
        typeof expected === 'string' ? text.includes(expected) : expected.test(text);
      while (!isThere()) {
        if (!(await readOn())) throw new Error(`the stream ended without ${expected}: ${text}`);
      }
      return text;
    },
    async end() {
      while (await readOn());
      return text;
    },
    cancel: () => reader.cancel(),
  };
}

/** Omits the host's first event. */
export function afterOpen(text: string): string {
  return text.replace(/^(?:event: modgate\.open\ndata: .*\n\n|\{"modgate\.open":.*\}\n)/, '');
}

/** The Problem of the last event. */
export function problemOf(text: string): Record<string, unknown> {
  const json = /(?:event: modgate\.problem\ndata: |\{"modgate\.problem":)(\{.*\})\}?\n/.exec(
    text,
  )?.[1];
  if (json === undefined) throw new Error(`no problem in ${text}`);
  try {
    return JSON.parse(json) as Record<string, unknown>;
  } catch {
    return JSON.parse(json.slice(0, -1)) as Record<string, unknown>;
  }
}
