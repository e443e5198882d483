import { createHash } from 'node:crypto';
import { mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { createBearerCredentials } from '../../core/auth/caller-credentials.js';
import type { Rejected } from '../../core/auth/checked-authenticator.js';
import {
  openTokensAuthenticator,
  type TokensAuthenticator,
} from '../../core/auth/static-tokens.js';
import { parseTokenFile } from '../../core/auth/token-file.js';
import type { Actor } from '../../core/contract/index.js';
import { InvalidFile } from '../../core/document/diagnostic.js';
import { createRecordedLog, type RecordedLine } from '../support/auth/recorded-log.js';
import { waitUntil } from '../support/http/wait-until.js';
import { createFolder } from '../support/temporary-folder.js';

const TOKEN = 'kJ3nq0-billing-token';

function sha256(text: string | Buffer): string {
  return createHash('sha256').update(text).digest('hex');
}

function entry(changes: Readonly<Record<string, unknown>> = {}): Record<string, unknown> {
  return {
    id: 'billing',
    kind: 'service',
    scopes: ['crm.read'],
    sha256: sha256(TOKEN),
    ...changes,
  };
}

function fileOf(...tokens: readonly object[]): string {
  return JSON.stringify({ tokens });
}

function messageOf(run: () => unknown): string {
  try {
    run();
  } catch (error) {
    if (error instanceof InvalidFile) return error.message;
    throw error;
  }
  return 'accepted';
}

describe('tokens file format', () => {
  it('is read as YAML and as JSON', () => {
    const yaml = `tokens:\n  - { id: a, kind: user, scopes: [], sha256: ${sha256('x')} }\n`;
    expect(parseTokenFile('t.yaml', yaml).get(sha256('x'))).to.deep.equal({
      kind: 'user',
      id: 'a',
      scopes: new Set(),
    });
    expect([...parseTokenFile('t.json', fileOf(entry())).keys()]).to.deep.equal([sha256(TOKEN)]);
  });

  it('may be empty', () => {
    expect(parseTokenFile('t.json', fileOf()).size).to.equal(0);
  });

  it('accepts an expiry in any time zone', () => {
    const table = parseTokenFile(
      't.json',
      fileOf(entry({ expires_at: '2030-01-01T02:00:00+02:00' })),
    );
    expect(table.get(sha256(TOKEN))?.expiresAt).to.equal(Date.UTC(2030, 0, 1));
  });

  const REJECTED: Readonly<Record<string, readonly [content: string, expected: RegExp]>> = {
    'no tokens': ['{}', /^t\.json:1:1 missing key 'tokens'/],
    'another key': [
      '{"tokens":[],"token":[]}',
      /^t\.json:1:14 unknown key 'token'.*did you mean 'tokens'/,
    ],
    'an unknown key in an entry': [
      fileOf(entry({ scope: [] })),
      /unknown key 'scope' in 'tokens\[0\]' \(did you mean 'scopes'\?\)/,
    ],
    'an entry without a digest': [fileOf(entry({ sha256: undefined })), /missing key 'sha256'/],
    'an upper-case digest': [
      fileOf(entry({ sha256: sha256(TOKEN).toUpperCase() })),
      /'tokens\[0\]\.sha256' must be exactly 64 lower-case hex digits/,
    ],
    'a token in place of its digest': [fileOf(entry({ sha256: TOKEN })), /must be exactly 64/],
    'an empty id': [fileOf(entry({ id: '' })), /'tokens\[0\]\.id' must be a name/],
    'an unknown kind': [fileOf(entry({ kind: 'robot' })), /must be one of service, system, user/],
    'no scopes': [fileOf(entry({ scopes: undefined })), /missing key 'scopes'/],
    'a comma in a scope': [
      fileOf(entry({ scopes: ['a,b'] })),
      /'tokens\[0\]\.scopes\[0\]' must be a word/,
    ],
    'an empty scope': [
      fileOf(entry({ scopes: [''] })),
      /'tokens\[0\]\.scopes\[0\]' must be a word/,
    ],
    'an expiry without a zone': [
      fileOf(entry({ expires_at: '2030-01-01T00:00:00' })),
      /with a zone/,
    ],
    'an expiry on 30 February': [
      fileOf(entry({ expires_at: '2030-02-30T00:00:00Z' })),
      /with a zone/,
    ],
    'an expiry that is not a date': [fileOf(entry({ expires_at: 'tomorrow' })), /with a zone/],
    'two entries for one token': [
      fileOf(entry(), entry({ id: 'other' })),
      /two entries have the same sha256/,
    ],
    'broken JSON': ['{"tokens":[', /^t\.json:1:\d+ /],
  };
  for (const [title, [content, expected]] of Object.entries(REJECTED)) {
    it(`is rejected with ${title} without showing a value`, () => {
      const message = messageOf(() => parseTokenFile('t.json', content));
      expect(message).to.match(expected);
      expect(message).not.to.match(/kJ3nq0|[0-9a-fA-F]{64}|robot|tomorrow/);
    });
  }
});

describe('tokens authenticator', () => {
  let folder = '';
  let lines: RecordedLine[] = [];
  let opened: TokensAuthenticator[] = [];

  beforeEach(() => {
    folder = createFolder();
  });

  afterEach(async () => {
    await Promise.all(opened.map((resource) => resource.close()));
    opened = [];
  });

  let rejected: Rejected | null = null;

  async function open(file: string): Promise<(token: string) => Actor | null> {
    const recorded = createRecordedLog();
    lines = recorded.lines;
    const tokens = await openTokensAuthenticator(file, { log: recorded.log, pollMs: 20 });
    opened.push(tokens);
    return (token) => {
      const result = tokens.authenticate(createBearerCredentials(token)) as Actor | Rejected | null;
      rejected = result !== null && 'rejected' in result ? result : null;
      return rejected === null ? (result as Actor | null) : null;
    };
  }

  function write(content: string, name = 'tokens.json'): string {
    const file = join(folder, name);
    writeFileSync(file, content);
    return file;
  }

  it('accepts a token by its digest', async () => {
    const authenticate = await open(write(fileOf(entry())));
    expect(authenticate(TOKEN)).to.deep.equal({
      kind: 'service',
      id: 'billing',
      scopes: new Set(['crm.read']),
    });
  });

  it('rejects any other token', async () => {
    const authenticate = await open(write(fileOf(entry())));
    for (const token of ['', `${TOKEN}x`, TOKEN.toUpperCase(), sha256(TOKEN), 'toString']) {
      expect(authenticate(token), token).to.equal(null);
    }
  });

  it('rejects another scheme than bearer', async () => {
    await open(write(fileOf(entry())));
    const credentials = { ...createBearerCredentials(TOKEN), scheme: 'basic' };
    expect(opened[0]?.authenticate(credentials)).to.equal(null);
  });

  it('rejects a token of more than 15 KiB even when its digest is known', async () => {
    const [longest, tooLong] = ['x'.repeat(15 * 1024), 'x'.repeat(15 * 1024 + 1)];
    const authenticate = await open(
      write(fileOf(entry({ sha256: sha256(longest) }), entry({ sha256: sha256(tooLong) }))),
    );
    expect(authenticate(longest)?.id).to.equal('billing');
    expect(authenticate(tooLong)).to.equal(null);
  });

  it('hashes the bytes on the wire', async () => {
    const bytes = Buffer.from('clé', 'utf8');
    const authenticate = await open(write(fileOf(entry({ sha256: sha256(bytes) }))));
    expect(authenticate(bytes.toString('latin1'))?.id).to.equal('billing');
  });

  it('rejects an expired token', async () => {
    const soon = new Date(Date.now() + 2_000).toISOString();
    const authenticate = await open(write(fileOf(entry({ expires_at: soon }))));
    expect(authenticate(TOKEN)?.expiresAt).to.equal(Date.parse(soon));
    await waitUntil('the token expires', () => authenticate(TOKEN) === null);
    expect(Date.now()).to.be.at.least(Date.parse(soon));
    expect(rejected).to.deep.equal({ rejected: 'expired', token: 'billing', detail: null });
  });

  it('reloads a changed file', async () => {
    const file = write(fileOf(entry()));
    const authenticate = await open(file);
    write(fileOf(entry({ id: 'other', sha256: sha256('new') })));
    await waitUntil('the new token is known', () => authenticate('new')?.id === 'other');
    expect(authenticate(TOKEN)).to.equal(null);
    expect(lines.at(-1)).to.deep.include({ level: 'info', fields: { file, tokens: 1 } });
  });

  it('reloads a replaced file and a swapped symbolic link', async () => {
    const file = write(fileOf(entry()));
    const authenticate = await open(file);
    renameSync(write(fileOf(entry({ id: 'renamed' })), 'next.json'), file);
    await waitUntil('the replaced file is read', () => authenticate(TOKEN)?.id === 'renamed');
    for (const version of ['v1', 'v2']) {
      mkdirSync(join(folder, version));
      write(fileOf(entry({ id: version })), `${version}/tokens.json`);
    }
    const link = join(folder, 'current');
    symlinkSync('v1', link);
    const follow = await open(join(link, 'tokens.json'));
    expect(follow(TOKEN)?.id).to.equal('v1');
    symlinkSync('v2', join(folder, 'next'));
    renameSync(join(folder, 'next'), link);
    await waitUntil('the link is followed', () => follow(TOKEN)?.id === 'v2');
  });

  it('keeps the last good file when the next one is invalid, and logs it once without a value', async () => {
    const authenticate = await open(write(fileOf(entry())));
    const file = write(`{"tokens":[\n  {"id":"secret id"}\n]}`);
    await waitUntil('the log line', () => lines.length > 0);
    expect(lines[0]?.level).to.equal('error');
    const text = JSON.stringify(lines[0]?.fields);
    expect(text).to.include(`${file}:2:`).and.to.include("missing key 'kind'");
    expect(text).not.to.include('secret id');
    expect(authenticate(TOKEN)?.id).to.equal('billing');
    write(fileOf(entry({ id: 'repaired' })));
    await waitUntil('the repaired file is read', () => authenticate(TOKEN)?.id === 'repaired');
    expect(lines.map(({ level }) => level)).to.deep.equal(['error', 'info']);
  });

  it('reads a file once for each change', async () => {
    const file = write(fileOf(entry()));
    const authenticate = await open(file);
    for (const id of ['one', 'two', 'three']) {
      renameSync(write(fileOf(entry({ id })), 'next.json'), file);
      await waitUntil('the change is read', () => authenticate(TOKEN)?.id === id);
    }
    expect(lines.map(({ level }) => level)).to.deep.equal(['info', 'info', 'info']);
  });

  it('keeps the last good file when it is deleted', async () => {
    const file = write(fileOf(entry()));
    const authenticate = await open(file);
    rmSync(file);
    await waitUntil('the log line', () => lines.length > 0);
    expect(JSON.stringify(lines[0]?.fields)).to.include('does not exist');
    expect(authenticate(TOKEN)?.id).to.equal('billing');
  });

  it('does not open with a missing or invalid file', async () => {
    const { log } = createRecordedLog();
    for (const file of [join(folder, 'nope.json'), write('{}'), folder]) {
      const error = await openTokensAuthenticator(file, { log }).catch((reason) => reason);
      expect(error).to.be.instanceOf(InvalidFile);
    }
  });
});
