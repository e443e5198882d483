import { compareNames } from '../lib/compare-texts.js';
import { forEachInSlices } from '../lib/slices.js';
import type {
  Generation,
  GenerationSource,
  LiveModule,
  LiveRoute,
} from '../modules/live-module.js';
import {
  type BuiltDocument,
  DocumentBuilder,
  type DocumentForm,
  WHOLE_FORM,
} from './create-document.js';
import type { DescribedHost } from './described-module.js';
import { OperationNames } from './operation-names.js';

export type ShowsRoute = (module: LiveModule, route: LiveRoute) => boolean;

/** How long the unread document of all modules is cached: it is large, and rarely read. */
const KEPT_MS = 60_000;

interface WholeDocument {
  readonly of: Generation;
  readonly document: Promise<BuiltDocument>;
  readonly timer: NodeJS.Timeout;
}

/**
 * Creates the OpenAPI documents of a host from the route tables that serve requests. The document
 * of all modules is cached until a module changes, or nothing has read it for a minute. Others are
 * created for each request, one after another.
 */
export class DocumentCache {
  readonly #generations: GenerationSource;
  readonly #host: DescribedHost;
  #whole: WholeDocument | null = null;
  #last: Promise<unknown> = Promise.resolve();

  constructor(generations: GenerationSource, host: DescribedHost) {
    this.#generations = generations;
    this.#host = host;
  }

  readWhole(): Promise<BuiltDocument> {
    const generation = this.#generations.current;
    if (this.#whole?.of !== generation) {
      this.#drop();
      const document = this.#build(generation, null, () => true, WHOLE_FORM);
      const timer = setTimeout(() => this.#drop(), KEPT_MS).unref();
      this.#whole = { of: generation, document, timer };
    }
    this.#whole.timer.refresh();
    return this.#whole.document;
  }

  /**
   * @param only the names of modules; `null` for all
   * @returns `null` if one of the modules is not served
   */
  async readPart(
    only: ReadonlySet<string> | null,
    shows: ShowsRoute,
    form: DocumentForm,
  ): Promise<BuiltDocument | null> {
    const generation = this.#generations.current;
    for (const name of only ?? []) if (!generation.has(name)) return null;
    return this.#build(generation, only, shows, form);
  }

  #drop(): void {
    clearTimeout(this.#whole?.timer);
    this.#whole = null;
  }

  #build(
    generation: Generation,
    only: ReadonlySet<string> | null,
    shows: ShowsRoute,
    form: DocumentForm,
  ): Promise<BuiltDocument> {
    const modules = [...generation.values()].sort(compareNames);
    const build = async () => {
      const names = await nameInSlices(modules);
      const selected = only === null ? modules : modules.filter(({ name }) => only.has(name));
      const builder = new DocumentBuilder({ host: this.#host, names, form });
      return buildInSlices(builder, selected, shows);
    };
    const built = this.#last.then(build);
    // Discards the result, so that the promise does not keep the document in memory.
    const done = () => {};
    this.#last = built.then(done, done);
    return built;
  }
}

async function nameInSlices(modules: readonly LiveModule[]): Promise<OperationNames> {
  const names = new OperationNames();
  await forEachInSlices(modules, (module) => names.add(module));
  names.complete();
  return names;
}

async function buildInSlices(
  builder: DocumentBuilder,
  modules: readonly LiveModule[],
  shows: ShowsRoute,
): Promise<BuiltDocument> {
  const steps = function* () {
    for (const module of modules) {
      yield* builder.addInSteps(module, (route) => shows(module, route.value));
    }
  };
  await forEachInSlices(steps(), () => {});
  return builder.build();
}
