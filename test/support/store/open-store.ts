import { createStore } from '../../../core/store/open-store.js';
import type { Store } from '../../../core/store/store.js';

/** A store that is open, or whose first attempt has failed. */
export async function openStore(options: Parameters<typeof createStore>[0]): Promise<Store> {
  const store = createStore(options);
  await store.start();
  return store;
}
