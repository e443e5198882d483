import { expect } from 'chai';
import { compareManifests } from '../../../core/cli/import/compare-manifests.js';

describe('compareManifests', () => {
  const compare = (keyword: string, before: unknown, after: unknown) => {
    const describe = (value: unknown) => ({
      http_routes: [],
      schemas: { Pet: { [keyword]: value } },
    });
    return compareManifests(describe(before), describe(after));
  };

  for (const keyword of ['const', 'default', 'enum']) {
    it(`finds that clients notice a change within ${keyword}, also of members like texts`, () => {
      const write = (version: number) => {
        const value = { type: 'rabbit', title: 'Pet', version };
        return keyword === 'enum' ? [value] : value;
      };
      expect(compare(keyword, write(1), write(2))).to.deep.equal([
        {
          change: 'changed',
          place: 'the schema Pet',
          pointer: `/${keyword}`,
          affectsClients: true,
        },
      ]);
    });
  }

  it('finds that clients do not notice another example', () => {
    const changes = compare('example', { const: 1 }, { const: 2 });
    expect(changes.map(({ affectsClients }) => affectsClients)).to.deep.equal([false]);
  });
});
