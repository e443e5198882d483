import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { Secret } from '../../core/contract/index.js';
import {
  createLog,
  type Logger,
  type LogLevel,
  withFields,
  withMask,
} from '../../core/log/logger.js';

function record(level: LogLevel = 'trace'): { log: Logger; lines: Record<string, unknown>[] } {
  const lines: Record<string, unknown>[] = [];
  const write = (line: string) => void lines.push(JSON.parse(line));
  return { log: createLog(level, { write, close: async () => {} }), lines };
}

/** The fields of one line, as they are written. */
function fieldsOf(fields: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const { log, lines } = record();
  log.info(fields, 'x');
  const { level, time, msg, ...rest } = lines[0] ?? {};
  return rest;
}

describe('log', () => {
  it('writes the level as a word, the time as ISO 8601, and no data about the machine', () => {
    const { log, lines } = record();
    log.warn({ port: 1 }, 'careful');
    expect(Object.keys(lines[0] ?? {})).to.deep.equal(['level', 'time', 'port', 'msg']);
    expect(lines[0]).to.include({ level: 'warn', port: 1, msg: 'careful' });
    const time = String(lines[0]?.['time']);
    expect(new Date(time).toISOString()).to.equal(time);
  });

  it('drops lines below its level', () => {
    const { log, lines } = record('warn');
    log.info({}, 'no');
    log.error({}, 'yes');
    expect(lines.map(({ msg }) => msg)).to.deep.equal(['yes']);
    expect([log.isEnabled('info'), log.isEnabled('warn')]).to.deep.equal([false, true]);
  });

  it('writes nothing when silent', () => {
    const { log, lines } = record('silent');
    log.fatal({}, 'no');
    expect(lines).to.deep.equal([]);
  });

  it('adds the redacted fields of a child', () => {
    const { log, lines } = record();
    log.child({ module: 'crm', token: 's3cret' }).info({ port: 1 }, 'x');
    expect(lines[0]).to.include({ module: 'crm', token: '[redacted]', port: 1 });
  });

  const SENSITIVE = [
    'authorization',
    'Authorization',
    'proxy-authorization',
    'cookie',
    'set-cookie',
    'token',
    'accessToken',
    'refresh_token',
    'password',
    'passwd',
    'passphrase',
    'client_secret',
    'x-api-key',
    'apiKey',
    'private_key',
    'credentials',
    'sessionId',
    'x-signature',
    'bearer',
    'passcode',
    'cvv',
    'cardPin',
    'id_jwt',
  ];
  for (const name of SENSITIVE) {
    it(`redacts '${name}' at any depth`, () => {
      const fields = { [name]: 's3cret', a: { [name]: 's3cret' }, list: [{ [name]: ['s3cret'] }] };
      expect(JSON.stringify(fieldsOf(fields))).not.to.include('s3cret');
      expect(fieldsOf({ [name]: 's3cret' })).to.deep.equal({ [name]: '[redacted]' });
    });
  }

  it('keeps names that only contain a short sensitive word', () => {
    const fields = { shipping: 'a', authenticator: 'b', inside: 'c' };
    expect(fieldsOf(fields)).to.deep.equal(fields);
  });

  it('keeps numbers under a sensitive name', () => {
    expect(fieldsOf({ tokens: 3 })).to.deep.equal({ tokens: 3 });
  });

  it('never prints a Secret', () => {
    expect(fieldsOf({ value: new Secret('s3cret') })).to.deep.equal({ value: '[redacted]' });
  });

  it('logs an error with its cause and code, without attached properties', () => {
    const cause = Object.assign(new Error('inner'), { code: 'ECONNREFUSED' });
    const error = Object.assign(new TypeError('outer', { cause }), {
      request: { headers: { authorization: 's3cret' } },
    });
    const { err } = fieldsOf({ err: error }) as { err: Record<string, unknown> };
    expect(Object.keys(err)).to.deep.equal(['type', 'message', 'stack', 'cause']);
    expect(err).to.include({ type: 'TypeError', message: 'outer' });
    expect(err['cause']).to.include({ message: 'inner', code: 'ECONNREFUSED' });
  });

  it('logs an error of the operating system without a stack', () => {
    const error = thrownBy(() => readFileSync('/nowhere/at/all'));
    const { err } = fieldsOf({ err: new Error('outer', { cause: error }) }) as {
      err: Record<string, unknown>;
    };
    expect(err['stack']).to.be.a('string');
    expect(err['cause']).to.deep.equal({
      type: 'Error',
      message: "ENOENT: no such file or directory, open '/nowhere/at/all'",
      code: 'ENOENT',
    });
  });

  it('cuts a cycle', () => {
    const fields: Record<string, unknown> = { a: 1 };
    fields['self'] = fields;
    expect(JSON.stringify(fieldsOf(fields))).to.include('[cut]');
  });

  it('replaces values that JSON cannot represent', () => {
    expect(fieldsOf({ big: 10n })).to.deep.equal({ big: '10' });
    expect(fieldsOf({ own: { toJSON: () => ({ big: 10n }) }, port: 1 })).to.include({ port: 1 });
    expect(fieldsOf({ a: Number.NaN, b: undefined, c: null })).to.deep.equal({ a: null, c: null });
  });

  it('escapes fields and messages, and writes one line each', () => {
    const { log, lines } = record();
    log.child({ name: 'a"\n' }).info({ 'b"': '\n\u2028' }, '"\n');
    log.info({}, 'empty');
    expect(lines[0]).to.include({ name: 'a"\n', 'b"': '\n\u2028', msg: '"\n' });
    expect(lines[1]).to.have.keys('level', 'time', 'msg');
  });

  it('accepts a message alone and an error alone, as plugins in JavaScript log them', () => {
    const { log, lines } = record();
    const info = log.info as (first: unknown) => void;
    info('started');
    info(new Error('failed'));
    expect(lines[0]).to.have.keys('level', 'time', 'msg');
    expect(lines[0]).to.include({ msg: 'started' });
    expect(lines[1]).to.deep.include({ msg: 'failed' });
    expect(lines[1]?.['err']).to.include({ type: 'Error', message: 'failed' });
  });

  it('does not change the fields of the caller', () => {
    const fields = { nested: { token: 's3cret' } };
    fieldsOf(fields);
    expect(fields).to.deep.equal({ nested: { token: 's3cret' } });
  });
});

describe('log with fields', () => {
  it('adds them to a message alone and an error alone too', () => {
    const { log, lines } = record();
    const info = withFields(log, { module: 'crm' }).info as (first: unknown, text?: string) => void;
    info({ count: 1 }, 'both');
    info('started');
    info(new Error('failed'));
    expect(lines[0]).to.deep.include({ module: 'crm', count: 1, msg: 'both' });
    expect(lines[1]).to.have.keys('level', 'time', 'module', 'msg');
    expect(lines[1]).to.include({ module: 'crm', msg: 'started' });
    expect(lines[2]).to.include({ module: 'crm', msg: 'failed' });
    expect(lines[2]?.['err']).to.include({ type: 'Error', message: 'failed' });
  });
});

describe('masked log', () => {
  const { log, lines } = record();
  const masked = withMask(log, (text) => text.replaceAll('hunter2', '***'));
  const info = masked.info as (first: unknown, message?: string) => void;

  beforeEach(() => lines.splice(0));

  it('masks messages, nested texts and errors', () => {
    const err = new Error('hunter2', { cause: new Error('from hunter2') });
    info({ err, list: [{ text: 'is hunter2' }] }, 'for hunter2');
    info('alone hunter2');
    info(new Error('hunter2 failed'));
    expect(JSON.stringify(lines)).to.not.include('hunter2');
    expect(lines[0]).to.deep.include({ msg: 'for ***', list: [{ text: 'is ***' }] });
    expect(lines[1]).to.include({ msg: 'alone ***' });
    expect(lines[2]).to.include({ msg: '*** failed' });
  });

  it('keeps what is no text, and takes no fields', () => {
    info({ count: 1, at: new Date(0), none: null }, 'x');
    info(null, 'y');
    expect(lines[0]).to.include({ count: 1, at: '1970-01-01T00:00:00.000Z', none: null });
    expect(lines[1]).to.include({ msg: 'y' });
  });
});

function thrownBy(run: () => void): unknown {
  try {
    run();
  } catch (error) {
    return error;
  }
  throw new Error('nothing was thrown');
}
