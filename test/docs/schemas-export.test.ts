import { createRequire } from 'node:module';
import { expect } from 'chai';

const require = createRequire(import.meta.url);

describe('modgate/schemas', () => {
  for (const name of ['descriptor', 'manifest']) {
    it(`exports the schema of a ${name}`, () => {
      const schema: unknown = require(`modgate/schemas/${name}.schema.json`);
      expect(schema).to.include({ title: `modgate ${name}` });
    });
  }
});
