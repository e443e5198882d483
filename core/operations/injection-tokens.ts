import type { CheckedAuthenticator } from '../auth/checked-authenticator.js';
import type { Log } from '../contract/index.js';
import { createToken } from '../injection.js';
import type { Store } from '../store/store.js';

// Tokens of what lies below the operations; all others stand beside their types.

export const LOG = createToken<Log>('log');

export const STORE = createToken<Store>('store');

/** The authenticators, in the order in which they are called. */
export const AUTHENTICATORS = createToken<readonly CheckedAuthenticator[]>('authenticators');

/** The request headers that credentials may come in; lower-case names. */
export const CREDENTIAL_HEADERS = createToken<readonly string[]>('credential-headers');

/** The folder of the descriptors. */
export const MODULES_FOLDER = createToken<string>('modules-folder');
