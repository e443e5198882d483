import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'chai';
import { Deadline } from '../../core/provider/deadline.js';
import { ResponseStream } from '../../core/provider/response-stream.js';

const IDLE_MS = 900;
const STEP_MS = 300;

describe('the stream of a response', () => {
  it('gives the client its whole pause again with each part that was held at the start', async () => {
    const controller = new AbortController();
    const deadline = new Deadline(60_000, controller.signal);
    const source = (async function* () {
      yield Buffer.from('a');
      yield Buffer.from('b');
    })();
    const stream = new ResponseStream({
      source,
      deadline,
      status: 200,
      maxBytes: 100,
      announced: null,
      limits: { body_idle_ms: IDLE_MS, body_min_bytes_s: 1 },
      hold: () => {},
    });
    const held = await new Promise<Uint8Array>((resolve) => {
      const write = (part: Uint8Array) => {
        resolve(part);
        return false;
      };
      stream.pipe({ write, end: () => {}, fail: () => {} });
    });
    stream.unread([held, held, held, held]);
    let text = '';
    const result = await new Promise<unknown>((resolve) => {
      stream.pipe({
        write: (part) => {
          text += String(part);
          void pause(STEP_MS).then(() => stream.resume());
          return false;
        },
        end: () => resolve('whole'),
        fail: resolve,
      });
    });
    deadline.end();
    expect(result).to.equal('whole');
    expect(text).to.equal('aaaab');
  });
});
