import { expect } from 'chai';
import {
  InvalidText,
  type PlacedViolation,
  parseStructuredText,
  type TextFormat,
} from '../../../core/document/parse-document.js';

export function violationsOf(text: string, format: TextFormat): readonly PlacedViolation[] {
  try {
    parseStructuredText(text, format);
  } catch (error) {
    if (error instanceof InvalidText) return error.violations;
    throw error;
  }
  return expect.fail(`nothing was rejected in ${text.slice(0, 50)}`);
}

export function expectViolation(
  text: string,
  format: TextFormat,
  rule: string,
  place?: string,
): void {
  const [violation] = violationsOf(text, format);
  expect(violation?.rule).to.equal(rule, text.slice(0, 50));
  if (place !== undefined) expect(`${violation?.line}:${violation?.column}`).to.equal(place);
}
