import { readFileSync } from 'node:fs';
import { type GoodDocument, readCorpus } from '../../support/documents/corpus.js';
import type { Material } from './mutate.js';

const ROOT = new URL('../../../../', import.meta.url);

/** Descriptors and manifests of the corpus, valid and invalid. */
export const DESCRIPTOR_TEXTS = readDocuments('descriptors');

const OTHER_TEXTS = [
  ...readDocuments('manifests'),
  'tokens: [{id: billing, kind: service, scopes: [crm.read], sha256: "%", expires_at: 2099-01-01T00:00:00Z}]',
  `{"tokens":[{"id":"a","kind":"user","scopes":["*"],"sha256":"${'0a'.repeat(32)}"}]}`,
  ...readYamlBlocks('docs/operate/authentication.md'),
  ...readYamlBlocks('docs/operate/fifty-services.md'),
  ...readYamlBlocks('docs/operate/tls.md'),
  readFileSync(new URL('plugins/http/plugin.json', ROOT), 'utf8'),
  '{"name":"tap","version":"1.0.0","contract":1,"authenticators":["tap"],"entry":"./index.js"}',
];

/** The texts that are mutated for the parsers. */
export const TEXTS: Material = {
  seeds: [...DESCRIPTOR_TEXTS, ...OTHER_TEXTS].map((text) => Buffer.from(text)),
  dictionary: [
    ...['{', '}', '[', ']', ':', ',', '"', "'", '\\', '\\u0000', '\\ud800', '\0', '\ufeff'],
    ...['\n', '\r\n', '\t', '  ', '- ', '? ', '# ', '---\n', '...\n', '%YAML 1.2\n', '\xff\xfe'],
    ...[
      '&a ',
      '*a',
      '<<: *a',
      '!!js/function ',
      '!!binary ',
      '!!set ',
      '!!omap ',
      '!',
      '|\n',
      '>-\n',
    ],
    ...['null', 'true', 'yes', '~', '.inf', '.nan', '-0', '1e999', '0x7f', '1_0', '2001-01-01'],
    ...['__proto__: {a: 1}', '"__proto__":{}', 'constructor: {prototype: 1}', 'toString: 1'],
    ...['module: ', 'provider: ', 'kind: ', 'config: ', 'endpoints: ', 'manifest: ', 'inline: '],
    ...['env:HOME', 'file:./a', '/{a}', '/{a...}', '/%2e%2e/', '9'.repeat(400), '[['.repeat(99)],
    ...['a: &a [x,x,x]\nb: &b [*a,*a,*a]\nc: [*b,*b,*b]\n', '(a+)+$', 'a'.repeat(5000)],
  ],
};

function readDocuments(folder: string): string[] {
  const documents = ['good', 'bad'].flatMap((name) =>
    readCorpus<GoodDocument[]>(`${folder}/${name}`),
  );
  return documents.map(({ text }) => text.join('\n'));
}

function readYamlBlocks(page: string): string[] {
  const blocks = readFileSync(new URL(page, ROOT), 'utf8').matchAll(/```yaml\n([\s\S]*?)```/g);
  return [...blocks].map(([, text = '']) => text);
}
