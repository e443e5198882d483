import { expect } from 'chai';
import type { JsonSchema } from '../../core/contract/index.js';
import { SchemaRegistry } from '../../core/schema/compile-schema.js';
import { SchemaRules } from '../../core/schema/schema-rules.js';
import { readOutside } from '../support/outside.js';

interface Group {
  readonly description: string;
  readonly schema: JsonSchema;
  readonly tests: readonly {
    readonly description: string;
    readonly data: unknown;
    readonly valid: boolean;
  }[];
}

const suite = readOutside<Record<string, readonly Group[]>>('json-schema-2020-12.json.gz');

(suite === null ? describe.skip : describe)('JSON-Schema-Test-Suite, draft 2020-12', () => {
  for (const [keyword, groups] of Object.entries(suite ?? {})) {
    it(`agrees about ${keyword}`, () => {
      for (const { description, schema, tests } of groups) {
        expect(new SchemaRules({}).find(schema), description).to.deep.equal([]);
        const compiled = new SchemaRegistry({}).compile(schema);
        for (const test of tests) {
          const name = `${description}: ${test.description}`;
          const violations = compiled.findViolations(test.data);
          expect(violations.length === 0, `${name} ${JSON.stringify(violations)}`).to.equal(
            test.valid,
          );
        }
      }
    });
  }
});
