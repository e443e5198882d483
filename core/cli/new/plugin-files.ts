import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { ConfigError } from '../../errors.js';
import { readVersion } from '../../version.js';
import { assertPluginName, type PluginTemplate } from './assert-plugin-name.js';
import type { NewFile } from './write-new-files.js';

/** The texts of each kind, by path. */
type Templates = Readonly<Record<PluginTemplate, Readonly<Record<string, string>>>>;

const require = createRequire(import.meta.url);

/** A package name with an optional scope. Its last part is the name of the plugin and the folder. */
const PACKAGE_NAME = /^(?:@[a-z0-9][a-z0-9-]*\/)?([a-z][a-z0-9-]{0,62})$/;

/** The prefix that is removed: the kind of the package `modgate-mqtt` is `mqtt`. */
const COMMON_PREFIX = /^modgate-(?=[a-z])/;

/** npm does not publish `.gitignore` files. */
const RENAMED: Readonly<Record<string, string>> = { gitignore: '.gitignore' };

/**
 * Creates the files of a new plugin in a folder of its name: an adapter for a line protocol, a surface, an
 * authenticator, a signer or an importer, its tests and the package files.
 * @throws ConfigError for an invalid name, and one that modgate has itself.
 */
export async function createPluginFiles(
  packageName: string,
  kind: PluginTemplate,
): Promise<NewFile[]> {
  const name = PACKAGE_NAME.exec(packageName)?.[1];
  if (name === undefined) {
    throw new ConfigError(
      'the name of a plugin must be lower case, start with a letter and have no dot, such as ' +
        'acme-mqtt or @acme/modgate-mqtt',
    );
  }
  const part = name.replace(COMMON_PREFIX, '');
  await assertPluginName(name, part, kind);
  const values = {
    package: packageName,
    name,
    kind: part,
    ...readRanges(),
    beforeRelease: await readBeforeRelease(),
  };
  const templates = require('./templates.json') as Templates;
  return Object.entries(templates[kind]).map(([path, text]) => ({
    path: join(name, RENAMED[path] ?? path),
    content: fillIn(text, values),
  }));
}

function fillIn(text: string, values: Readonly<Record<string, string>>): string {
  return text.replace(/\{\{(\w+)\}\}/g, (_whole, key: string) => {
    const value = values[key];
    if (value === undefined) throw new Error(`the template has the unknown variable '${key}'`);
    return value;
  });
}

/** The documented steps to install modgate before it is published; empty without that section. */
async function readBeforeRelease(): Promise<string> {
  const root = dirname(require.resolve('modgate/package.json'));
  const page = await readFile(join(root, 'docs/operate/install.md'), 'utf8');
  const [section = ''] = /^## Before the first release\n[\s\S]*?(?=^## )/m.exec(page) ?? [];
  return section === '' ? '' : `\n${section.trim()}\n`;
}

/** The versions that modgate itself is built with. */
function readRanges() {
  const modgate = require('modgate/package.json') as {
    readonly dependencies: Readonly<Record<string, string>>;
    readonly devDependencies: Readonly<Record<string, string>>;
  };
  return {
    modgateRange: `^${readVersion()}`,
    superstructRange: modgate.dependencies['superstruct'] ?? '*',
    typescriptRange: modgate.devDependencies['typescript'] ?? '*',
    nodeTypesRange: modgate.devDependencies['@types/node'] ?? '*',
  };
}
