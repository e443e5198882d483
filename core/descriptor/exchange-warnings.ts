import type { ConfigPath, Manifest } from '../contract/index.js';
import type { Violation } from '../document/diagnostic.js';
import { toDescriptorPath } from './config-path.js';
import type { Descriptor } from './descriptor.js';

/**
 * Warns of requests without a token of a caller; returns nothing without an exchange of tokens.
 * @param manifest `null` if it is requested later
 */
export function findExchangeWarnings(
  { configDescription, manifest: source, public: isPublic }: Descriptor,
  manifest: Pick<Manifest, 'http_routes' | 'config'> | null,
): Violation[] {
  const exchange = configDescription?.exchange;
  if (exchange === undefined) return [];
  const { path, withoutCaller } = exchange;
  const hasPublic = isPublic && manifest?.http_routes.some(({ access }) => access === 'public');
  const violations: Violation[] = [];
  if (withoutCaller !== undefined) {
    const settings = [
      ...(source.kind === 'provider' ? ['manifest: { from: provider }'] : []),
      ...withoutCaller.settings,
      ...(manifest?.config?.delivery_path === undefined ? [] : ['delivery_path']),
    ];
    for (const setting of settings) {
      const text = `'${setting}' is requested without credentials, by the host itself`;
      violations.push(warn(path, text, withoutCaller.hint));
    }
  }
  if (hasPublic) {
    const text = 'public routes are 403 without a token to exchange';
    violations.push(warn(path, text, 'give them a module of their own'));
  }
  return violations;
}

function warn(configPath: ConfigPath, text: string, hint: string): Violation {
  const path = toDescriptorPath(configPath);
  const message = `'${path.join('.')}': ${text}`;
  return { rule: 'exchange-without-caller', message, hint, path, at: 'key' };
}
