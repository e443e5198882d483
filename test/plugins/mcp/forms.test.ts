import { expect } from 'chai';
import {
  admitsNull,
  createBudget,
  describeForm,
  findSchema,
} from '../../../plugins/mcp/describe-form.js';

/** Each level has 20 references to the next one: 20 to the power of 8 alternatives. */
const LEVELS = 8;
const REFERENCES = 20;
const $defs = Object.fromEntries(
  Array.from({ length: LEVELS + 1 }, (_, level) => {
    const next = { $ref: `#/$defs/L${level + 1}` };
    const isLast = level === LEVELS;
    return [`L${level}`, isLast ? { type: 'string' } : { anyOf: Array(REFERENCES).fill(next) }];
  }),
);
const ROOT = { type: 'object', properties: { body: { $ref: '#/$defs/L0' } }, $defs };

describe('forms of arguments', () => {
  it('are described in bounded time, however often alternatives are shared', () => {
    expect(describeForm(ROOT.properties.body, ROOT)).to.be.a('string').of.length.below(501);
    expect(admitsNull(ROOT.properties.body, ROOT, createBudget())).to.equal(true);
  });

  it('are found below members of any name, and not further down than 32 levels', () => {
    const node = { type: 'object', properties: { a: { $ref: '#/$defs/Node' } } };
    const root = { ...node, $defs: { Node: node } };
    expect(findSchema(root, Array(32).fill('a'), root)).to.not.equal(undefined);
    expect(findSchema(root, Array(33).fill('a'), root)).to.equal(undefined);
    expect(findSchema(root, ['constructor'], root)).to.equal(undefined);
  });
});
