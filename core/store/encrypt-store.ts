import type { Log } from '../contract/index.js';
import { openAuditReader } from './audit-reader.js';
import type { StoreKeys } from './encryption-keys.js';
import { createOpener } from './open-store.js';
import { encryptStore } from './reencrypt.js';

/**
 * Encrypts the sensitive values of a store that was written without a key.
 * @returns how many
 * @throws StoreUnavailable when there is no store, or it cannot be opened.
 */
export async function encryptClearValues(
  url: string | null,
  stateDir: string,
  keys: StoreKeys,
  log: Log,
): Promise<number> {
  // Opening creates a store where there is none; a reader does not.
  await (await openAuditReader(url, stateDir)).close();
  const database = await createOpener(url, stateDir)(
    () => {},
    () => {},
  );
  try {
    return await encryptStore(database, keys, log);
  } catch (error) {
    throw database.explain(error) ?? error;
  } finally {
    await database.close();
  }
}
