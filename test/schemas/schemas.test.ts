import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect } from 'chai';
import { DESCRIPTOR_BOUNDS, DESCRIPTOR_DEFAULTS } from '../../core/descriptor/defaults.js';
import { readStructuredText } from '../../core/document/parse-document.js';
import {
  type BadDocument,
  type GoodDocument,
  readCorpus,
  readJson,
} from '../support/documents/corpus.js';

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

const descriptor = readJson('core/schemas/descriptor.schema.json') as Schema;
const manifest = readJson('core/schemas/manifest.schema.json') as Schema;

// Rules of JSON, not of the schema: what breaks them never gets as far as a schema.
const TEXT_RULES = new Set([
  'byte-order-mark',
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
  if (validate === undefined) throw new Error('the schema is not known');
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
      const verdict = document.semantic === true ? 'leaves to the parser' : 'refuses';
      it(`${verdict} ${document.name}`, () => {
        const { isValid, errors } = validate(document);
        expect(isValid, errors).to.equal(document.semantic === true);
      });
    }
  });
}

describe('the schema of descriptors', () => {
  for (const [section, bounds] of Object.entries(DESCRIPTOR_BOUNDS)) {
    for (const [key, [minimum, maximum]] of Object.entries(bounds) as [
      string,
      [number, number],
    ][]) {
      it(`has the bounds and the default of ${section}.${key}`, () => {
        const defaults = DESCRIPTOR_DEFAULTS[section as keyof typeof DESCRIPTOR_BOUNDS];
        const property = descriptor.$defs[section]?.properties[key];
        expect(property).to.include({
          minimum,
          maximum,
          default: (defaults as Readonly<Record<string, number>>)[key],
        });
      });
    }
  }

  it('has the other defaults', () => {
    expect(descriptor.properties['enabled']?.default).to.equal(DESCRIPTOR_DEFAULTS.enabled);
    expect(descriptor.properties['provider_errors']?.default).to.equal(
      DESCRIPTOR_DEFAULTS.provider_errors,
    );
  });
});
