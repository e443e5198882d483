import { IdentityKeys, PUBLISH_AHEAD_MS, PUBLISH_OVERLAP_MS } from '../identity/identity-keys.js';
import { LOG, STORE } from '../operations/injection-tokens.js';
import { parseStoreKeys, STORE_KEY_VARIABLE } from '../store/encryption-keys.js';
import { createStore } from '../store/open-store.js';
import { CONFIG, definePart, provide } from './part.js';

const HOUR_MS = 3_600_000;

/** The store, and the keys that sign identities. */
export const STORAGE = definePart('storage', [CONFIG, LOG], async (config, log) => {
  const keys = parseStoreKeys(process.env[STORE_KEY_VARIABLE]);
  const isWorker = config.workers !== null;
  const store = createStore({ url: config.store, stateDir: config.state, isWorker, keys, log });
  const identity = await IdentityKeys.open({
    stateDir: config.state,
    log,
    rotation: {
      periodMs: config.identityRotationHours * HOUR_MS,
      aheadMs: PUBLISH_AHEAD_MS,
      overlapMs: PUBLISH_OVERLAP_MS,
    },
  });
  return {
    store,
    identity,
    provides: [provide(STORE, store)],
    onListening: () => {
      // Connects at startup, so that operators see an unusable database server.
      if (config.store !== null) void store.start();
    },
    close: async () => {
      await identity.close();
      await store.close();
    },
  };
});
