import { AssertionError } from 'node:assert';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { ImportContext, ImportedModule, ResolvedConfig } from '../contract/index.js';
import { mayBeSecret } from '../lib/secrets/sensitive-names.js';
import { createFakeLog, type FakeLog } from './fakes/fake-log.js';
import { resolveFakeReferences } from './fakes/fake-references.js';
import { createFakeScope } from './fakes/fake-scope.js';
import type { ImporterSubject, RunningSource, SourceWords } from './importer-subject.js';
import { createWait, startSubject } from './start-subject.js';
import { countHandles, type Wait } from './wait.js';

/** The name of the module in all clauses. */
export const MODULE = 'reference';

/** The fixture of one clause: its own source. */
export class ImporterHarness {
  readonly subject: ImporterSubject;
  readonly source: RunningSource;
  readonly log: FakeLog = createFakeLog();
  readonly wait: Wait;
  /** The handles of this process before the source was read. */
  readonly handlesBefore: number;

  private constructor(subject: ImporterSubject, source: RunningSource, wait: Wait) {
    this.subject = subject;
    this.source = source;
    this.wait = wait;
    this.handlesBefore = countHandles();
  }

  static async start(subject: ImporterSubject): Promise<ImporterHarness> {
    const wait = createWait(subject);
    const source = await startSubject<RunningSource>(wait, () => subject.start());
    // What the start has closed, such as a probe of a port, is counted until the turn ends.
    await nextTurn();
    return new ImporterHarness(subject, source, wait);
  }

  /** @throws AssertionError when the source of the subject cannot be read. */
  async read(): Promise<ImportedModule> {
    try {
      return await this.readWords(this.source.source);
    } catch (error) {
      if (error instanceof AssertionError) throw error;
      throw new AssertionError({ message: `read must not fail, it threw ${describe(error)}` });
    }
  }

  /**
   * Resolves with the error of a read that has to fail.
   * @throws AssertionError when it succeeds, hangs, or throws something else.
   */
  async failureOf(what: string, words: SourceWords, signal?: AbortSignal): Promise<Error> {
    try {
      await this.readWords(words, signal);
    } catch (error) {
      if (error instanceof AssertionError) throw error;
      if (error instanceof Error) return error;
      throw new AssertionError({ message: `${what} must fail with an Error` });
    }
    throw new AssertionError({ message: `${what} must fail` });
  }

  /** Reads like the command, which closes the scope after it. */
  async readWords(words: SourceWords, signal?: AbortSignal): Promise<ImportedModule> {
    const { importer } = this.subject;
    const { options: given = {} } = this.source;
    const [error, options] = importer.options.validate(given, { coerce: true });
    if (error) {
      throw new AssertionError({ message: `options must be valid: ${error.message}` });
    }
    const scope = createFakeScope();
    try {
      const context = this.#createContext(scope, signal ?? new AbortController().signal);
      const reading = (async () => importer.read(words, options, context))();
      return await this.wait.settles('read', reading);
    } finally {
      await this.wait.settles('close of the scope', scope.close());
    }
  }

  #createContext(scope: ImportContext['scope'], signal: AbortSignal): ImportContext {
    const { source } = this;
    return {
      module: MODULE,
      endpoint: source.endpoint ?? null,
      folder: `./${MODULE}`,
      scope,
      signal: AbortSignal.any([scope.signal, signal]),
      log: this.log,
      pathInDescriptor: (path) => path,
      referenceInDescriptor: (reference) => reference,
      mayBeSecret,
      resolve: async <Config>(kind: string, config: unknown) =>
        this.#resolve(kind, config) as ResolvedConfig<Config>,
      reject: (message) => {
        throw new Error(message);
      },
    };
  }

  #resolve(kind: string, written: unknown): ResolvedConfig {
    const { adapter } = this.subject;
    const references = resolveFakeReferences(this.source.references ?? {});
    if (adapter === undefined || adapter.kind !== kind) return { config: written, ...references };
    const [error, config] = adapter.config.validate(written, { coerce: true });
    if (error) throw new Error(`the config of kind ${kind} is invalid: ${error.message}`);
    return { config, ...references };
  }

  async close(): Promise<void> {
    await this.wait.settles('stop of the source', this.source.stop?.() ?? Promise.resolve());
  }
}

function describe(error: unknown): string {
  return error instanceof Error ? `${error.name}: ${error.message}` : `a ${typeof error}`;
}
