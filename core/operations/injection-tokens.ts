import { createToken } from '../injection.js';
import type { GenerationSource } from '../modules/live-module.js';
import type { Store } from '../store/store.js';

// Tokens of what lies below the operations; all others stand beside their types.

export const GENERATIONS = createToken<GenerationSource>('generations');

/** The request headers that credentials may come in; lower-case names. */
export const CREDENTIAL_HEADERS = createToken<readonly string[]>('credential-headers');

export const STORE = createToken<Store>('store');
