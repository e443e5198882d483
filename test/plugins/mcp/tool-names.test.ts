import { expect } from 'chai';
import fc from 'fast-check';
import { RESERVED_TOOL_NAMES } from '../../../core/contract/index.js';
import { nameTools } from '../../../plugins/mcp/tool-names.js';

type Operation = Parameters<typeof nameTools>[0][number];

const NAME = /^[A-Za-z0-9_-]{1,48}$/;

const operation: fc.Arbitrary<Operation> = fc.record({
  module: fc.constantFrom('a', 'a_b', 'a/b', 'call', 'call_tool', 'long'.repeat(10)),
  kind: fc.constantFrom('route', 'entity', 'action'),
  name: fc.oneof(
    fc.constantFrom('b', 'b_c', 'c', 'list_b', 'tool', 'x'.repeat(60), `${'x'.repeat(60)}y`),
    fc.string({ minLength: 1, maxLength: 60 }),
    fc.stringMatching(/^[a-c]_[0-9a-f]{16}$/),
  ),
});
const operations = fc.uniqueArray(operation, { maxLength: 8, selector: keyOf });

function keyOf({ module, kind, name }: Operation): string {
  return JSON.stringify([module, kind, name]);
}

/** All operations of other authors that are written like this name. */
function imitate(name: string): Operation[] {
  return [...name.matchAll(/_/g)].map(({ index }): Operation => {
    return { module: name.slice(0, index), kind: 'route', name: name.slice(index + 1) };
  });
}

describe('names of tools', () => {
  it('are valid, unique, not reserved, and independent of the order', () => {
    fc.assert(
      fc.property(operations, (all) => {
        const names = nameTools(all);
        expect(new Set(names).size).to.equal(all.length);
        for (const name of names)
          expect(name)
            .to.match(NAME)
            .and.not.be.oneOf([...RESERVED_TOOL_NAMES]);
        expect(nameTools([...all].reverse()).reverse()).to.deep.equal(names);
      }),
    );
  });

  it('are not taken by an operation that another author adds', () => {
    fc.assert(
      fc.property(operations, (all) => {
        for (const name of nameTools(all)) {
          for (const imitation of imitate(name ?? '')) {
            if (all.some((other) => keyOf(other) === keyOf(imitation))) continue;
            expect(nameTools([...all, imitation]).at(-1)).not.to.equal(name);
            const hashed = nameTools([...all, imitation])[0];
            for (const second of imitate(hashed ?? '')) {
              expect(nameTools([...all, imitation, second]).at(-1)).not.to.equal(hashed);
            }
          }
        }
      }),
      { numRuns: 50 },
    );
  });

  it('are no names at all where two have one hash', () => {
    const all = ['1', '2', '3'].map((end): Operation => {
      return { module: 'a', kind: 'route', name: `${'x'.repeat(60)}${end}` };
    });
    const names = nameTools(all, ({ name }) => (name.endsWith('3') ? '3' : '0').repeat(16));
    expect(names).to.deep.equal([null, null, `a_${'x'.repeat(29)}_${'3'.repeat(16)}`]);
  });

  for (const name of ['A1B2C3D4E5F60718', '0000000000000000']) {
    it(`get a hash where they end like one: ${name}`, () => {
      const [named] = nameTools([{ module: 'a', kind: 'action', name: `b_${name}` }]);
      expect(named).to.match(/^a_b_[0-9a-fA-F]{16}_[0-9a-f]{16}$/);
    });
  }
});
