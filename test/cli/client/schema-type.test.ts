import { expect } from 'chai';
import { typeOfSchema } from '../../../core/cli/typescript/schema-type.js';

const NAMES = { ofReference: () => 'Named', ofRepeated: () => null };

describe('the TypeScript type of a schema', () => {
  it('is never where no value is valid', () => {
    for (const schema of [false, { not: {} }, { not: true }]) {
      expect(typeOfSchema(schema, NAMES)).to.equal('never');
    }
    expect(typeOfSchema({ type: 'string', not: { const: '' } }, NAMES)).to.equal('string');
  });
});
