import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseDocument } from 'yaml';
import { MAX_TEXT_LENGTH } from '../../document/parse-document.js';
import { ConfigError } from '../../errors.js';
import { skipMarkOfText } from '../../lib/byte-order-mark.js';
import { CommandError } from '../command-error.js';
import { asList, asObject, isObject, type JsonObject } from '../json-value.js';
import { assertNameAvailable } from '../new/assert-name-available.js';
import { createStem, quote } from '../new/module-files.js';
import { writeNewFiles } from '../new/write-new-files.js';
import type { ImportedManifest } from './draft-manifest.js';
import type { OpenApiDocument } from './openapi-document.js';
import { suggestCredentials } from './suggest-credentials.js';

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

  /** Writes both files. The descriptor comes last, so that a watching host finds the manifest. */
  async create(manifest: ImportedManifest, descriptor: string): Promise<readonly string[]> {
    await assertNameAvailable(this.#module, this.#folder);
    return writeNewFiles(this.#folder, [
      { path: `${this.#stem}/manifest.json`, text: formatManifest(manifest) },
      { path: `${this.#stem}.yaml`, text: descriptor },
    ]);
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
   * Replaces only the endpoints, because operators may have changed other parts.
   * @returns `null` if the descriptor has the endpoint
   */
  async moveEndpoint(endpoint: string): Promise<(() => Promise<void>) | null> {
    const document = parseDocument((await readText(this.descriptor)) ?? '');
    const endpoints: unknown = document.toJS()?.provider?.config?.endpoints;
    const isSame = (entry: unknown) => (isObject(entry) ? entry['url'] : entry) === endpoint;
    if (asList(endpoints).some(isSame)) return null;
    document.setIn(['provider', 'config', 'endpoints'], [endpoint]);
    return () => write(this.descriptor, document.toString());
  }
}

/** Indents the text, unless it would then be too long for a host. */
function formatManifest(manifest: ImportedManifest): string {
  const readable = `${JSON.stringify(manifest, null, 2)}\n`;
  const isShort = Buffer.byteLength(readable) <= MAX_TEXT_LENGTH;
  return isShort ? readable : `${JSON.stringify(manifest)}\n`;
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

async function write(file: string, text: string): Promise<void> {
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
