import { createHash } from 'node:crypto';
import { resolve, sep } from 'node:path';
import type { AnyStruct } from '../contract/described.js';
import { Secret } from '../contract/index.js';
import { decodeUtf8 } from '../lib/decode-utf8.js';
import {
  createDiagnostic,
  createFileDiagnostic,
  createInvalidFile,
  type Diagnostic,
  type DocumentSource,
  describePath,
  InvalidFile,
  type Violation,
} from './diagnostic.js';
import { type FoundReference, findReferences } from './find-references.js';
import { readStructuredText } from './parse-document.js';
import { FileError, readSmallFile } from './read-file.js';
import type { TextLimits } from './text-limits.js';
import { BUSY_FILE, isTransient } from './transient-error.js';
import { validateStruct } from './validate.js';

export interface ReferencesInput {
  /** The adapter's struct, and the config that it accepted. */
  readonly struct: AnyStruct;
  readonly config: unknown;
  /** The folder of the descriptor. */
  readonly baseDir: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The descriptor; its `prefix` is the path of the config in it. */
  readonly source: DocumentSource;
  /**
   * Whether the config may use a variable, as `env:NAME`, or a file outside the folder, as `file:`
   * and its absolute path. Default: all are allowed.
   */
  readonly allowsReference?: ((reference: string) => boolean) | undefined;
  /** Receives unresolved secrets, which get a placeholder. By default they are errors. */
  readonly onMissingSecret?: ((missing: MissingSecret) => void) | undefined;
  /** The limits of documents. Default: those of any file. */
  readonly limits?: TextLimits | undefined;
  /** Adds rules to the struct of each document. Default: none. */
  readonly restrictDocument?: (struct: AnyStruct) => AnyStruct;
}

export interface MissingSecret {
  /** The reference as written: `env:NAME` or `file:PATH`. */
  readonly reference: string;
  readonly diagnostic: Diagnostic;
}

/** The resolved references of a config; each function throws for an unknown reference. */
export interface References {
  secret(reference: string): Secret;
  file(reference: string): Buffer;
  path(reference: string): string;
  document(reference: string): ReferencedDocument;
  readonly secrets: readonly Secret[];
  /** The bytes of all files that were read, by absolute path. */
  readonly contents: ReadonlyMap<string, Buffer>;
  /** Changes with the content of a file; variables are excluded, because they cannot change. */
  readonly digestPart: string;
}

/** A document of a config, which is watched while the config is in use. */
interface ReferencedDocument {
  /** Absolute path. */
  readonly path: string;
  readonly struct: AnyStruct;
  /** The content at the time when the config was read. */
  readonly content: unknown;
}

interface Resolved {
  readonly bytes: Buffer;
  /** `null` for the content of a variable. */
  readonly path: string | null;
}

interface ResolvedFile extends Resolved {
  readonly digest: string;
}

const ENV = 'env:';
const FILE = 'file:';
/** Variables of the host: a descriptor must not send the store key to a provider. */
const HOST_VARIABLES = 'MODGATE_';
const PLACEHOLDER = 'missing';
/** The reason why a release may not use something of the host. */
export const NOT_ALLOWED = 'which --release-references of the host does not allow';

/** The absolute paths of all files of a config, including documents and unreadable files. */
export function listReferencedFiles(struct: AnyStruct, config: unknown, baseDir: string): string[] {
  return listPaths(findReferences(config, struct), baseDir);
}

/** The references of a config as written; an optional prefix `file:` marks a path. */
export function listReferences(
  struct: AnyStruct,
  config: unknown,
): readonly Pick<FoundReference, 'kind' | 'text'>[] {
  return findReferences(config, struct).map(({ kind, text }) => ({ kind, text }));
}

/** The absolute paths of the documents, whose changes do not reload the provider. */
export function listFollowedFiles(struct: AnyStruct, config: unknown, baseDir: string): string[] {
  const references = findReferences(config, struct);
  const documents = references.filter(({ kind }) => kind === 'document');
  const others = listPaths(
    references.filter(({ kind }) => kind !== 'document'),
    baseDir,
  );
  return listPaths(documents, baseDir).filter((path) => !others.includes(path));
}

function listPaths(references: readonly FoundReference[], baseDir: string): string[] {
  const paths = references.filter(({ text }) => !text.startsWith(ENV));
  return [...new Set(paths.map(({ text }) => resolve(baseDir, readPath(text))))].sort();
}

/** @throws InvalidFile with each unusable variable and file. */
export async function resolveReferences(input: ReferencesInput): Promise<References> {
  const references = findReferences(input.config, input.struct);
  if (references.length === 0) return createReferences(EMPTY, EMPTY, EMPTY, input.baseDir);
  const violations: Violation[] = [];
  const secrets = new Map<string, Secret>();
  const files = new Map<string, ResolvedFile>();
  const documents = new Map<string, ReferencedDocument>();
  const ofDocuments: Diagnostic[] = [];
  for (const reference of references) {
    try {
      const resolved = await readReference(reference, input);
      const { path } = resolved;
      if (reference.kind === 'document' && reference.struct !== null && path !== null) {
        const struct = input.restrictDocument?.(reference.struct) ?? reference.struct;
        const read = tryDocument(path, resolved.bytes, struct, input.limits);
        if ('mistakes' in read) ofDocuments.push(...read.mistakes);
        else documents.set(reference.text, { path, struct, content: read.content });
        continue;
      }
      // Here, because the next file is read in another turn of the event loop.
      const digest = createHash('sha256').update(resolved.bytes).digest('hex');
      files.set(reference.text, { ...resolved, digest });
      if (reference.kind === 'secret') {
        secrets.set(reference.text, createSecret(reference, resolved.bytes));
      }
    } catch (error) {
      if (!(error instanceof UnresolvedReference)) throw error;
      const violation = createReferenceViolation(reference, error, input.source);
      const { onMissingSecret } = input;
      const isMissing = reference.kind === 'secret' && error.isMissing;
      if (!isMissing || onMissingSecret === undefined) {
        violations.push(violation);
        continue;
      }
      const diagnostic = createDiagnostic(violation, input.source);
      onMissingSecret({ reference: reference.text, diagnostic });
      secrets.set(reference.text, new Secret(PLACEHOLDER));
    }
  }
  if (violations.length > 0) throw createInvalidFile(violations, input.source);
  if (ofDocuments.length > 0) throw new InvalidFile(ofDocuments);
  return createReferences(secrets, files, documents, input.baseDir);
}

function tryDocument(
  file: string,
  bytes: Buffer,
  struct: AnyStruct,
  limits?: TextLimits,
): { readonly content: unknown } | { readonly mistakes: readonly Diagnostic[] } {
  try {
    return { content: readDocument(file, bytes, struct, limits) };
  } catch (error) {
    if (error instanceof InvalidFile) return { mistakes: error.diagnostics };
    throw error;
  }
}

/** Parses a document. @throws InvalidFile if the struct rejects it. */
export function readDocument(
  file: string,
  bytes: Buffer,
  struct: AnyStruct,
  limits?: TextLimits,
): unknown {
  const text = decodeUtf8(bytes);
  if (text === null) {
    const { code, message } = new FileError('invalid-utf8');
    throw new InvalidFile([createFileDiagnostic(file, code, message)]);
  }
  const { value, locate } = readStructuredText(file, text, undefined, limits);
  const checked = validateStruct(value, struct);
  if (checked.violations.length > 0) throw createInvalidFile(checked.violations, { file, locate });
  return checked.value;
}

/** Joins the references of two configs of one descriptor. */
export function joinReferences(first: References, second: References): References {
  return {
    ...first,
    secrets: [...first.secrets, ...second.secrets],
    contents: new Map([...first.contents, ...second.contents]),
    digestPart: `${first.digestPart} ${second.digestPart}`,
  };
}

class UnresolvedReference extends Error {
  override readonly name = 'UnresolvedReference';
  /** Whether another machine may resolve it without a change of the descriptor. */
  readonly isMissing: boolean;

  constructor(message: string, isMissing: boolean, options?: ErrorOptions) {
    super(message, options);
    this.isMissing = isMissing;
  }
}

async function readReference(reference: FoundReference, input: ReferencesInput): Promise<Resolved> {
  const { text } = reference;
  if (text.startsWith(ENV)) {
    assertAllowed(text, `the variable ${text.slice(ENV.length)}`, input);
    return { bytes: readVariable(text, input.env), path: null };
  }
  const written = readPath(text);
  const path = resolve(input.baseDir, written);
  if (!path.startsWith(input.baseDir + sep)) {
    assertAllowed(FILE + path, `the file '${written}'`, input);
  }
  try {
    return { bytes: await readSmallFile(path), path };
  } catch (error) {
    if (!(error instanceof FileError)) throw error;
    const isMissing = error.code === 'file-missing';
    const problem = `the file '${written}', which ${error.message}`;
    throw new UnresolvedReference(problem, isMissing, { cause: error });
  }
}

function assertAllowed(
  reference: string,
  subject: string,
  { allowsReference }: ReferencesInput,
): void {
  if (allowsReference === undefined || allowsReference(reference)) return;
  throw new UnresolvedReference(`${subject}, ${NOT_ALLOWED}`, false);
}

function readPath(reference: string): string {
  return reference.startsWith(FILE) ? reference.slice(FILE.length) : reference;
}

function readVariable(text: string, env: ReferencesInput['env']): Buffer {
  const name = text.slice(ENV.length);
  if (name.startsWith(HOST_VARIABLES)) {
    throw new UnresolvedReference(`the variable ${name}, which belongs to the host`, false);
  }
  const value = Object.hasOwn(env, name) ? env[name] : undefined;
  if (!value) {
    const problem = value === undefined ? 'not set' : 'empty';
    throw new UnresolvedReference(`the variable ${name}, which is ${problem}`, true);
  }
  return Buffer.from(value);
}

/** Removes a final line break, which editors and shells add. */
function createSecret({ text: reference, struct }: FoundReference, bytes: Buffer): Secret {
  const subject = reference.startsWith(FILE)
    ? `the file '${reference.slice(FILE.length)}'`
    : `the variable ${reference.slice(ENV.length)}`;
  const text = decodeUtf8(bytes);
  if (text === null) throw new UnresolvedReference(`${subject}, which is not valid UTF-8`, false);
  const value = text.replace(/\r?\n$/, '');
  if (value === '') throw new UnresolvedReference(`${subject}, which is empty`, false);
  if (struct === null || struct.is(value)) return new Secret(value);
  const problem = `${subject}, which must be ${struct.type}${describeFault(value)}`;
  throw new UnresolvedReference(problem, false);
}

/** What most often is wrong with a secret that was copied. */
function describeFault(value: string): string {
  if (/[\r\n]/.test(value)) return ', and has a line break';
  if (/\p{Cc}/u.test(value)) return ', and has a control character';
  return /[^\x20-\x7e]/.test(value) ? ', and has a character beyond ASCII' : '';
}

function createReferenceViolation(
  reference: FoundReference,
  error: UnresolvedReference,
  source: DocumentSource,
): Violation {
  const { path } = reference;
  const message = `${describePath([...(source.prefix ?? []), ...path])} refers to ${error.message}`;
  const rule = isTransient(error) ? BUSY_FILE : 'unresolved-reference';
  return { rule, message, hint: null, path, at: 'value' };
}

const EMPTY = new Map<string, never>();
const DIGEST_OF_NONE = digestFiles(EMPTY);

function createReferences(
  secrets: ReadonlyMap<string, Secret>,
  files: ReadonlyMap<string, ResolvedFile>,
  documents: ReadonlyMap<string, ReferencedDocument>,
  baseDir: string,
): References {
  const contents = new Map<string, Buffer>();
  for (const { path, bytes } of files.values()) if (path !== null) contents.set(path, bytes);
  return {
    secret: (reference) => take(secrets, reference),
    file: (reference) => take(files, reference).bytes,
    path: (reference) => {
      if (reference.includes('\0')) throw new Error('a path contains a NUL character');
      // Also resolves other paths, such as the path of a socket.
      const path = files.has(reference) ? take(files, reference).path : resolve(baseDir, reference);
      if (path === null) throw new Error('a reference to a variable has no path');
      return path;
    },
    document: (reference) => take(documents, reference),
    secrets: [...secrets.values()],
    contents,
    digestPart: files.size === 0 ? DIGEST_OF_NONE : digestFiles(files),
  };
}

function take<T>(resolved: ReadonlyMap<string, T>, reference: string): T {
  const value = resolved.get(reference);
  if (value === undefined) throw new Error('the config has no such reference');
  return value;
}

function digestFiles(files: ReadonlyMap<string, ResolvedFile>): string {
  const hash = createHash('sha256');
  for (const [reference, { digest, path }] of [...files].sort(([a], [b]) => (a < b ? -1 : 1))) {
    if (path === null) continue;
    hash.update(JSON.stringify([reference, digest]));
  }
  return hash.digest('hex');
}
