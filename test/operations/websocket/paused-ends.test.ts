import { once } from 'node:events';
import type { Duplex } from 'node:stream';
import { expect } from 'chai';
import { describeModule } from '../../support/http/modules.js';
import { useScriptedProvider } from '../../support/http/use-scripted-provider.js';
import {
  createFrame,
  echoMessages,
  openRaw,
  ROUTES,
  type Upgrade,
  writeAccepted,
  writeHandshake,
} from '../../support/http/use-websockets.js';
import { waitUntil } from '../../support/http/wait-until.js';
import { scrape } from '../../support/observability/exposition.js';

const BINARY = 0x2;
const TEXT = 0x1;
const MASK = Buffer.from([1, 2, 3, 4]);
const PART = Buffer.alloc(65_536);
/** The close frame of a host that goes away, for a caller and for a provider. */
const GOING_AWAY = createFrame(0x8, [1001 >> 8, 1001 & 0xff]);
const STALL_MS = 200;
const IDLE_MS = 600;
const SOCKET = '/modules/MODULE/http/socket';

/** Writes at the speed of the other end. */
function flood(target: Duplex, part: Buffer): void {
  const write = () => {
    while (!target.destroyed && target.write(part));
  };
  target.on('drain', write);
  write();
}

describe('an end of a WebSocket that does not read', () => {
  let upgrade: Upgrade = () => {};
  const setup = useScriptedProvider((url) => {
    const describe = (name: string, limits: object) =>
      describeModule(name, url, ROUTES, { limits });
    return {
      'busy.json': describe('busy', { body_idle_ms: STALL_MS }),
      'quiet.json': describe('quiet', { body_idle_ms: STALL_MS, stream: { idle_ms: IDLE_MS } }),
    };
  });
  before(() => {
    setup.provider.onUpgrade((request, connection, head) => {
      connection.on('error', () => {});
      upgrade(request, connection, head);
    });
  });

  const open = async (module: string) => {
    const raw = await openRaw(setup.host.port);
    raw.write(writeHandshake(SOCKET.replace('MODULE', module)));
    await raw.until('\r\n\r\n');
    return raw;
  };

  const expectClosed = async (module: string) => {
    await waitUntil('the record', async () => (await setup.lastCall())['module'] === module);
    const call = await setup.lastCall();
    expect(call).to.deep.include({ status: 101, closed_by: 'host', close_code: 1001 });
    await waitUntil('no bytes are held', async () => {
      return (await scrape(setup.host)).sum('modgate_held_bytes') === 0;
    });
    return call;
  };

  it('is closed with 1001 where it is the caller, though it sends', async () => {
    let received = Buffer.alloc(0);
    upgrade = (request, connection) => {
      connection.on('data', (part: Buffer) => {
        received = Buffer.concat([received, part]);
      });
      connection.on('end', () => connection.end());
      connection.write(writeAccepted(request));
      flood(connection, createFrame(BINARY, PART));
    };
    const { socket } = await open('busy');
    socket.pause();
    const sending = setInterval(() => socket.write(createFrame(TEXT, 'here', { mask: MASK })), 20);
    try {
      const { bytes_out, frames_in } = await expectClosed('busy');
      expect(bytes_out).to.be.above(PART.length);
      expect(frames_in).to.be.above(0);
      // The close frame to the provider is masked, with a mask of its own.
      expect(received.at(-8)).to.equal(0x88);
    } finally {
      clearInterval(sending);
      socket.destroy();
    }
  });

  it('is closed with 1001 where it is the provider, though it sends', async () => {
    let sending: NodeJS.Timeout | undefined;
    let deaf: Duplex | undefined;
    upgrade = (request, connection) => {
      deaf = connection;
      connection.write(writeAccepted(request));
      connection.pause();
      sending = setInterval(() => connection.write(createFrame(TEXT, 'here')), 20);
    };
    const raw = await open('busy');
    flood(raw.socket, createFrame(BINARY, PART, { mask: MASK }));
    try {
      await raw.until(GOING_AWAY);
      const { bytes_in, frames_out } = await expectClosed('busy');
      expect(bytes_in).to.be.above(PART.length);
      expect(frames_out).to.be.above(0);
    } finally {
      clearInterval(sending);
      raw.socket.destroy();
      deaf?.destroy();
    }
  });

  it('is not an end that has read everything, however long the silence', async () => {
    upgrade = echoMessages;
    const raw = await open('quiet');
    for (const text of ['one', 'two', 'three']) {
      raw.write(createFrame(TEXT, text, { mask: MASK }));
      await raw.until(createFrame(TEXT, text));
    }
    await once(raw.socket, 'end');
    raw.socket.destroy();
    const call = await expectClosed('quiet');
    expect(call['duration_ms']).to.be.at.least(IDLE_MS);
  });
});
