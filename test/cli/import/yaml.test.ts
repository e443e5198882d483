import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { createWorkplace } from '../../support/cli/run-in.js';
import { useEach } from '../../support/use.js';

const HEAD = 'openapi: 3.0.3\ninfo: {title: Shop, version: 1}\n';

describe('an OpenAPI document in YAML', () => {
  const place = useEach(createWorkplace);

  const importText = (text: string, name = 'shop.yaml') => {
    place.write(name, text);
    return place.run([
      ...['import', 'openapi', name, '--module', 'shop', '--endpoint', 'http://127.0.0.1:4100'],
      '--json',
    ]);
  };

  it('may use an anchor any number of times', async () => {
    const paths = Array.from({ length: 300 }, (_, n) => `  /a${n}: *item\n`).join('');
    const item = '  /a: &item\n    get: {responses: {200: {description: ok}}}\n';
    const { code, stdout, stderr } = await importText(`${HEAD}paths:\n${item}${paths}`);
    expect(code, stderr).to.equal(0);
    expect(JSON.parse(stdout).routes).to.equal(301);
  });

  it('may merge mappings, whose members are overridden by its own', async () => {
    const text = `${HEAD}x: [&a {summary: one, deprecated: true}, &b {summary: two, tags: [t]}]
paths:
  /a:
    get:
      <<: [*a, *b]
      deprecated: false
      responses: {200: {description: ok}}
`;
    const { code, stderr } = await importText(text);
    expect(code, stderr).to.equal(0);
    const manifest = readFileSync(join(place.folder, 'modules.d/shop/manifest.json'), 'utf8');
    const { http_routes: routes } = JSON.parse(manifest);
    expect(routes[0]).to.deep.include({ summary: 'one', tags: ['t'] });
    expect(routes[0]).not.to.have.property('deprecated');
  });

  it('may have braces like JSON', async () => {
    const { code, stderr } = await importText('{openapi: 3.1.0, paths: {/a: {get: {}}}}');
    expect(code, stderr).to.equal(0);
  });

  const laughs = Array.from({ length: 9 }, (_, n) => {
    const uses = Array.from({ length: 10 }, () => (n === 0 ? 'ha' : `*a${n - 1}`)).join(', ');
    return `x${n}: &a${n} [${uses}]\n`;
  }).join('');
  const invalid: readonly [title: string, text: string, line: number, cause: string][] = [
    ['aliases that expand too far', HEAD + laughs, 8, 'the aliases expand to more than 1000000'],
    ['an alias in its own value', `${HEAD}x: &a\n  - *a\n`, 4, 'part of the value that it refers'],
    ['an alias without an anchor', `${HEAD}x: *nothing\n`, 3, 'an alias has no anchor before it'],
    ['a merge of a text', `${HEAD}x:\n  <<: text\n`, 4, 'a merge key needs a mapping'],
    ['a key that is a list', `${HEAD}x:\n  ? [a]\n  : b\n`, 4, 'a key must be a string'],
    ['a repeated key', `${HEAD}x: 1\nx: 2\n`, 4, 'this mapping has the same key twice'],
    ['a bracket that is not closed', `${HEAD}x: [a\ny: b\n`, 4, 'the indentation does not fit'],
    ['several documents', `${HEAD}---\na: b\n`, 3, 'a file must hold one document'],
    [
      'lists nested too deep',
      `${HEAD}x: ${'['.repeat(300)}${']'.repeat(300)}\n`,
      3,
      'more than 200',
    ],
    [
      'lists nested far too deep',
      `${HEAD}x:\n ${'['.repeat(9000)}${']'.repeat(9000)}`,
      4,
      'more than 200 levels',
    ],
  ];
  for (const [title, text, line, cause] of invalid) {
    it(`is rejected with line and cause for ${title}`, async () => {
      const { code, stderr } = await importText(text);
      expect(code).to.equal(1);
      expect(stderr).to.include(`modgate: shop.yaml is not valid YAML at line ${line}: `);
      expect(stderr).to.include(cause);
    });
  }

  it('is rejected with line and cause in JSON as well', async () => {
    const { code, stderr } = await importText('{\n"openapi": "3.1.0",\n}', 'shop.json');
    expect(code).to.equal(1);
    expect(stderr).to.equal(
      "modgate: shop.json is not valid JSON at line 2: a comma must not stand before '}'\n",
    );
  });
});
