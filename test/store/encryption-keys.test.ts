import { randomBytes } from 'node:crypto';
import { inspect } from 'node:util';
import { expect } from 'chai';
import { parseStoreKeys } from '../../core/store/encryption-keys.js';

describe('store keys', () => {
  it('are null when the variable is absent or empty', () => {
    expect([parseStoreKeys(undefined), parseStoreKeys(''), parseStoreKeys(' ')]).to.deep.equal([
      null,
      null,
      null,
    ]);
  });

  it('are the same in hex and in each form of base64', () => {
    const bytes = randomBytes(32);
    const forms = [
      bytes.toString('hex'),
      bytes.toString('hex').toUpperCase(),
      bytes.toString('base64'),
      bytes.toString('base64').replace('=', ''),
      ` ${bytes.toString('base64url')} `,
    ];
    const ids = forms.map((form) => parseStoreKeys(form)?.primary.id);
    expect(new Set(ids).size).to.equal(1);
  });

  it('encrypt with the first of a list', () => {
    const [first, second] = [randomBytes(32).toString('hex'), randomBytes(32).toString('base64')];
    const keys = parseStoreKeys(`${first}, ${second}`);
    expect(keys?.primary.id).to.equal(parseStoreKeys(first)?.primary.id);
    expect([...(keys?.byId.keys() ?? [])]).to.deep.equal([
      parseStoreKeys(first)?.primary.id,
      parseStoreKeys(second)?.primary.id,
    ]);
  });

  it('are rejected by their position in the list and never shown', () => {
    const good = randomBytes(32).toString('hex');
    const bad = ['hunter2', good.slice(1), `${good}00`, randomBytes(16).toString('base64'), ''];
    for (const key of bad) {
      expect(() => parseStoreKeys(`${good},${key}`)).to.throw(
        /^key 2 of MODGATE_STORE_KEY must be 32 bytes in hex or base64$/,
      );
    }
  });

  it('never print their bytes', () => {
    const bytes = randomBytes(32);
    const text = inspect(parseStoreKeys(bytes.toString('hex')), { depth: 9 });
    expect(text).to.not.contain(bytes.toString('hex')).and.to.not.contain(bytes.toString('base64'));
  });
});
