import { expect } from 'chai';
import { parseDescriptor } from '../../core/descriptor/parse-descriptor.js';
import { InvalidFile } from '../../core/document/diagnostic.js';
import { readStructuredText } from '../../core/document/parse-document.js';
import { parseManifest } from '../../core/manifest/parse-manifest.js';
import { type BadDocument, type GoodDocument, readCorpus } from '../support/documents/corpus.js';
import { knownAdapters } from '../support/documents/known-adapters.js';

type Path = readonly (string | number)[];

// Not near any keyword, and valid only as free text.
const SECRET = 'CANARY {secret}';
const CANARIES = [SECRET, '/CANARY?', 'sha256:CANARY', '-CANARY', 'http://u:CANARY@h?x'];

function listPaths(value: unknown, path: Path = []): Path[] {
  if (typeof value !== 'object' || value === null) return [path];
  const keys = Array.isArray(value) ? value.keys() : Object.keys(value);
  const below = [...keys].flatMap((key) =>
    listPaths((value as Record<string | number, unknown>)[key], [...path, key]),
  );
  return [path, ...below];
}

function plant(value: unknown, [key, ...rest]: Path, canary: unknown): unknown {
  if (key === undefined) return canary;
  if (Array.isArray(value)) return value.with(Number(key), plant(value[Number(key)], rest, canary));
  const mapping = value as Record<string, unknown>;
  return { ...mapping, [key]: plant(mapping[key], rest, canary) };
}

function listVariants(value: unknown): string[] {
  const wrapped = CANARIES.flatMap((canary) => [
    canary,
    [canary],
    { kind: canary, [SECRET]: canary },
  ]);
  return listPaths(value).flatMap((path) =>
    wrapped.map((canary) => JSON.stringify(plant(value, path, canary))),
  );
}

/** Everything that an error shows: the message, hint and file name of each diagnostic. */
async function textOf(work: () => unknown): Promise<string> {
  try {
    await work();
    return '';
  } catch (error) {
    if (!(error instanceof InvalidFile)) throw error;
    const texts = error.diagnostics.map(({ message, hint, file }) => `${message} ${hint} ${file}`);
    return [error.message, ...texts].join('\n');
  }
}

function readValue({ file, text }: GoodDocument): unknown {
  return readStructuredText(file, text.join('\n')).value;
}

/** Tens of thousands of texts: an assertion of chai for each takes longer than their check. */
function expectHidden(shown: string, text: string): void {
  if (shown.includes('CANARY')) expect.fail(`shows a value: ${shown}, of ${text}`);
}

describe('diagnostics', () => {
  it('show no value of a descriptor, wherever it is', async () => {
    for (const vector of readCorpus<GoodDocument[]>('descriptors/good')) {
      for (const text of listVariants(readValue(vector))) {
        const input = { file: 'crm.json', text, adapters: knownAdapters };
        expectHidden(await textOf(() => parseDescriptor(input)), text);
      }
    }
  });

  it('show no value of a manifest except the routes and capabilities that they refer to', async () => {
    const isNamed = /route '[A-Z]+ [^\n]*'[^\n]*|the capability '[^']*'|add '[^']*'/g;
    for (const vector of readCorpus<GoodDocument[]>('manifests/good')) {
      for (const text of listVariants(readValue(vector))) {
        const source = { file: 'm.json', locate: () => null };
        const shown = await textOf(() => parseManifest(JSON.parse(text), source));
        expectHidden(shown.replaceAll(isNamed, ''), text);
      }
    }
  });

  it('show no text of a file that cannot be read', async () => {
    for (const vector of readCorpus<BadDocument[]>('descriptors/bad')) {
      const text = vector.text.join('\n').replaceAll('crm', 'CANARY').replaceAll('x', 'CANARY');
      const input = { file: 'a.yaml', text, adapters: knownAdapters };
      const shown = await textOf(() => parseDescriptor(input));
      // An unknown key is named, so that the author can find it.
      expectHidden(shown.replaceAll(/unknown key '[^']*'/g, ''), text);
    }
  });
});
