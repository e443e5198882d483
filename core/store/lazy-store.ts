import type { AuditFilter, AuditRow, ChangeListener, Store } from './store.js';

/**
 * Opens the store when it is first used: a host without config fields and consoles never opens one, and the
 * start of a host does not wait for it.
 */
export function createLazyStore(open: () => Promise<Store>): Store {
  let opened: Store | null = null;
  let opening: Promise<Store> | null = null;
  const use = () => {
    opening ??= open().then((store) => {
      opened = store;
      return store;
    });
    return opening;
  };
  return {
    get unavailable() {
      return opened?.unavailable ?? null;
    },
    readConfig: async (module, secrets) => (await use()).readConfig(module, secrets),
    writeConfig: async (write, audit) => (await use()).writeConfig(write, audit),
    ensureGenerated: async (field) => (await use()).ensureGenerated(field),
    appendAudit: async (draft) => (await use()).appendAudit(draft),
    readAudit: (filter) => readLater(use, filter),
    verifyAudit: async () => (await use()).verifyAudit(),
    appendCalls: async (calls) => (await use()).appendCalls(calls),
    readCalls: async (filter) => (await use()).readCalls(filter),
    pruneCalls: async (bounds) => (await use()).pruneCalls(bounds),
    onConfigChange: (listener) => listenLater(use, listener),
    close: async () => {
      if (opening !== null) await (await opening).close();
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
  void use().then((store) => {
    if (!isStopped) stop = store.onConfigChange(listener);
  });
  return () => {
    isStopped = true;
    stop?.();
  };
}
