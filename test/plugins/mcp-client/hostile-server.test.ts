import { expect } from 'chai';
import { cpuMsSince } from '../../support/cpu-time.js';
import { waitUntil } from '../../support/http/wait-until.js';
import { serveFetch } from '../../support/mcp/mcp-server.js';
import { describeTools } from '../../support/mcp/tools-module.js';
import { slowness } from '../../support/slowness.js';
import { startHost } from '../../support/start-host.js';
import { use } from '../../support/use.js';
import {
  answer,
  hangingCancellations,
  JSON_TYPE,
  MIB,
  openStreams,
  TOOLS,
} from './hostile-tools.js';

/** For calls that must fail before their deadline, also on a busy machine. */
const LONG_TIMEOUT_MS = 60_000;
describe('a hostile MCP server', () => {
  const server = use(() => serveFetch(answer));
  const host = use(() => {
    const { url } = server;
    const describeModule = (module: string, limits: object) =>
      describeTools({ url }, Object.keys(TOOLS), {
        module,
        limits: { response_bytes: MIB, ...limits },
        breaker: { failures: 1000 },
      });
    return startHost({
      files: {
        'tools.yaml': describeModule('tools', { timeout_ms: 2_000, stream: { max_ms: 4_000 } }),
        'patient.yaml': describeModule('patient', { timeout_ms: LONG_TIMEOUT_MS }),
      },
    });
  });
  afterEach('the server still answers others', async () => {
    expect((await call('well')).status).to.equal(200);
  });

  const call = async (
    name: string,
    body: object = {},
    { signal, module = 'tools' }: { signal?: AbortSignal; module?: string } = {},
  ) => {
    const response = await fetch(`${host.url}/modules/${module}/http/tools/${name}`, {
      method: 'POST',
      headers: { authorization: 'Bearer dev-service:test:tools.use', ...JSON_TYPE },
      body: JSON.stringify(body),
      ...(signal !== undefined && { signal }),
    });
    const text = await response.text();
    const { errors = [], detail } = JSON.parse(text);
    const failure = errors.find(({ field }: { field: string }) => field === 'failure')?.reason;
    return { status: response.status, text, failure, detail };
  };

  for (const name of [
    ...['other-id', 'other-text-id', 'other-id-stream', 'no-result', 'no-json', 'wrong-type'],
    ...[
      'wrong-result',
      'list-result',
      'no-answer',
      'many-requests',
      'flood',
      'input-required',
      'bad-blocks',
      'many-blocks',
      'untyped-block',
    ],
    ...['batch-of-others', 'batch-of-values', 'long-batch'],
    ...['status-404', 'status-500', 'comments', 'empty-events', 'foreign-messages'],
  ]) {
    it(`fails the call alone: ${name}`, async () => {
      const cpu = process.cpuUsage();
      const response = await call(name, {}, { module: 'patient' });
      expect(response).to.include({ status: 502, failure: 'protocol' });
      // No turn of the event loop is long.
      expect(cpuMsSince(cpu)).to.be.below(1_900 * slowness());
    });
  }

  for (const [status, failure] of Object.entries({
    401: 'refused',
    403: 'refused',
    429: 'unavailable',
    503: 'unavailable',
  })) {
    it(`takes a status of ${status} for ${failure}`, async () => {
      expect(await call(`status-${status}`)).to.include({ status: 502, failure });
    });
  }

  it('takes an error without the id of the call for its status', async () => {
    expect(await call('error-401')).to.include({ status: 502, failure: 'refused' });
    expect(await call('error-503')).to.include({ status: 502, failure: 'unavailable' });
  });

  for (const name of ['byte-order-mark', 'byte-order-mark-stream', 'batch', 'batch-stream']) {
    it(`reads ${name}`, async () => {
      const { status, text } = await call(name);
      expect([status, text.includes('"text":"ok"')]).to.deep.equal([200, true]);
      expect(text.includes('\\",]')).to.equal(name.startsWith('batch'));
    });
  }

  it('reads the id of a call as a text, as official clients do', async () => {
    for (const name of ['text-id', 'text-id-stream']) {
      expect((await call(name)).status, name).to.equal(200);
    }
  });

  it('passes a result that has a structure and no blocks', async () => {
    const { status, text } = await call('no-blocks');
    expect([status, text.includes('"data":{"structuredContent":{"a":1}}')]).to.deep.equal([
      200,
      true,
    ]);
  });

  it('ends responses of 100 MiB at the limit', async () => {
    for (const name of ['endless-event', 'endless-body']) {
      const { status, failure, detail } = await call(name);
      expect([status, failure]).to.deep.equal([502, 'protocol']);
      expect(detail).to.include('longer than 1048576 bytes');
    }
    expect(await call('long', { length: 2 * MIB })).to.include({ failure: 'protocol' });
    expect((await call('long', { length: MIB / 2 })).status).to.equal(200);
  });

  it('answers requests of the server with an error, and goes on', async () => {
    expect((await call('requests')).status).to.equal(200);
    const answered = await waitUntil(
      'the server got an answer',
      () => server.requests.some(({ text }) => text.includes('"id":"a"')) === true,
    ).then(() => server.requests.find(({ text }) => text.includes('"id":"a"')));
    expect(JSON.parse(answered?.text ?? '').error.code).to.equal(-32_601);
  });

  it('passes the numbers of a result in the digits of the server', async () => {
    const { text } = await call('exact');
    expect(text).to.include('{"id": 12345678901234567890, "price":1.10}');
  });

  it('passes blocks of a type that the protocol does not have yet', async () => {
    const { text } = await call('unknown-block');
    expect(text).to.include('"content":[{"type":"video","n":1.5},{"type":"toString"}]');
  });

  it('passes a result of a hundred levels, and survives one of half a million', async () => {
    const { status, text } = await call('deep', { levels: 100 });
    expect([status, text.includes('['.repeat(100))]).to.deep.equal([200, true]);
    expect([200, 502]).to.include((await call('deep', { levels: 500_000 })).status);
  });

  it('closes a stream that goes on after its response', async () => {
    expect((await call('after-answer')).status).to.equal(200);
    await waitUntil('the stream is closed', () => openStreams === 0);
    expect((await call('flood-after-answer')).status).to.equal(200);
  });

  it('reads arguments behind a byte-order mark', async () => {
    const response = await fetch(`${host.url}/modules/tools/http/tools/well`, {
      method: 'POST',
      headers: { authorization: 'Bearer dev-service:test:tools.use', ...JSON_TYPE },
      body: '\ufeff{"a": 1}',
    });
    expect(response.status).to.equal(200);
  });

  it('gives a call its time anew with each progress', async () => {
    expect((await call('some-progress')).status).to.equal(200);
  });

  it('ends a call with endless progress at limits.stream.max_ms', async () => {
    const start = performance.now();
    expect(await call('endless-progress')).to.include({ status: 502, failure: 'timeout' });
    expect(performance.now() - start).to.be.at.least(3_900);
  });

  it('ends a call at its deadline, whatever progress of others says', async () => {
    const { status, failure } = await call('foreign-progress');
    expect([status, failure]).to.deep.equal([502, 'timeout']);
  });

  it('cancels the request at the server when the caller leaves', async () => {
    const controller = new AbortController();
    const left = call('slow', {}, { signal: controller.signal }).catch(() => 'left');
    await waitUntil('the server has it', () => hangingCancellations > 0);
    controller.abort();
    expect(await left).to.equal('left');
    await waitUntil(
      'the server is told',
      () => server.requests.some(({ text }) => text.includes('notifications/cancelled')) === true,
    );
    await waitUntil('a server that does not answer is left', () => hangingCancellations === 0);
  });
});
