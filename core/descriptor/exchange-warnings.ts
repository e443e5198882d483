import type { Manifest } from '../contract/index.js';
import type { Violation } from '../document/diagnostic.js';
import { readMember } from '../lib/read-member.js';
import type { Descriptor, DescriptorAdapter } from './descriptor.js';
import { EXCHANGE_PATH, readExchange } from './exchange.js';

/**
 * Warns of requests without a token of a caller; returns nothing without `auth.exchange`.
 * @param manifest `null` if it is requested later
 */
export function findExchangeWarnings(
  { provider: { config }, manifest: source, public: isPublic }: Descriptor,
  adapter: Pick<DescriptorAdapter, 'supports'>,
  manifest: Pick<Manifest, 'http_routes' | 'config'> | null,
): Violation[] {
  const exchange = readExchange(config, adapter);
  if (exchange === null) return [];
  const warnings = exchange.hasHost
    ? []
    : [
        ...(source.kind === 'provider' ? ['manifest: { from: provider }'] : []),
        ...(readMember(readMember(config, 'health'), 'path') === undefined ? [] : ['health']),
        ...(manifest?.config?.delivery_path === undefined ? [] : ['delivery_path']),
      ].map((setting) => `'${setting}' is requested without credentials, by the host itself`);
  const hasPublic = isPublic && manifest?.http_routes.some(({ access }) => access === 'public');
  return [
    ...warnings.map((message) => warn(message, "set 'host: {}' for a token of the host")),
    ...(hasPublic
      ? [
          warn(
            'public routes are 403 without a token to exchange',
            'give them a module of their own',
          ),
        ]
      : []),
  ];
}

function warn(text: string, hint: string): Violation {
  const message = `'provider.config.auth.exchange': ${text}`;
  return { rule: 'exchange-without-caller', message, hint, path: EXCHANGE_PATH, at: 'key' };
}
