import { Ajv } from 'ajv';
import { expect } from 'chai';
import { createWorkplace } from '../../support/cli/run-in.js';
import { describeModule } from '../../support/http/modules.js';
import { useEach } from '../../support/use.js';

const TEXT = {
  type: 'object',
  required: ['text'],
  properties: { text: { type: 'string', minLength: 1 } },
};

/** The structure of the used parts of SARIF 2.1.0 (OASIS, sections 3.13 to 3.49). Rejects other parts. */
const STRUCTURE = object(['$schema', 'version', 'runs'], {
  $schema: { type: 'string' },
  version: { const: '2.1.0' },
  runs: list(
    object(['tool', 'columnKind', 'results'], {
      tool: object(['driver'], {
        driver: object(['name', 'version', 'rules'], {
          name: { type: 'string' },
          version: { type: 'string', pattern: '^\\d+\\.\\d+\\.\\d+' },
          rules: {
            ...list(object(['id'], { id: { type: 'string' }, shortDescription: TEXT })),
            uniqueItems: true,
          },
        }),
      }),
      columnKind: { enum: ['utf16CodeUnits', 'unicodeCodePoints'] },
      results: list(
        object(['ruleId', 'ruleIndex', 'level', 'message', 'locations'], {
          ruleId: { type: 'string' },
          ruleIndex: { type: 'integer', minimum: 0 },
          level: { enum: ['none', 'note', 'warning', 'error'] },
          message: TEXT,
          locations: list(
            object(['physicalLocation'], {
              physicalLocation: object(['artifactLocation'], {
                artifactLocation: object(['uri'], { uri: { type: 'string', minLength: 1 } }),
                region: object(['startLine', 'startColumn'], {
                  startLine: { type: 'integer', minimum: 1 },
                  startColumn: { type: 'integer', minimum: 1 },
                }),
              }),
            }),
          ),
        }),
      ),
    }),
  ),
});

function object(required: readonly string[], properties: object): object {
  return { type: 'object', required, properties, additionalProperties: false };
}

function list(items: object): object {
  return { type: 'array', items };
}

interface Sarif {
  readonly runs: readonly [
    {
      readonly tool: { readonly driver: { readonly rules: readonly { readonly id: string }[] } };
      readonly results: readonly Result[];
    },
  ];
}

interface Result {
  readonly ruleId: string;
  readonly ruleIndex: number;
  readonly level: string;
  readonly locations: readonly [
    { readonly physicalLocation: { readonly artifactLocation: { readonly uri: string } } },
  ];
}

describe('modgate check --format sarif', () => {
  const place = useEach(createWorkplace);

  async function check(...args: string[]) {
    const { code, stdout } = await place.run(['check', '--format', 'sarif', ...args]);
    const sarif = JSON.parse(stdout) as Sarif;
    const validate = new Ajv({ strict: false }).compile(STRUCTURE);
    expect(validate(sarif), JSON.stringify(validate.errors)).to.equal(true);
    const [{ results, tool }] = sarif.runs;
    return { code, results, rules: tool.driver.rules.map(({ id }) => id) };
  }

  it('has the structure of SARIF 2.1.0, with every rule listed', async () => {
    const endpoint = 'http://127.0.0.1:4100';
    place.write('modules.d/bad.yaml', 'module: Bad\nretires: 1\n');
    place.write(
      'modules.d/open.json',
      describeModule('open', endpoint, [{ method: 'GET', path: '/x' }]),
    );
    place.write('modules.d/noted.json', {
      ...describeModule('n', endpoint, []),
      manifest: { from: 'provider' },
    });
    place.write('modules.d/broken.json', '');
    const { code, results, rules } = await check();
    expect(code).to.equal(1);
    expect(new Set(results.map(({ level }) => level))).to.deep.equal(
      new Set(['error', 'warning', 'note']),
    );
    expect(results.map(({ ruleIndex }) => rules[ruleIndex])).to.deep.equal(
      results.map(({ ruleId }) => ruleId),
    );
    expect(rules).to.include.members(['unknown-key', 'route-without-capability', 'empty-file']);
  });

  it('has no results for a valid folder', async () => {
    place.write('modules.d/.keep', '');
    expect(await check()).to.deep.equal({ code: 0, results: [], rules: [] });
  });

  it('names files by URIs relative to the working directory', async () => {
    place.write('a b/modules.d/ä%.yaml', 'module: Bad\n');
    const uriOf = ({ locations: [{ physicalLocation }] }: Result) =>
      physicalLocation.artifactLocation.uri;
    const { results } = await check(`${place.folder}/a b/modules.d`);
    expect(new Set(results.map(uriOf))).to.deep.equal(new Set(['a%20b/modules.d/%C3%A4%25.yaml']));
  });
});
