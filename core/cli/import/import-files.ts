import { readFile, writeFile } from 'node:fs/promises';
import { isAbsolute, join, relative, resolve, sep } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { parseDocument, stringify } from 'yaml';
import { MAX_TEXT_LENGTH } from '../../document/parse-document.js';
import { ConfigError } from '../../errors.js';
import { skipMarkOfText } from '../../lib/byte-order-mark.js';
import { writeLongIntegers } from '../../lib/json/long-integers.js';
import { CommandError } from '../command-error.js';
import { asList, asObject, isObject, type JsonObject } from '../json-value.js';
import { assertNameAvailable } from '../new/assert-name-available.js';
import { createStem, quote } from '../new/module-files.js';
import { writeNewFiles } from '../new/write-new-files.js';
import type { Conversion } from './conversion.js';
import type { ImportedManifest } from './draft-manifest.js';
import type { OpenApiDocument } from './openapi-document.js';
import { replaceInYaml } from './replace-in-yaml.js';
import { suggestCredentials } from './suggest-credentials.js';

/** Begins a reference to a file. */
const FILE = 'file:';

export class ImportFiles {
  readonly manifest: string;
  readonly descriptor: string;
  readonly #folder: string;
  readonly #stem: string;
  readonly #module: string;

  constructor(folder: string, module: string) {
    this.#folder = folder;
    this.#stem = createStem(module);
    this.#module = module;
    this.manifest = join(folder, this.#stem, 'manifest.json');
    this.descriptor = join(folder, `${this.#stem}.yaml`);
  }

  /**
   * The manifest of an earlier import; `null` without one.
   * @throws ConfigError for a descriptor of this name that was not imported, or that belongs to
   * another module.
   */
  async readEarlier(): Promise<JsonObject | null> {
    const descriptor = await readText(this.descriptor);
    if (descriptor === null) return null;
    const { module, manifest } = readObject(() => parseDocument(descriptor).toJS());
    if (typeof module === 'string' && module !== this.#module) {
      const problem = 'is the descriptor of another module: nothing was written';
      throw new ConfigError(`${this.descriptor} ${problem} (use --out)`);
    }
    if (module !== this.#module || manifest !== `./${this.#stem}/manifest.json`) {
      throw new ConfigError(`${this.descriptor} is not from an import: nothing was written`);
    }
    const text = await readText(this.manifest);
    return text === null ? {} : readObject(() => JSON.parse(text));
  }

  /** Writes all files. The descriptor comes last, so that a watching host finds the others. */
  async create({ manifest, files, descriptor }: Conversion): Promise<readonly string[]> {
    await assertNameAvailable(this.#module, this.#folder);
    return writeNewFiles(this.#folder, [
      { path: `${this.#stem}/manifest.json`, content: formatManifest(manifest) },
      ...Object.entries(files).map(([name, content]) => ({
        path: `${this.#stem}/${name}`,
        content,
      })),
      { path: `${this.#stem}.yaml`, content: descriptor },
    ]);
  }

  /** The folder of the module, as paths in the descriptor have it. */
  get folder(): string {
    return `./${this.#stem}`;
  }

  /** A path of the command line as the descriptor has to have it. */
  pathInDescriptor(path: string): string {
    if (isAbsolute(path)) return path;
    const below = relative(resolve(this.#folder), resolve(path)).split(sep).join('/');
    return below.startsWith('.') ? below : `./${below}`;
  }

  /** A reference of the command line as the descriptor has to have it. */
  referenceInDescriptor(reference: string): string {
    if (!reference.startsWith(FILE)) return reference;
    return `${FILE}${this.pathInDescriptor(reference.slice(FILE.length))}`;
  }

  /** The absolute path of a folder or file as the descriptor names it. */
  resolve(path: string): string {
    return resolve(this.#folder, path);
  }

  /** @param sections in the order of the file */
  formatDescriptor(sections: Readonly<Record<string, unknown>>): string {
    const manifest = `./${this.#stem}/manifest.json`;
    return stringify({ apiVersion: 'modgate/v1', module: this.#module, ...sections, manifest });
  }

  createDescriptor(endpoint: string, document: OpenApiDocument): string {
    const name = `${this.#stem.toUpperCase().replaceAll(/[^A-Z0-9]/g, '_')}_TOKEN`;
    const credentials = suggestCredentials(document, /^\d/.test(name) ? `_${name}` : name);
    return `apiVersion: modgate/v1
module: ${quote(this.#module)}
provider:
  kind: http
  config:
    endpoints: [${JSON.stringify(endpoint)}]
    # Checks each endpoint: calls go to those that answer with 2xx.
    # health: { path: /health }
${credentials.map((line) => `    ${line}\n`).join('')}manifest: ${quote(`./${this.#stem}/manifest.json`)}
# A 404 of the provider reaches the client as 404, not as 502.
provider_errors: passthrough
`;
  }

  async replaceManifest(manifest: ImportedManifest): Promise<void> {
    await write(this.manifest, formatManifest(manifest));
  }

  /**
   * Lists members of `provider.config` that differ from the descriptor; operators may have changed others.
   * @param names of the members that an import may replace
   */
  async findMoved(config: JsonObject, names: readonly string[]): Promise<string[]> {
    const current = asObject((await this.#parseDescriptor()).toJS()?.provider?.config);
    return names.filter((name) => !isSameMember(current[name], config[name]));
  }

  async replaceMembers(config: JsonObject, names: readonly string[]): Promise<void> {
    let text = (await readText(this.descriptor)) ?? '';
    for (const name of names) {
      text = replaceInYaml(text, ['provider', 'config', name], config[name]);
    }
    await write(this.descriptor, text);
  }

  async #parseDescriptor() {
    return parseDocument((await readText(this.descriptor)) ?? '');
  }

  /** The names of further files of the module that differ. */
  async findChangedFiles(files: Conversion['files']): Promise<string[]> {
    const changed: string[] = [];
    for (const [name, content] of Object.entries(files)) {
      const current = await readFile(this.pathOf(name)).catch(() => null);
      if (current === null || !current.equals(content)) changed.push(name);
    }
    return changed;
  }

  async replaceFile(name: string, content: Uint8Array): Promise<void> {
    await write(this.pathOf(name), content);
  }

  pathOf(name: string): string {
    return join(this.#folder, this.#stem, name);
  }
}

/** Operators may have added entries to a list, and settings to an endpoint. */
function isSameMember(current: unknown, wanted: unknown): boolean {
  if (!Array.isArray(wanted)) return isDeepStrictEqual(current, wanted);
  const entries = asList(current).map((entry) => (isObject(entry) && entry['url']) || entry);
  return wanted.every((value) => entries.some((entry) => isDeepStrictEqual(entry, value)));
}

/** Indents the text, unless it would then be too long for a host. */
function formatManifest(manifest: ImportedManifest): string {
  const readable = JSON.stringify(manifest, null, 2);
  const isShort = Buffer.byteLength(readable) < MAX_TEXT_LENGTH;
  return `${writeLongIntegers(isShort ? readable : JSON.stringify(manifest))}\n`;
}

async function readText(file: string): Promise<string | null> {
  try {
    return skipMarkOfText(await readFile(file, 'utf8'));
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return null;
    throw new CommandError(`${file} cannot be read`, { cause: error });
  }
}

async function write(file: string, text: string | Uint8Array): Promise<void> {
  try {
    await writeFile(file, text);
  } catch (error) {
    throw new CommandError(`${file} cannot be written`, { cause: error });
  }
}

/** Returns an empty object for an unreadable file. */
function readObject(parse: () => unknown): JsonObject {
  try {
    return asObject(parse());
  } catch {
    return {};
  }
}
