import { realpath } from 'node:fs/promises';
import { dirname, relative, resolve, sep } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { ConfigError } from '../../errors.js';
import { escapeStep, findAtPath, parsePointer } from '../../lib/json/json-pointer.js';
import { CommandError } from '../command-error.js';
import { asObject, isObject, isTooDeep, MAX_DEPTH } from '../json-value.js';
import { isUrl, readSource } from './read-source.js';
import { formatReferred, REFERRED } from './referred-documents.js';

const MAX_DOCUMENTS = 10_000;
const MAX_BYTES = 64 * 1024 * 1024;

/** A document with the others to which it refers. */
interface ReadDocuments {
  /** Its references lead to places within it. */
  readonly root: unknown;
  /** Why other documents were not read, by location. */
  readonly unread: ReadonlyMap<string, string>;
}

interface Place {
  readonly location: string;
  /** The pointer in the document, as in a reference. */
  readonly pointer: string;
}

interface Scope {
  readonly location: string;
  /** The base of relative references: the location, or the nearest `$id`. */
  readonly base: string;
}

type Members = Record<string, unknown>;

/**
 * Reads a document with all files below its folder, or all URLs of its origin, to which it refers.
 * @throws ConfigError for a file that does not exist; CommandError when the document itself cannot
 *   be read.
 */
export async function readDocuments(source: string): Promise<ReadDocuments> {
  const { value: root } = await readSource(source);
  if (!isObject(root) || isTooDeep(root)) return { root, unread: new Map() };
  const location = isUrl(source) ? withoutFragment(source) : pathToFileURL(resolve(source)).href;
  const set = new DocumentSet(location, root);
  await set.readAll();
  return set.join();
}

/** Longer ones are no addresses. Each reference below one would be as long. Characters. */
const MAX_ID_LENGTH = 2048;

class DocumentSet {
  readonly #root: string;
  readonly #documents = new Map<string, unknown>();
  /** The documents to read, in the order of their references. The set grows while they are read. */
  readonly #wanted = new Set<string>();
  readonly #unread = new Map<string, string>();
  /** The places of `$id` and `$anchor`, by URL. */
  readonly #ids = new Map<string, Place>();
  readonly #hasIds: boolean;
  #bytes = 0;
  #tried = 0;

  constructor(location: string, root: Members) {
    this.#root = location;
    this.#hasIds = /^3\.[1-9]/.test(String(root['openapi']));
    if (typeof root['$self'] === 'string') this.#addId(root['$self'], { location, pointer: '' });
    this.#add(location, root);
  }

  async readAll(): Promise<void> {
    for (const location of this.#wanted) {
      if (this.#documents.has(location) || this.#ids.has(location)) continue;
      try {
        this.#add(location, await this.#read(location));
      } catch (error) {
        if (!(error instanceof CommandError || error instanceof ConfigError)) throw error;
        this.#unread.set(this.#format(location), error.message);
      }
    }
  }

  /** Makes all references lead to places within the root. */
  join(): ReadDocuments {
    for (const [location, document] of this.#documents) {
      visit(document, { location, base: location }, '', this.#hasIds, (holder, key, scope) => {
        holder[key] = this.#rewrite(String(holder[key]), scope);
      });
    }
    const { [REFERRED]: _own, ...root } = asObject(this.#documents.get(this.#root));
    this.#documents.delete(this.#root);
    const others = [...this.#documents].map(([location, document]) => {
      return [this.#format(location), document] as const;
    });
    if (others.length === 0) return { root, unread: this.#unread };
    return { root: { ...root, [REFERRED]: Object.fromEntries(others) }, unread: this.#unread };
  }

  #add(location: string, document: unknown): void {
    this.#documents.set(location, document);
    const start = { location, base: location };
    if (this.#hasIds) {
      visit(
        document,
        start,
        '',
        true,
        () => {},
        (url, pointer) => {
          this.#addId(url, { location, pointer });
        },
      );
    }
    visit(document, start, '', this.#hasIds, (holder, key, scope) => {
      const target = parseUrl(String(holder[key]), scope.base);
      if (target !== null) this.#wanted.add(target.location);
    });
  }

  #addId(url: string, place: Place): void {
    const id = parseUrl(url, this.#root);
    if (id !== null && !this.#ids.has(id.location + id.hash)) {
      this.#ids.set(id.location + id.hash, place);
    }
  }

  /** @throws CommandError with the problem, as part of a line. */
  async #read(location: string): Promise<unknown> {
    const name = withoutSecrets(this.#format(location));
    this.#tried += 1;
    if (this.#tried > MAX_DOCUMENTS) {
      throw new CommandError(`a reference to more than ${MAX_DOCUMENTS} other documents`);
    }
    this.#assertFewBytes();
    const source = await this.#findSource(location, name);
    const { value, bytes } = await readSource(source, `a reference: ${name}`);
    this.#bytes += bytes;
    this.#assertFewBytes();
    if (!isTooDeep(value)) return value;
    throw new CommandError(`a reference: ${name} is nested deeper than ${MAX_DEPTH} levels`);
  }

  #assertFewBytes(): void {
    if (this.#bytes <= MAX_BYTES) return;
    throw new CommandError(`a reference to more than ${MAX_BYTES / 1024 / 1024} MiB`);
  }

  /** Returns the URL or the file. @throws CommandError for one that may not be read. */
  async #findSource(location: string, name: string): Promise<string> {
    const [root, url] = [new URL(this.#root), new URL(location)];
    if (url.protocol !== root.protocol) {
      throw new CommandError(`a reference to another scheme: ${name}`);
    }
    if (root.protocol !== 'file:') {
      if (url.origin === root.origin) return location;
      throw new CommandError(`a reference to another origin: ${name}`);
    }
    const folder = dirname(fileURLToPath(root));
    const file = toFile(url);
    if (file !== null && isBelow(file, folder)) {
      const target = await realpath(file).catch(() => null);
      // A file that does not exist is reported when it is read.
      if (target === null) return file;
      if (isBelow(target, await realpath(folder))) return target;
    }
    throw new CommandError(`a reference that leaves the folder of the document: ${name}`);
  }

  #rewrite(reference: string, scope: Scope): string {
    const target = parseUrl(reference, scope.base);
    const isOwn = scope.base === this.#root && /^#(?:\/|$)/.test(reference);
    if (target === null || isOwn) return reference;
    const { location, hash } = target;
    const place = this.#ids.get(location + hash) ?? this.#findInId(location, hash, scope);
    if (place !== null) return this.#formatPlace(place);
    return this.#formatPlace({ location, pointer: hash.slice(1) });
  }

  /** A pointer in a schema with `$id` starts there; many documents expect the whole document. */
  #findInId(location: string, hash: string, scope: Scope): Place | null {
    const id = this.#ids.get(location);
    if (id === undefined) return null;
    const place = { ...id, pointer: id.pointer + hash.slice(1) };
    const document = this.#documents.get(id.location);
    if (findAtPath(document, parsePointer(decode(place.pointer))) !== null) return place;
    return location === scope.base ? { location: scope.location, pointer: hash.slice(1) } : place;
  }

  #formatPlace({ location, pointer }: Place): string {
    if (location === this.#root) return `#${pointer}`;
    return formatReferred(this.#format(location), pointer);
  }

  /** The location as it is shown: a file relative to the folder of the document. */
  #format(location: string): string {
    const areFiles = [location, this.#root].every((url) => url.startsWith('file:'));
    const file = areFiles ? toFile(new URL(location)) : null;
    if (file === null) return location;
    return relative(dirname(fileURLToPath(this.#root)), file).replaceAll(sep, '/');
  }
}

/** Visits the holders of references: `$ref`, and references in the mapping of a discriminator. */
function visit(
  value: unknown,
  scope: Scope,
  pointer: string,
  hasIds: boolean,
  onReference: (holder: Members, key: string, scope: Scope) => void,
  onId: (url: string, pointer: string) => void = () => {},
): void {
  const open = [{ value, scope, pointer, isNamed: false, isSchema: false }];
  const visited = new Set<unknown>();
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { value: holder } = next;
    // Aliases of YAML lead to the same value several times.
    if (typeof holder !== 'object' || holder === null || visited.has(holder)) continue;
    visited.add(holder);
    const members = holder as Members;
    const inner = hasIds ? enterId(members, next, onId) : next.scope;
    for (const [key, member] of Object.entries(members)) {
      if (typeof member === 'string') {
        if (key === '$ref') onReference(members, key, inner);
        continue;
      }
      // Extensions are not imported. They may be the names of properties.
      if (key.startsWith('x-') && !next.isNamed && !Array.isArray(holder)) continue;
      if (!next.isNamed && isData(key, members, next.isSchema)) continue;
      const path = `${next.pointer}/${encodeURIComponent(escapeStep(key))}`;
      const isNamed = NAMED.has(key) && !next.isNamed;
      if (key === 'discriminator') visitMapping(member, inner, onReference);
      const isSchema = next.isNamed;
      open.push({ value: member, scope: inner, pointer: path, isNamed, isSchema });
    }
  }
}

/** Members whose keys are names chosen by the author. */
const NAMED: ReadonlySet<string> = new Set([
  ...['properties', 'patternProperties', 'dependentSchemas', '$defs', 'definitions', 'schemas'],
  ...['parameters', 'responses', 'requestBodies', 'headers', 'examples', 'pathItems', 'mediaTypes'],
]);

/** Members of which a schema has at least one. */
const SCHEMA_MEMBERS = [
  ...['type', 'properties', 'allOf', 'anyOf', 'oneOf', 'items', 'enum', 'additionalProperties'],
  'format',
];

/** Whether a member is a value of a schema, in which `$ref` is no reference. */
function isData(key: string, holder: Members, isSchema: boolean): boolean {
  if (key === 'const') return true;
  // The list itself may be elsewhere.
  if (key === 'enum') return Array.isArray(holder[key]);
  // A response may have the name `default`.
  return key === 'default' && (isSchema || SCHEMA_MEMBERS.some((keyword) => keyword in holder));
}

function enterId(
  { $id: id, $anchor: anchor }: Members,
  { scope, pointer }: { readonly scope: Scope; readonly pointer: string },
  onId: (url: string, pointer: string) => void,
): Scope {
  const resolved = typeof id === 'string' ? parseUrl(id, scope.base) : null;
  const target = resolved !== null && resolved.location.length <= MAX_ID_LENGTH ? resolved : null;
  const base = target === null ? scope.base : target.location;
  if (target !== null) onId(target.location + target.hash, pointer);
  if (typeof anchor === 'string') onId(`${base}#${anchor}`, pointer);
  return { ...scope, base };
}

/** The name of a component is not a reference. */
const REFERENCE = /[#/]|\.(?:ya?ml|json)$/i;

function visitMapping(
  discriminator: unknown,
  scope: Scope,
  onReference: (holder: Members, key: string, scope: Scope) => void,
): void {
  const { mapping } = asObject(discriminator);
  if (!isObject(mapping)) return;
  for (const [key, target] of Object.entries(mapping)) {
    if (typeof target === 'string' && REFERENCE.test(target)) onReference(mapping, key, scope);
  }
}

function parseUrl(reference: string, base: string) {
  if (!URL.canParse(reference, base)) return null;
  const { href, hash } = new URL(reference, base);
  return { location: withoutFragment(href), hash: hash === '#' ? '' : hash };
}

function withoutFragment(url: string): string {
  return url.replace(/#.*$/s, '');
}

/** Returns a URL without credentials and query; a path of a file is returned unchanged. */
function withoutSecrets(location: string): string {
  if (!URL.canParse(location)) return location;
  const url = new URL(location);
  return `${url.protocol}//${url.host}${url.pathname}`;
}

/** Returns `null` for a URL that no file can have. */
function toFile(url: URL): string | null {
  try {
    return fileURLToPath(url);
  } catch {
    return null;
  }
}

function isBelow(file: string, folder: string): boolean {
  return file.startsWith(folder.endsWith(sep) ? folder : folder + sep);
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
