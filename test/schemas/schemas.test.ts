import { readFileSync } from 'node:fs';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect } from 'chai';
import { create } from 'superstruct';
import { descriptorStruct } from '../../core/descriptor/sections.js';
import { readStructuredText } from '../../core/document/parse-document.js';
import { type BadDocument, type GoodDocument, readCorpus } from '../support/documents/corpus.js';

interface Schema {
  readonly $id: string;
  readonly properties: Readonly<Record<string, Property>>;
  readonly $defs: Readonly<Record<string, Schema>>;
}

interface Property {
  readonly default?: unknown;
  readonly minimum?: number;
  readonly maximum?: number;
}

const descriptor = readSchema('descriptor');
const manifest = readSchema('manifest');

const BOUNDS: Readonly<Record<string, Readonly<Record<string, readonly [number, number]>>>> = {
  limits: {
    timeout_ms: [1, 600_000],
    request_bytes: [1, 1_073_741_824],
    response_bytes: [1, 1_073_741_824],
    concurrency: [1, 100_000],
    queue: [0, 100_000],
    queue_ms: [0, 600_000],
  },
  rate: {
    per_second: [0, 1_000_000],
    burst: [0, 1_000_000],
    actor_per_second: [0, 1_000_000],
    actor_burst: [0, 1_000_000],
  },
  retry: { attempts: [0, 10], budget: [0, 1] },
  breaker: {
    failures: [1, 1000],
    ratio: [0, 1],
    window_ms: [1, 3_600_000],
    open_ms: [1, 3_600_000],
    max_open_ms: [1, 3_600_000],
  },
  records: { capture_bytes: [0, 65_536] },
  probation: { seconds: [1, 86_400], max_error_rate: [0, 1], min_calls: [1, 100_000] },
};

/** The build derives them from the structs. */
function readSchema(name: string): Schema {
  const file = new URL(`../../core/schemas/${name}.schema.json`, import.meta.url);
  return JSON.parse(readFileSync(file, 'utf8')) as Schema;
}

// Rules of the parsers, which reject such a text before a schema is applied.
const TEXT_RULES = new Set([
  'duplicate-key',
  'empty-file',
  'forbidden-key',
  'json-syntax',
  'lone-surrogate',
  'merge-key',
  'multiple-documents',
  'non-finite-number',
  'too-deep',
  'too-many-aliases',
  'unknown-alias',
  'unsupported-tag',
  'yaml-syntax',
]);

function createValidator(schema: Schema) {
  const ajv = new Ajv2020({
    allErrors: true,
    strict: true,
    strictTypes: false,
    strictRequired: false,
  });
  ajv.addSchema([descriptor, manifest]);
  const validate = ajv.getSchema(schema.$id);
  if (validate === undefined) throw new Error('ajv has no such schema');
  return (document: GoodDocument) => {
    const { value } = readStructuredText(document.file, document.text.join('\n'));
    return { isValid: validate(value) === true, errors: ajv.errorsText(validate.errors) };
  };
}

function isReadable({ findings }: BadDocument): boolean {
  return findings.every(({ rule }) => !TEXT_RULES.has(rule));
}

for (const [folder, schema] of [
  ['descriptors', descriptor],
  ['manifests', manifest],
] as const) {
  describe(`the schema of ${folder}`, () => {
    const validate = createValidator(schema);

    for (const document of readCorpus<GoodDocument[]>(`${folder}/good`)) {
      it(`accepts ${document.name}`, () => {
        const { isValid, errors } = validate(document);
        expect(isValid, errors).to.equal(true);
      });
    }

    for (const document of readCorpus<BadDocument[]>(`${folder}/bad`).filter(isReadable)) {
      const verb = document.semantic === true ? 'leaves to the parser' : 'rejects';
      it(`${verb} ${document.name}`, () => {
        const { isValid, errors } = validate(document);
        expect(isValid, errors).to.equal(document.semantic === true);
      });
    }
  });
}

describe('the schema of descriptors', () => {
  const least = { module: 'crm', provider: { kind: 'http' }, probation: {} };
  const defaults = create(least, descriptorStruct);

  for (const [section, bounds] of Object.entries(BOUNDS)) {
    for (const [key, [minimum, maximum]] of Object.entries(bounds)) {
      it(`has the bounds and the default of ${section}.${key}`, () => {
        const property = descriptor.$defs[section]?.properties[key];
        expect(property).to.include({
          minimum,
          maximum,
          default: (defaults[section as 'breaker'] as Readonly<Record<string, number>>)[key],
        });
      });
    }
  }

  it('has the other defaults', () => {
    expect(descriptor.properties['enabled']?.default).to.equal(defaults.enabled);
    expect(descriptor.properties['provider_errors']?.default).to.equal(defaults.provider_errors);
  });
});

for (const [name, schema] of Object.entries({ descriptor, manifest })) {
  describe(`the schema of a ${name}`, () => {
    it('has a description for every property', () => {
      expect(findUndescribed(schema, schema, '')).to.deep.equal([]);
    });
  });
}

const TYPE_KEYWORDS = ['type', '$ref', 'const', 'enum', 'if'];

/** Properties without a description; one without a type only adds a condition to another. */
function findUndescribed(value: unknown, root: Schema, path: string): string[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, member]) => {
    if (key === 'if' || key === 'default' || key === 'enum') return [];
    const place = `${path}/${key}`;
    const below = findUndescribed(member, root, place);
    if (!path.endsWith('/properties') || typeof member !== 'object') return below;
    const { $ref = '' } = member as { readonly $ref?: string };
    const definition = root.$defs[$ref.split('/').at(-1) ?? ''] ?? {};
    const isCondition =
      /\/(?:then|else)\//.test(path) && !TYPE_KEYWORDS.some((keyword) => keyword in member);
    const isDescribed = 'description' in { ...definition, ...member };
    return isDescribed || isCondition ? below : [place, ...below];
  });
}
