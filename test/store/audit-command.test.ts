import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import type { AuditRow } from '../../core/contract/audit-row.js';
import { runHere } from '../support/cli/run-here.js';
import { createFolder } from '../support/temporary-folder.js';
import { BACKENDS, useBackend } from './backend.js';
import { DRAFT, write } from './drafts.js';

interface Ran {
  readonly code: number | null;
  readonly text: string;
}

async function audit(args: readonly string[], env: Record<string, string> = {}): Promise<Ran> {
  const { code, stdout, stderr } = await runHere(['audit', ...args], env);
  return { code, text: stdout + stderr };
}

for (const kind of BACKENDS) {
  describe(`modgate audit on ${kind.name}`, () => {
    const backend = useBackend(kind);
    let where: string[];
    beforeEach(() => {
      where = backend.url === null ? ['--state', backend.stateDir] : ['--store', backend.url];
    });
    it('prints one JSON row per line while a host writes', async () => {
      const store = await backend.open();
      await write(store, 'page_size', 1);
      await store.audit.append({ ...DRAFT, module: 'acme/crm', outcome: 'failed' });
      const { code, text } = await audit([...where, '--json']);
      const rows: AuditRow[] = [];
      for await (const row of store.audit.read()) rows.push(row);
      expect(code).to.equal(0);
      expect(text).to.equal(rows.map((row) => `${JSON.stringify(row)}\n`).join(''));
      expect(Object.keys(rows[0] ?? {})).to.deep.equal([
        'id',
        'at',
        'actor',
        'module',
        'permission',
        'operation',
        'target',
        'outcome',
        'request_id',
        'correlation_id',
        'value_digest',
        'prev',
        'hash',
      ]);
      await write(store, 'page_size', 2);
      expect((await audit([...where, '--json'])).text.split('\n')).to.have.length(4);
    });

    it('prints a table without control characters', async () => {
      const store = await backend.open();
      await store.audit.append({ ...DRAFT, target: 'a\u001b[2Jb' });
      const [head, row, end] = (await audit(where)).text.split('\n');
      expect(head).to.match(/^ROW +TIME +ACTOR +MODULE +OPERATION +TARGET +PERMISSION +OUTCOME$/);
      expect(row).to.match(
        /^1 +\S+Z +user:ada +crm +config_write +a\\u001b\[2Jb +crm\.config +ok$/,
      );
      expect(end).to.equal('');
    });

    it('filters by module and time', async () => {
      const store = await backend.open();
      await store.audit.append(DRAFT);
      await store.audit.append({ ...DRAFT, module: 'acme/crm' });
      const count = async (...args: string[]) =>
        (await audit([...where, '--json', ...args])).text.split('\n').length - 1;
      expect(await count('--module', 'acme/crm')).to.equal(1);
      expect(await count('--since', '2020-01-01')).to.equal(2);
      expect(await count('--since', '2999-01-01T00:00:00+01:00')).to.equal(0);
      expect(await count('--since', '2d')).to.equal(2);
    });

    it('verifies the chain, and exits with 1 where it is broken', async () => {
      const store = await backend.open();
      for (let n = 0; n < 3; n += 1) await store.audit.append(DRAFT);
      expect(await audit([...where, '--verify'])).to.deep.equal({
        code: 0,
        text: 'audit chain intact, rows: 3\n',
      });
      const { query } = await backend.openDatabase();
      await query.updateTable('audit_row').set({ outcome: 'failed' }).where('id', '=', 2).execute();
      expect(await audit([...where, '--verify'])).to.deep.equal({
        code: 1,
        text: 'audit chain broken at row 2: the row was changed\n',
      });
      const { code, text } = await audit([...where, '--verify', '--json']);
      expect(code).to.equal(1);
      expect(JSON.parse(text)).to.deep.equal({
        rows: 1,
        broken_at: 2,
        reason: 'the row was changed',
      });
    });

    it('reads the location of the store from the environment', async () => {
      await (await backend.open()).audit.append(DRAFT);
      const environment = { MODGATE_STATE: backend.stateDir, MODGATE_STORE: backend.url ?? '' };
      expect((await audit(['--verify'], environment)).text).to.contain('rows: 1');
    });

    it('rejects a missing store and does not create one', async () => {
      expect(await fail(where)).to.match(/^there is no store:/);
      if (backend.url === null) expect(readdirSync(backend.stateDir)).to.deep.equal([]);
    });
  });
}

describe('modgate audit', () => {
  let stateDir: string;
  beforeEach(() => {
    stateDir = createFolder();
  });

  it('rejects a file that is not a store', async () => {
    writeFileSync(join(stateDir, 'modgate.db'), Buffer.alloc(9000, 'x'));
    expect(await fail(['--state', stateDir])).to.match(/^the store is damaged/);
    writeFileSync(join(stateDir, 'modgate.db'), '');
    expect(await fail(['--state', stateDir])).to.match(/^the store is damaged/);
  });

  it('names the error of a store that cannot be read', async () => {
    const message = await fail(['--state', join(stateDir, 'x'.repeat(300))]);
    expect(message).to.equal('the store file cannot be opened (ENAMETOOLONG)');
  });

  it('rejects invalid times, a filtered chain and an invalid URL', async () => {
    for (const time of ['yesterday', '2026-13-01', '2026-01-01T10:00']) {
      expect(await fail(['--state', stateDir, '--since', time])).to.match(
        /^--since must be a duration such as 10m, a date \(UTC\) or a time with a zone/,
      );
    }
    expect(await fail(['--verify', '--module', 'crm'])).to.match(
      /^--module cannot be used with --verify/,
    );
    expect(await fail(['--store', 'mysql://u:hunter2@db'])).to.equal(
      '--store must be a URL such as postgres://user@host/database',
    );
    const down = await fail(['--store', 'postgres://u:hunter2@127.0.0.1:1/db']);
    expect(down).to.equal('the database server does not respond (ECONNREFUSED)');
  });

  it('reads the location of the store from the configuration file', async () => {
    const file = join(stateDir, 'modgate.yaml');
    writeFileSync(file, 'store: postgres://u:hunter2@127.0.0.1:1/db\n');
    expect(await fail(['--config', file])).to.equal(
      'the database server does not respond (ECONNREFUSED)',
    );
  });
});

/** The output of `modgate` before it exits with 2. */
async function fail(args: readonly string[]): Promise<string> {
  const { code, text } = await audit(args);
  expect(code, text).to.equal(2);
  return text.replace(/^modgate: (.*)\n$/s, '$1');
}
