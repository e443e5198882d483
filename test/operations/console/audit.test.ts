import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { expect } from 'chai';
import type { AuditRow } from '../../../core/contract/audit-row.js';
import type { RawHeader } from '../../../core/selftest/raw-http.js';
import { askBridge, type BridgeCall } from '../../support/bridge/bridge.js';
import { CONFIG, crmDescriptor, READ, SYNC, UNGRANTED } from '../../support/bridge/crm.js';
import { runModgate } from '../../support/cli/run-modgate.js';
import { call } from '../../support/http/call.js';
import { useHost } from '../../support/http/use-host.js';
import { waitUntil } from '../../support/http/wait-until.js';

const MEMBERS = [
  ...['id', 'at', 'actor', 'module', 'permission', 'operation', 'target', 'outcome'],
  ...['request_id', 'correlation_id', 'value_digest', 'prev', 'hash'],
];

const USER = 'dev-user:ada:console.admin';
const HEX = /^[0-9a-f]{64}$/;

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

const invoke = (action: string, input?: unknown): BridgeCall => ({
  permission: SYNC,
  payload: { operation: 'admin_action_invoke', action, input },
});

const write = (key: string, value: unknown): BridgeCall => ({
  permission: CONFIG,
  payload: { operation: 'config_write', service: 'crm', key, value },
});

describe('console bridge: audit', () => {
  const setup = useHost(({ url }) => ({
    'crm.json': crmDescriptor(url, { breaker: { failures: 1_000 } }),
    'second.json': crmDescriptor(url, { module: 'second' }),
  }));

  // The host opens its store while it already accepts requests.
  before(() =>
    waitUntil(
      'the store',
      async () => (await call(setup.host, { target: '/audit' })).status === 200,
    ),
  );

  const ask = (call: BridgeCall, requestId?: string) => {
    const headers: RawHeader[] = [['content-type', 'application/json']];
    if (requestId !== undefined) {
      headers.push(['x-request-id', requestId], ['x-correlation-id', `corr-${requestId}`]);
    }
    return askBridge(setup.host, { token: USER, headers, ...call });
  };

  const audit = (...args: string[]) =>
    runModgate(['audit', '--state', join(setup.host.directory, 'state'), ...args]);

  async function readRows(...args: string[]): Promise<AuditRow[]> {
    const { code, stdout, stderr } = await audit('--json', ...args);
    expect({ code, stderr }).to.deep.equal({ code: 0, stderr: '' });
    const lines = stdout.split('\n').filter((line) => line !== '');
    return lines.map((line) => JSON.parse(line) as AuditRow);
  }

  /** The rows that `work` adds. */
  async function readNewRows(work: () => Promise<unknown>): Promise<AuditRow[]> {
    const before = await readRows();
    await work();
    const after = await readRows();
    expect(after.slice(0, before.length)).to.deep.equal(before);
    return after.slice(before.length);
  }

  async function readNewRow(call: BridgeCall, status: number, id?: string): Promise<AuditRow> {
    const rows = await readNewRows(async () => {
      const answer = await ask(call, id);
      expect(answer.status, answer.text).to.equal(status);
    });
    const [row] = rows;
    if (row === undefined || rows.length > 1) throw new Error(`expected 1 row, got ${rows.length}`);
    return row;
  }

  it('has no rows at first', async () => {
    expect(await readRows()).to.deep.equal([]);
  });

  it('writes a row for an action, with actor, operation, module and request', async () => {
    const row = await readNewRow(invoke('sync', { name: 'all' }), 200, 'req-1');
    expect(row).to.have.all.keys(...MEMBERS);
    const { at, value_digest, prev, hash, ...rest } = row;
    expect(rest).to.deep.equal({
      id: 1,
      actor: { kind: 'user', id: 'ada' },
      module: 'crm',
      permission: SYNC,
      operation: 'admin_action_invoke',
      target: 'sync',
      outcome: 'ok',
      request_id: 'req-1',
      correlation_id: 'corr-req-1',
    });
    expect(at).to.match(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z$/);
    expect(Math.abs(Date.now() - Date.parse(at))).to.be.lessThan(60_000);
    expect(value_digest).to.equal(`sha256:${sha256('{"name":"all"}')}`);
    expect(prev).to.match(HEX);
    expect(hash).to.match(HEX);
  });

  it('writes a row for a config write, with the digest of the value', async () => {
    const row = await readNewRow(write('page_size', 25), 200);
    expect(row).to.deep.include({ operation: 'config_write', permission: CONFIG, outcome: 'ok' });
    expect(row.target).to.equal('crm/page_size');
    expect(row.value_digest).to.equal(`sha256:${sha256('25')}`);
  });

  it('stores no value, and no guessable digest of a sensitive value', async () => {
    const secret = 'a secret of 4 words';
    const row = await readNewRow(write('api_key', secret), 200);
    expect(row.value_digest)
      .to.be.a('string')
      .and.not.include(sha256(JSON.stringify(secret)));
    const { stdout } = await audit('--json');
    expect(stdout).to.not.include(secret);
    expect(setup.host.output()).to.not.include(secret);
  });

  it('writes a failed row for an action that the provider rejects', async () => {
    setup.provider.answer({ status: 500 });
    const row = await readNewRow(invoke('ping'), 502);
    expect(row).to.deep.include({ outcome: 'failed', target: 'ping' });
  });

  it('writes a failed row for an action whose provider does not respond', async () => {
    setup.provider.answer({ raw: [], finally: 'reset' });
    expect((await readNewRow(invoke('ping'), 502)).outcome).to.equal('failed');
  });

  it('writes a failed row for an invalid input', async () => {
    const row = await readNewRow(invoke('sync', { name: 5 }), 400);
    expect(row).to.deep.include({ outcome: 'failed', target: 'sync' });
    expect(setup.provider.requests).to.have.length(0);
  });

  it('writes a failed row for an invalid value', async () => {
    const row = await readNewRow(write('page_size', 5_000), 400);
    expect(row).to.deep.include({ outcome: 'failed', target: 'crm/page_size' });
  });

  it('writes no row without authorization', async () => {
    const rows = await readNewRows(async () => {
      const rejected: BridgeCall[] = [
        { ...invoke('ping'), token: null },
        { ...invoke('ping'), token: 'dev-service:tester' },
        { ...invoke('ping'), body: { surplus: 1 } },
        { ...invoke('ping'), module: 'nowhere' },
        { ...invoke('ping'), permission: UNGRANTED },
        { ...invoke('ping'), permission: READ },
        invoke('nothing'),
        { ...write('page_size', 5), permission: UNGRANTED },
        write('nothing', 5),
        write('fixed', 'x'),
      ];
      for (const call of rejected) {
        expect((await ask(call)).status).to.be.oneOf([400, 401, 403, 404]);
      }
    });
    expect(rows).to.deep.equal([]);
  });

  it('writes no row for reads', async () => {
    setup.provider.answer({ body: '{"records":[],"next_cursor":null}' });
    const rows = await readNewRows(async () => {
      for (const [permission, payload] of [
        [READ, { operation: 'admin_data_list', entity: 'contacts' }],
        [CONFIG, { operation: 'config_values' }],
        [CONFIG, { operation: 'modules_metadata' }],
        [CONFIG, { operation: 'contributions_resolve', target: 'x' }],
      ] as const) {
        expect((await ask({ permission, payload })).status).to.equal(200);
      }
    });
    expect(rows).to.deep.equal([]);
  });

  it('writes one row for each concurrent call', async () => {
    const calls = Array.from({ length: 20 }, (_, index) =>
      index % 2 === 0 ? invoke('ping', { index }) : write('page_size', index),
    );
    const rows = await readNewRows(async () => {
      const answers = await Promise.all(
        calls.map((call, index) => ask({ ...call, module: 'second' }, `at-a-time-${index}`)),
      );
      for (const { status, text } of answers) expect(status, text).to.equal(200);
    });
    expect(rows.map(({ request_id }) => request_id)).to.have.members(
      calls.map((_, index) => `at-a-time-${index}`),
    );
  });

  it('numbers and chains the rows', async () => {
    const rows = await readRows();
    expect(rows.map(({ id }) => id)).to.deep.equal(rows.map((_, index) => index + 1));
    const hashes = rows.map(({ hash }) => hash);
    expect(rows.map(({ prev }) => prev)).to.deep.equal(['0'.repeat(64), ...hashes.slice(0, -1)]);
    expect(new Set(hashes).size).to.equal(rows.length);
  });

  it('verifies while the host is running', async () => {
    const { code, stdout, stderr } = await audit('--verify', '--json');
    expect({ code, stderr }).to.deep.equal({ code: 0, stderr: '' });
    expect(JSON.parse(stdout)).to.deep.include({ rows: (await readRows()).length });
  });

  it('shows the rows of one module only on request', async () => {
    const rows = await readRows('--module', 'second');
    expect(rows).to.have.length(20);
    expect(new Set(rows.map(({ module }) => module))).to.deep.equal(new Set(['second']));
  });
});
