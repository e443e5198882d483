import type { AdapterSubject } from '../../core/testkit/index.js';
import { subjects as http } from '../../plugins/http/testkit.js';
import { subjects as local } from '../../plugins/local/testkit.js';
import { subjects as process } from '../../plugins/process/testkit.js';

/** Every adapter that modgate ships, but `nats`, whose subject needs a server: test/plugins/nats/suite. */
export const SHIPPED: readonly AdapterSubject[] = [...http, ...local, ...process];
