import { createHash } from 'node:crypto';
import { type Mount, mountBase } from '../descriptor/sections/mount.js';
import { describeOwner, readDocsUrl } from '../descriptor/sections/owner.js';
import { compareNames } from '../lib/compare-texts.js';
import { digestText } from '../lib/hash.js';
import type { LiveRoute } from '../modules/live-module.js';
import { readVersion } from '../version.js';
import { Components, ModuleSchemas } from './component-schemas.js';
import type { DescribedHost, DescribedModule, DescribedRoute } from './described-module.js';
import { jsonText } from './json-text.js';
import type { OperationNames } from './operation-names.js';
import { NOT_IN_COMPONENT } from './operation-names.js';
import { writeOperation } from './operation-object.js';
import { createPathItems, type HiddenRoute } from './path-items.js';
import { createProblemSchemas, ProblemResponses } from './problem-responses.js';

type SecuredRoute = Pick<LiveRoute, 'capability' | 'isPublic'>;

const OPENAPI_VERSION = '3.1.0';
const MODGATE_VERSION = readVersion();

interface DocumentInput {
  readonly host: DescribedHost;
  /** The names of all routes of the host. */
  readonly names: OperationNames;
  readonly form: DocumentForm;
}

interface Tag {
  readonly name: string;
  readonly description?: string;
  readonly externalDocs?: { readonly url: string };
  readonly 'x-modgate-mounts'?: readonly Mount[];
}

export const VIEWS = ['client'] as const;

/** What a document describes of the modules in it. */
export interface DocumentForm {
  /** The mount that the document describes; `null` for the own paths of the modules. */
  readonly mount: Mount | null;
  /** `client` for responses without the envelope, as clients see them; `null` for responses as sent. */
  readonly view: (typeof VIEWS)[number] | null;
}

export const WHOLE_FORM: DocumentForm = { mount: null, view: null };

/** A document in the form in which it is sent. */
export interface BuiltDocument {
  /** UTF-8. Routes share the piece with their problems, which is half of a large document. */
  readonly pieces: readonly Buffer[];
  /** Changes with the document: derived from the version, the names and the digests in it. */
  readonly etag: string;
}

/** Builds a document module by module: a large one at once would block other requests. */
export class DocumentBuilder {
  readonly #input: DocumentInput;
  readonly #schemes: Readonly<Record<string, unknown>>;
  readonly #components = new Components();
  readonly #responses: ProblemResponses;
  readonly #securities = new Map<string | null, string>();
  readonly #paths = new TextBytes();
  readonly #schemas = new TextBytes();
  readonly #hidden: HiddenRoute[] = [];
  readonly #tags = new Map<string, Tag>();
  readonly #shown: DescribedModule[] = [];
  readonly #hash = createHash('sha256').update(MODGATE_VERSION);
  #hasPaths = false;

  constructor(input: DocumentInput) {
    this.#input = input;
    this.#schemes = createSecuritySchemes(input.host);
    this.#hash.update(String(input.form.view));
    this.#responses = new ProblemResponses(input.host);
    this.#schemas.append(jsonText(createProblemSchemas()).slice(1, -1));
  }

  /**
   * Adds the next module by name.
   * @param shows whether a route is part of the document; a module without such a route is omitted
   */
  add(module: DescribedModule): void {
    for (const _ of this.addInSteps(module, () => true));
  }

  /** Adds a module with a step for each path, because one module may have thousands. */
  *addInSteps(module: DescribedModule, shows: (route: DescribedRoute) => boolean): Generator<void> {
    const { names, form } = this.#input;
    const { mount, view } = form;
    const prefix = mount === null ? `/modules/${encodeURIComponent(module.name)}/http` : '';
    const { items, hidden } = createPathItems(module, prefix, shows);
    const schemas = new ModuleSchemas(module.name, module.manifest.schemas ?? {}, this.#components);
    const context = {
      schemas,
      hasEnvelope: module.descriptor.responses.mode !== 'raw' && view === null,
      security: (route: SecuredRoute) => this.#writeSecurity(route),
    };
    const problems = this.#responses.of(module);
    const tags = new Set<string>();
    let ids = '';
    for (const { path, routes } of items) {
      for (const [index, placed] of routes.entries()) {
        const { route } = placed;
        const name = names.of(route);
        const { start, end } = writeOperation(module, placed, name, context);
        const before = index === 0 ? `${this.#hasPaths ? ',' : ''}${jsonText(path)}:{` : ',';
        this.#hasPaths = true;
        this.#paths.append(`${before}"${route.method.toLowerCase()}":${start},`);
        this.#paths.appendShared(problems);
        this.#paths.append(index === routes.length - 1 ? `${end}}` : end);
        ids += `${name.operationId}\n`;
        for (const tag of route.value.declared.tags ?? []) tags.add(tag);
      }
      yield;
    }
    if (module.routes.entries.length > 0 && ids === '') return;
    this.#hash.update(ids);
    schemas.addReferred();
    for (const text of this.#components.takeTexts()) this.#schemas.append(`,${text}`);
    this.#shown.push(module);
    this.#hidden.push(...hidden);
    this.#tags.set(module.name, createModuleTag(module, mount));
    for (const name of tags) if (!this.#tags.has(name)) this.#tags.set(name, { name });
  }

  build(): BuiltDocument {
    const { host, form } = this.#input;
    const head = {
      openapi: OPENAPI_VERSION,
      info: { title: 'modgate', version: digestModules(this.#shown) },
      servers: [{ url: createServerUrl(host.publicUrl, form.mount) }],
      tags: [...this.#tags.values()],
      ...(this.#hidden.length > 0 && { 'x-modgate-hidden': this.#hidden }),
    };
    const others = { responses: this.#responses.components, securitySchemes: this.#schemes };
    const start = Buffer.from(`${jsonText(head).slice(0, -1)},"paths":{`);
    const middle = Buffer.from('},"components":{"schemas":{');
    const end = Buffer.from(`},${jsonText(others).slice(1)}}`);
    const paths = this.#paths.end();
    const schemas = this.#schemas.end();
    const etag = `"${this.#hash.update(start).update(end).digest('base64url')}"`;
    return { pieces: [start, ...paths, middle, ...schemas, end], etag };
  }

  /** A public route has empty credentials as its first alternative. */
  #writeSecurity({ capability, isPublic }: SecuredRoute): string {
    const cached = this.#securities.get(capability);
    const roles = capability === null ? [] : [capability];
    const text =
      cached ?? jsonText(Object.keys(this.#schemes).map((scheme) => ({ [scheme]: roles })));
    this.#securities.set(capability, text);
    if (!isPublic) return text;
    return text === '[]' ? '[{}]' : `[{},${text.slice(1)}`;
  }
}

/** Uses the public URL, otherwise the address from which the document was read. */
function createServerUrl(publicUrl: string | null, mount: Mount | null): string {
  if (mount === null) return publicUrl ?? '/';
  if (mount.host === undefined) return (publicUrl ?? '') + mountBase(mount);
  if (publicUrl === null) return `//${mount.host}${mountBase(mount)}`;
  const { protocol, port } = new URL(publicUrl);
  return `${protocol}//${mount.host}${port && `:${port}`}${mountBase(mount)}`;
}

function createModuleTag(
  { name, manifest, descriptor: { owner, mount: mounts } }: DescribedModule,
  mount: Mount | null,
): Tag {
  const url = readDocsUrl(owner);
  const { docs: _, ...person } = owner ?? {};
  const contact = describeOwner(url === null ? owner : person);
  const paragraphs = [manifest.summary, contact === null ? undefined : `Owner: ${contact}`];
  const description = paragraphs.filter((text) => text !== undefined).join('\n\n');
  return {
    name,
    ...(description !== '' && { description }),
    ...(url !== null && { externalDocs: { url } }),
    ...(mount === null && mounts.length > 0 && { 'x-modgate-mounts': mounts }),
  };
}

/** `sha256:` of the canonical form of the names and configuration digests. */
function digestModules(modules: readonly DescribedModule[]): string {
  const pairs = modules
    .toSorted(compareNames)
    .map(({ name, configDigest }) => [name, configDigest]);
  return digestText(jsonText(pairs));
}

const SCHEME = /^[A-Za-z0-9!#$%&'*+.^_`|~-]+/;

/** Creates alternatives: one for each challenge, and one for each other header for credentials. */
function createSecuritySchemes({
  challenges,
  credentialHeaders,
}: DescribedHost): Record<string, unknown> {
  const schemes: Record<string, unknown> = {};
  for (const challenge of challenges) {
    const scheme = SCHEME.exec(challenge)?.[0].toLowerCase();
    if (scheme === undefined) continue;
    schemes[scheme.replaceAll(NOT_IN_COMPONENT, '_')] = { type: 'http', scheme };
  }
  for (const name of credentialHeaders) {
    if (name === 'authorization') continue;
    schemes[name.replaceAll(NOT_IN_COMPONENT, '_')] = { type: 'apiKey', in: 'header', name };
  }
  return schemes;
}

const SLAB_BYTES = 64 * 1024;

/** Collects text as UTF-8 in large buffers, since thousands of small ones are slow to join. */
class TextBytes {
  readonly #pieces: Buffer[] = [];
  #slab = Buffer.allocUnsafeSlow(SLAB_BYTES);
  #start = 0;
  #end = 0;

  append(text: string): void {
    const length = Buffer.byteLength(text);
    if (length > this.#slab.length - this.#end) {
      this.#cut();
      this.#slab = Buffer.allocUnsafeSlow(Math.max(SLAB_BYTES, length));
      this.#start = 0;
      this.#end = 0;
    }
    this.#end += this.#slab.write(text, this.#end);
  }

  /** Appends bytes without copying them. */
  appendShared(bytes: Buffer): void {
    this.#cut();
    this.#pieces.push(bytes);
  }

  end(): readonly Buffer[] {
    this.#cut();
    return this.#pieces;
  }

  #cut(): void {
    if (this.#end > this.#start) this.#pieces.push(this.#slab.subarray(this.#start, this.#end));
    this.#start = this.#end;
  }
}
