import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import type { AuditRow } from '../../../core/contract/audit-row.js';
import type { ConfigField } from '../../../core/contract/index.js';
import {
  bridgeBody,
  createDescriptor,
  httpProvider,
  sendBridge,
} from '../../support/bridge/bridge.js';
import {
  askValues,
  askWrite,
  CONFIG,
  configDescriptor,
  configManifest,
  readValues,
  writeValue,
} from '../../support/bridge/config.js';
import { runModgate } from '../../support/cli/run-modgate.js';
import { call } from '../../support/http/call.js';
import { expectProblem } from '../../support/http/expect-problem.js';
import { useHost } from '../../support/http/use-host.js';
import { waitUntil } from '../../support/http/wait-until.js';

const KEY = '0123456789abcdef'.repeat(4);
const SECRET = 'correct horse battery staple';

function editable(key: string, type: ConfigField['type'], members: object = {}): ConfigField {
  return { service: 'conf', key, type, editable: true, ...members };
}

const FIELDS: readonly ConfigField[] = [
  editable('flag', { kind: 'bool' }),
  editable('count', { kind: 'int', min: 1, max: 9 }),
  editable('share', { kind: 'float', min: 0, max: 1 }),
  editable('text', { kind: 'string' }),
  editable('color', { kind: 'enum', values: ['red', 'blue'] }),
  editable('any', { kind: 'json' }),
  editable('secret', { kind: 'string' }, { sensitive: true }),
  editable('pin', { kind: 'int', min: 1000 }, { sensitive: true }),
  { service: 'conf', key: 'fixed', type: { kind: 'string' } },
  { service: 'conf', key: 'made', type: { kind: 'string' }, generated: { bytes: 16 } },
];

const ACCEPTED: readonly (readonly [string, unknown])[] = [
  ['flag', true],
  ['flag', false],
  ['count', 1],
  ['count', 9],
  ['share', 0],
  ['share', 0.5],
  ['share', 1],
  ['text', ''],
  ['text', 'Zürich \u0000 \u{1f600}'],
  ['color', 'blue'],
  ['any', null],
  ['any', { a: [1, 'x', null], __b: {} }],
  ['any', 'text'],
];

const INVALID_VALUES: readonly (readonly [string, unknown, RegExp])[] = [
  ['flag', 'true', /true or false/],
  ['flag', null, /true or false/],
  ['flag', 1, /true or false/],
  ['count', 0, /min/],
  ['count', 10, /max/],
  ['count', 1.5, /whole number/],
  ['count', '5', /whole number/],
  ['count', 1e300, /whole number/],
  ['share', 1.01, /max/],
  ['share', null, /a number/],
  ['text', 5, /a string/],
  ['text', null, /a string/],
  ['color', 'green', /values/],
  ['color', 'RED', /values/],
  ['pin', 999, /min/],
];

describe('config_write', () => {
  const setup = useHost(
    ({ url }) => ({ 'conf.json': configDescriptor(url, FIELDS, { provider: httpProvider(url) }) }),
    { env: { MODGATE_STORE_KEY: KEY } },
  );
  const readAudit = () => printAudit(join(setup.host.directory, 'state'));

  for (const [key, value] of ACCEPTED) {
    it(`stores ${JSON.stringify(value)} as ${key} and returns it`, async () => {
      const answer = await askWrite(setup.host, key, value);
      expect(answer.status, answer.text).to.equal(200);
      expect(answer.data).to.deep.equal({ service: 'conf', key, value });
      expect((await readValues(setup.host))[key]?.desired_value).to.deep.equal(value);
    });
  }

  for (const [key, value, expected] of INVALID_VALUES) {
    it(`rejects ${JSON.stringify(value)} as ${key}, and audits it`, async () => {
      const before = await readAudit();
      const stored = (await readValues(setup.host))[key];
      const answer = await askWrite(setup.host, key, value);
      const { detail, errors } = expectProblem(answer.response, 400);
      expect(detail).to.include(`conf/${key}`);
      expect(errors.map(({ field }) => field)).to.deep.equal(['payload.value']);
      expect(errors[0]?.reason).to.match(expected).and.to.include(`conf/${key}`);
      expect((await readValues(setup.host))[key]).to.deep.equal(stored);
      const [row, ...others] = (await readAudit()).slice(before.length);
      expect(others).to.deep.equal([]);
      expect(row).to.include({ outcome: 'failed', target: `conf/${key}`, module: 'conf' });
    });
  }

  for (const [key, json] of [
    ['text', '"\\ud800"'],
    ['secret', '"a\\udfff"'],
    ['any', '{"a":["\\ud83d"]}'],
    ['any', '{"\\ud800":1}'],
    ['any', '1e400'],
    ['any', '{"a":[-1e400]}'],
  ] as const) {
    it(`rejects ${json} as ${key}, because it cannot be stored without loss`, async () => {
      const stored = (await readValues(setup.host))[key];
      const payload = { operation: 'config_write', service: 'conf', key, value: 'VALUE' };
      const body = JSON.stringify(bridgeBody({ permission: CONFIG, payload }));
      const text = body.replace('"VALUE"', () => json);
      const call = { module: 'conf', permission: CONFIG };
      const { errors } = expectProblem((await sendBridge(setup.host, call, text)).response, 400);
      expect(errors.map(({ field }) => field)).to.deep.equal(['payload.value']);
      expect((await readValues(setup.host))[key]).to.deep.equal(stored);
    });
  }

  for (const [title, key, service] of [
    ['does not exist', 'nothing', 'conf'],
    ['belongs to another service', 'count', 'other'],
    ['is not editable', 'fixed', 'conf'],
    ['is generated', 'made', 'conf'],
    ['is a member of every object', '__proto__', 'conf'],
  ] as const) {
    it(`is not declared for a field that ${title}`, async () => {
      const before = await readAudit();
      const answer = await askWrite(setup.host, key, 'text', service);
      expect(expectProblem(answer.response, 403).detail).to.include('declare');
      expect(await readAudit()).to.deep.equal(before);
    });
  }

  it('stores one of two values that replace the same revision, also of a secret', async () => {
    for (const [key, first, second] of [
      ['secret', 'the first', 'the second'],
      ['count', 6, 7],
    ] as const) {
      await writeValue(setup.host, 'text', 'of another field');
      const revision = (await readValues(setup.host))[key]?.revision;
      const write = (value: unknown, expected: unknown) =>
        askWrite(setup.host, key, value, 'conf', { revision: expected });
      const answers = await Promise.all([write(first, revision), write(second, revision)]);
      expect(answers.map(({ status }) => status).sort(), key).to.deep.equal([200, 409]);
      const conflict = answers.find(({ status }) => status === 409);
      if (conflict === undefined) throw new Error('one of them is a conflict');
      const { code, errors } = expectProblem(conflict.response, 409, 'conflict');
      expect(code).to.equal('conflict');
      expect(errors.map(({ field }) => field)).to.deep.equal([`conf/${key}`]);
      expect((await readAudit()).slice(-2).map(({ outcome }) => outcome)).to.have.members([
        'ok',
        'failed',
      ]);
      const next = (await readValues(setup.host))[key]?.revision ?? 0;
      expect(next).to.be.above(revision ?? 0);
      expect((await write(first, next)).status).to.equal(200);
      expect((await askWrite(setup.host, key, second)).status).to.equal(200);
      for (const bad of ['1', 1.5, null]) expect((await write(first, bad)).status).to.equal(400);
    }
  });

  it('leaves one audit row with the digest of the value', async () => {
    await writeValue(setup.host, 'count', 3);
    const row = (await readAudit()).at(-1);
    expect(row).to.deep.include({
      actor: { kind: 'service', id: 'tester' },
      module: 'conf',
      permission: CONFIG,
      operation: 'config_write',
      target: 'conf/count',
      outcome: 'ok',
      // printf 3 | sha256sum
      value_digest: 'sha256:4e07408562bedb8b60ce05c1decfe3ad16b72230967de01f640b7e4729b49fce',
    });
  });

  it('reveals no secret in a response, a log, a file or the audit', async () => {
    const answer = await askWrite(setup.host, 'secret', SECRET);
    expect(answer.data).to.deep.equal({ service: 'conf', key: 'secret', value: null });
    const rejected = await askWrite(setup.host, 'pin', 271);
    // The ids of a Problem are random, and may have any three digits.
    const { detail, errors } = expectProblem(rejected.response, 400);
    expect(JSON.stringify([detail, errors])).to.not.include('271');
    expect((await askValues(setup.host)).text).to.not.include(SECRET);
    const rows = (await readAudit()).slice(-2);
    for (const row of rows) expect(row.value_digest).to.match(/^hmac-sha256:/);
    expect(setup.host.output()).to.not.include(SECRET);
    const state = join(setup.host.directory, 'state');
    for (const file of readdirSync(state).filter((name) => name.startsWith('modgate.db'))) {
      expect(readFileSync(join(state, file)).includes(SECRET), file).to.equal(false);
    }
  });
});

describe('config_write of a value that was generated once, now of a plain field', () => {
  const GENERATED: ConfigField = {
    ...{ service: 'conf', key: 'made', type: { kind: 'string' } },
    generated: { bytes: 16 },
  };
  let url = '';
  const setup = useHost((provider) => {
    url = provider.url;
    return { 'conf.json': configDescriptor(url, [GENERATED]) };
  });
  const readMade = async () => (await readValues(setup.host))['made'];

  it('shows it in no response and has a keyed digest in each audit row', async () => {
    await waitUntil('the value', async () => ((await readMade())?.revision ?? 0) > 0);
    const fields = [editable('made', { kind: 'string' })];
    setup.host.drop('conf.json', configDescriptor(url, fields));
    await waitUntil('the plain field', async () => (await readMade())?.editable === true);
    const conflict = await askWrite(setup.host, 'made', SECRET, 'conf', { revision: 0 });
    expect(conflict.status, conflict.text).to.equal(409);
    expect((await askWrite(setup.host, 'made', 271)).status).to.equal(400);
    const written = await askWrite(setup.host, 'made', SECRET);
    expect(written.data).to.deep.equal({ service: 'conf', key: 'made', value: null });
    expect(await readMade()).to.include({ desired_value: null, redacted: true });
    const rows = await printAudit(join(setup.host.directory, 'state'));
    expect(rows.map(({ outcome }) => outcome)).to.deep.equal(['failed', 'failed', 'ok']);
    for (const row of rows) expect(row.value_digest).to.match(/^hmac-sha256:/);
  });
});

describe('config_write without a store', () => {
  const URL = 'postgres://unknown:a%20password@127.0.0.1:1/nothing';
  const setup = useHost(
    ({ url }) => {
      const manifest = configManifest(FIELDS, {
        http_routes: [{ method: 'GET', path: '/items', capability: CONFIG }],
      });
      const members = { provider: httpProvider(url) };
      return { 'conf.json': createDescriptor('conf', manifest, [CONFIG], members) };
    },
    { args: ['--store', URL] },
  );

  it('returns 503, like config_values and an invalid value', async () => {
    for (const answer of [
      await askWrite(setup.host, 'count', 3),
      await askWrite(setup.host, 'count', 300),
      await askValues(setup.host),
    ]) {
      expect(expectProblem(answer.response, 503).code).to.equal('unavailable');
    }
  });

  it('does not affect forwarded requests', async () => {
    const answer = await call(setup.host, { target: '/modules/conf/http/items' });
    expect(answer.status).to.equal(200);
  });

  it('is logged without the URL', async () => {
    // While the store opens, the status is 503 too. The line follows when the attempt has failed.
    await waitUntil('the line', () =>
      setup.host.output().includes('config operations respond with 503'),
    );
    for (const part of ['a%20password', 'a password', 'unknown']) {
      expect(setup.host.output()).to.not.include(part);
    }
  });
});

async function printAudit(state: string): Promise<AuditRow[]> {
  const { code, stdout, stderr } = await runModgate(['audit', '--state', state, '--json']);
  if (code !== 0) throw new Error(stderr);
  return stdout
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as AuditRow);
}
