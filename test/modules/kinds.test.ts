import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';

const PLUGINS = 'plugins';
const CORE = 'core';
/** Files that write examples of modules, or serve the conformance suite over a transport. */
const EXAMPLES = /^core\/(?:cli\/new|testkit)\//;
/** A comparison, or a list or table of names that something is looked up in. */
const COMPARED = (kind: string) =>
  new RegExp(
    [
      `\\bkind\\b\\s*[!=]==\\s*['"]${kind}['"]`,
      `['"]${kind}['"]\\s*[!=]==\\s*\\S*\\bkind\\b`,
      `\\bkinds?\\b[^;\\n]{0,80}(?:includes|has|startsWith)\\(\\s*['"]${kind}['"]`,
      `\\[[^\\]\\n]{0,80}['"]${kind}['"][^\\]\\n]{0,80}\\]\\.(?:includes|some|indexOf)\\(`,
      `new Set\\(\\[[^\\]]{0,200}['"]${kind}['"]`,
      `case ['"]${kind}['"]:`,
    ].join('|'),
  );
function listFiles(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => join(folder, name))
    .filter((name) => !EXAMPLES.test(name));
}

function listKinds(): string[] {
  const files = readdirSync(PLUGINS, { recursive: true, encoding: 'utf8' });
  return files
    .filter((name) => name.endsWith('plugin.json'))
    .flatMap((name) => {
      const { kinds = [] } = JSON.parse(readFileSync(join(PLUGINS, name), 'utf8')) as {
        kinds?: string[];
      };
      return kinds;
    })
    .toSorted();
}

describe('core', () => {
  const files = listFiles(CORE).map((file) => ({ file, text: readFileSync(file, 'utf8') }));

  it('names no kind that a plugin has added: grpc, amqp', () => {
    const naming = files.filter(({ text }) => /grpc|amqp/i.test(text)).map(({ file }) => file);
    expect(naming).to.deep.equal([]);
  });

  it('decides nothing by the name of a kind', () => {
    const kinds = listKinds();
    expect(kinds).to.include.members(['http', 'local', 'mcp', 'nats', 'process', 'unix']);
    const deciding = kinds.flatMap((kind) =>
      files.filter(({ text }) => COMPARED(kind).test(text)).map(({ file }) => `${file}: ${kind}`),
    );
    expect(deciding).to.deep.equal([]);
  });

  it('is searched by patterns that find such decisions', () => {
    const decisions = [
      "if (provider.kind === 'mcp') return",
      "if ('mcp' !== descriptor.kind)",
      "new Set(['http', 'mcp'])",
      "kinds.includes('mcp')",
      "['mcp', 'nats'].includes(kind)",
      "case 'mcp':",
    ];
    for (const decision of decisions) expect(decision).to.match(COMPARED('mcp'));
  });
});
