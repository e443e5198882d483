import { expect } from 'chai';
import { CLOSE_ANSWER_MS } from '../../core/lib/websocket/close-frame.js';
import {
  createFrame,
  openRaw,
  useWebSockets,
  writeAccepted,
  writeHandshake,
} from '../support/http/use-websockets.js';
import { waitUntil } from '../support/http/wait-until.js';

const CLOSE = 0x8;
const NORMAL = [1000 >> 8, 1000 & 0xff];
const GOING_AWAY = [1001 >> 8, 1001 & 0xff];
const MASK = Buffer.from([1, 2, 3, 4]);

describe('an answer to a close frame', () => {
  const setup = useWebSockets();
  const open = async (module: string) => {
    const client = await openRaw(setup.host.port);
    client.write(writeHandshake(`/modules/${module}/http/socket`));
    await client.until('\r\n\r\n');
    return client;
  };
  const expectWait = (startedAt: number) => {
    expect(performance.now() - startedAt).to.be.at.least(CLOSE_ANSWER_MS - 50);
  };

  before(() => {
    setup.upgrade((request, connection) => {
      connection.write(writeAccepted(request));
      connection.resume();
    });
  });

  it('is awaited for 5 s, regardless of the sender of the frame', async () => {
    const closedByHost = async () => {
      const client = await open('short');
      const frame = createFrame(CLOSE, GOING_AWAY);
      await client.until(frame);
      const startedAt = performance.now();
      const all = await client.ended();
      expect(all.subarray(-4)).to.deep.equal(frame);
      expectWait(startedAt);
    };
    const closedByCaller = async () => {
      const client = await open('chat');
      client.write(createFrame(CLOSE, NORMAL, { mask: MASK }));
      const startedAt = performance.now();
      const all = await client.ended();
      expect(all.toString('latin1')).to.match(/\r\n\r\n$/);
      expectWait(startedAt);
    };
    await Promise.all([closedByHost(), closedByCaller()]);
    await waitUntil('the provider has none of them', () => setup.provider.sockets.size === 0);
  });
});
