import { type OpenContext, Secret } from '../../contract/index.js';
import { createFakeLog, type FakeLog } from './fake-log.js';
import { createFakeScope, type FakeScope } from './fake-scope.js';

/** What a config refers to. */
export interface FakeReferences {
  /** The values of secrets, by reference (`env:TOKEN`). Default none. */
  readonly secrets?: Readonly<Record<string, string>>;
  /** The contents of files, by reference. Default none. */
  readonly files?: Readonly<Record<string, string | Uint8Array>>;
  /** What `path` answers, by reference. Default the reference itself. */
  readonly paths?: Readonly<Record<string, string>>;
}

/** What {@link createFakeOpenContext} is to hand out. */
export interface FakeOpenContextOptions extends FakeReferences {
  /** The name of the module. Default `reference`. */
  readonly module?: string;
  /** The folder for what the module keeps. Default absent, as on a host that keeps no state. */
  readonly stateDir?: string;
}

/** What `open` gets, with a scope that the test closes and a log that it can read. */
export interface FakeOpenContext extends OpenContext {
  /** Closed by the test. */
  readonly scope: FakeScope;
  /** Read by the test. */
  readonly log: FakeLog;
}

/**
 * What a host hands to `open`, from the values given.
 * `secret` and `file` throw an Error for a reference that was not given.
 */
export function createFakeOpenContext(options: FakeOpenContextOptions = {}): FakeOpenContext {
  const { module = 'reference', secrets, files, paths, stateDir } = options;
  return {
    module,
    scope: createFakeScope(),
    log: createFakeLog(),
    secret: (reference) => new Secret(need(secrets, reference, 'secret')),
    file: (reference) => Buffer.from(need(files, reference, 'file')),
    path: (reference) => paths?.[reference] ?? reference,
    ...(stateDir !== undefined && { stateDir }),
  };
}

function need<T>(
  known: Readonly<Record<string, T>> | undefined,
  reference: string,
  what: string,
): T {
  const value = known?.[reference];
  if (value === undefined) throw new Error(`the test gave no ${what} '${reference}'`);
  return value;
}
