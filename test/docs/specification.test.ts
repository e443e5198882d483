import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { create } from 'superstruct';
import { parse } from 'yaml';
import { SETTING_NAMES, SETTINGS, settingFlag } from '../../core/config/settings.js';
import { descriptorStruct } from '../../core/descriptor/sections.js';
import { PROBLEMS } from '../../core/errors.js';
import { parseManifest } from '../../core/manifest/parse-manifest.js';
import { readDocumentedBlocks } from '../support/docs/documented-commands.js';

const PAGE = 'docs/specification.md';
const METRICS_FOLDER = 'core/observability/metrics';

/** The cells of each table row in a section, without the backquotes. */
function readRows(heading: string): string[][] {
  const text = readFileSync(PAGE, 'utf8');
  const [, section = ''] = new RegExp(`\\n#+ ${heading}\\n([\\s\\S]*?)\\n#+ `).exec(text) ?? [];
  return section
    .split('\n')
    .filter((line) => line.startsWith('| `'))
    .map((line) =>
      line
        .replaceAll('`', '')
        .split(/(?<!\\)\|/)
        .slice(1, -1)
        .map((cell) => cell.trim()),
    );
}

function readBlock(kind: string): string {
  return readDocumentedBlocks(PAGE).find((block) => block.kind === kind)?.body ?? '';
}

describe(PAGE, () => {
  it('lists every setting with its default', () => {
    const rows = readRows('Running the host').map(([flag, value]) => `${flag} ${value}`);
    const settings = SETTING_NAMES.map(
      (name) => `${settingFlag(name)} ${SETTINGS[name].default ?? 'none'}`,
    );
    expect(rows.sort()).to.deep.equal(settings.sort());
  });

  it('lists every Problem with status and title', () => {
    const rows = readRows('Problems').filter(([code = '']) => code in PROBLEMS);
    const problems = Object.entries(PROBLEMS).map(([code, { status, title }]) =>
      code === 'provider_error' ? [code, "the provider's", title] : [code, String(status), title],
    );
    expect(rows.map((cells) => cells.slice(0, 3))).to.deep.equal(problems);
  });

  it('lists the bounds of every number in a descriptor', () => {
    const rows = new Map(readRows('Descriptors').map((cells) => [cells[0], cells.at(-1)]));
    for (const group of [
      'limits',
      'bytes',
      'stream',
      'rate',
      'retry',
      'breaker',
      'records',
      'probation',
    ]) {
      const section = ['bytes', 'stream'].includes(group) ? `limits.${group}` : group;
      for (const [name, { minimum, maximum }] of Object.entries(readBounds(group))) {
        // A section in a section has no bounds of its own.
        if (minimum === undefined) continue;
        const documented = rows.get(`${section}.${name}`) ?? rows.get(`${section}.*`);
        expect(documented, `${section}.${name}`).to.equal(
          `${minimum} to ${maximum?.toLocaleString('en-US')}`,
        );
      }
    }
  });

  it('shows a descriptor with every default', () => {
    const [error, documented] = descriptorStruct.validate(parse(readBlock('yaml')));
    expect(error).to.equal(undefined);
    const least = { module: 'crm', provider: { kind: 'http' } };
    const { module: _, provider: __, manifest: ___, ...defaults } = create(least, descriptorStruct);
    expect(documented).to.deep.include(defaults);
  });

  it('shows a manifest that is valid', () => {
    const source = { file: PAGE, locate: () => ({ line: 1, column: 1 }) };
    const { warnings } = parseManifest(JSON.parse(readBlock('json')), source);
    expect(warnings).to.deep.equal([]);
  });

  it('lists every metric', () => {
    const source = readdirSync(METRICS_FOLDER)
      .map((file) => readFileSync(join(METRICS_FOLDER, file), 'utf8'))
      .join('');
    const names = [...source.matchAll(/'(modgate_[a-z_]+)'/g)].map(([, name]) => name);
    expect(readRows('Metrics').map(([name]) => name)).to.have.members(names);
  });

  it('links to sections that exist', () => {
    const text = readFileSync(PAGE, 'utf8');
    const headings = [...text.matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) =>
      heading.toLowerCase().replaceAll('`', '').replaceAll(' ', '-'),
    );
    expect(new Set(headings)).to.have.property('size', headings.length);
    const links = [...text.matchAll(/\]\(#([^)]+)\)/g)].map(([, anchor]) => anchor);
    expect(headings).to.include.members(links);
  });
});

/** Uses the schema that the build derives from the structs. */
function readBounds(group: string): Record<string, { minimum?: number; maximum?: number }> {
  const file = new URL('../../core/schemas/descriptor.schema.json', import.meta.url);
  return JSON.parse(readFileSync(file, 'utf8')).$defs[group].properties;
}
