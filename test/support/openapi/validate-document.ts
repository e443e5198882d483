import { validate } from '@readme/openapi-parser';
import { createConfig, lintFromString } from '@redocly/openapi-core';
import { Validator } from '@seriousme/openapi-schema-validator';
import { expect } from 'chai';

/** @throws AssertionError with what it reports. */
type DocumentValidator = (text: string) => Promise<void>;

/** Each validator parses the text itself, since some replace references in place. */
export const byReadme: DocumentValidator = async (text) => {
  const result = await validate(JSON.parse(text));
  expect(result, JSON.stringify(result)).to.deep.include({ valid: true, warnings: [] });
};

/** It takes every member called `$id` for a keyword, also one that names a property. */
export const bySeriousme: DocumentValidator = async (text) => {
  const result = await new Validator().validate(JSON.parse(text) as Record<string, unknown>);
  expect(result.valid, JSON.stringify(result.errors)).to.equal(true);
};

export const byRedocly: DocumentValidator = async (text) => {
  const config = await createConfig({ rules: { struct: 'error', 'no-unresolved-refs': 'error' } });
  const problems = await lintFromString({ source: text, absoluteRef: 'openapi.json', config });
  const messages = problems.map(({ ruleId, message, location }) => {
    return `${ruleId} ${location[0]?.pointer}: ${message}`;
  });
  expect(messages).to.deep.equal([]);
};

/** Validates a document by two validators that have nothing in common but their schema engine. */
export async function expectValidDocument(
  text: string,
  validators: readonly DocumentValidator[] = [bySeriousme, byReadme],
): Promise<void> {
  for (const validator of validators) await validator(text);
}
