import { createHash } from 'node:crypto';
import { compareNames } from '../lib/compare-texts.js';
import { digestText } from '../lib/hash.js';
import { readVersion } from '../version.js';
import { Components } from './component-schemas.js';
import type { DescribedHost, DescribedModule, DescribedRoute } from './described-module.js';
import { jsonText } from './json-text.js';
import type { OperationNames } from './operation-names.js';
import { writeOperation } from './operation-object.js';
import { createPathItems, type HiddenRoute } from './path-items.js';
import { createProblemSchemas, ProblemResponses } from './problem-responses.js';
import { createSecuritySchemes } from './security-schemes.js';
import { TextBytes } from './text-bytes.js';

const OPENAPI_VERSION = '3.1.0';
const MODGATE_VERSION = readVersion();

interface DocumentInput {
  readonly host: DescribedHost;
  /** Of all routes of the host. */
  readonly names: OperationNames;
}

/** A document as it is sent. */
export interface BuiltDocument {
  /** UTF-8. Routes with the same settings share the piece with their problems: half of a large document. */
  readonly pieces: readonly Buffer[];
  /** Changes exactly when the document does: made of the version, the names and the digests in it. */
  readonly etag: string;
}

/**
 * An OpenAPI document as JSON text, made module by module: a large one takes longer than others can wait.
 */
export class DocumentBuilder {
  readonly #input: DocumentInput;
  readonly #schemes: Readonly<Record<string, unknown>>;
  readonly #components = new Components();
  readonly #responses: ProblemResponses;
  readonly #securities = new Map<string | null, string>();
  readonly #paths = new TextBytes();
  readonly #schemas = new TextBytes();
  readonly #hidden: HiddenRoute[] = [];
  readonly #tags = new Map<string, string | undefined>();
  readonly #shown: DescribedModule[] = [];
  readonly #hash = createHash('sha256').update(MODGATE_VERSION);
  #hasPaths = false;

  constructor(input: DocumentInput) {
    this.#input = input;
    this.#schemes = createSecuritySchemes(input.host);
    this.#responses = new ProblemResponses(input.host);
    this.#schemas.append(jsonText(createProblemSchemas()).slice(1, -1));
  }

  /**
   * Adds the next module by name.
   * @param shows whether a route is part of the document; a module without such a route is left out
   */
  add(module: DescribedModule, shows: (route: DescribedRoute) => boolean = () => true): void {
    const { names } = this.#input;
    const { items, hidden } = createPathItems(module, shows);
    const context = {
      components: this.#components,
      security: (capability: string | null) => this.#writeSecurity(capability),
    };
    const problems = this.#responses.of(module);
    const tags = new Set<string>();
    let ids = '';
    for (const { path, routes } of items) {
      for (const [at, placed] of routes.entries()) {
        const { route } = placed;
        const name = names.of(route);
        const { start, end } = writeOperation(module, placed, name, context);
        const before = at === 0 ? `${this.#hasPaths ? ',' : ''}${jsonText(path)}:{` : ',';
        this.#hasPaths = true;
        this.#paths.append(`${before}"${route.method.toLowerCase()}":${start},`);
        this.#paths.appendShared(problems);
        this.#paths.append(at === routes.length - 1 ? `${end}}` : end);
        ids += `${name.operationId}\n`;
        for (const tag of route.value.declared.tags ?? []) tags.add(tag);
      }
    }
    if (module.routes.entries.length > 0 && ids === '') return;
    this.#hash.update(ids);
    for (const text of this.#components.takeTexts()) this.#schemas.append(`,${text}`);
    this.#shown.push(module);
    this.#hidden.push(...hidden);
    this.#tags.set(module.name, module.manifest.summary);
    for (const tag of tags) if (!this.#tags.has(tag)) this.#tags.set(tag, undefined);
  }

  build(): BuiltDocument {
    const { host } = this.#input;
    const head = {
      openapi: OPENAPI_VERSION,
      info: { title: 'modgate', version: digestModules(this.#shown) },
      servers: [{ url: host.publicUrl ?? '/' }],
      tags: [...this.#tags].map(([name, description]) => ({ name, description })),
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

  #writeSecurity(capability: string | null): string {
    const known = this.#securities.get(capability);
    if (known !== undefined) return known;
    const roles = capability === null ? [] : [capability];
    const text = jsonText(Object.keys(this.#schemes).map((scheme) => ({ [scheme]: roles })));
    this.#securities.set(capability, text);
    return text;
  }
}

/** `sha256:` over the canonical form of the names and configuration digests, which JSON has only one form of. */
function digestModules(modules: readonly DescribedModule[]): string {
  const pairs = modules
    .toSorted(compareNames)
    .map(({ name, configDigest }) => [name, configDigest]);
  return digestText(jsonText(pairs));
}
