import { expect } from 'chai';
import { parsePostgresUrl } from '../../core/store/postgres-url.js';
import { openStore } from '../support/store/open-store.js';
import { silent } from './backend.js';

describe('store URL', () => {
  it('names a schema, by default modgate, that is not passed to the driver', () => {
    expect(parsePostgresUrl('postgres://u:p@db.example:6432/app')).to.deep.equal({
      connectionString: 'postgres://u:p@db.example:6432/app',
      schema: 'modgate',
    });
    const { connectionString, schema } = parsePostgresUrl(
      'postgresql://db/app?sslmode=disable&schema=tenant_1',
    );
    expect([connectionString, schema]).to.deep.equal([
      'postgresql://db/app?sslmode=disable',
      'tenant_1',
    ]);
  });

  it('may name a socket', () => {
    const text = 'postgres:///app?host=/var/run/postgresql';
    expect(parsePostgresUrl(text).connectionString).to.equal(
      'postgres:///app?host=%2Fvar%2Frun%2Fpostgresql',
    );
  });

  it('has an sslmode of libpq, or none', () => {
    expect(() => parsePostgresUrl('postgres://db/app?sslmode=verify-full')).to.not.throw();
    for (const mode of ['', 'true', 'Require', 'verify_full']) {
      expect(() => parsePostgresUrl(`postgres://db/app?sslmode=${mode}`), mode).to.throw(
        /'sslmode' .* must be one of disable, /,
      );
    }
  });

  it('is rejected when invalid, before anything is opened, and never shown', async () => {
    for (const url of ['', 'hunter2', 'mysql://u:hunter2@db/app', 'postgres:hunter2 @']) {
      const error = await openStore({ url, stateDir: '', keys: null, log: silent }).catch(
        (reason: unknown) => reason as Error,
      );
      expect(error).to.have.property('name', 'ConfigError');
      expect(String(error)).to.not.contain('hunter2');
    }
    for (const schema of ['', 'Upper', '1st', 'a;drop', 'a'.repeat(49)]) {
      expect(() => parsePostgresUrl(`postgres://db/app?schema=${schema}`)).to.throw(/'schema'/);
    }
  });
});
