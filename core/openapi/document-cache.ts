import { createHash } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import type {
  Generation,
  GenerationSource,
  LiveModule,
  LiveRoute,
} from '../modules/live-module.js';
import { DocumentBuilder } from './create-document.js';
import type { DescribedHost } from './described-module.js';
import { compareNames, nameOperations, type OperationNames } from './operation-names.js';

/** A document as it is sent. */
export interface StoredDocument {
  readonly bytes: Buffer;
  /** Changes exactly when the bytes do. */
  readonly etag: string;
}

export type ShowsRoute = (module: LiveModule, route: LiveRoute) => boolean;

/** Work is done in slices of this length, with other requests between them. */
const SLICE_MS = 5;

interface NamedGeneration {
  readonly generation: Generation;
  /** By name. */
  readonly modules: readonly LiveModule[];
  readonly names: OperationNames;
}

/**
 * The OpenAPI documents of a host, from the route tables that serve requests. The one of all modules is kept
 * until a module changes. Others are made for each request, one after another.
 */
export class DocumentCache {
  readonly #generations: GenerationSource;
  readonly #host: DescribedHost;
  #named: NamedGeneration | null = null;
  #whole: { readonly of: NamedGeneration; readonly document: Promise<StoredDocument> } | null =
    null;
  #last: Promise<unknown> = Promise.resolve();

  constructor(generations: GenerationSource, host: DescribedHost) {
    this.#generations = generations;
    this.#host = host;
  }

  /** The document of all modules. */
  readWhole(): Promise<StoredDocument> {
    const named = this.#nameRoutes();
    if (this.#whole?.of !== named) {
      const document = this.#build(named, named.modules, () => true);
      this.#whole = { of: named, document };
    }
    return this.#whole.document;
  }

  /**
   * @param only the names of modules; `null`: all
   * @returns `null` if one of them serves nothing
   */
  async readPart(
    only: ReadonlySet<string> | null,
    shows: ShowsRoute,
  ): Promise<StoredDocument | null> {
    const named = this.#nameRoutes();
    const modules = named.modules.filter(({ name }) => only === null || only.has(name));
    if (only !== null && modules.length < only.size) return null;
    return this.#build(named, modules, shows);
  }

  #nameRoutes(): NamedGeneration {
    const generation = this.#generations.current;
    if (this.#named?.generation === generation) return this.#named;
    const modules = [...generation.values()].sort(compareNames);
    this.#named = { generation, modules, names: nameOperations(modules) };
    return this.#named;
  }

  #build(
    { names }: NamedGeneration,
    modules: readonly LiveModule[],
    shows: ShowsRoute,
  ): Promise<StoredDocument> {
    const build = () => buildInSlices(this.#host, names, modules, shows);
    const built = this.#last.then(build);
    this.#last = built.catch(() => {});
    return built;
  }
}

async function buildInSlices(
  host: DescribedHost,
  names: OperationNames,
  modules: readonly LiveModule[],
  shows: ShowsRoute,
): Promise<StoredDocument> {
  const builder = new DocumentBuilder({ host, names });
  let sliceEnd = performance.now() + SLICE_MS;
  for (const module of modules) {
    builder.add(module, (route) => shows(module, route.value));
    if (performance.now() < sliceEnd) continue;
    await setImmediate();
    sliceEnd = performance.now() + SLICE_MS;
  }
  const bytes = builder.build();
  const etag = `"${createHash('sha256').update(bytes).digest('base64url')}"`;
  return { bytes, etag };
}
