import { once } from 'node:events';
import type { Socket } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import { expect } from 'chai';
import { type BodyStream, isBodyStream, type Outcome } from '../../../core/contract/index.js';
import { failureOf } from '../../support/failure-of.js';
import { useExchange } from '../../support/provider/use-exchange.js';
import { startAnsweringProvider } from '../../support/provider.js';
import { createInvocation } from '../open-adapter.js';

/** Above the bytes that are read ahead, and around the size of one read. */
const LENGTHS = [33_000, 65_536, 131_072];

describe('http adapter: a connection that ends before its response is read', () => {
  const { keep, openOn } = useExchange();

  /** Returns the stream of a response once the adapter has seen the end of its connection. */
  const openClosed = async (answer: string, close: (socket: Socket) => void) => {
    let finish = (_socket: Socket) => {};
    const closed = new Promise<Socket>((resolve) => {
      finish = resolve;
    });
    const provider = startAnsweringProvider(answer, (socket) => {
      close(socket);
      finish(socket);
    });
    const { invoke } = await openOn((await keep(provider)).url);
    const outcome = await invoke(createInvocation({}, { holdBytes: 0 }));
    const socket = await closed;
    if (!socket.writableFinished && !socket.destroyed) await once(socket, 'finish');
    for (let turn = 0; turn < 20; turn += 1) await setImmediate();
    return toStream(outcome);
  };

  for (const length of LENGTHS) {
    const body = 'x'.repeat(length);
    const framings = {
      'a length': `content-length: ${length}\r\n\r\n${body}`,
      chunks: `transfer-encoding: chunked\r\n\r\n${length.toString(16)}\r\n${body}\r\n0\r\n\r\n`,
    };
    for (const [title, framed] of Object.entries(framings)) {
      const head = 'HTTP/1.1 200 OK\r\nconnection: close\r\n';

      it(`leaves the response whole: ${length} bytes with ${title}`, async () => {
        const stream = await openClosed(head + framed, (socket) => socket.end());
        expect(await countBytes(stream)).to.equal(length);
      });

      it(`fails the call at a reset: ${length} bytes with ${title}`, async () => {
        const cut =
          head + framed.replace(`: ${length}`, `: ${length + 1}`).replace('0\r\n\r\n', '');
        const stream = await openClosed(cut, (socket) => socket.resetAndDestroy());
        expect(await failureOf(countBytes(stream))).to.include({
          failure: 'protocol',
          status: 200,
        });
      });
    }
  }
});

function toStream({ body }: Outcome): BodyStream {
  if (!isBodyStream(body)) throw new Error('the response is not a stream');
  return body;
}

async function countBytes(stream: BodyStream): Promise<number> {
  let bytes = 0;
  for await (const part of stream) bytes += part.length;
  return bytes;
}
