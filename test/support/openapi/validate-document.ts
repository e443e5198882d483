import { validate as validateByReadme } from '@readme/openapi-parser';
import { Validator } from '@seriousme/openapi-schema-validator';
import { expect } from 'chai';

/** Validates a document by two validators that have nothing in common but their schema engine. */
export async function expectValidDocument(text: string): Promise<void> {
  // Each gets a copy: both replace references in place.
  const first = await new Validator().validate(JSON.parse(text) as Record<string, unknown>);
  expect(first.valid, JSON.stringify(first.errors)).to.equal(true);
  const second = await validateByReadme(JSON.parse(text));
  expect(second, JSON.stringify(second)).to.deep.include({ valid: true, warnings: [] });
}
