import assert from 'node:assert/strict';
import {
  type BodyStream,
  isBodyStream,
  type Outcome,
  ProviderFailure,
} from '../../contract/index.js';
import type { AdapterHarness } from '../adapter-harness.js';
import type { AdapterClause } from '../clause.js';
import { type Echo, hashBody } from '../reference/behaviors.js';
import { needs } from './needs.js';

const HOLD_BYTES = 1_000;
const LONG_BYTES = 2_000_000;
const PART = Buffer.alloc(50_000, 'x');
const PARTS = 20;

export const STREAMS: readonly AdapterClause[] = [
  {
    id: 'streams.response',
    title: 'returns a body that is longer than holdBytes as a stream, byte for byte',
    skip: needs('streams'),
    run: async (harness) => {
      const opened = await harness.open();
      const target = `/bytes/${LONG_BYTES}`;
      const work = opened.invoke({ target }, { holdBytes: HOLD_BYTES });
      const { body } = await harness.wait.settles('the head of a long response', work);
      assert.ok(body !== null && isBodyStream(body), 'a long body must be a stream');
      const parts = await harness.wait.settles('a long response', collect(body));
      const expected = Buffer.from(`"${'x'.repeat(LONG_BYTES - 2)}"`);
      assert.ok(parts.equals(expected), 'the stream must be the body, byte for byte');
    },
  },
  {
    id: 'streams.held',
    title: 'returns a body of at most holdBytes whole',
    skip: needs('streams'),
    run: async (harness) => {
      const opened = await harness.open();
      const target = `/bytes/${HOLD_BYTES}`;
      const work = opened.invoke({ target }, { holdBytes: HOLD_BYTES });
      const { body } = await harness.wait.settles('a short response', work);
      assert.ok(body !== null && !isBodyStream(body), 'a short body must not be a stream');
    },
  },
  {
    id: 'streams.oversize',
    title: 'fails as protocol for a streamed body larger than maxResponseBytes',
    skip: needs('streams'),
    run: async (harness) => {
      const opened = await harness.open();
      const target = `/bytes/${LONG_BYTES}`;
      const limits = { holdBytes: HOLD_BYTES, maxResponseBytes: LONG_BYTES - 1 };
      await harness.failureOf(
        'a response that is too long',
        opened.invoke({ target }, limits).then(read),
        'protocol',
      );
    },
  },
  {
    id: 'streams.request',
    title: 'sends a body that arrives in parts, byte for byte',
    skip: needs('streams'),
    run: async (harness) => {
      const opened = await harness.open();
      const { bodySha256 } = await sendParts(harness, opened, writeParts());
      const expected = Buffer.concat(Array.from({ length: PARTS }, () => PART));
      assert.equal(bodySha256, hashBody(expected), 'the provider must get the body');
    },
  },
  {
    id: 'streams.request-cut',
    title: 'does not let a provider accept a truncated body as complete',
    skip: needs('streams'),
    run: async (harness) => {
      const opened = await harness.open();
      const call = sendParts(harness, opened, breakOff(), '/echo/cut?marker=cut');
      await harness.failureOf('a request whose body breaks off', call);
      const requestCount = await opened.read<number>('/seen/cut');
      assert.equal(requestCount, 0, 'the provider must not get a whole request');
    },
  },
];

async function collect(body: BodyStream): Promise<Buffer> {
  const parts: Uint8Array[] = [];
  for await (const part of body) parts.push(part);
  return Buffer.concat(parts);
}

async function read({ body }: Outcome): Promise<void> {
  if (body !== null && isBodyStream(body)) await collect(body);
}

async function sendParts(
  harness: AdapterHarness,
  opened: Awaited<ReturnType<AdapterHarness['open']>>,
  bodyStream: BodyStream,
  target = '/echo/parts',
): Promise<Echo> {
  const operation = {
    kind: 'http_route',
    method: 'POST',
    declaredPath: '/echo/{rest...}',
    target,
    providerPath: '/echo/parts',
    pathParams: {},
    body: null,
    bodyStream,
  } as const;
  const headers = { accept: 'application/json', 'content-type': 'application/json' };
  const work = opened.invoke(operation, { headers });
  const { body } = await harness.wait.settles('a call whose body is a stream', work);
  assert.ok(body !== null && !isBodyStream(body), 'a body must be held without holdBytes');
  return JSON.parse(Buffer.concat([body].flat() as Uint8Array[]).toString()) as Echo;
}

async function* writeParts(): BodyStream & AsyncGenerator<Uint8Array> {
  for (let count = 0; count < PARTS; count += 1) yield PART;
}

async function* breakOff(): BodyStream & AsyncGenerator<Uint8Array> {
  yield PART;
  throw new ProviderFailure('cancelled', 'the body of the request ended early');
}
