import { expect } from 'chai';
import { a, srv, useNames } from '../support/dns/use-names.js';

const SERVICE = '_http._tcp.crm.internal';
const CHANGES = 100;
const CLIENTS = 8;
/** Nothing listens there. */
const CLOSED_PORT = 9;

describe('an SRV name that changes under load', () => {
  const context = useNames();

  it('fails no call, and the addresses that stay keep their state', async () => {
    const { names } = context;
    const { port } = names.places;
    /** 127.0.0.2 stays, and the closed port of 127.0.0.3. */
    const serve = (moving: readonly number[]) => {
      const targets = [2, ...moving];
      names.serve({
        [SERVICE]: [
          ...targets.map((last) => srv(`n${last}.internal`, port)),
          srv('n3.internal', CLOSED_PORT),
        ],
        'n3.internal': a('127.0.0.3'),
        ...Object.fromEntries(targets.map((last) => [`n${last}.internal`, a(`127.0.0.${last}`)])),
      });
    };
    serve([4]);
    const breaker = { failures: 1, ratio: 0.01, open_ms: 600_000, max_open_ms: 600_000 };
    await names.open([{ srv: SERVICE }], {
      more: { breaker, retry: { attempts: 2, budget: 1 }, limits: { timeout_ms: 60_000 } },
    });
    let isRunning = true;
    let calls = 0;
    const failed: number[] = [];
    const client = async () => {
      while (isRunning) {
        const { status } = await names.get();
        calls += 1;
        if (status !== 200) failed.push(status);
      }
    };
    const clients = Array.from({ length: CLIENTS }, client);
    try {
      for (let change = 0; change < CHANGES; change += 1) {
        const moving = [10 + change, 11 + change];
        serve(moving);
        const expected = [2, ...moving].map((last) => `127.0.0.${last}:${port}`);
        await names.waitFor([...expected, `127.0.0.3:${CLOSED_PORT}`].sort());
      }
    } finally {
      isRunning = false;
      await Promise.all(clients);
    }
    expect(failed).to.deep.equal([]);
    expect(calls).to.be.above(CHANGES);
    const { endpoints } = await names.shown();
    const stateOf = (place: string) => endpoints.find(({ endpoint }) => endpoint.includes(place));
    expect(stateOf(`127.0.0.2:${port}`)?.calls).to.be.above(calls / 10);
    expect(stateOf(`127.0.0.3:${CLOSED_PORT}`)).to.include({ state: 'open', calls: 1 });
  });
});
