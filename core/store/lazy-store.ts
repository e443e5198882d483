import {
  type AuditFilter,
  type AuditRow,
  type ChangeListener,
  type Store,
  StoreUnavailable,
} from './store.js';

/** Operations that have begun and not ended: more than ten thousand modules need at the start of a host. */
const MAX_OPERATIONS = 16_384;

export interface LazyStore extends Store {
  /** Opens it before its first use, so that a failure is logged early. Never throws. */
  open(): void;
}

/**
 * Opens the store when it is first used, and again after that has failed: a host without config fields and
 * consoles never opens one, and the start of a host does not wait for it. Rejects operations beyond
 * `maxOperations`, which a slow store would keep in memory.
 */
export function createLazyStore(
  open: () => Promise<Store>,
  maxOperations: number = MAX_OPERATIONS,
): LazyStore {
  let opened: Store | null = null;
  let opening: Promise<Store> | null = null;
  const use = () => {
    opening ??= open().then(
      (store) => {
        opened = store;
        return store;
      },
      (cause: unknown) => {
        opening = null;
        throw new StoreUnavailable('failed', { cause });
      },
    );
    return opening;
  };
  let operations = 0;
  const run = async <T>(operation: (store: Store) => Promise<T>): Promise<T> => {
    if (operations >= maxOperations) throw new StoreUnavailable('busy');
    operations += 1;
    try {
      return await operation(await use());
    } finally {
      operations -= 1;
    }
  };
  return {
    // A store that cannot be opened logs that itself, or reports it to every read and write.
    open: () => void use().catch(() => {}),
    get unavailable() {
      return opened?.unavailable ?? null;
    },
    readConfig: (module, secrets) => run((store) => store.readConfig(module, secrets)),
    writeConfig: (write, audit) => run((store) => store.writeConfig(write, audit)),
    ensureGenerated: (field) => run((store) => store.ensureGenerated(field)),
    assertWritable: () => run((store) => store.assertWritable()),
    appendAudit: (draft) => run((store) => store.appendAudit(draft)),
    readAudit: (filter) => readLater(use, filter),
    verifyAudit: () => run((store) => store.verifyAudit()),
    appendCalls: (calls) => run((store) => store.appendCalls(calls)),
    readCalls: (filter) => run((store) => store.readCalls(filter)),
    pruneCalls: (bounds) => run((store) => store.pruneCalls(bounds)),
    surfaceRecords: {
      get: (surface, key) => run((store) => store.surfaceRecords.get(surface, key)),
      set: (write) => run((store) => store.surfaceRecords.set(write)),
      delete: (surface, key) => run((store) => store.surfaceRecords.delete(surface, key)),
      list: (surface, prefix) => run((store) => store.surfaceRecords.list(surface, prefix)),
    },
    onConfigChange: (listener) => listenLater(use, listener),
    close: async () => {
      const store = await opening?.catch(() => null);
      await store?.close();
    },
  };
}

async function* readLater(
  use: () => Promise<Store>,
  filter: AuditFilter | undefined,
): AsyncGenerator<AuditRow, void, undefined> {
  yield* (await use()).readAudit(filter);
}

function listenLater(use: () => Promise<Store>, listener: ChangeListener): () => void {
  let stop: (() => void) | null = null;
  let isStopped = false;
  // A store that cannot be opened reports that to every read and write.
  void use().then(
    (store) => {
      if (!isStopped) stop = store.onConfigChange(listener);
    },
    () => {},
  );
  return () => {
    isStopped = true;
    stop?.();
  };
}
