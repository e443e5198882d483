import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { get } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'chai';
import { ROOT } from '../../../support/http/call.js';
import { describeModule } from '../../../support/http/modules.js';
import { useScriptedProvider } from '../../../support/http/use-scripted-provider.js';

const BYTES = randomBytes(6_000_000);
const JSON_TEXT = JSON.stringify([BYTES.toString('base64')]);
const READERS = 3;
/** Chunks that end anywhere in a read, and small ones between them. */
const CHUNK_BYTES = [70_001, 13, 16_384, 1, 200_003, 5_000];

const ROUTES = [
  {
    method: 'GET',
    path: '/bytes/{form}',
    capability: 'files.read',
    operation: { response: 'bytes' },
  },
  { method: 'GET', path: '/json/{form}', capability: 'files.read' },
];

async function send(response: ServerResponse, type: string, body: Buffer, isChunked: boolean) {
  const length = isChunked ? {} : { 'content-length': body.length };
  response.writeHead(200, { 'content-type': type, ...length });
  for (let at = 0, index = 0; at < body.length && !response.destroyed; index += 1) {
    const size = isChunked ? (CHUNK_BYTES[index % CHUNK_BYTES.length] ?? 1) : body.length;
    if (!response.write(body.subarray(at, at + size))) await once(response, 'drain');
    at += size;
  }
  response.end();
}

describe('long responses', () => {
  const setup = useScriptedProvider((url) => {
    const limits = { hold_bytes: 200_000, response_bytes: 32_000_000, timeout_ms: 30_000 };
    return { 'files.json': describeModule('files', url, ROUTES, { limits }) };
  });

  const read = async (path: string, isSlow: boolean): Promise<Buffer> => {
    const { port } = setup.host;
    const headers = { authorization: `Bearer ${ROOT}` };
    const target = { host: '127.0.0.1', port, path: `/modules/files/http${path}`, headers };
    const [response] = (await once(get(target), 'response')) as [IncomingMessage];
    const parts: Buffer[] = [];
    for await (const part of response) {
      parts.push(part as Buffer);
      if (isSlow && parts.length % 10 === 0) await pause(5);
    }
    return Buffer.concat(parts);
  };

  for (const form of ['length', 'chunks']) {
    for (const isSlow of [false, true]) {
      const reader = isSlow ? 'slow' : 'fast';
      it(`arrive byte for byte at several ${reader} clients, sent with ${form}`, async () => {
        setup.answer((request, response) => {
          const isJson = request.url?.startsWith('/json') === true;
          const body = isJson ? Buffer.from(JSON_TEXT) : BYTES;
          const type = isJson ? 'application/json' : 'application/octet-stream';
          void send(response, type, body, form === 'chunks');
        });
        const paths = Array.from({ length: READERS }, () => [`/bytes/${form}`, `/json/${form}`]);
        const bodies = await Promise.all(paths.flat().map((path) => read(path, isSlow)));
        for (const [index, body] of bodies.entries()) {
          if (index % 2 === 0) expect(digest(body)).to.equal(digest(BYTES));
          else expect(body.includes(`"data":${JSON_TEXT}}`)).to.equal(true);
        }
      });
    }
  }
});

function digest(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex');
}
