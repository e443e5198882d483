import { createSocket, type Socket } from 'node:dgram';
import { Resolver } from 'node:dns/promises';
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { expect } from 'chai';
import { Replica, type ResolvedName, resolveName } from '../../../plugins/http/replica.js';
import { sendUpstream } from '../../../plugins/http/upstream-request.js';
import { type ScriptedProvider, startProvider } from '../../support/provider.js';
import { eventually } from '../open-adapter.js';

describe('endpoint with a host name', () => {
  let provider: ScriptedProvider;
  let replica: Replica;
  let held: ServerResponse[];
  let isHolding: boolean;
  let answer: ResolvedName | Error;
  let lookups: string[];

  beforeEach(async () => {
    held = [];
    lookups = [];
    isHolding = false;
    answer = { addresses: ['127.0.0.1'], ttlMs: 0 };
    provider = await startProvider((_request, response) => {
      if (isHolding) held.push(response);
      else response.end('{}');
    });
    replica = open('localhost');
  });

  afterEach(async () => {
    await replica.close();
    await provider.stop();
  });

  const open = (host: string) => {
    const origin = `http://${host}:${provider.port}`;
    const address = { kind: 'tcp', host, port: provider.port } as const;
    return new Replica({ id: origin, origin, prefix: '', address }, async (name) => {
      lookups.push(name);
      if (answer instanceof Error) throw answer;
      return answer;
    });
  };
  const send = async () => {
    const outcome = await sendUpstream(
      replica.pool,
      { method: 'GET', path: '/', headers: {}, body: null },
      { maxResponseBytes: 1024, signal: new AbortController().signal },
    );
    // The connection is free for another call only when this tick is over.
    await new Promise(setImmediate);
    return outcome;
  };

  it('gets new connections when its addresses change', async () => {
    await send();
    await send();
    expect(provider.accepted()).to.equal(1);
    answer = { addresses: ['127.0.0.2'], ttlMs: 60_000 };
    await send();
    await eventually(() => provider.sockets.size === 0);
    await send();
    expect(provider.accepted()).to.equal(2);
  });

  it('finishes a call in flight when its addresses change', async () => {
    await send();
    isHolding = true;
    const slow = send();
    await eventually(() => held.length === 1);
    answer = { addresses: ['127.0.0.2'], ttlMs: 0 };
    isHolding = false;
    const before = replica.pool;
    await eventually(() => replica.pool !== before);
    await send();
    expect(provider.accepted()).to.equal(2);
    held[0]?.end('{}');
    expect((await slow).status).to.equal(200);
    await eventually(() => provider.sockets.size === 1);
  });

  it('keeps its connections while the addresses are the same or unknown', async () => {
    const before = replica.pool;
    for (let round = 0; round < 5; round += 1) await send();
    answer = new Error('unknown name');
    await send();
    expect(replica.pool).to.equal(before);
    expect(provider.accepted()).to.equal(1);
  });

  it('is not resolved again before its time to live is over', async () => {
    answer = { addresses: ['127.0.0.1'], ttlMs: 60_000 };
    for (let round = 0; round < 5; round += 1) await send();
    expect(lookups).to.deep.equal(['localhost']);
  });

  it('is never resolved when it is an address', async () => {
    await replica.close();
    replica = open('127.0.0.1');
    await send();
    expect(lookups).to.deep.equal([]);
  });
});

describe('resolveName', () => {
  const resolver = new Resolver();
  let server: Socket;
  let ttlSeconds = 0;

  before(async () => {
    server = createSocket('udp4');
    server.on('message', (query, { port, address }) => {
      server.send(answerQuery(query, ttlSeconds), port, address);
    });
    server.bind(0, '127.0.0.1');
    await once(server, 'listening');
    resolver.setServers([`127.0.0.1:${server.address().port}`]);
  });

  after(() => {
    server.close();
  });

  for (const [seconds, ttlMs] of [
    [0, 1_000],
    [7, 7_000],
    [86_400, 30_000],
  ] as const) {
    it(`uses a record of ${seconds} s for ${ttlMs} ms`, async () => {
      ttlSeconds = seconds;
      const addresses = ['10.1.2.3', '10.1.2.4'];
      expect(await resolveName('crm.test', resolver)).to.deep.equal({ addresses, ttlMs });
    });
  }

  it('uses the system for a name that is not in DNS', async () => {
    const { addresses, ttlMs } = await resolveName('localhost', resolver);
    expect(addresses).to.include.oneOf(['127.0.0.1', '::1']);
    expect(ttlMs).to.equal(30_000);
  });

  it('fails for an unknown name', async () => {
    const error: unknown = await resolveName('unknown.invalid', resolver).catch((reason) => reason);
    expect(error).to.be.instanceOf(Error);
  });
});

const HEADER_BYTES = 12;
const TYPE_A = 1;
const NAME_ERROR = 3;

/** Two addresses for an A query of `crm.test`, unsorted; none for AAAA; any other name does not exist. */
function answerQuery(query: Buffer, ttlSeconds: number): Buffer {
  const end = query.indexOf(0, HEADER_BYTES) + 5;
  const question = query.subarray(HEADER_BYTES, end);
  const isKnown = question.includes('crm');
  const isA = question.readUInt16BE(question.length - 4) === TYPE_A;
  const records = isKnown && isA ? [4, 3].map((last) => recordOf(ttlSeconds, last)) : [];
  const header = Buffer.alloc(HEADER_BYTES);
  header.writeUInt16BE(query.readUInt16BE(0), 0);
  header.writeUInt16BE(0x8180 + (isKnown ? 0 : NAME_ERROR), 2);
  header.writeUInt16BE(1, 4);
  header.writeUInt16BE(records.length, 6);
  return Buffer.concat([header, question, ...records]);
}

function recordOf(ttlSeconds: number, last: number): Buffer {
  const record = Buffer.from([0xc0, 0x0c, 0, TYPE_A, 0, 1, 0, 0, 0, 0, 0, 4, 10, 1, 2, last]);
  record.writeUInt32BE(ttlSeconds, 6);
  return record;
}
