import type { Log } from '../contract/index.js';
import { isProxyUsable } from '../contract/outgoing-proxy.js';
import { findNearestName } from '../document/suggest.js';
import { SETTING_NAMES, settingVariable } from './settings.js';

const PREFIX = 'MODGATE_';

/** Known variables besides settings: of the store, client commands and child processes. */
const OTHER_VARIABLES: readonly string[] = [
  'MODGATE_CA',
  'MODGATE_CONFIG',
  'MODGATE_MODULE',
  'MODGATE_OUTSIDE',
  'MODGATE_SOCKET',
  'MODGATE_STORE_KEY',
  'MODGATE_TOKEN',
  'MODGATE_URL',
];

/** Kubernetes sets these in every pod if a service is named modgate. */
const SERVICE_LINK = /^MODGATE_(?:SERVICE_(?:HOST|PORT)|PORT_\d)/;

interface UnknownVariable {
  readonly name: string;
  /** `did you mean MODGATE_PORT?`; `null` if no name is similar. */
  readonly hint: string | null;
}

/** Warns of variables without effect, and of a proxy that requests cannot use. */
export function warnOfVariables(environment: NodeJS.ProcessEnv, log: Log): void {
  for (const { name, hint } of findUnknownVariables(environment)) {
    log.warn({ variable: name, hint }, 'unknown variable');
  }
  if (isProxyUsable()) return;
  const hint = 'set the URL of an HTTP proxy, such as http://proxy.internal:3128';
  log.warn({ variable: 'HTTPS_PROXY', hint }, 'proxy cannot be used');
}

/** Variables that look like settings but have no effect. */
export function findUnknownVariables(environment: NodeJS.ProcessEnv): UnknownVariable[] {
  const knownNames = [...SETTING_NAMES.map(settingVariable), ...OTHER_VARIABLES];
  return Object.keys(environment)
    .filter(
      (name) => name.startsWith(PREFIX) && !knownNames.includes(name) && !SERVICE_LINK.test(name),
    )
    .map((name) => {
      const nearest = findNearestName(name.slice(PREFIX.length), knownNames.map(withoutPrefix));
      return { name, hint: nearest === null ? null : `did you mean ${PREFIX}${nearest}?` };
    });
}

function withoutPrefix(name: string): string {
  return name.slice(PREFIX.length);
}
