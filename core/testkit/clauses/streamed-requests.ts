import assert from 'node:assert/strict';
import { setTimeout as pause } from 'node:timers/promises';
import { openFlow } from '../../contract/body-flow.js';
import {
  type BodyStream,
  isBodyStream,
  type Outcome,
  ProviderFailure,
} from '../../contract/index.js';
import type { AdapterHarness, OpenedProvider } from '../adapter-harness.js';
import type { AdapterClause } from '../clause.js';
import { type Echo, hashBody } from '../reference/behaviors.js';
import { needs } from './needs.js';

const PART = Buffer.alloc(50_000, 'x');
const PARTS = 20;
/** 100 MB: many times what the buffers of a connection take. */
const HELD_PARTS = 2_000;
const QUIET_MS = 100;

export const STREAMED_REQUESTS: readonly AdapterClause[] = [
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
    id: 'streams.request-pushed',
    title: 'reads a body that has pushTo once, pushed or iterated',
    skip: needs('streams'),
    run: async (harness) => {
      const opened = await harness.open();
      const { bodySha256 } = await sendParts(harness, opened, createPushedBody());
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
  {
    id: 'streams.request-length',
    title: 'sends the length of a streamed body where it is known',
    skip: needs('streams'),
    run: async (harness) => {
      const opened = await harness.open();
      const length = { 'content-length': String(PARTS * PART.length) };
      const { headers } = await sendParts(harness, opened, writeParts(), '/echo/parts', length);
      assert.equal(headers['content-length'], length['content-length'], 'the length must arrive');
      assert.equal(headers['transfer-encoding'], undefined, 'the body must not be chunked');
    },
  },
  {
    id: 'streams.request-pace',
    title: 'reads a body no faster than the provider takes it',
    skip: needs('streams', 'holdBodies'),
    run: async (harness) => {
      const opened = await harness.open();
      const release = harness.reference.holdBodies?.();
      const progress = { parts: 0, isReleased: false };
      const work = sendParts(harness, opened, writeWhileHeld(progress));
      work.catch(() => {});
      let seen = -1;
      await harness.wait.eventually('a pause of the body', async () => {
        const isQuiet = progress.parts > 0 && progress.parts === seen;
        seen = progress.parts;
        await pause(QUIET_MS, undefined, { ref: false });
        return isQuiet;
      });
      assert.ok(progress.parts < HELD_PARTS, 'the body must not be read ahead of the provider');
      progress.isReleased = true;
      release?.();
      const { bodySha256 } = await work;
      const sent = Buffer.concat(Array.from({ length: progress.parts }, () => PART));
      assert.equal(bodySha256, hashBody(sent), 'the provider must get the body');
    },
  },
  {
    id: 'streams.request-unread',
    title: 'does not read a body that cannot be sent',
    skip: needs('streams', 'down'),
    run: async (harness) => {
      await harness.reference.down?.();
      const opened = await harness.openUnready();
      const progress = { parts: 0, isReleased: true };
      const call = callWithParts(opened, writeWhileHeld(progress), '/echo/parts');
      await harness.failureOf('a call while down', call, 'unavailable');
      assert.equal(progress.parts, 0, 'the body must not be read without a connection');
    },
  },
];

/** Sends a POST whose body is a stream. */
export function callWithParts(
  opened: OpenedProvider,
  bodyStream: BodyStream,
  target: string,
  others: Readonly<Record<string, string>> = {},
): Promise<Outcome> {
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
  const headers = { accept: 'application/json', 'content-type': 'application/json', ...others };
  return opened.invoke(operation, { headers });
}

async function sendParts(
  harness: AdapterHarness,
  opened: OpenedProvider,
  bodyStream: BodyStream,
  target = '/echo/parts',
  others: Readonly<Record<string, string>> = {},
): Promise<Echo> {
  const work = callWithParts(opened, bodyStream, target, others);
  const { body } = await harness.wait.settles('a call whose body is a stream', work);
  assert.ok(body !== null && !isBodyStream(body), 'a body must be held without holdBytes');
  return JSON.parse(Buffer.concat([body].flat() as Uint8Array[]).toString()) as Echo;
}

async function* writeParts(): BodyStream & AsyncGenerator<Uint8Array> {
  for (let count = 0; count < PARTS; count += 1) yield PART;
}

/** A body that fails if it is read twice. */
function createPushedBody(): BodyStream {
  const parts = writeParts();
  let isRead = false;
  const read = () => {
    if (isRead) throw new ProviderFailure('cancelled', 'the body must be read once');
    isRead = true;
    return parts;
  };
  return { [Symbol.asyncIterator]: read, pushTo: (sink) => openFlow(read(), sink) };
}

/** Counts the parts that are read until the provider reads them. */
async function* writeWhileHeld(progress: {
  parts: number;
  readonly isReleased: boolean;
}): BodyStream & AsyncGenerator<Uint8Array> {
  do {
    progress.parts += 1;
    yield PART;
  } while (progress.parts < HELD_PARTS && !progress.isReleased);
}

async function* breakOff(): BodyStream & AsyncGenerator<Uint8Array> {
  yield PART;
  throw new ProviderFailure('cancelled', 'the body of the request ended early');
}
