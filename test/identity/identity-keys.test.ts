import { chmodSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { decodeProtectedHeader } from 'jose';
import { ConfigError } from '../../core/config/read-config.js';
import { IdentityKeys } from '../../core/identity/identity-keys.js';
import { createRecordedLog } from '../support/auth/recorded-log.js';
import { createFolder } from '../support/temporary-folder.js';

const HOUR = 3_600_000;
const MINUTE = 60_000;
const ROTATION = { periodMs: 24 * HOUR, aheadMs: 15 * MINUTE, overlapMs: HOUR };
const CALLER = { module: 'crm', actor: 'service:a', scope: '', requestId: 'r' };

describe('identity keys over time', () => {
  let stateDir: string;
  let now = 0;
  const opened: IdentityKeys[] = [];
  const { log } = createRecordedLog();

  const open = async (folder = stateDir) => {
    const keys = await IdentityKeys.open({
      stateDir: folder,
      log,
      rotation: ROTATION,
      now: () => now,
    });
    opened.push(keys);
    return keys;
  };
  const prepare = async (folder?: string) => {
    const keys = await open(folder);
    await keys.prepare();
    return keys;
  };
  const signer = (keys: IdentityKeys) => decodeProtectedHeader(keys.sign(CALLER, 'call')).kid ?? '';
  const published = (keys: IdentityKeys) => keys.publish().keys.map(({ kid }) => kid);

  beforeEach(() => {
    stateDir = createFolder();
    now = Date.parse('2026-11-21T00:00:00Z');
  });

  afterEach(async () => {
    for (const keys of opened.splice(0)) await keys.close();
  });

  it('are stored again when their file was removed, such as with the state folder', async () => {
    const keys = await prepare();
    const path = join(stateDir, 'identity', 'keys.json');
    const before = readFileSync(path, 'utf8');
    rmSync(join(stateDir, 'identity'), { recursive: true });
    await keys.rotate();
    expect(readFileSync(path, 'utf8')).to.equal(before);
    expect(published(await open())).to.deep.equal(published(keys));
  });

  it('sign with the first key immediately, and with the next one after a publishing time', async () => {
    const keys = await prepare();
    const first = signer(keys);
    expect(published(keys)).to.deep.equal([first]);
    now += 24 * HOUR - 16 * MINUTE;
    await keys.rotate();
    expect(published(keys)).to.deep.equal([first]);
    now += 2 * MINUTE;
    await keys.rotate();
    expect(published(keys)).to.have.length(2);
    expect(signer(keys), 'published, not yet in use').to.equal(first);
    now += 15 * MINUTE;
    await keys.rotate();
    const second = signer(keys);
    expect(second).not.to.equal(first);
    expect(published(keys)).to.deep.equal([first, second]);
    now += 59 * MINUTE;
    await keys.rotate();
    expect(published(keys), 'the overlap').to.include(first);
    now += 2 * MINUTE;
    await keys.rotate();
    expect(published(keys)).to.deep.equal([second]);
    expect(readFileSync(join(stateDir, 'identity', 'keys.json'), 'utf8')).not.to.include(first);
  });

  it('survive a restart', async () => {
    const before = signer(await prepare());
    const keys = await open();
    expect(published(keys), 'published before the first signature').to.deep.equal([before]);
    expect(signer(keys)).to.equal(before);
  });

  it('are the same for all processes of a folder, also when they start simultaneously', async () => {
    const all = await Promise.all([prepare(), prepare(), prepare()]);
    const kids = new Set(all.map(signer));
    expect(kids.size).to.equal(1);
    now += 24 * HOUR;
    for (const keys of all) await keys.rotate();
    now += 15 * MINUTE;
    for (const keys of all) await keys.rotate();
    expect(new Set(all.map(signer)).size).to.equal(1);
    expect(new Set(all.map((keys) => published(keys).join())).size).to.equal(1);
  });

  it('are in memory when the folder is not writable', async () => {
    writeFileSync(join(stateDir, 'file'), '');
    // A folder cannot be created below a file, not even by root.
    const keys = await IdentityKeys.open({
      stateDir: join(stateDir, 'nowhere'),
      log,
      rotation: ROTATION,
      now: () => now,
    });
    opened.push(keys);
    writeFileSync(join(stateDir, 'nowhere'), '');
    await keys.prepare();
    expect(published(keys)).to.deep.equal([signer(keys)]);
  });

  it('prevent the start when the file is damaged, without showing its content', async () => {
    mkdirSync(join(stateDir, 'identity'));
    for (const text of [
      '',
      '{',
      '{"keys":[{"kid":"a"}]}',
      '{"keys":[{"kid":"a","created_at":1,"jwk":{"kty":"OKP","crv":"Ed25519","x":"canary","d":"canary"}}]}',
    ]) {
      writeFileSync(join(stateDir, 'identity', 'keys.json'), text);
      const error: unknown = await open().catch((reason) => reason);
      expect(error).to.be.instanceOf(ConfigError);
      expect((error as Error).message)
        .to.match(/damaged/)
        .and.not.include('canary');
    }
  });

  it('warn about a file that other users can read', async () => {
    await prepare();
    chmodSync(join(stateDir, 'identity', 'keys.json'), 0o644);
    const recorded = createRecordedLog();
    const keys = await IdentityKeys.open({ stateDir, log: recorded.log, rotation: ROTATION });
    opened.push(keys);
    expect(JSON.stringify(recorded)).to.include('readable by other users');
  });
});
