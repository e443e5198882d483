import type { AdapterSubject } from '../../core/testkit/index.js';
import { subjects as http } from '../../plugins/http/testkit.js';
import { subjects as local } from '../../plugins/local/testkit.js';

/** Every adapter that modgate ships. */
export const SHIPPED: readonly AdapterSubject[] = [...http, ...local];
