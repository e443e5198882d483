import { assertCounter, assertStep } from '../../contract/counter-rules.js';
import { type CallerTokens, type OpenContext, Secret, type Signer } from '../../contract/index.js';
import { createFakeLog, type FakeLog } from './fake-log.js';
import { createFakeScope, type FakeScope } from './fake-scope.js';

/** The targets of references in a config. */
export interface FakeReferences {
  /** The values of secrets, by reference (`env:TOKEN`). Default none. */
  readonly secrets?: Readonly<Record<string, string>>;
  /** The contents of files, by reference. Default none. */
  readonly files?: Readonly<Record<string, string | Uint8Array>>;
  /** The contents of documents, by reference. Default none. */
  readonly documents?: Readonly<Record<string, unknown>>;
  /** The results of `path`, by reference. Default: the reference itself. */
  readonly paths?: Readonly<Record<string, string>>;
}

/** Options of {@link createFakeOpenContext}. */
export interface FakeOpenContextOptions extends FakeReferences {
  /** The name of the module. Default `reference`. */
  readonly module?: string;
  /** The state folder of the module. Default absent, as on a host without state. */
  readonly stateDir?: string;
  /** What `openSigner` opens. Default absent, as for a config without a signer. */
  readonly signer?: Signer;
  /** The tokens of callers. Default absent, as for a config without an exchange. */
  readonly callerTokens?: CallerTokens;
}

/** The argument of `open`, with a scope that the test closes and a log that it reads. */
export interface FakeOpenContext extends OpenContext {
  /** Closed by the test. */
  readonly scope: FakeScope;
  /** Read by the test. */
  readonly log: FakeLog;
  /** The value of a counter of the adapter; 0 for one that it has not opened. */
  counted(name: string): number;
  /** Changes the content of a document, like a host when its file changes. */
  change(reference: string, content: unknown): void;
}

/**
 * Creates the context that a host passes to `open`. `secret`, `file` and `follow` throw an Error for a reference
 * that is not in the options, `counter` for what a host does not accept.
 */
export function createFakeOpenContext(options: FakeOpenContextOptions = {}): FakeOpenContext {
  const { module = 'reference', secrets, files, documents, paths, stateDir } = options;
  const { signer, callerTokens } = options;
  const followers = new Map<string, (content: unknown) => void>();
  const counts = new Map<string, number>();
  return {
    module,
    scope: createFakeScope(),
    log: createFakeLog(),
    secret: (reference) => new Secret(requireValue(secrets, reference, 'secret')),
    file: (reference) => Buffer.from(requireValue(files, reference, 'file')),
    path: (reference) => paths?.[reference] ?? reference,
    follow: async <T>(reference: string, onChange: (content: T) => void) => {
      followers.set(reference, onChange as (content: unknown) => void);
      return requireValue(documents, reference, 'document') as T;
    },
    counter: (name, help) => {
      if (!counts.has(name)) {
        assertCounter(name, help, counts.size);
        counts.set(name, 0);
      }
      return {
        add: (count = 1) => {
          assertStep(count);
          counts.set(name, (counts.get(name) ?? 0) + count);
        },
      };
    },
    counted: (name) => counts.get(name) ?? 0,
    change: (reference, content) => followers.get(reference)?.(content),
    ...(stateDir !== undefined && { stateDir }),
    ...(signer !== undefined && { openSigner: async () => signer }),
    ...(callerTokens !== undefined && { callerTokens }),
  };
}

function requireValue<T>(
  values: Readonly<Record<string, T>> | undefined,
  reference: string,
  subject: string,
): T {
  const value = values?.[reference];
  if (value === undefined) throw new Error(`the options have no ${subject} '${reference}'`);
  return value;
}
