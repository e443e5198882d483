import { rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import {
  array,
  dynamic,
  enums,
  intersection,
  lazy,
  literal,
  nullable,
  object,
  optional,
  record,
  refine,
  string,
  tuple,
  type,
  union,
} from 'superstruct';
import type { AnyStruct } from '../../core/contract/described.js';
import {
  fileReference,
  HEADER_SECRET,
  PASSWORD,
  Secret,
  secretReference,
} from '../../core/contract/index.js';
import { readStructuredText } from '../../core/document/parse-document.js';
import {
  listReferencedFiles,
  type References,
  resolveReferences,
} from '../../core/document/references.js';
import { diagnosticsOf, summarize } from '../support/documents/invalid-file.js';
import { createFolder } from '../support/temporary-folder.js';

const FOUR_MIB = 4 * 1024 * 1024;

interface Given {
  readonly struct: AnyStruct;
  readonly config: unknown;
  readonly env?: Record<string, string>;
  readonly baseDir?: string;
}

function resolve({ struct, config, env = {}, baseDir = '/nowhere' }: Given): Promise<References> {
  const text = JSON.stringify({ provider: { config } });
  const { locate } = readStructuredText('crm.json', text);
  const source = { file: 'crm.json', locate, prefix: ['provider', 'config'] };
  return resolveReferences({ struct, config, env, baseDir, source });
}

const secret = secretReference();

describe('resolveReferences', () => {
  const PLACES: readonly [name: string, struct: AnyStruct, config: unknown][] = [
    ['an object', object({ a: secret }), { a: 'env:A' }],
    ['an optional', object({ a: optional(secret) }), { a: 'env:A' }],
    ['a nullable', object({ a: nullable(secret) }), { a: 'env:A' }],
    ['a refined struct', object({ a: refine(secret, 'long one', () => true) }), { a: 'env:A' }],
    ['a list', array(secret), ['env:A']],
    ['a tuple', tuple([string(), secret]), ['x', 'env:A']],
    ['a record', record(string(), secret), { x: 'env:A' }],
    ['an open object', type({ a: secret }), { a: 'env:A', b: 1 }],
    ['an object deep down', object({ a: array(object({ b: secret })) }), { a: [{ b: 'env:A' }] }],
    ['a union', object({ a: union([literal('none'), secret]) }), { a: 'env:A' }],
    ['a branch of a union', union([string(), object({ a: secret })]), { a: 'env:A' }],
    [
      'the second branch of a union',
      union([
        object({ kind: literal('x'), a: string() }),
        object({ kind: literal('y'), a: optional(secret), b: optional(array(string())) }),
      ]),
      { kind: 'y', a: 'env:A', b: ['env:B'] },
    ],
    [
      'an optional union',
      object({ a: optional(union([string(), array(secret)])) }),
      { a: ['env:A'] },
    ],
    ['a dynamic struct', object({ a: dynamic(() => secret) }), { a: 'env:A' }],
    [
      'a dynamic struct that depends on the root',
      object({
        kind: enums(['x', 'y']),
        a: dynamic((_, { branch }): AnyStruct => (branch[0].kind === 'x' ? secret : string())),
      }),
      { kind: 'x', a: 'env:A' },
    ],
    ['a lazy struct', object({ a: lazy(() => secret) }), { a: 'env:A' }],
    [
      'an intersection',
      intersection([type({ a: secret }), type({ b: string() })]),
      { a: 'env:A', b: 'x' },
    ],
  ];
  for (const [name, struct, config] of PLACES) {
    it(`finds a reference in ${name}`, async () => {
      const [error] = struct.validate(config);
      expect(error).to.equal(undefined);
      const references = await resolve({ struct, config, env: { A: 'hunter2' } });
      expect(references.secret('env:A').reveal()).to.equal('hunter2');
    });
  }

  it('ignores a text that only looks like a reference', async () => {
    const struct = object({
      a: string(),
      b: record(string(), string()),
      c: union([string(), secret]),
    });
    const config = { a: 'env:A', b: { 'env:A': 'env:A' }, c: 'plain' };
    const references = await resolve({ struct, config });
    expect(() => references.secret('env:A')).to.throw('the config has no such reference');
  });

  it('returns secrets that cannot be printed', async () => {
    const references = await resolve({ struct: secret, config: 'env:A', env: { A: 'hunter2' } });
    const value = references.secret('env:A');
    expect(value).to.be.instanceOf(Secret);
    expect(`${value} ${JSON.stringify({ value })}`).not.to.contain('hunter2');
    expect(JSON.stringify(references)).not.to.contain('hunter2');
  });

  it('removes one line break from the end of a secret, in a file and in a variable', async () => {
    const texts = { a: 'x', b: 'x\n', c: 'x\r\n', d: 'x\n\n', e: ' x ', f: 'x\ny\n' };
    const baseDir = createFolder(texts);
    for (const from of ['file:', 'env:']) {
      const config = Object.keys(texts).map((name) => from + name);
      const references = await resolve({ struct: array(secret), config, baseDir, env: texts });
      const values = config.map((reference) => references.secret(reference).reveal());
      expect(values, from).to.deep.equal(['x', 'x', 'x', 'x\n', ' x ', 'x\ny']);
    }
  });

  it('rejects a secret that cannot be sent, and names its fault without the value', async () => {
    const faults: readonly (readonly [
      text: string,
      inHeader: string | null,
      asPassword: string | null,
    ])[] = [
      ['s3cr\u00e9t', ', and has a character beyond ASCII', null],
      ['s3cret\nx: y', ', and has a line break', ', and has a line break'],
      ['s3cret\r', ', and has a line break', ', and has a line break'],
      ['s3cret\t', ', and has a control character', ', and has a control character'],
      ['s3cret\u0085', ', and has a control character', ', and has a control character'],
      ['s3 cret', null, null],
    ];
    for (const [text, inHeader, asPassword] of faults) {
      for (const [struct, fault] of [
        [HEADER_SECRET, inHeader],
        [PASSWORD, asPassword],
      ] as const) {
        const resolving = () =>
          resolve({ struct: secretReference(struct), config: 'env:A', env: { A: text } });
        if (fault === null) {
          expect((await resolving()).secret('env:A').reveal()).to.equal(text);
          continue;
        }
        const [diagnostic] = await diagnosticsOf(resolving);
        expect(diagnostic?.message).to.equal(
          `'provider.config' refers to the variable A, which must be ${struct.type}${fault}`,
        );
      }
    }
  });

  it('returns the bytes and the absolute path of a file', async () => {
    const baseDir = createFolder({ 'ca.pem': Buffer.from([0, 255, 10]), 'sub/key': 'k' });
    const config = { a: './ca.pem', b: 'file:sub/key', c: join(baseDir, 'ca.pem'), d: 'env:PEM' };
    const file = fileReference();
    const struct = object({ a: file, b: file, c: file, d: file });
    const references = await resolve({ struct, config, baseDir, env: { PEM: 'p' } });
    expect([...references.file('./ca.pem')]).to.deep.equal([0, 255, 10]);
    expect(references.file('file:sub/key').toString()).to.equal('k');
    expect(references.file('env:PEM').toString()).to.equal('p');
    expect(references.path('./ca.pem')).to.equal(join(baseDir, 'ca.pem'));
    expect(references.path('file:sub/key')).to.equal(join(baseDir, 'sub/key'));
    expect(() => references.path('env:PEM')).to.throw('has no path');
    expect(() => references.file('./other')).to.throw('no such reference');
    const files = [join(baseDir, 'ca.pem'), join(baseDir, 'sub/key')];
    expect([...references.contents.keys()].sort()).to.deep.equal(files);
    expect(listReferencedFiles(struct, config, baseDir)).to.deep.equal(files);
  });

  it('rejects a NUL character in every reference', () => {
    expect(secretReference().is('file:a\0b')).to.equal(false);
    expect(fileReference().is('file:a\0b')).to.equal(false);
  });

  it("rejects the host's own variables", async () => {
    const env = { MODGATE_STORE_KEY: 'hunter2' };
    const diagnostics = await diagnosticsOf(() =>
      resolve({ struct: secret, config: 'env:MODGATE_STORE_KEY', env }),
    );
    expect(diagnostics.map(({ message }) => message)).to.deep.equal([
      "'provider.config' refers to the variable MODGATE_STORE_KEY, which belongs to the host",
    ]);
  });

  it('lists files that are missing', () => {
    expect(listReferencedFiles(array(secret), ['file:a', 'env:B'], '/base')).to.deep.equal([
      '/base/a',
    ]);
  });

  it('follows symbolic links', async () => {
    const baseDir = createFolder({ real: 'x' });
    symlinkSync('real', join(baseDir, 'link'));
    const references = await resolve({ struct: secret, config: 'file:link', baseDir });
    expect(references.secret('file:link').reveal()).to.equal('x');
  });

  it('changes its digest with the content of a file, not with a variable', async () => {
    const baseDir = createFolder({ a: '1', b: '2' });
    const input = { struct: array(secret), config: ['file:a', 'file:b', 'env:C'], baseDir };
    const read = async (C: string) => (await resolve({ ...input, env: { C } })).digestPart;
    const first = await read('x');
    expect(first).to.match(/^[0-9a-f]{64}$/);
    expect(await read('y')).to.equal(first);
    writeFileSync(join(baseDir, 'a'), '2');
    writeFileSync(join(baseDir, 'b'), '1');
    expect(await read('x')).not.to.equal(first);
  });

  it('reports all unresolved references together, with their places', async () => {
    const baseDir = createFolder({
      empty: '\n',
      large: Buffer.alloc(FOUR_MIB + 1, 'a'),
      'not-utf8': Buffer.from([0xff]),
      'folder/x': '',
    });
    const config = [
      'env:MISSING',
      'env:EMPTY',
      'env:__proto__',
      'file:missing',
      'file:empty/x',
      'file:empty',
      'file:large',
      'file:not-utf8',
      'file:folder',
    ];
    const diagnostics = await diagnosticsOf(() =>
      resolve({ struct: array(secret), config, baseDir, env: { EMPTY: '' } }),
    );
    expect(diagnostics.map(({ message }) => message)).to.deep.equal([
      "'provider.config[0]' refers to the variable MISSING, which is not set",
      "'provider.config[1]' refers to the variable EMPTY, which is empty",
      "'provider.config[2]' refers to the variable __proto__, which is not set",
      "'provider.config[3]' refers to the file 'missing', which does not exist",
      "'provider.config[4]' refers to the file 'empty/x', which does not exist",
      "'provider.config[5]' refers to the file 'empty', which is empty",
      "'provider.config[6]' refers to the file 'large', which is larger than 4 MiB",
      "'provider.config[7]' refers to the file 'not-utf8', which is not valid UTF-8",
      "'provider.config[8]' refers to the file 'folder', which is not a regular file",
    ]);
    expect(new Set(diagnostics.map(({ rule }) => rule))).to.deep.equal(
      new Set(['unresolved-reference']),
    );
    expect(diagnostics[0]).to.deep.include({ path: ['provider', 'config', 0], file: 'crm.json' });
    expect(diagnostics.map(summarize)[1]).to.include({ line: 1, column: 38 });
  });

  it('reads a file of any bytes for a file reference', async () => {
    const baseDir = createFolder({ a: Buffer.from([0xff]) });
    const references = await resolve({ struct: fileReference(), config: 'a', baseDir });
    expect([...references.file('a')]).to.deep.equal([0xff]);
    rmSync(join(baseDir, 'a'));
    const diagnostics = await diagnosticsOf(() =>
      resolve({ struct: fileReference(), config: 'a', baseDir }),
    );
    expect(diagnostics.map(({ message }) => message)).to.deep.equal([
      "'provider.config' refers to the file 'a', which does not exist",
    ]);
  });
});
