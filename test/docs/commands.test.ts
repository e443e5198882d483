import { execFile } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { readDocumentedBlocks } from '../support/docs/documented-commands.js';
import { listPages, readLinks } from '../support/docs/markdown.js';
import { createPackageFolder, type PackageFolder } from '../support/docs/package-folder.js';

/**
 * The working folder of the reader of a page: a checkout, a folder with the package, or the folder
 * of a plugin.
 */
type Role = 'checkout' | 'package' | 'author';

/** Each page with commands. The README begins in a checkout and goes on with the package. */
const ROLES: Readonly<Record<string, readonly Role[]>> = {
  'README.md': ['checkout', 'package'],
  'CONTRIBUTING.md': ['checkout'],
  'SECURITY.md': ['checkout', 'package'],
  'docs/benchmarks.md': ['checkout'],
  'docs/operate/install.md': ['checkout', 'package'],
  'docs/operate/console-tour.md': ['checkout'],
  'docs/operate/mcp.md': ['checkout'],
  'docs/cookbook/aws-signature.md': ['package', 'author'],
  'docs/extend/adapter.md': ['package', 'author'],
  'docs/extend/publishing.md': ['author'],
  'docs/extend/testkit.md': ['author'],
};
const INSTALL = 'docs/operate/install.md';
const BEFORE_RELEASE = 'before-the-first-release';
const SHELL = new Set(['sh', 'bash', 'console', 'dockerfile']);
/** Commands of npm itself, in any folder. */
const NPM = new Set(['ci', 'cit', 'init', 'install', 'pack']);
/** Neither finds modgate on the registry before its first release. */
const INSTALLS = /npm (?:install|i)\b(?!\s(?:@|--save-dev|openapi-|\.\.))|npx modgate@/;
const TEMPLATES = 'core/cli/new/templates';

interface Command {
  /** `modgate`, `npm`, `npx` and so on. */
  readonly name: string;
  readonly args: readonly string[];
}

const pages = listPages().filter((page) => page !== 'CHANGELOG.md');
const commandsOf = new Map(pages.map((page) => [page, listCommands(page)] as const));
const withCommands = pages.filter((page) => (commandsOf.get(page)?.length ?? 0) > 0);
const rolesOf = (page: string) => ROLES[page] ?? ['package'];

describe('the commands of the pages', () => {
  let place: PackageFolder;
  let plugin: string;

  before(async () => {
    place = await createPackageFolder();
    await run(place.path, 'npx modgate new plugin acme-line');
    plugin = join(place.path, 'acme-line');
    place.installInto(plugin);
  });

  it('are found, and the table of roles names no page without one', () => {
    expect(withCommands).to.have.length.above(25);
    expect(Object.keys(ROLES).filter((page) => !withCommands.includes(page))).to.deep.equal([]);
  });

  it('are written as they are run: npx modgate', () => {
    const bare = pages.filter((page) =>
      commandsOf.get(page)?.some(({ name }) => name === 'modgate'),
    );
    expect(bare).to.deep.equal([]);
  });

  for (const role of ['checkout', 'package', 'author'] as const) {
    it(`exist where the reader is: ${role}`, async () => {
      const folder = { checkout: process.cwd(), package: place.path, author: plugin }[role];
      const names = withCommands
        .filter((page) => rolesOf(page).includes(role))
        .flatMap((page) => commandsOf.get(page)?.flatMap(readModgateName) ?? []);
      expect(names.length).to.be.above(0);
      // In a checkout npx finds the package itself, elsewhere one start of npx is enough.
      const isCheckout = role === 'checkout';
      const command = isCheckout ? 'npx --no modgate' : 'modgate';
      const helps = [...new Set(names)].map((name) => `${command} ${name} --help`).join(' && ');
      const output = await run(folder, isCheckout ? helps : `npx --no -c '${helps}'`);
      for (const name of new Set(names)) expect(output).to.include(`Usage: modgate ${name}`);
      expect(await run(folder, 'npx --no modgate -- --version')).to.match(/^\d+\.\d+\.\d+\n$/);
    });
  }

  it('run scripts that the package of the reader has', () => {
    const scriptsIn = (folder: string): string[] => {
      const text = readFileSync(join(folder, 'package.json'), 'utf8');
      return Object.keys((JSON.parse(text) as { scripts: object }).scripts);
    };
    const scripts = { checkout: scriptsIn('.'), package: [], author: scriptsIn(plugin) };
    const missing = withCommands.flatMap((page) => {
      const knownScripts = rolesOf(page).flatMap((role) => scripts[role]);
      const used = commandsOf.get(page)?.flatMap(readScript) ?? [];
      return used
        .filter((name) => !knownScripts.includes(name))
        .map((name) => `${page}: npm ${name}`);
    });
    expect(missing).to.deep.equal([]);
  });

  it('have a note for the time before the first release if they install modgate', () => {
    const places = pages.filter((page) => INSTALLS.test(readFileSync(page, 'utf8')));
    expect(places).to.include.members([INSTALL, 'README.md', 'docs/extend/adapter.md']);
    const silent = places.filter(
      (page) =>
        page !== INSTALL &&
        !readLinks(page).some(({ path, anchor }) => path === INSTALL && anchor === BEFORE_RELEASE),
    );
    expect(silent).to.deep.equal([]);
  });

  it('for the time before the first release are in one section, which the README of each scaffold repeats', async () => {
    const page = readFileSync(INSTALL, 'utf8');
    const [section = ''] = /^## Before the first release\n[\s\S]*?(?=^## )/m.exec(page) ?? [];
    expect(section).to.include('npm pack');
    const subjects = readdirSync(TEMPLATES);
    expect(subjects).to.have.length(5);
    for (const subject of subjects) {
      await run(place.path, `npx modgate new ${subject} acme-${subject}`);
      const readme = readFileSync(join(place.path, `acme-${subject}/README.md`), 'utf8');
      expect(readme, subject).to.include(section.trim());
    }
  });
});

async function run(cwd: string, script: string): Promise<string> {
  const inherited = Object.entries(process.env).filter(
    ([name]) => !/^(?:npm_|MODGATE_)/.test(name),
  );
  const env = Object.fromEntries(inherited);
  return (await promisify(execFile)('bash', ['-c', script], { cwd, env })).stdout;
}

/** Those in blocks, fenced or indented. */
function listCommands(page: string): Command[] {
  const fenced = readDocumentedBlocks(page).flatMap(readCommands);
  const lines = readFileSync(page, 'utf8').match(/^ {4,}(?:npm|npx|modgate) (?!.*\[options\]).*/gm);
  const indented = lines?.flatMap((body) => readCommands({ kind: 'sh', body })) ?? [];
  return [...fenced, ...indented];
}

/** The commands of a block of shell: at the start of a line, behind a pipe, `&&` or `$(`. */
function readCommands({ kind, body }: { kind: string; body: string }): Command[] {
  if (!SHELL.has(kind)) return [];
  return body.split('\n').flatMap((line) =>
    line
      .replace(/^\s*\$ /, '')
      .replace(/^(?:RUN|CMD) /, '')
      .replace(/(?:^| )#.*/, '')
      .split(/\$\(|\|\||\||&&|;/)
      .map((text) => text.trim().split(/\s+/))
      .filter(([name = '']) => ['modgate', 'npm', 'npx'].includes(name))
      .map(([name = '', ...args]) => ({ name, args })),
  );
}

/** The command of modgate; nothing where npx runs another package. */
function readModgateName({ name, args }: Command): string[] {
  const [first = '', second = ''] = args;
  const isOwn = name === 'npx' && /^modgate(?:@|$)/.test(first);
  return isOwn && !second.startsWith('-') ? [second] : [];
}

/** The script of `npm start`, `npm test` and `npm run …`. */
function readScript({ name, args }: Command): string[] {
  const [first = '', second = ''] = args;
  if (name !== 'npm' || NPM.has(first)) return [];
  return [first === 'run' ? second : first];
}
