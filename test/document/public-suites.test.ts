import { expect } from 'chai';
import { InvalidText, parseStructuredText } from '../../core/document/parse-document.js';
import { readOutside } from '../support/outside.js';

interface YamlCase {
  readonly id: string;
  readonly title: string;
  /** Base64. */
  readonly yaml: string;
  readonly fail?: boolean;
  readonly docs: number;
  readonly json?: string;
  readonly tags?: readonly string[];
  readonly complexKey?: boolean;
  readonly yaml11?: boolean;
}

interface JsonCase {
  /** Starts with y (valid), n (invalid) or i (either). */
  readonly name: string;
  /** Base64. */
  readonly bytes: string;
}

/** Valid in YAML, but not in a descriptor: other tags, keys that are collections, YAML 1.1, no value. */
function isUnsupported({ tags = [], complexKey, yaml11, docs, json }: YamlCase): boolean {
  const isForeign = tags.some(
    (tag) => !/^tag:yaml\.org,2002:(?:str|int|float|bool|null|map|seq)$/.test(tag),
  );
  const isEmpty = json === undefined || json.trim() === 'null';
  return isForeign || complexKey === true || yaml11 === true || docs !== 1 || isEmpty;
}

function read(base64: string, format: 'json' | 'yaml'): unknown {
  const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(
    Buffer.from(base64, 'base64'),
  );
  return JSON.parse(JSON.stringify(parseStructuredText(text, format).value));
}

describe('the YAML test suite', () => {
  const cases = readOutside<readonly YamlCase[]>('yaml-test-suite.json.gz');
  if (cases === null) it('is not run: its data was not found');

  for (const suiteCase of cases ?? []) {
    if (suiteCase.fail === true) {
      it(`rejects ${suiteCase.id}: ${suiteCase.title}`, () => {
        expect(() => read(suiteCase.yaml, 'yaml')).to.throw(InvalidText);
      });
    } else if (isUnsupported(suiteCase)) {
      it(`rejects or reads ${suiteCase.id}: ${suiteCase.title}`, () => {
        try {
          read(suiteCase.yaml, 'yaml');
        } catch (error) {
          expect(error).to.be.instanceOf(InvalidText);
        }
      });
    } else {
      it(`reads ${suiteCase.id}: ${suiteCase.title}`, () => {
        expect(read(suiteCase.yaml, 'yaml')).to.deep.equal(JSON.parse(suiteCase.json ?? ''));
      });
    }
  }
});

describe('the JSON test suite', () => {
  const cases = readOutside<readonly JsonCase[]>('json-test-suite.json.gz');
  if (cases === null) it('is not run: its data was not found');

  for (const { name, bytes } of cases ?? []) {
    const text = Buffer.from(bytes, 'base64').toString();
    // Valid in JSON, but ambiguous, so that a descriptor must not have them.
    const isAmbiguous = name.startsWith('y_object_duplicated_key');
    if (name.startsWith('n_') || isAmbiguous) {
      it(`rejects ${name}`, () => expect(() => read(bytes, 'json')).to.throw());
    } else if (name.startsWith('y_')) {
      it(`reads ${name}`, () => {
        const value = JSON.parse(JSON.stringify(JSON.parse(text)));
        expect(read(bytes, 'json')).to.deep.equal(value);
      });
    }
  }
});
