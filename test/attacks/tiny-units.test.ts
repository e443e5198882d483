import { once } from 'node:events';
import type { Writable } from 'node:stream';
import { expect } from 'chai';
import { ROOT } from '../support/http/call.js';
import { describeModule } from '../support/http/modules.js';
import { useScriptedProvider } from '../support/http/use-scripted-provider.js';
import {
  createFrame,
  openRaw,
  writeAccepted,
  writeHandshake,
} from '../support/http/use-websockets.js';

const UNITS_PER_SECOND = 1000;
/** Units that may arrive at once: those of a turn, and the credit for a late timer. */
const BURST = 300;
const ATTACK_UNITS = 800;

const FORMS = { sse: 'text/event-stream', ndjson: 'application/x-ndjson' };
const FRAME = createFrame(0x2, '');

/** Sends tiny units without end, many in each part. */
async function flood(connection: Writable, unit: Buffer): Promise<void> {
  const part = Buffer.concat(Array<Buffer>(10_000).fill(unit));
  let isOpen = true;
  connection.once('close', () => {
    isOpen = false;
  });
  while (isOpen) {
    if (!connection.write(part)) await once(connection, 'drain').catch(() => {});
  }
}

describe('attack: a provider that sends units of one byte without end', () => {
  const routes = [...Object.keys(FORMS), 'websocket'].map((stream) => ({
    ...{ method: 'GET', path: `/${stream}`, capability: 'units.read' },
    operation: { stream },
  }));
  const stream = { units_s: UNITS_PER_SECOND };
  const setup = useScriptedProvider((url) => ({
    'held.json': describeModule('held', url, routes, { limits: { stream } }),
    'raw.json': describeModule('raw', url, routes, {
      ...{ limits: { stream }, responses: { mode: 'raw' } },
    }),
    // The weakened host: its bound is as good as none.
    'weak.json': describeModule('weak', url, routes, { limits: { stream: { units_s: 1e7 } } }),
  }));

  /** @returns whether the units came no faster than the descriptor allows */
  const isHeld = (units: number, startedAt: number) =>
    units <= BURST + (UNITS_PER_SECOND * (performance.now() - startedAt)) / 1000;

  const attackStream = async (module: string, form: keyof typeof FORMS): Promise<boolean> => {
    setup.answer((_request, response) => {
      response.writeHead(200, { 'content-type': FORMS[form] });
      void flood(response, Buffer.from('\n'));
    });
    const startedAt = performance.now();
    const response = await setup.fetch(module, `/${form}`, { headers: { accept: FORMS[form] } });
    const reader = (response.body as ReadableStream<Uint8Array>).getReader();
    let units = 0;
    let hasHeld = true;
    let isOpening = module !== 'raw';
    while (units < ATTACK_UNITS) {
      const { value = Buffer.of() } = await reader.read();
      if (!isOpening) units += value.length;
      isOpening = false;
      hasHeld &&= isHeld(units, startedAt);
    }
    await reader.cancel();
    return hasHeld;
  };

  before(() => {
    setup.provider.onUpgrade((request, connection) => {
      connection.on('error', () => {});
      connection.write(writeAccepted(request));
      void flood(connection, FRAME);
    });
  });

  const attackSocket = async (module: string): Promise<boolean> => {
    const client = await openRaw(setup.host.port);
    const startedAt = performance.now();
    client.write(
      writeHandshake(`/modules/${module}/http/websocket`, { authorization: `Bearer ${ROOT}` }),
    );
    await client.until('\r\n\r\n');
    const headBytes = client.received.indexOf('\r\n\r\n') + 4;
    const count = () => (client.received.length - headBytes) / FRAME.length;
    let hasHeld = isHeld(count(), startedAt);
    while (count() < ATTACK_UNITS) {
      await once(client.socket, 'data');
      hasHeld &&= isHeld(count(), startedAt);
    }
    client.socket.destroy();
    return hasHeld;
  };

  for (const form of Object.keys(FORMS) as (keyof typeof FORMS)[]) {
    it(`is read no faster than units_s allows (${form}), unlike by a weakened host`, async () => {
      expect(await attackStream('held', form)).to.equal(true);
      expect(await attackStream('raw', form)).to.equal(true);
      expect(await attackStream('weak', form)).to.equal(false);
    });
  }

  it('is read no faster than units_s allows (frames), unlike by a weakened host', async () => {
    expect(await attackSocket('held')).to.equal(true);
    expect(await attackSocket('raw')).to.equal(true);
    expect(await attackSocket('weak')).to.equal(false);
  });
});
